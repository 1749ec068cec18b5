"""How sure recall is that anything it found answers the question, and how much of it is filler."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, log
from typing import NamedTuple

from contextwright.recall.questions import Question
from contextwright.recall.ranking import BEST_FIRST, RankedMessage, probability
from contextwright.recall.signals import TermMatches

__all__ = ["Evidence", "confidence_of", "evidence_of", "without_filler"]

ENOUGH = 0.95
"""The share of all that is expected to be needed beyond which the rest is filler."""
UNKNOWN = 0.5
"""The confidence in what follows a remark, which asks nothing."""
FEWEST = 1e-6
"""Messages that are expected at least, so that there is a logarithm."""


class Evidence(NamedTuple):
    """The evidence for an answer among the messages."""

    expected: float
    """The logarithm of the number of messages that are expected to be needed."""
    speaker: float
    """By how much those whom the question names fit better than other people, without their names;
    0 if it names nobody, or everybody. What others say about them counts for them."""
    missing: float
    """The share of the question's words that no message has, where rare ones count for more, up to
    three tenths; names of those who talk and times with messages are there."""


WEIGHTS, BIAS = Evidence(expected=0.44, speaker=1.14, missing=-4.05), 0.01
"""Weights of the log-odds that there is an answer: about the mean of those that
`benchmarks/confidence.py` prints with vectors and without."""
FURTHEST = 3.0
"""The largest difference between speakers that counts."""
SELDOM = log(25)
"""The weight of a name that fewer than one in 25 messages has."""
MOST_MISSING = 0.3
"""The largest share of missing words that counts: further ones say no more."""


def evidence_of(
    ranked: Sequence[RankedMessage], found: Sequence[TermMatches], question: Question
) -> Evidence:
    """Return what speaks for an answer among ranked messages."""
    named, others = -FURTHEST, -FURTHEST
    # A model has no name, and says of the person it talks to what a question wants to know.
    people = [one for one in ranked if one.entry.speaker]
    mentions = seldom_named_in(question, found)
    is_about = [bool(one.signals.speaker) or one.number in mentions for one in people]
    if len({*is_about}) == 2:
        fits = [one.odds - one.signals.speaker * one.weights.speaker for one in people]
        named = max(fit for fit, is_it in zip(fits, is_about, strict=True) if is_it)
        others = max(fit for fit, is_it in zip(fits, is_about, strict=True) if not is_it)
    # The order in which messages are found must not change a bit.
    expected = fsum([probability(one.odds) for one in ranked])
    whole = fsum(one.weight for one in found)
    # Somebody who talks here, and a time with messages, are there, even if nobody says the words.
    met = frozenset[str]()
    if question.called and any(one.signals.speaker for one in ranked):
        met |= question.called
    if question.dated and any(one.signals.date for one in ranked):
        met |= question.dated
    missing = fsum(one.weight for one in found if not one.numbers and one.term not in met)
    return Evidence(
        log(max(expected, FEWEST)),
        max(-FURTHEST, min(named - others, FURTHEST)),
        min(missing / whole, MOST_MISSING) if whole else 0.0,
    )


def seldom_named_in(question: Question, found: Sequence[TermMatches]) -> frozenset[int]:
    """Return the messages that are about those whom a question names, because they say the name.

    A name that is said again and again is how people address each other, and tells nothing.
    """
    names = [one for one in found if one.term in question.called and one.weight > SELDOM]
    return frozenset[int]().union(*(one.numbers for one in names))


def confidence_of(
    ranked: Sequence[RankedMessage], found: Sequence[TermMatches], question: Question
) -> float:
    """Return the probability that some of the messages answer the question.

    There is no sign of whether a remark has an answer (`benchmarks/confidence.py`).
    """
    if not ranked:
        return 0.0
    if question.is_remark:
        return UNKNOWN
    evidence = evidence_of(ranked, found, question)
    odds = BIAS + sum(one * weight for one, weight in zip(evidence, WEIGHTS, strict=True))
    return probability(odds)


def without_filler(ranked: Sequence[RankedMessage]) -> list[RankedMessage]:
    """Return the likeliest messages, as many as hold nearly all that is expected to be needed."""
    best = sorted(ranked, key=BEST_FIRST, reverse=True)
    chances = [probability(one.odds) for one in best]
    left = ENOUGH * fsum(chances)
    for count, chance in enumerate(chances):
        if left <= 0:
            return best[:count]
        left -= chance
    return best
