"""Sections that fill what the window leaves: asked last, when it is known what stays."""

from __future__ import annotations

import msgspec

from contextwright.context.fitting.attempt import Attempt, Fitted
from contextwright.messages.changes import Change

__all__ = ["with_filling"]

replace = msgspec.structs.replace

SMALLEST = 16
"""Tokens that hardly any entry below a heading fits into."""


def with_filling(fitted: Fitted) -> Fitted:
    """Return the same request with the texts of sections that are asked last.

    The window keeps their shares free. If they use less than half of that, it decides again with
    more room. Room is given back by halves, so that the cut seldom moves with what is found.
    """
    attempt = fitted.attempt
    if not attempt.relaxed.share:
        return fitted
    wanted = attempt.relaxed.share
    if fitted.draft.decisions.omitted:
        found = filled(fitted, fitted.free)
        reserve = halved(attempt.kept_free, used(found))
        if reserve == attempt.kept_free:
            return found
    else:
        # All messages fit: what is found elsewhere may still be worth more than the oldest ones.
        found = filled(fitted, max(fitted.free, wanted))
        if found.free >= 0:
            return found
        reserve = halved(wanted, used(found))
    wider = Attempt(attempt.plan, attempt.budget, attempt.relaxed, reserve).fitted()
    return filled(wider, wider.free) if isinstance(wider, Fitted) else filled(fitted, fitted.free)


def halved(reserve: float, used: int) -> float:
    """Return as little of a reserve as holds what is used: all of it, a half, a quarter and on."""
    while reserve >= SMALLEST and reserve / 2 >= used:
        reserve /= 2
    return reserve if used else 0.0


def used(fitted: Fitted) -> int:
    """Return the tokens of the sections that were asked last."""
    price = fitted.attempt.plan.meter.text
    return sum(price(section.text) for section in fitted.attempt.relaxed.sections if section.share)


def filled(fitted: Fitted, room: int) -> Fitted:
    """Return the request with sections that fill so much room, and no message twice."""
    attempt, decisions = fitted.attempt, fitted.draft.decisions
    room -= int(attempt.allowance()) if decisions.omitted else 0  # of a summary
    kept = frozenset(decisions.kept())
    while True:
        trial = asked(attempt, room, kept).trial(decisions)
        if trial.free >= 0 or room > fitted.free or room <= 0:
            return trial
        # Among others it may cost a little more than alone, though it has used less than its room.
        room = min(room, used(trial)) + trial.free


def asked(attempt: Attempt, room: int, kept: frozenset[int]) -> Attempt:
    """Return the same try with the texts of sections that are asked last, each within its share."""
    plan, relaxed = attempt.plan, attempt.relaxed
    texts: dict[str, str] = {}
    changes, absent = [*relaxed.changes], dict(relaxed.absent)
    shares = relaxed.share
    for section in relaxed.sections:
        if not section.share:
            continue
        tokens = room * section.share // shares
        shares -= section.share
        if tokens < SMALLEST:
            changes.append(Change("loss.section", section.name, "no room in the budget"))
            continue
        written = plan.sections.fill(section.name, tokens, kept)
        texts[section.name] = written.text
        room -= plan.meter.text(written.text)
        if written.failure:
            changes.append(Change("loss.section", section.name, written.failure))
        if written.absence:
            absent[section.name] = written.absence
    sections = tuple(
        replace(section, text=texts.get(section.name, section.text)) for section in relaxed.sections
    )
    more = replace(relaxed, sections=sections, changes=tuple(changes), absent=absent)
    return Attempt(plan, attempt.budget, more, attempt.reserve)
