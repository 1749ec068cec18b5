"""Dates by their parts, and the spans of time that they mean."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from msgspec import Struct

__all__ = ["DAY", "INFERRED", "CERTAIN", "VAGUE", "DateMention", "Span", "unit_start"]

CERTAIN, INFERRED, VAGUE = 1.0, 0.8, 0.4
"""Certainty of a date: it is explicit; its year or direction is inferred; it may be no date."""
DAY = timedelta(days=1)


class Span(Struct, frozen=True):
    """A span of time, without a time zone."""

    start: datetime
    end: datetime
    certainty: float = CERTAIN
    yearly: bool = False


class DateMention(Struct, frozen=True, kw_only=True):
    """A date as a question gives it: some of its parts, or its span."""

    first: int = 0
    after: int = 0
    """The indices of its first word, and of the word after its last."""
    year: int | None = None
    month: int = 1
    months: int = 1
    days: tuple[int, int] | None = None
    span: Span | None = None
    must_have_ended: bool = False
    """Whether it must have ended by now: "last May", asked in May, is that of last year."""
    certainty: float = CERTAIN
    alternative: DateMention | None = None
    """Its other reading: 5/7/2023 may be either of two days."""

    @property
    def has_year(self) -> bool:
        """Whether the words themselves give the year."""
        return self.year is not None or self.span is not None

    def in_year(self, year: int) -> Span | None:
        """Return the span in a year; None if that year has no such day."""
        try:
            if self.days is not None:
                first, last = (datetime(year, self.month, day) for day in self.days)
                return Span(first, last + DAY, self.certainty) if first <= last else None
            start, end = month_start(year, self.month), month_start(year, self.month + self.months)
            return Span(start, end, self.certainty)
        except (ValueError, OverflowError):
            return None

    def latest(self, today: datetime) -> Span | None:
        """Return the latest span that has begun, or has ended if it must have."""
        for year in range(today.year, today.year - 9, -1):  # a 29 February may be 8 years ago
            span = self.in_year(year)
            if span and (span.end if self.must_have_ended else span.start) <= today:
                return span
        return None


def month_start(year: int, month: int) -> datetime:
    """Return the first moment of a month; month numbers below 1 and above 12 change the year."""
    years, place = divmod(month - 1, 12)
    return datetime(year + years, place + 1, 1)


def unit_start(unit: int, today: datetime, back: int) -> datetime:
    """Return the first moment of the day, week, month or year `back` units before today's."""
    starts: tuple[Callable[[], datetime], ...] = (
        lambda: today - back * DAY,
        lambda: today - (today.weekday() + 7 * back) * DAY,
        lambda: month_start(today.year, today.month - back),
        lambda: datetime(today.year - back, 1, 1),
    )
    return starts[unit]()
