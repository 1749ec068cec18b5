"""Which messages answer a question: how likely it is of each, and why.

A message is judged by a few signals, each between about -1 and 1: the words it shares with the
question, those of its neighbours and of its sitting, how near its meaning is, who says it, when,
and how long it is. A signal times its weight moves the log-odds that the question needs this
message; so the parts of a score add up, and the score is a probability. The weights were fitted on
conversations with known answers (`benchmarks/weights.py`), the same for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from heapq import nlargest
from itertools import accumulate
from math import exp, log
from operator import mul
from typing import NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from contextwright.memories import Ranking
from contextwright.recall.dates import Period, days_from
from contextwright.recall.outline import AROUND, Entry, Outline
from contextwright.recall.questions import Question

__all__ = [
    "PLAIN",
    "Found",
    "Part",
    "Ranked",
    "Ranking",
    "Signals",
    "bias_of",
    "probability",
    "rank",
    "signals_of",
]

LONG = 240
"""Characters from which on a message holds words by chance."""
CHANCE = 0.3
"""How much less words of a long message count."""
SHORT, MIDDLE, LONGER = log(80), log(120), log(400)
"""Characters up to which a message says little, that many have, and from which on it is long."""
NEAR = ((1, 0.36), (2, 0.22))
"""What a word of a neighbour counts, by its distance, where one's own counts 0.53."""
OWN = 0.53
FURTHER = tuple(1 - distance / (AROUND + 1) for distance in range(AROUND + 1))
SUMS = tuple(accumulate(FURTHER))
"""What a message around one counts, by its distance, and all up to there."""
FADING = 7.0
"""Days after a time that was asked for until what is said counts half as much for it."""


USUAL, FEWEST = 600, 30
"""Messages of the talks that the weights were fitted to, and of the shortest that counts."""
REACH = 20
"""Messages beside one that is found which are looked at, if nothing nearer fills the budget."""
FEWEST_CALLS, MOSTLY, OFTEN = 5, 0.8, 0.04
"""When a name is what one of two people calls the other: how often it is said, how much of that by
one of them, and in which share of all that this one says."""
SURE = 0.5
"""How sure it must be that a time is meant: "recently" is no time at which things are found."""


class Found(Struct, frozen=True):
    """A term of a question, how much it tells, and the messages that have it."""

    term: str
    weight: float
    numbers: frozenset[int]


class Signals(NamedTuple):
    """What speaks for a message and against it."""

    words: float = 0.0
    """The share of the question's words it has, where rare ones count for more."""
    beside: float = 0.0
    """The same with the words of its neighbours."""
    around: float = 0.0
    """The mean share of those around it."""
    sitting: float = 0.0
    """The best share of its sitting."""
    meaning: float = 0.0
    """How near its meaning is: the cosine, less what all messages have in common."""
    meaning_beside: float = 0.0
    """The same, with its neighbours."""
    meaning_sitting: float = 0.0
    """The nearest meaning of its sitting."""
    speaker: float = 0.0
    """Whether somebody says it whom the question names."""
    own: float = 0.0
    """Whether a user says it, and the question speaks of the person who asks."""
    date: float = 0.0
    """Whether it was said at the time, or soon after, that the question speaks of."""
    asks: float = 0.0
    """Whether it is itself a question."""
    size: float = 0.0
    long: float = 0.0
    short: float = 0.0


Allows: TypeAlias = Callable[[int, Entry], bool]
"""Whether a message is wanted, by its number and what is known of it."""


def is_said(number: int, entry: Entry) -> bool:
    """Whether a message is part of the talk."""
    return entry.is_said


class Weights(Struct, frozen=True):
    """What each signal counts, and the log-odds of a message for which nothing speaks."""

    signals: Signals
    bias: float


WORDS_ALONE = Weights(
    Signals(
        words=1.91, beside=4.81, around=2.83, sitting=2.43, speaker=1.81, own=1.13, date=2.27,
        asks=-0.25, size=0.07, long=-0.25, short=0.62,
    ),
    bias=-7.83,
)  # fmt: skip
WITH_MEANING = Weights(
    Signals(
        words=0.82, beside=4.28, around=1.00, sitting=2.00, meaning=2.53, meaning_beside=2.10,
        meaning_sitting=1.43, speaker=2.01, own=1.35, date=2.60, asks=-0.27, size=0.24, long=-0.26,
        short=0.67,
    ),
    bias=-8.47,
)  # fmt: skip


PLAIN = Ranking()
"""The question alone counts."""


class Part(Struct, frozen=True):
    """What one reason adds to the log-odds of a message."""

    name: str
    adds: float


class Ranked(Struct, frozen=True):
    """A message with how likely it is that the question needs it."""

    number: int
    odds: float
    """Its log-odds: the sum of the parts."""
    entry: Entry
    signals: Signals
    weights: Signals
    others: tuple[Part, ...]
    """What is so for every message, and what counts beside the question."""

    @property
    def score(self) -> float:
        """The same as a probability."""
        return probability(self.odds)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What each reason adds to the log-odds; few are ever asked for theirs."""
        base, *others = self.others
        return (base, *parts_of(self.signals, self.weights), *others)


def rank(
    question: Question,
    found: Sequence[Found],
    meanings: Mapping[int, float] | None,
    outline: Outline,
    *,
    most: int,
    total: int,
    now: datetime | None = None,
    ranking: Ranking = PLAIN,
    allows: Allows = is_said,
) -> list[Ranked]:
    """About so many messages that may be needed, the most likely first.

    Args:
        meanings: the cosines of the nearest messages; None: words alone.
        most: how many of each side are looked at closely.
        total: how many messages there are in all.
        allows: which messages are wanted; others tell of their neighbours.
    """
    question, found = with_aliases(question, found, outline)
    weights = WORDS_ALONE if meanings is None else WITH_MEANING
    base = Part("base", bias_of(weights, total))
    people = outline.people()
    loudest = max(people.values(), default=1)
    ranked: list[Ranked] = []
    now = now if now is None or now.tzinfo else now.replace(tzinfo=UTC)
    for number, entry, signals in signals_of(
        question, found, meanings or {}, outline, most, allows
    ):
        others: list[Part] = [base]
        if ranking.recency and now is not None and entry.time is not None:
            days = max(0.0, (now.timestamp() - entry.time) / 86_400)
            others.append(Part("recency", -ranking.recency * log(2) * days / ranking.half_life))
        if ranking.senders:
            share = people.get((entry.speaker, entry.id), 0) / loudest
            others.append(Part("sender", ranking.senders * log(1 + share)))
        odds = sum(map(mul, signals, weights.signals)) + sum(part.adds for part in others)
        ranked.append(Ranked(number, odds, entry, signals, weights.signals, tuple(others)))
    ranked.sort(key=lambda one: (-one.odds, -one.number))
    return ranked


def bias_of(weights: Weights, total: int) -> float:
    """What is so for every message: of few, each is likelier to be the one that is needed."""
    return weights.bias + log(USUAL / min(max(total, FEWEST), USUAL))


def parts_of(signals: Signals, weights: Signals) -> list[Part]:
    """What each signal adds, without those that add nothing."""
    adds = zip(Signals._fields, map(mul, signals, weights), strict=True)
    return [Part(name, more) for name, more in adds if more]


def probability(odds: float) -> float:
    """What log-odds are as a probability."""
    return 1 / (1 + exp(-max(min(odds, 50.0), -50.0)))


def with_aliases(
    question: Question, found: Sequence[Found], outline: Outline
) -> tuple[Question, Sequence[Found]]:
    """A question that names somebody as others call them, with who it is.

    Where two people talk, a name that one of them says again and again, and the other hardly ever,
    is the other's. Whoever is asked about does not say it: so it is no word to look for.
    """
    people = outline.people()
    if len(people) != 2 or not question.names:
        return question, found
    (first, _), (second, _) = people
    called: dict[str, str] = {}
    for one in found:
        if one.term in question.names and len(one.numbers) >= FEWEST_CALLS:
            speakers = map(outline.speaker, one.numbers)
            callers = Counter(name for name in speakers if name is not None)
            caller, calls = callers.most_common(1)[0]
            often = sum(count for (name, _), count in people.items() if name == caller)
            if calls >= MOSTLY * callers.total() and calls >= OFTEN * often:
                called[one.term] = second if caller == first else first
    if not called:
        return question, found
    speakers = question.speakers | frozenset(called.values())
    rest = [one if one.term not in called else replace(one, weight=0.0) for one in found]
    return replace(question, speakers=speakers), rest


# --- signals -------------------------------------------------------------------------------------


def signals_of(
    question: Question,
    found: Sequence[Found],
    meanings: Mapping[int, float],
    outline: Outline,
    most: int,
    allows: Allows = is_said,
) -> list[tuple[int, Entry, Signals]]:
    """The messages worth a closer look, with what speaks for them."""
    words = Words(found, outline)
    shares = [(words.weigh(mask), number) for number, mask in words.masks.items()]
    best = best_of(shares, most, outline, allows)
    near = [(cosine, number) for number, cosine in meanings.items()]
    nearest = best_of(near, most, outline, allows)
    # An answer often shares no word with the question: it stands beside one that does.
    looked_at = with_neighbours([*best, *nearest], most)
    entries = {number: outline.entry(number) for number in sorted(looked_at)}
    said = {number: entry for number, entry in entries.items() if entry and entry.is_said}
    sittings = best_of_sittings(said, map(words.share, said))
    nearest_sittings = best_of_sittings(said, (meanings.get(number, 0.0) for number in said))
    result: list[tuple[int, Entry, Signals]] = []
    for number, entry in said.items():
        if not allows(number, entry):
            continue
        length = log(max(entry.size, 1))
        signals = Signals(
            words=words.share(number),
            beside=words.beside(number),
            around=words.around(number, entry),
            sitting=sittings.get(entry.sitting, 0.0),
            meaning=meanings.get(number, 0.0),
            meaning_beside=meaning_beside(meanings, number, entry),
            meaning_sitting=nearest_sittings.get(entry.sitting, 0.0),
            speaker=float(entry.speaker in question.speakers),
            own=float(question.is_own and entry.is_user),
            date=date_signal(question.periods, entry.time),
            asks=float(entry.asks),
            size=length - MIDDLE,
            long=max(length - LONGER, 0.0),
            short=min(length - SHORT, 0.0),
        )
        result.append((number, entry, signals))
    return result


def best_of(
    scores: Sequence[tuple[float, int]], most: int, outline: Outline, allows: Allows
) -> list[int]:
    """The messages with the best scores, of two alike the newer ones, and as many that are wanted.

    Whatever else has the words of a question, such as results of tools, takes no place from those.
    """
    looked_at = most
    while True:
        best = [number for _, number in nlargest(looked_at, scores)]
        entries = ((number, outline.entry(number)) for number in best)
        wanted = [number for number, entry in entries if entry and allows(number, entry)]
        if len(wanted) >= most or looked_at >= len(scores):
            return [*dict.fromkeys([*best[:most], *wanted[:most]])]
        looked_at *= 4


def with_neighbours(seeds: Sequence[int], most: int) -> set[int]:
    """Numbers and their neighbours: the next ones, and more while there is room for them."""
    looked_at = {*seeds}
    for distance in range(1, REACH):
        if distance > 1 and len(looked_at) >= most:
            break
        looked_at.update(number + distance for number in seeds)
        looked_at.update(number - distance for number in seeds)
    return looked_at


class Words:
    """Which messages have which words of a question, as one bit for each word."""

    def __init__(self, found: Sequence[Found], outline: Outline) -> None:
        self.outline = outline
        self.weights = [one.weight for one in found]
        self.whole = sum(self.weights) or 1.0
        self.masks: dict[int, int] = {}
        for place, one in enumerate(found):
            bit = 1 << place
            for number in one.numbers:
                self.masks[number] = self.masks.get(number, 0) | bit
        # The same few sets of words come again and again, and so do neighbours.
        self.weigh = cache(self._weigh)
        self.discount = cache(self._discount)
        self.share = cache(self._share)

    def _weigh(self, mask: int) -> float:
        """The share of the question that a set of words is."""
        return (
            sum(weight for place, weight in enumerate(self.weights) if mask >> place & 1)
            / self.whole
        )

    def _discount(self, number: int) -> float:
        """What words of a message count: a long one has many by chance."""
        size = self.outline.size(number)
        return 1.0 if size <= LONG else 1 / (1 + CHANCE * log(size / LONG))

    def _share(self, number: int) -> float:
        """The share of the question that a message has."""
        mask = self.masks.get(number)
        return self.weigh(mask) * self.discount(number) if mask else 0.0

    def beside(self, number: int) -> float:
        """The share that a message and its neighbours have together; the further, the less."""
        have = self.masks.get(number, 0)
        total = OWN * self.share(number)
        for distance, counts in NEAR:
            for other in (number - distance, number + distance):
                new = self.masks.get(other, 0) & ~have
                if new:
                    total += counts * self.weigh(new) * self.discount(other)
                    have |= new
        return total

    def around(self, number: int, entry: Entry) -> float:
        """The mean share of the messages around one in its sitting, the further, the less."""
        first, last = max(number - AROUND, entry.sitting), number + entry.ahead
        total = 0.0
        for other in range(first, last + 1):
            if other in self.masks:
                total += FURTHER[abs(other - number)] * self.share(other)
        return total / (SUMS[number - first] + SUMS[last - number] - 1)


def best_of_sittings(said: Mapping[int, Entry], shares: Iterable[float]) -> dict[int, float]:
    """The best share of each sitting, from those of its messages."""
    best: dict[int, float] = {}
    for entry, share in zip(said.values(), shares, strict=True):
        if share > best.get(entry.sitting, 0.0):
            best[entry.sitting] = share
    return best


def meaning_beside(meanings: Mapping[int, float], number: int, entry: Entry) -> float:
    """How near the meaning of a message is together with its neighbours'."""
    if not meanings:
        return 0.0
    total, whole = meanings.get(number, 0.0), 1.0
    for distance in (1, 2):
        weight = 1 - distance / 3
        if distance <= entry.ahead:
            total += weight * meanings.get(number + distance, 0.0)
            whole += weight
        if number - distance >= entry.sitting:
            total += weight * meanings.get(number - distance, 0.0)
            whole += weight
    return total / whole


def date_signal(periods: Sequence[Period], time: int | None) -> float:
    """How well a time fits those that are asked for."""
    if time is None or not periods:
        return 0.0
    moment = datetime.fromtimestamp(time, UTC)
    return max((fit(period, moment) for period in periods), default=0.0)


def fit(period: Period, moment: datetime) -> float:
    """1 in a period, less and less behind it: people tell of a day when it is over."""
    days = days_from(period, moment)
    if days is None or days < 0 or period.certainty < SURE:
        return 0.0
    return period.certainty * 0.5 ** (days / FADING)
