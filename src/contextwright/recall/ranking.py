"""How likely a question needs each message, and why.

Each signal of a message, times its weight, adds to how well it fits the question. A question needs
few messages, so the score compares each with its rivals, all that fit: among many that fit, each is
less likely needed. The parts of a score add up to its log-odds, so it is a probability. The weights
were fitted on conversations with known answers (`benchmarks/weights.py`), and are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import exp, fsum, log
from operator import attrgetter, mul

from msgspec import Struct
from msgspec.structs import replace

from contextwright.messages.times import with_zone
from contextwright.recall.aliases import with_aliases
from contextwright.recall.candidates import Allows, is_said
from contextwright.recall.memories import Ranking
from contextwright.recall.outline import USER, Entry, Outline
from contextwright.recall.questions import Question
from contextwright.recall.signals import Signals, TermMatches, signals_of

__all__ = [
    "BEST_FIRST",
    "PLAIN",
    "WITH_MEANING",
    "WORDS_ALONE",
    "Part",
    "RankedMessage",
    "Weights",
    "bias_of",
    "compared",
    "parts_of",
    "probability",
    "rank",
    "rivals_of",
]

USUAL, FEWEST = 600, 30
"""Messages of the conversations the weights were fitted to, and of the shortest that counts."""


ADDRESSED = 1.5
"""The odds of a message that was addressed to the model, for a weight of 1."""


class Weights(Struct, frozen=True):
    """The weight of each signal, and the log-odds of a message without any."""

    signals: Signals
    bias: float


WORDS_ALONE = Weights(
    Signals(
        words=2.04, beside=5.02, around=2.92, session=2.45, speaker=1.89, own=1.37, date=2.33,
        asks=-0.27,
    ),
    bias=-8.00,
)  # fmt: skip
WITH_MEANING = Weights(
    Signals(
        words=1.09, beside=4.04, around=0.47, session=1.96, meaning=2.85, meaning_beside=3.35,
        meaning_session=1.32, speaker=2.11, own=1.42, date=2.56, asks=-0.44,
    ),
    bias=-8.44,
)  # fmt: skip


SHARPER, NEEDED, UNSAID = 1.5, 1.2, 0.05
"""How messages are compared with their rivals (`benchmarks/scores.py`): a factor of log-odds, the
logarithm of how many are needed, and a rival that is always there, so that the only message of a
conversation is not needed for that alone.
"""

PLAIN = Ranking()
"""Only the question counts."""


BEST_FIRST = attrgetter("odds", "number")
"""Sort key, reversed: the likeliest first, of equal ones the newer."""


class Part(Struct, frozen=True):
    """The part of one reason in the log-odds of a message."""

    name: str
    adds: float


class RankedMessage(Struct, frozen=True, gc=False):
    """A message and the probability that the question needs it."""

    number: int
    odds: float
    """How well it fits: its log-odds, whatever its rivals."""
    entry: Entry
    signals: Signals
    weights: Signals
    others: tuple[Part, ...]
    """The base for every message, and what counts besides the question."""
    rivals: float = 0.0
    """The part of its rivals in the log-odds of its score, once it is `compared` with them."""

    @property
    def chance(self) -> float:
        """How well it fits, as a probability."""
        return probability(self.odds)

    @property
    def score(self) -> float:
        """The probability that the question needs it, beside its rivals."""
        return probability(SHARPER * self.odds + self.rivals)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The part of each reason in the log-odds of the score, computed on demand."""
        base, *others = self.others
        adds = zip(Signals._fields, map(mul, self.signals, self.weights), strict=True)
        return (
            Part(base.name, SHARPER * base.adds + self.rivals),
            *[Part(name, SHARPER * more) for name, more in adds if more],
            *[Part(part.name, SHARPER * part.adds) for part in others],
        )


def rank(
    question: Question,
    found: Sequence[TermMatches],
    meanings: Mapping[int, float] | None,
    outline: Outline,
    *,
    most: int,
    total: int,
    now: datetime | None = None,
    ranking: Ranking = PLAIN,
    allows: Allows = is_said,
) -> list[RankedMessage]:
    """Return the messages that are most likely needed, best first, not yet `compared`.

    Args:
        meanings: the cosines of the nearest messages, best first; None uses words only.
        most: how many messages by words and by meaning are ranked.
        total: the number of all messages.
        allows: which messages are wanted; others only count as neighbours.
    """
    question, found = with_aliases(question, found, outline)
    weights = WORDS_ALONE if meanings is None else WITH_MEANING
    signal_weights, base = weights.signals, Part("base", bias_of(weights, total))
    others_of = None if ranking == PLAIN else counting(ranking, outline, now)
    ranked: list[RankedMessage] = []
    others = (base,)
    for number, entry, signals in signals_of(
        question, found, meanings or {}, outline, most, allows
    ):
        odds = base.adds + sum(map(mul, signals, signal_weights))
        if others_of is not None:
            others = (base, *others_of(number, entry))
            odds += sum(part.adds for part in others[1:])
        ranked.append(RankedMessage(number, odds, entry, signals, signal_weights, others))
    ranked.sort(key=BEST_FIRST, reverse=True)
    return ranked


def compared(found: Sequence[Sequence[RankedMessage]]) -> list[list[RankedMessage]]:
    """Return ranked messages, of one conversation or several, with all of them as rivals."""
    rivals = rivals_of(found)
    return [[replace(one, rivals=rivals) for one in some] for some in found]


def rivals_of(found: Iterable[Sequence[RankedMessage]]) -> float:
    """Return the part in the log-odds of a score that all ranked messages have as its rivals."""
    # The order in which messages are found must not change a bit.
    fit = fsum(exp(min(SHARPER * one.odds, 50.0)) for some in found for one in some)
    return NEEDED - log(fit + UNSAID)


def counting(
    ranking: Ranking, outline: Outline, now: datetime | None
) -> Callable[[int, Entry], Iterator[Part]]:
    """Return what counts for a message besides the question, as the ranking asks."""
    people = outline.people()
    loudest = max(people.values(), default=1)
    asked = outline.newest_time() if now is None else with_zone(now).timestamp()

    def others_of(number: int, entry: Entry) -> Iterator[Part]:
        if ranking.recency and asked is not None and entry.time is not None:
            days = max(0.0, (asked - entry.time) / 86_400)
            yield Part("recency", -ranking.recency * log(2) * days / ranking.half_life)
        if ranking.senders:
            share = people.get((entry.speaker, entry.id), 0) / loudest
            yield Part("sender", ranking.senders * log(1 + share))
        if ranking.addressed and entry.flags & USER:
            answer = outline.entry(number + 1)
            if answer is not None and answer.is_said and not answer.flags & USER:
                yield Part("addressed", ranking.addressed * log(ADDRESSED))

    return others_of


def bias_of(weights: Weights, total: int) -> float:
    """Return the base for every message; among few, each is more likely needed."""
    return weights.bias + log(USUAL / min(max(total, FEWEST), USUAL))


def parts_of(signals: Signals, weights: Signals) -> list[Part]:
    """Return what the signals add, without zeros."""
    adds = zip(Signals._fields, map(mul, signals, weights), strict=True)
    return [Part(name, more) for name, more in adds if more]


def probability(odds: float) -> float:
    """Return log-odds as a probability."""
    if not -50.0 < odds < 50.0:
        odds = 50.0 if odds > 0 else -50.0
    return 1 / (1 + exp(-odds))
