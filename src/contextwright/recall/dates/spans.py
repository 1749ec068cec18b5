"""Dates by their parts, and the spans of time they mean on a calendar."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from msgspec import Struct

__all__ = ["DAY", "INFERRED", "SAID", "VAGUE", "DateMention", "Span", "unit_start"]

SAID, INFERRED, VAGUE = 1.0, 0.8, 0.4
"""Certainty: the words say it; the year or direction is inferred; it may mean something else."""
DAY = timedelta(days=1)


class Span(Struct, frozen=True):
    """A span of time on the asker's calendar."""

    start: datetime
    end: datetime
    certainty: float = SAID
    yearly: bool = False


class DateMention(Struct, frozen=True, kw_only=True):
    """A date as the words give it: some of its parts, or its span."""

    first: int = 0
    after: int = 0
    """Where its words begin, and where the next word begins."""
    year: int | None = None
    month: int = 1
    months: int = 1
    days: tuple[int, int] | None = None
    span: Span | None = None
    over: bool = False
    """Whether it must have ended: "last May", asked in May, is a year ago."""
    certainty: float = SAID
    other: DateMention | None = None
    """Its other reading: 5/7/2023 may be two days."""

    @property
    def known(self) -> bool:
        """Whether the words alone give the year."""
        return self.year is not None or self.span is not None

    def in_year(self, year: int) -> Span | None:
        """Return the span in a year; None for days that the year does not have."""
        try:
            if self.days is not None:
                first, last = (datetime(year, self.month, day) for day in self.days)
                return Span(first, last + DAY, self.certainty) if first <= last else None
            start, end = month_start(year, self.month), month_start(year, self.month + self.months)
            return Span(start, end, self.certainty)
        except (ValueError, OverflowError):
            return None

    def latest(self, today: datetime) -> Span | None:
        """Return the latest span that has begun, or that has ended if `over`."""
        for year in range(today.year, today.year - 9, -1):  # a 29 February may be 8 years ago
            span = self.in_year(year)
            if span and (span.end if self.over else span.start) <= today:
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
