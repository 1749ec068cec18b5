"""Signals for and against a message, given a question.

A message is judged by its own words, those of its neighbours and session, its meaning, its speaker
and its time. Its length says nothing about it; packing sets its price against its worth.
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

from contextwright.recall.candidates import Allows, first_of, in_turn, is_said, with_neighbours
from contextwright.recall.dates.periods import Period, days_from
from contextwright.recall.outline import AROUND, ASKS, SAID, USER, Entry, Outline
from contextwright.recall.places import DAY
from contextwright.recall.questions import Question

__all__ = ["LATEST", "OWN", "Signals", "TermMatches", "signals_of"]

LONG = 240
"""Characters from which a message contains words by chance."""
CHANCE = 0.3
"""Discount of words in long messages."""
NEAR = ((-1, 0.36), (1, 0.36), (-2, 0.22), (2, 0.22))
"""Offsets of neighbours, and the weight of their words; the message's own have 0.53."""
OWN = 0.53
FURTHER = tuple(1 - distance / (AROUND + 1) for distance in range(AROUND + 1))
SUMS = tuple(accumulate(FURTHER))
"""Weights of surrounding messages by distance, and their sum."""
FADING = 7.0
"""Days after a named time until a message counts half."""
LATEST = 0.5
"""The fit of a day from which its messages are ranked because a question names the time."""
LONGEST_FIT = FADING * log2(1 / LATEST)
"""Days after a period until none fits so well."""
SURE = 0.5
"""Minimum certainty of a period; "recently" is not enough."""


class TermMatches(Struct, frozen=True):
    """A term of a question, its weight, and the messages that have it."""

    term: str
    weight: float
    numbers: frozenset[int]


class Signals(NamedTuple):
    """The signals for and against a message."""

    words: float = 0.0
    """The share of the question's words it has; rare words count more."""
    beside: float = 0.0
    """The same, including the words of its neighbours."""
    around: float = 0.0
    """The average share of the messages around it."""
    session: float = 0.0
    """The best word overlap of any message in the same session."""
    meaning: float = 0.0
    """How near its meaning is: the cosine, less what all messages have in common."""
    meaning_beside: float = 0.0
    """The same, including its neighbours."""
    meaning_session: float = 0.0
    """The nearest meaning in its session."""
    speaker: float = 0.0
    """Whether the question names its speaker."""
    own: float = 0.0
    """Whether the question is about the person who asks, and they wrote it; any user, if it is not
    known who asks."""
    date: float = 0.0
    """Whether it was sent at the time that the question names, or soon after."""
    asks: float = 0.0
    """Whether it is itself a question."""


def signals_of(
    question: Question,
    found: Sequence[TermMatches],
    meanings: Mapping[int, float],
    outline: Outline,
    most: int,
    allows: Allows = is_said,
) -> list[tuple[int, Entry, Signals]]:
    """Return the signals of the messages worth ranking."""
    words = Words(found, outline)
    entry_of = cache(outline.entry)
    times = Times(question.periods)
    best = first_of(words.best_first(), most, entry_of, allows)
    nearest = first_of(meanings, most, entry_of, allows)
    # An answer often shares no word with the question, but is next to a message that does.
    looked_at = with_neighbours([*in_turn(best, nearest)], most, outline.last)
    looked_at.update(first_of(named_in(question, times, outline), most, entry_of, allows))
    entries = {number: entry_of(number) for number in sorted(looked_at)}
    said = {number: entry for number, entry in entries.items() if entry and entry.flags & SAID}
    sessions = best_of_sessions(said, words.share)
    meaning_of = meanings.get
    near_sessions = best_of_sessions(said, lambda one: meaning_of(one, 0.0)) if meanings else {}
    result: list[tuple[int, Entry, Signals]] = []
    for number, entry in said.items():
        if not allows(number, entry):
            continue
        # Positional, in the order of the fields, because keywords would dominate the run time.
        signals = Signals(
            words.share(number),
            words.beside(number),
            words.around(number, entry),
            sessions.get(entry.session, 0.0),
            meaning_of(number, 0.0),
            meaning_beside(meanings, number, entry) if meanings else 0.0,
            near_sessions.get(entry.session, 0.0),
            1.0 if entry.speaker in question.speakers else 0.0,
            1.0 if is_own(question, entry) else 0.0,
            times.fit(entry.time) if times.are_known and entry.time is not None else 0.0,
            1.0 if entry.flags & ASKS else 0.0,
        )
        result.append((number, entry, signals))
    return result


def named_in(question: Question, times: Times, outline: Outline) -> Iterator[int]:
    """Yield the messages of people and times that a question names, the likeliest first.

    "What did Ann say yesterday?" shares no word with any of them.
    """
    people = question.speakers | question.askers
    days: list[int] = []
    if times.are_known:
        fits = {day: times.fit(day * DAY + DAY - 1) for day in times.near(outline.days())}
        fitting = (day for day, fit in fits.items() if fit >= LATEST)
        days = sorted(fitting, key=lambda day: (-fits[day], -day))
        if people:
            on_days = outline.said_on(days)
            yield from (number for number in on_days if outline.speaker(number) in people)
    pairs = zip_longest(outline.said_by(people), outline.said_on(days))
    yield from (number for pair in pairs for number in pair if number)


def is_own(question: Question, entry: Entry) -> bool:
    """Whether a question is about the person who asks, and a message theirs, as far as known."""
    if question.askers:
        return entry.speaker in question.askers
    return question.is_own and bool(entry.flags & USER)


class Words:
    """The messages that have words of a question, with one bit per word."""

    def __init__(self, found: Sequence[TermMatches], outline: Outline) -> None:
        self.outline = outline
        self.weights = [one.weight for one in found]
        self.whole = sum(self.weights) or 1.0
        self.masks: dict[int, int] = {}
        masks = self.masks
        for place, one in sorted(enumerate(found), key=lambda pair: -len(pair[1].numbers)):
            bit = 1 << place
            if masks:
                for number in one.numbers:
                    masks[number] = masks.get(number, 0) | bit
            else:  # the common case, all at once
                masks.update(dict.fromkeys(one.numbers, bit))
        # The same few sets of words occur again and again, and so do neighbours.
        self.weigh = cache(self._weigh)
        self.discount = cache(self._discount)
        self.share = cache(self._share)

    def best_first(self) -> Iterator[int]:
        """Yield the messages by the words they have, regardless of length; newer ones win a tie."""
        numbers: defaultdict[int, list[int]] = defaultdict(list)
        for number, mask in self.masks.items():
            numbers[mask].append(number)
        alike: dict[float, list[int]] = {}
        for mask, some in numbers.items():
            alike.setdefault(self.weigh(mask), []).extend(some)
        for share in sorted(alike, reverse=True):
            yield from sorted(alike[share], reverse=True)

    def _weigh(self, mask: int) -> float:
        """Return the share of the question that a set of words is."""
        return (
            sum(weight for place, weight in enumerate(self.weights) if mask >> place & 1)
            / self.whole
        )

    def _discount(self, number: int) -> float:
        """Return the weight of words in a message; a long one has many by chance."""
        size = self.outline.size(number)
        return 1.0 if size <= LONG else 1 / (1 + CHANCE * log(size / LONG))

    def _share(self, number: int) -> float:
        """Return the share of the question's words that a message has."""
        mask = self.masks.get(number)
        return self.weigh(mask) * self.discount(number) if mask else 0.0

    def beside(self, number: int) -> float:
        """Return the share that a message and its neighbours have together, less with distance."""
        masks = self.masks
        have = masks.get(number, 0)
        total = OWN * self.share(number)
        for step, counts in NEAR:
            mask = masks.get(number + step)
            if mask and (new := mask & ~have):
                total += counts * self.weigh(new) * self.discount(number + step)
                have |= new
        return total

    def around(self, number: int, entry: Entry) -> float:
        """Return the mean overlap of the messages around one in its session, less with distance."""
        first, last = max(number - AROUND, entry.session), number + entry.ahead
        share, total = self.share, 0.0
        for other in filter(self.masks.__contains__, range(first, last + 1)):
            total += FURTHER[abs(other - number)] * share(other)
        return total / (SUMS[number - first] + SUMS[last - number] - 1)


def best_of_sessions(
    said: Mapping[int, Entry], share_of: Callable[[int], float]
) -> dict[int, float]:
    """Return the best word overlap of each session."""
    best: dict[int, float] = {}
    for number, entry in said.items():
        share = share_of(number)
        if share > best.get(entry.session, 0.0):
            best[entry.session] = share
    return best


def meaning_beside(meanings: Mapping[int, float], number: int, entry: Entry) -> float:
    """Return how near the meaning of a message and its neighbours is."""
    total, whole = meanings.get(number, 0.0), 1.0
    for distance in (1, 2):
        weight = 1 - distance / 3
        if distance <= entry.ahead:
            total += weight * meanings.get(number + distance, 0.0)
            whole += weight
        if number - distance >= entry.session:
            total += weight * meanings.get(number - distance, 0.0)
            whole += weight
    return total / whole


class Times:
    """The times that a question asks for."""

    def __init__(self, periods: Sequence[Period]) -> None:
        sure = [period for period in periods if period.certainty >= SURE]
        self.are_known = bool(sure)
        """Whether it asks for any."""
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

    def near(self, days: Set[int]) -> Set[int]:
        """Return the days, of some, that may fit enough for their messages to be ranked.

        A long conversation has hundreds of days, and few of them are in a period or soon after it.
        """
        if self._yearly:
            return days
        near: set[int] = set()
        for start, end, _ in self._spans:
            first, last = start / DAY - 1, end / DAY + LONGEST_FIT
            near.update([day for day in days if first <= day <= last])
        return near

    def fit(self, time: int) -> float:
        """Return 1 within a period and less after it: people report on a day when it is over."""
        best = 0.0
        for start, end, certainty in self._spans:
            if time >= start:
                best = max(best, certainty * faded(max(time - end, 0.0) / DAY))
        for period in self._yearly:
            days = days_from(period, datetime.fromtimestamp(time, UTC))
            if days is not None and days >= 0:
                best = max(best, period.certainty * faded(days))
        return best


def faded(days: float) -> float:
    """Return the share that is left after a number of days."""
    return 0.5 ** (days / FADING)
