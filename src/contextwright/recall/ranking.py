"""Rank messages by the probability that a question needs them.

The ranker is a logistic model: the weighted signals of a message and a base add up to the log-odds
that it fits the question. A question needs few messages, so the score also compares a message with
its rivals, which are all ranked messages: the more of them fit, the less likely each is needed. The
weights were fitted on conversations with known answers (`benchmarks/weights.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import exp, fsum, log
from operator import attrgetter, mul

from msgspec import Struct
from msgspec.structs import replace

from contextwright.messages.times import with_zone
from contextwright.recall.aliases import resolve_aliases
from contextwright.recall.candidates import MessageFilter, spoken_only
from contextwright.recall.memories import Ranking
from contextwright.recall.outline import USER, Entry, Outline
from contextwright.recall.questions import Question
from contextwright.recall.signals import Signals, TermMatches, signals_of

__all__ = [
    "BY_LOG_ODDS",
    "QUESTION_ONLY",
    "WITH_MEANING",
    "WORDS_ALONE",
    "Part",
    "RankedMessage",
    "Weights",
    "bias_of",
    "with_rivals",
    "weighted_parts",
    "probability",
    "rank",
    "rivals_log_odds",
]

FITTED_SIZE, MIN_SIZE = 600, 30
"""The number of messages from which the base is that of the fit, and below which it stays."""


ADDRESSED_ODDS = 1.5
"""Factor of the odds of a message that the model answered, for a weight of 1."""


class Weights(Struct, frozen=True):
    """The weight of each signal, and the log-odds of a message without signals."""

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


SHARPNESS, LOG_NEEDED, ABSENT_RIVAL = 1.5, 1.2, 0.05
"""Calibration of scores against rivals (`benchmarks/scores.py`): the factor of log-odds, the
logarithm of how many messages are needed, and the fit of a rival that is always there. Because of
that rival, a message does not get a high score only for being alone.
"""

QUESTION_ONLY = Ranking()
"""A ranking by the question alone."""


BY_LOG_ODDS = attrgetter("log_odds", "number")
"""Sort key, for use with `reverse=True`: likeliest first, of equal ones the newer."""


class Part(Struct, frozen=True):
    """What one reason adds to the log-odds of a message."""

    name: str
    adds: float


class RankedMessage(Struct, frozen=True, gc=False):
    """A message with its signals, and the probability that the question needs it."""

    number: int
    log_odds: float
    """The log-odds that it fits, without its rivals."""
    entry: Entry
    signals: Signals
    weights: Signals
    priors: tuple[Part, ...]
    """The base, which is the same for every message, and what counts besides the question."""
    rivals: float = 0.0
    """What its rivals add to the log-odds of its score; set by `with_rivals`."""

    @property
    def fit(self) -> float:
        """The probability that it fits, without its rivals."""
        return probability(self.log_odds)

    @property
    def score(self) -> float:
        """The probability that the question needs it, given its rivals."""
        return probability(SHARPNESS * self.log_odds + self.rivals)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What each reason adds to the log-odds of the score; computed on demand."""
        base, *others = self.priors
        adds = zip(Signals._fields, map(mul, self.signals, self.weights), strict=True)
        return (
            Part(base.name, SHARPNESS * base.adds + self.rivals),
            *[Part(name, SHARPNESS * more) for name, more in adds if more],
            *[Part(part.name, SHARPNESS * part.adds) for part in others],
        )


def rank(
    question: Question,
    matches: Sequence[TermMatches],
    cosines: Mapping[int, float] | None,
    outline: Outline,
    *,
    limit: int,
    total: int,
    now: datetime | None = None,
    ranking: Ranking = QUESTION_ONLY,
    allows: MessageFilter = spoken_only,
) -> list[RankedMessage]:
    """Return the candidates for a question, best first, without their rivals yet.

    Args:
        matches: the terms of the question with their postings.
        cosines: those of the nearest messages, best first; None ranks without embeddings.
        limit: how many messages become candidates by terms, and how many by cosine.
        total: the number of all messages.
        allows: which messages may be recalled; others count only as neighbours.
    """
    question, matches = resolve_aliases(question, matches, outline)
    weights = WORDS_ALONE if cosines is None else WITH_MEANING
    signal_weights, base = weights.signals, Part("base", bias_of(weights, total))
    priors_of = None if ranking == QUESTION_ONLY else query_independent(ranking, outline, now)
    ranked: list[RankedMessage] = []
    priors = (base,)
    for number, entry, signals in signals_of(
        question, matches, cosines or {}, outline, limit, allows
    ):
        log_odds = base.adds + sum(map(mul, signals, signal_weights))
        if priors_of is not None:
            priors = (base, *priors_of(number, entry))
            log_odds += sum(part.adds for part in priors[1:])
        ranked.append(RankedMessage(number, log_odds, entry, signals, signal_weights, priors))
    ranked.sort(key=BY_LOG_ODDS, reverse=True)
    return ranked


def with_rivals(rankings: Sequence[Sequence[RankedMessage]]) -> list[list[RankedMessage]]:
    """Return the rankings of one or several conversations, with all their messages as rivals."""
    rivals = rivals_log_odds(rankings)
    return [[replace(one, rivals=rivals) for one in some] for some in rankings]


def rivals_log_odds(rankings: Iterable[Sequence[RankedMessage]]) -> float:
    """Return what the rivals add to the log-odds of every score."""
    # fsum, because the sum must not depend on the order in which messages were found.
    fit = fsum(exp(min(SHARPNESS * one.log_odds, 50.0)) for some in rankings for one in some)
    return LOG_NEEDED - log(fit + ABSENT_RIVAL)


def query_independent(
    ranking: Ranking, outline: Outline, now: datetime | None
) -> Callable[[int, Entry], Iterator[Part]]:
    """Return a function that yields the query-independent parts of a message."""
    people = outline.speaker_counts()
    loudest = max(people.values(), default=1)
    asked = outline.newest_time() if now is None else with_zone(now).timestamp()

    def priors_of(number: int, entry: Entry) -> Iterator[Part]:
        if ranking.recency and asked is not None and entry.time is not None:
            days = max(0.0, (asked - entry.time) / 86_400)
            yield Part("recency", -ranking.recency * log(2) * days / ranking.half_life)
        if ranking.senders:
            share = people.get((entry.speaker, entry.id), 0) / loudest
            yield Part("sender", ranking.senders * log(1 + share))
        if ranking.addressed and entry.flags & USER:
            answer = outline.entry(number + 1)
            if answer is not None and answer.is_spoken and not answer.flags & USER:
                yield Part("addressed", ranking.addressed * log(ADDRESSED_ODDS))

    return priors_of


def bias_of(weights: Weights, total: int) -> float:
    """Return the base of all messages: among fewer messages, each is more likely needed."""
    return weights.bias + log(FITTED_SIZE / min(max(total, MIN_SIZE), FITTED_SIZE))


def weighted_parts(signals: Signals, weights: Signals) -> list[Part]:
    """Return what each signal adds to the log-odds; zeros are left out."""
    adds = zip(Signals._fields, map(mul, signals, weights), strict=True)
    return [Part(name, more) for name, more in adds if more]


def probability(log_odds: float) -> float:
    """Return log-odds as a probability."""
    if not -50.0 < log_odds < 50.0:
        log_odds = 50.0 if log_odds > 0 else -50.0
    return 1 / (1 + exp(-log_odds))
