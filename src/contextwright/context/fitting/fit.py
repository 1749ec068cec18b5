"""Fit a plan into a budget: try, and leave parts out until a request fits."""

from __future__ import annotations

import msgspec

from contextwright.context.fitting.attempt import Attempt, Fitted
from contextwright.context.fitting.draft import summary_stop
from contextwright.context.fitting.plan import Plan
from contextwright.context.fitting.relaxation import Relaxation
from contextwright.context.fitting.shorten import longest_text
from contextwright.messages.changes import Change
from contextwright.sections.budget import REQUIRED
from contextwright.tokens.count import Count

__all__ = ["fit", "with_summary"]

replace = msgspec.structs.replace

MIN_CHARS = 200
"""Minimum characters to which a text is cut."""


def fit(plan: Plan, budget: int) -> Fitted | Count:
    """Return the request within a budget, without a summary; or the count of the smallest one.

    First less important sections are dropped, then the note; then long texts are cut.
    """
    found = plan.sections.fit(budget, plan.recipe.placement)
    relaxed = Relaxation(found.sections, found.changes, found.absent)
    while True:
        attempt = Attempt(plan, budget, relaxed)
        found = attempt.fitted()
        more = None if isinstance(found, Fitted) else relax(attempt, found)
        if more is None:
            return found
        relaxed = more


def with_summary(fitted: Fitted) -> Fitted:
    """Return the request with a summary of what is left out, if there is one and it fits.

    The summary is requested once the cut is final, so that it ends there.
    """
    attempt, decisions = fitted.attempt, fitted.draft.decisions
    summaries = attempt.plan.summaries
    if summaries is None or not (last := summary_stop(decisions)):
        return fitted
    kept = frozenset(index + 1 for index in decisions.kept() if index < last)
    found = summaries.upto(last, kept)
    tokens = min(attempt.allowance(), fitted.free)
    trial = attempt.trial(decisions, found, tokens)
    while trial.free < 0:
        # Among other messages it may cost a little more than alone.
        tokens += trial.free
        trial = attempt.trial(decisions, found, tokens)
    return trial


def relax(attempt: Attempt, count: Count) -> Relaxation | None:
    """Drop the least important section or the note, or cut the longest text; else return None."""
    relaxed, recipe = attempt.relaxed, attempt.plan.recipe
    written = (section for section in relaxed.sections if section.text)
    optional = [section for section in written if section.priority < REQUIRED]
    if optional:
        least = min(optional, key=lambda section: section.priority)
        sections = tuple(section for section in relaxed.sections if section is not least)
        change = Change("loss.section", least.name, "no room in the budget")
        return replace(relaxed, sections=sections, changes=(*relaxed.changes, change))
    if relaxed.note and recipe.note is not None:
        return replace(relaxed, note=False)
    if recipe.oversize == "refuse" or relaxed.max_chars == MIN_CHARS:
        return None
    longest = relaxed.max_chars
    if longest is None:
        smallest = attempt.trial(attempt.smallest()).draft.messages
        longest = max(map(longest_text, smallest), default=0)
    # Cut to the shortest, so that the budget an error names is one that works.
    shorter = int(longest * min(0.9, attempt.budget / max(count.most, 1)))
    return replace(relaxed, max_chars=max(shorter, MIN_CHARS))
