"""Compute the ranking signals (features) of messages for a question.

The signals are about a message's terms, those of its neighbours and its session, its embedding,
its speaker and its time. Length is no signal of its own; packing weighs a message against its
price.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate, zip_longest
from math import inf, log, log2
from typing import NamedTuple

from msgspec import Struct

from contextwright.recall.candidates import (
    MessageFilter,
    interleave,
    spoken_only,
    take_best,
    with_neighbours,
)
from contextwright.recall.dates.periods import Period, days_from
from contextwright.recall.outline import ASKS, CONTEXT_RADIUS, SPOKEN, USER, Entry, Outline
from contextwright.recall.postings import DAY
from contextwright.recall.questions import Question

__all__ = ["MIN_DATE_FIT", "OWN_WEIGHT", "Signals", "TermMatches", "signals_of"]

LONG_MESSAGE_CHARS = 240
"""Characters above which a message is so long that it contains terms by chance."""
LENGTH_DISCOUNT = 0.3
"""How strongly the terms of long messages are discounted."""
NEIGHBOUR_WEIGHTS = ((-1, 0.36), (1, 0.36), (-2, 0.22), (2, 0.22))
"""Offsets of neighbours, and the weights of their terms in `beside`."""
OWN_WEIGHT = 0.53
"""The weight of the message's own terms in `beside`."""
DISTANCE_WEIGHTS = tuple(
    1 - distance / (CONTEXT_RADIUS + 1) for distance in range(CONTEXT_RADIUS + 1)
)
CUMULATIVE_WEIGHTS = tuple(accumulate(DISTANCE_WEIGHTS))
"""Weights of the surrounding messages by distance in `around`, and their cumulative sums."""
DATE_HALF_LIFE = 7.0
"""Days after a named period until the date signal is halved."""
MIN_DATE_FIT = 0.5
"""The date signal from which all messages of a day are candidates."""
MAX_DATE_LAG = DATE_HALF_LIFE * log2(1 / MIN_DATE_FIT)
"""Days after a period until its date signal is below that."""
MIN_CERTAINTY = 0.5
"""Minimum certainty of a period that counts; "recently" has less."""


class TermMatches(Struct, frozen=True):
    """A term of a question, its weight, and its postings: the messages that contain it."""

    term: str
    weight: float
    numbers: frozenset[int]


class Signals(NamedTuple):
    """The ranking signals of a message. Their names are shown to users as reasons."""

    words: float = 0.0
    """The share of the question's terms it contains, weighted by rarity."""
    beside: float = 0.0
    """The same, including the terms of its neighbours."""
    around: float = 0.0
    """The mean of `words` over the messages around it, weighted by distance."""
    session: float = 0.0
    """The highest `words` in its session."""
    meaning: float = 0.0
    """The cosine of its embedding and the question's, both relative to the mean of all."""
    meaning_beside: float = 0.0
    """The same, including its neighbours."""
    meaning_session: float = 0.0
    """The highest `meaning` in its session."""
    speaker: float = 0.0
    """Whether the question names its speaker."""
    own: float = 0.0
    """Whether the question is about the person who asks, and they wrote it. If it is unknown who
    asks, any user counts."""
    date: float = 0.0
    """1 if it was sent in the period that the question names, less if soon after."""
    asks: float = 0.0
    """Whether it is itself a question."""


def signals_of(
    question: Question,
    matches: Sequence[TermMatches],
    cosines: Mapping[int, float],
    outline: Outline,
    limit: int,
    allows: MessageFilter = spoken_only,
) -> list[tuple[int, Entry, Signals]]:
    """Return the candidates for a question, each with its outline entry and its signals.

    Args:
        matches: the terms of the question with their postings.
        cosines: those of the nearest messages, best first.
        limit: how many of the best by terms, by cosine and by speaker or date are candidates.
    """
    overlap = TermOverlap(matches, outline)
    entry_of = cache(outline.entry)
    dates = DateFit(question.periods)
    best = take_best(overlap.best_first(), limit, entry_of, allows)
    nearest = take_best(cosines, limit, entry_of, allows)
    # An answer often shares no term with the question, but is next to a message that does.
    candidates = with_neighbours([*interleave(best, nearest)], limit, outline.last)
    candidates.update(
        take_best(messages_named_by(question, dates, outline), limit, entry_of, allows)
    )
    spoken = {
        number: entry
        for number in sorted(candidates)
        if (entry := entry_of(number)) is not None and entry.flags & SPOKEN
    }
    best_in_session = max_by_session(spoken, overlap.masks.keys(), overlap.share)
    meaning_of = cosines.get
    nearest_in_session = max_by_session(spoken, cosines.keys(), cosines.__getitem__)
    result: list[tuple[int, Entry, Signals]] = []
    masks = overlap.masks
    for number, entry in spoken.items():
        if not allows(number, entry):
            continue
        signals = (
            overlap.share(number) if number in masks else 0.0,
            overlap.beside(number),
            overlap.around(number, entry),
            best_in_session.get(entry.session, 0.0),
            meaning_of(number, 0.0),
            meaning_beside(cosines, number, entry) if cosines else 0.0,
            nearest_in_session.get(entry.session, 0.0),
            1.0 if entry.speaker in question.speakers else 0.0,
            1.0 if is_own(question, entry) else 0.0,
            dates.fit(entry.time) if dates.has_periods and entry.time is not None else 0.0,
            1.0 if entry.flags & ASKS else 0.0,
        )
        # `Signals(…)` takes twice as long, because it reads its arguments in Python.
        made = tuple.__new__(Signals, signals)  # pyright: ignore[reportUnknownMemberType]
        result.append((number, entry, made))
    return result


def messages_named_by(question: Question, dates: DateFit, outline: Outline) -> Iterator[int]:
    """Yield the messages of the speakers and days that a question names, likeliest first.

    The answer to "What did Ann say yesterday?" need not share a term with it.
    """
    people = question.speakers | question.askers
    days: list[int] = []
    if dates.has_periods:
        fits = {day: dates.fit(day * DAY + DAY - 1) for day in dates.candidate_days(outline.days())}
        fitting = (day for day, fit in fits.items() if fit >= MIN_DATE_FIT)
        days = sorted(fitting, key=lambda day: (-fits[day], -day))
        if people:
            on_days = outline.on_days(days)
            yield from (number for number in on_days if outline.speaker(number) in people)
    pairs = zip_longest(outline.by_speakers(people), outline.on_days(days))
    yield from (number for pair in pairs for number in pair if number)


def is_own(question: Question, entry: Entry) -> bool:
    """Whether a question is about the person who asks, and that person wrote the message."""
    if question.askers:
        return entry.speaker in question.askers
    return question.is_about_asker and bool(entry.flags & USER)


class TermOverlap:
    """The terms of a question that each message contains, as a bit mask."""

    def __init__(self, found: Sequence[TermMatches], outline: Outline) -> None:
        self.outline = outline
        self.weights = [one.weight for one in found]
        self.total_weight = sum(self.weights) or 1.0
        self.masks: dict[int, int] = {}
        masks = self.masks
        for place, one in sorted(enumerate(found), key=lambda pair: -len(pair[1].numbers)):
            bit = 1 << place
            if masks:
                for number in one.numbers:
                    masks[number] = masks.get(number, 0) | bit
            else:  # for the most frequent term, all at once
                masks.update(dict.fromkeys(one.numbers, bit))
        # Few different masks occur, and neighbours are asked for several times.
        self.mask_share = cache(self._mask_share)
        self.discount = cache(self._discount)
        self.share = cache(self._share)

    def best_first(self) -> Iterator[int]:
        """Yield the messages by their share, without the discount; of equal ones, newer first."""
        numbers: defaultdict[int, list[int]] = defaultdict(list)
        for number, mask in self.masks.items():
            numbers[mask].append(number)
        alike: dict[float, list[int]] = {}
        for mask, some in numbers.items():
            alike.setdefault(self.mask_share(mask), []).extend(some)
        for share in sorted(alike, reverse=True):
            yield from sorted(alike[share], reverse=True)

    def _mask_share(self, mask: int) -> float:
        """Return the weight of the terms in a mask, as a share of the question's."""
        return (
            sum(weight for place, weight in enumerate(self.weights) if mask >> place & 1)
            / self.total_weight
        )

    def _discount(self, number: int) -> float:
        """Return the factor for the terms of a message; long ones contain many by chance."""
        size = self.outline.size(number)
        return (
            1.0
            if size <= LONG_MESSAGE_CHARS
            else 1 / (1 + LENGTH_DISCOUNT * log(size / LONG_MESSAGE_CHARS))
        )

    def _share(self, number: int) -> float:
        """Return the discounted share of the question's terms that a message contains."""
        mask = self.masks.get(number)
        return self.mask_share(mask) * self.discount(number) if mask else 0.0

    def beside(self, number: int) -> float:
        """Return the share of a message and its neighbours; each term counts once."""
        masks = self.masks
        have = masks.get(number, 0)
        total = OWN_WEIGHT * self.share(number) if have else 0.0
        for step, counts in NEIGHBOUR_WEIGHTS:
            mask = masks.get(number + step)
            if mask and (new := mask & ~have):
                total += counts * self.mask_share(new) * self.discount(number + step)
                have |= new
        return total

    def around(self, number: int, entry: Entry) -> float:
        """Return the mean share of the messages around one in its session, by distance."""
        first, last = max(number - CONTEXT_RADIUS, entry.session), number + entry.following
        share, total = self.share, 0.0
        for other in filter(self.masks.__contains__, range(first, last + 1)):
            total += DISTANCE_WEIGHTS[abs(other - number)] * share(other)
        return total / (CUMULATIVE_WEIGHTS[number - first] + CUMULATIVE_WEIGHTS[last - number] - 1)


def max_by_session(
    spoken: Mapping[int, Entry], numbers: Set[int], value_of: Callable[[int], float]
) -> dict[int, float]:
    """Return the highest value of each session, if it is above 0.

    Args:
        numbers: the messages that have a value.
    """
    best: dict[int, float] = {}
    for number in filter(numbers.__contains__, spoken):
        session, value = spoken[number].session, value_of(number)
        if value > best.get(session, 0.0):
            best[session] = value
    return best


def meaning_beside(cosines: Mapping[int, float], number: int, entry: Entry) -> float:
    """Return the mean cosine of a message and its neighbours in its session, by distance."""
    total, total_weight = cosines.get(number, 0.0), 1.0
    for distance in (1, 2):
        weight = 1 - distance / 3
        if distance <= entry.following:
            total += weight * cosines.get(number + distance, 0.0)
            total_weight += weight
        if number - distance >= entry.session:
            total += weight * cosines.get(number - distance, 0.0)
            total_weight += weight
    return total / total_weight


class DateFit:
    """How well a message's time fits the periods that a question names."""

    def __init__(self, periods: Sequence[Period]) -> None:
        sure = [period for period in periods if period.certainty >= MIN_CERTAINTY]
        self.has_periods = bool(sure)
        """Whether the question names any."""
        self._yearly = [period for period in sure if period.yearly]
        self._spans = [
            (
                period.start.timestamp() if period.start else -inf,
                period.end.timestamp() if period.end else inf,
                period.certainty,
            )
            for period in sure
            if not period.yearly
        ]

    def candidate_days(self, days: Set[int]) -> Set[int]:
        """Return the days whose fit may be high enough.

        This is a quick filter, because a long conversation has hundreds of days.
        """
        if self._yearly:
            return days
        candidates: set[int] = set()
        for start, end, _ in self._spans:
            first, last = start / DAY - 1, end / DAY + MAX_DATE_LAG
            candidates.update([day for day in days if first <= day <= last])
        return candidates

    def fit(self, time: int) -> float:
        """Return 1 within a period, and less after it, because people tell of a day afterwards."""
        best = 0.0
        for start, end, certainty in self._spans:
            if time >= start:
                best = max(best, certainty * decay(max(time - end, 0.0) / DAY))
        for period in self._yearly:
            days = days_from(period, datetime.fromtimestamp(time, UTC))
            if days is not None and days >= 0:
                best = max(best, period.certainty * decay(days))
        return best


def decay(days: float) -> float:
    """Return the exponential decay after a number of days."""
    return 0.5 ** (days / DATE_HALF_LIFE)
