"""Periods that a question names: "last summer", "7 May 2023", "два тижні тому".

A word with another meaning ("may I", "march on", "room 2023") counts as a time only if its
neighbours make it one. Only past periods count, because no message was sent tomorrow. Weeks begin
on Monday, seasons are those of the north, and "two weeks ago" is the whole week before the last.

A period is in the time zone of `now`; without one, in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from itertools import islice, zip_longest

from msgspec import Struct
from msgspec.structs import replace

from contextwright.messages.times import read_time, with_zone
from contextwright.recall.dates.readers import read
from contextwright.recall.dates.sentences import Sentence
from contextwright.recall.dates.spans import DAY, INFERRED, DateMention, Span
from contextwright.recall.dates.words import JOINTS

__all__ = ["Period", "days_from", "overlaps", "periods"]

MOST = 16
"""Maximum number of periods in a question; the first ones count."""
ANY_YEAR = 4
"""Stands for every year; it has a 29 February."""
YEAR_LENGTH = 365.25
LEADING = ("the", "in", "last", "this")
"""Small words before a date that belong to it."""
EDGES = {
    "since": "since",
    "since_or_ago": "since",
    "after": "after",
    "before": "before",
    "before_or_ago": "before",
    "upto": "before",
    "until": "until",
}
"""Words that turn a date into everything before or after it."""
EDGES_BEHIND = {"onward": "since", "later": "after", "earlier": "before"}
"""The same behind it."""


class Period(Struct, frozen=True):
    """A span of time that a question names."""

    start: datetime | None
    """Its first moment; None if it has no beginning."""
    end: datetime | None
    """The first moment after it; None if it has no end."""
    certainty: float
    """The probability that this period is meant, from 0 to 1."""
    said: str
    """The words that name it."""
    yearly: bool = False
    """Whether it means these days of every year, because no year is named and there is no `now`."""


def overlaps(period: Period, sent_at: str | datetime | None) -> bool:
    """Whether a time is in a period; a time that cannot be read is not.

    A time without a zone counts as UTC. For a yearly period, month and day count as the sender
    wrote them.
    """
    moment = read_time(sent_at) if isinstance(sent_at, str) else sent_at
    if moment is None:
        return False
    start, end = period.start, period.end
    if period.yearly and start and end:
        first, last = (start.month, start.day), (end.month, end.day)
        day = (moment.month, moment.day)
        return first <= day < last if first < last else day >= first or day < last
    moment = with_zone(moment)
    return (start is None or start <= moment) and (end is None or moment < end)


def days_from(period: Period, sent_at: str | datetime | None) -> float | None:
    """Return how many days after a period a time is: negative before it, 0 within it.

    People report on a day when it is over, so messages soon after it count as near. None if the
    time cannot be read.
    """
    moment = read_time(sent_at) if isinstance(sent_at, str) else sent_at
    if moment is None:
        return None
    if overlaps(period, moment):
        return 0.0
    start, end = period.start, period.end
    if period.yearly and start and end:
        moment = moment.replace(year=ANY_YEAR, tzinfo=start.tzinfo)
        after = (moment - end) / DAY % YEAR_LENGTH
        before = (start - moment) / DAY % YEAR_LENGTH
        return after if after <= before else -before
    moment = with_zone(moment)
    if start is not None and moment < start:
        return (moment - start) / DAY
    return (moment - end) / DAY if end is not None else 0.0


def periods(question: str, now: datetime | None) -> tuple[Period, ...]:
    """Return the periods that a question names, in its order.

    Without `now`, "yesterday" and other relative times are not read, and "in May" is that month of
    every year.
    """
    today = now and datetime(now.year, now.month, now.day)
    sentence = read(question, today)
    zone = now.tzinfo if now and now.tzinfo else UTC
    return tuple(dict.fromkeys(islice(together(sentence, zone), MOST)))


def together(sentence: Sentence, zone: tzinfo) -> Iterator[Period]:
    """Combine dates with their neighbours: ranges, and what is before or after a date."""
    found = zip_longest(sentence.found, sentence.found[1:])
    for said, following in found:
        if following and is_range(sentence, said, following):
            span = between(sentence, said, following)
            if span is not None:
                yield period(sentence, span, (said.first, following.after), zone)
                next(found)
                continue
        edge = edge_of(sentence, said)
        for reading in (said, said.other):
            span = span_of(sentence, reading) if reading else None
            # "Since March", without a year, says nothing.
            if span and not (span.yearly and edge):
                yield bounded(period(sentence, span, (said.first, said.after), zone), edge)


def edge_of(sentence: Sentence, said: DateMention) -> str:
    """Return the word that turns a date into everything before or after it, if there is one."""
    kind = sentence.kind(opening(sentence, said.first) - 1)
    several = said.days is not None and said.days[0] != said.days[1]  # з 3 по 9 червня
    edge = EDGES.get(kind) or EDGES_BEHIND.get(sentence.kind(said.after), "")
    return "" if several else edge


def bounded(span: Period, edge: str) -> Period:
    """Return a period, or everything before or after it if a word says so."""
    match edge:
        case "since":
            return replace(span, end=None)
        case "after":
            return replace(span, start=span.end, end=None)
        case "before":
            return replace(span, start=None, end=span.start)
        case "until":
            return replace(span, start=None)
        case _:
            return span


def period(sentence: Sentence, span: Span, place: tuple[int, int], zone: tzinfo) -> Period:
    """Return a span in the asker's time zone, with the words that name it."""
    first = opening(sentence, place[0])
    first -= sentence.kind(first - 1) in (*EDGES, "between", "from")
    start, end = span.start.replace(tzinfo=zone), span.end.replace(tzinfo=zone)
    return Period(start, end, span.certainty, sentence.quote(first, place[1]), span.yearly)


def opening(sentence: Sentence, place: int) -> int:
    """Return where a date begins, with the small words that lead to it."""
    first = place
    while place - first < 3 and sentence.kind(first - 1) in LEADING:
        first -= 1
    return first


def is_range(sentence: Sentence, first: DateMention, last: DateMention) -> bool:
    """Whether two dates are the ends of a range: "from May to July", "between May and July"."""
    place = opening(sentence, last.first) - 1
    joint = sentence.kind(place)
    opened = sentence.kind(opening(sentence, first.first) - 1) == "between"
    return place == first.after and joint in JOINTS and (joint != "and" or opened)


def between(sentence: Sentence, first: DateMention, last: DateMention) -> Span | None:
    """Return the span from one date to another; a year of either counts for both."""
    nowhere = not (first.known or last.known or sentence.today)
    year = ANY_YEAR if nowhere else first.year
    if year is not None and not last.known:
        start = first.in_year(year)
        ends = (last.in_year(year), last.in_year(year + 1))
        end = next((span for span in ends if span and start and start.end <= span.end), None)
    else:
        end = span_of(sentence, last)
        start = span_of(sentence, first) if first.known else end and first.latest(end.start)
    if not start or not end or start.start >= end.end:
        return None
    return Span(start.start, end.end, min(start.certainty, end.certainty), nowhere)


def span_of(sentence: Sentence, said: DateMention) -> Span | None:
    """Return the span of a date: in its year, in the latest one, or in every year."""
    if said.span:
        return said.span
    if said.year is not None:
        return said.in_year(said.year)
    if sentence.today is None:
        span = None if said.over else said.in_year(ANY_YEAR)
        return span and replace(span, yearly=True)
    span = said.latest(sentence.today)
    return span and replace(span, certainty=min(span.certainty, INFERRED))
