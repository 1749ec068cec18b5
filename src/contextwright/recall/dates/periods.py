"""Find the periods that a question names: "last summer", "7 May 2023", "два тижні тому".

A word with another meaning ("may I", "march on", "room 2023") counts as a date only if its
neighbours show it. Only past periods count, because no message was sent tomorrow. Weeks begin on
Monday, seasons are those of the northern hemisphere, and "two weeks ago" is the whole week before
the last.

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

MAX_PERIODS = 16
"""Maximum number of periods of a question; the first ones are used."""
ANY_YEAR = 4
"""Stands for every year; it has a 29 February."""
YEAR_LENGTH = 365.25
LEADING_WORDS = ("the", "in", "last", "this")
"""Function words before a date that belong to it."""
BOUNDS_BEFORE = {
    "since": "since",
    "since_or_ago": "since",
    "after": "after",
    "before": "before",
    "before_or_ago": "before",
    "upto": "before",
    "until": "until",
}
"""Kinds of words that make a date the bound of an open period, if they come before it."""
BOUNDS_AFTER = {"onward": "since", "later": "after", "earlier": "before"}
"""The same, if they come after it."""


class Period(Struct, frozen=True):
    """A span of time that a question names."""

    start: datetime | None
    """Its first moment; None if it is open."""
    end: datetime | None
    """The first moment after it; None if it is open."""
    certainty: float
    """The probability that this period is meant, from 0 to 1."""
    said: str
    """The words that name it."""
    yearly: bool = False
    """Whether it is these days of every year, because no year is named and `now` is unknown."""


def overlaps(period: Period, sent_at: str | datetime | None) -> bool:
    """Whether a time is in a period; False if it cannot be read.

    A time without a zone is in UTC. For a yearly period, month and day count in the sender's zone.
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
    """Return how many days after a period a time is.

    It is negative before the period, 0 within it, and None if the time cannot be read.
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
    """Return the periods that a question names, in the order of the question.

    Without `now`, relative dates such as "yesterday" are skipped, and "in May" is May of every
    year.
    """
    today = now and datetime(now.year, now.month, now.day)
    sentence = read(question, today)
    zone = now.tzinfo if now and now.tzinfo else UTC
    return tuple(dict.fromkeys(islice(combine(sentence, zone), MAX_PERIODS)))


def combine(sentence: Sentence, zone: tzinfo) -> Iterator[Period]:
    """Yield the periods of the dates in a sentence, with ranges and bounds resolved."""
    pairs = zip_longest(sentence.mentions, sentence.mentions[1:])
    for mention, following in pairs:
        if following and is_range(sentence, mention, following):
            span = between(sentence, mention, following)
            if span is not None:
                yield period(sentence, span, (mention.first, following.after), zone)
                next(pairs)
                continue
        bound = bound_of(sentence, mention)
        for reading in (mention, mention.alternative):
            span = span_of(sentence, reading) if reading else None
            # "Since March" of every year would be always.
            if span and not (span.yearly and bound):
                yield bounded(period(sentence, span, (mention.first, mention.after), zone), bound)


def bound_of(sentence: Sentence, mention: DateMention) -> str:
    """Return which bound of an open period a date is: "since", "before" …; empty if none."""
    kind = sentence.kind(phrase_start(sentence, mention.first) - 1)
    several = mention.days is not None and mention.days[0] != mention.days[1]  # з 3 по 9 червня
    bound = BOUNDS_BEFORE.get(kind) or BOUNDS_AFTER.get(sentence.kind(mention.after), "")
    return "" if several else bound


def bounded(span: Period, bound: str) -> Period:
    """Return a period, opened at one end if it is the bound of an open period."""
    match bound:
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
    """Return the period of a span in a time zone, with the words that name it.

    Args:
        place: the indices of its first word, and of the word after the last.
    """
    first = phrase_start(sentence, place[0])
    first -= sentence.kind(first - 1) in (*BOUNDS_BEFORE, "between", "from")
    start, end = span.start.replace(tzinfo=zone), span.end.replace(tzinfo=zone)
    return Period(start, end, span.certainty, sentence.quote(first, place[1]), span.yearly)


def phrase_start(sentence: Sentence, place: int) -> int:
    """Return the index of a date's first word, including the function words before it."""
    first = place
    while place - first < 3 and sentence.kind(first - 1) in LEADING_WORDS:
        first -= 1
    return first


def is_range(sentence: Sentence, first: DateMention, last: DateMention) -> bool:
    """Whether two dates are the ends of a range: "from May to July", "between May and July"."""
    place = phrase_start(sentence, last.first) - 1
    joint = sentence.kind(place)
    opened = sentence.kind(phrase_start(sentence, first.first) - 1) == "between"
    return place == first.after and joint in JOINTS and (joint != "and" or opened)


def between(sentence: Sentence, first: DateMention, last: DateMention) -> Span | None:
    """Return the span from one date to another; a year of one is that of the other too."""
    is_yearly = not (first.has_year or last.has_year or sentence.today)
    year = ANY_YEAR if is_yearly else first.year
    if year is not None and not last.has_year:
        start = first.in_year(year)
        ends = (last.in_year(year), last.in_year(year + 1))
        end = next((span for span in ends if span and start and start.end <= span.end), None)
    else:
        end = span_of(sentence, last)
        start = span_of(sentence, first) if first.has_year else end and first.latest(end.start)
    if not start or not end or start.start >= end.end:
        return None
    return Span(start.start, end.end, min(start.certainty, end.certainty), is_yearly)


def span_of(sentence: Sentence, mention: DateMention) -> Span | None:
    """Return the span of a date: in its own year, in the latest possible one, or in every year."""
    if mention.span:
        return mention.span
    if mention.year is not None:
        return mention.in_year(mention.year)
    if sentence.today is None:
        span = None if mention.must_have_ended else mention.in_year(ANY_YEAR)
        return span and replace(span, yearly=True)
    span = mention.latest(sentence.today)
    return span and replace(span, certainty=min(span.certainty, INFERRED))
