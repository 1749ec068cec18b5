"""Estimate whether any message answers a question, and cut off messages that are only filler."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, log
from typing import NamedTuple

from contextwright.recall.questions import Question
from contextwright.recall.ranking import BY_LOG_ODDS, RankedMessage, probability
from contextwright.recall.signals import TermMatches

__all__ = ["Evidence", "confidence_of", "evidence_of", "without_filler"]

KEPT_SHARE = 0.95
"""The share of the expected number of needed messages that is kept; the rest is filler."""
REMARK_CONFIDENCE = 0.5
"""The confidence for a remark, which asks nothing."""
MIN_EXPECTED = 1e-6
"""The smallest expected number, because 0 has no logarithm."""


class Evidence(NamedTuple):
    """The features of the confidence model."""

    expected: float
    """The logarithm of the expected number of needed messages."""
    speaker: float
    """How much better the messages of the named speakers fit than those of others, without the
    speaker signal; 0 if the question names nobody, or everybody. Messages that mention a named
    speaker count as theirs."""
    missing: float
    """The weighted share of the question's terms that no message contains, at most
    `MAX_MISSING`. Names of speakers and dates with messages are not missing."""


WEIGHTS, BIAS = Evidence(expected=0.44, speaker=1.14, missing=-4.05), 0.01
"""The weights of the model, about the mean of those that `benchmarks/confidence.py` fits with and
without vectors."""
MAX_SPEAKER_GAP = 3.0
"""The largest difference between speakers that counts."""
RARE_NAME_WEIGHT = log(25)
"""The weight of a term that one in 25 messages contains."""
MAX_MISSING = 0.3
"""The largest share of missing terms that counts; more of them say no more."""


def evidence_of(
    ranked: Sequence[RankedMessage], matches: Sequence[TermMatches], question: Question
) -> Evidence:
    """Return the features of the confidence model for ranked messages."""
    named, others = -MAX_SPEAKER_GAP, -MAX_SPEAKER_GAP
    # A model has no name. What it says is often about the person whom the question names.
    people = [one for one in ranked if one.entry.speaker]
    mentions = rare_mentions(question, matches)
    is_about = [bool(one.signals.speaker) or one.number in mentions for one in people]
    if len({*is_about}) == 2:
        fits = [one.log_odds - one.signals.speaker * one.weights.speaker for one in people]
        named = max(fit for fit, is_it in zip(fits, is_about, strict=True) if is_it)
        others = max(fit for fit, is_it in zip(fits, is_about, strict=True) if not is_it)
    # fsum, because the sum must not depend on the order in which messages were found.
    expected = fsum([probability(one.log_odds) for one in ranked])
    total_weight = fsum(one.weight for one in matches)
    # A speaker or a day with messages is found, even if no message contains the term.
    covered = frozenset[str]()
    if question.speaker_terms and any(one.signals.speaker for one in ranked):
        covered |= question.speaker_terms
    if question.date_terms and any(one.signals.date for one in ranked):
        covered |= question.date_terms
    missing = fsum(one.weight for one in matches if not one.numbers and one.term not in covered)
    return Evidence(
        log(max(expected, MIN_EXPECTED)),
        max(-MAX_SPEAKER_GAP, min(named - others, MAX_SPEAKER_GAP)),
        min(missing / total_weight, MAX_MISSING) if total_weight else 0.0,
    )


def rare_mentions(question: Question, matches: Sequence[TermMatches]) -> frozenset[int]:
    """Return the messages that mention a speaker whom the question names.

    Frequent names are left out, because people address each other by them.
    """
    names = [
        one
        for one in matches
        if one.term in question.speaker_terms and one.weight > RARE_NAME_WEIGHT
    ]
    return frozenset[int]().union(*(one.numbers for one in names))


def confidence_of(
    ranked: Sequence[RankedMessage], matches: Sequence[TermMatches], question: Question
) -> float:
    """Return the probability that any of the messages answers the question.

    For a remark it is always the same, because no feature tells whether a remark has an answer
    (`benchmarks/confidence.py`).
    """
    if not ranked:
        return 0.0
    if question.is_remark:
        return REMARK_CONFIDENCE
    evidence = evidence_of(ranked, matches, question)
    log_odds = BIAS + sum(one * weight for one, weight in zip(evidence, WEIGHTS, strict=True))
    return probability(log_odds)


def without_filler(ranked: Sequence[RankedMessage]) -> list[RankedMessage]:
    """Return the fewest messages that hold `KEPT_SHARE` of the expected number, likeliest first."""
    best = sorted(ranked, key=BY_LOG_ODDS, reverse=True)
    probabilities = [probability(one.log_odds) for one in best]
    left = KEPT_SHARE * fsum(probabilities)
    for count, needed in enumerate(probabilities):
        if left <= 0:
            return best[:count]
        left -= needed
    return best
