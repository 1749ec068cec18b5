"""From the spans a window keeps to a decision on every message, with exchanges whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from contextwright.errors import UsageError, shown
from contextwright.windows.decisions import CLEARED, Action, Decisions, Run, Span
from contextwright.windows.history import View
from contextwright.windows.policies import Window

__all__ = ["decide"]

Outcome: TypeAlias = tuple[Action, str]
"""The decision on a message that stays, and why."""


def decide(window: Window, view: View, limit: float) -> Decisions:
    """Return the decisions of a window within a limit, including all messages that must stay."""
    spans = as_spans(window.spans(view, limit), view.count)
    reasons = {index: span.reason for span in spans for index in range(span.start, span.stop)}
    torn = torn_in(view, reasons)
    kept = sorted({*view.required, *reasons} - torn)
    if view.log.hidden or view.history.skip_system:
        kept = [index for index in kept if is_sent(view, index)]
    outcomes: list[Outcome] = [
        ("kept", reasons.get(index) or why_required(view, index)) for index in kept
    ]
    if view.log.edited:  # drop what was cached after an edited message
        for place, index in enumerate(kept):
            if index in view.log.edited:
                outcomes[place] = ("kept", f"{outcomes[place][1]}, edited")
    if view.cleared_until:
        for place, index in enumerate(kept):
            if view.is_cleared(index):
                outcomes[place] = ("cleared", CLEARED)
    staying = runs_of(kept, outcomes)
    return Decisions(view, staying, torn, window.why_dropped, cut=cut_of(spans))


def runs_of(indexes: Sequence[int], outcomes: Sequence[Outcome]) -> list[Run]:
    """Group adjacent indexes with the same outcome into runs."""
    runs: list[Run] = []
    first = 0
    for place in range(1, len(indexes) + 1):
        if (
            place == len(indexes)
            or indexes[place] != indexes[place - 1] + 1
            or outcomes[place] != outcomes[first]
        ):
            runs.append(Run(indexes[first], indexes[place - 1] + 1, *outcomes[first]))
            first = place
    return runs


def as_spans(found: Sequence[Span | range], count: int) -> list[Span]:
    """Return what a window keeps as spans of a history of `count` messages.

    Raises:
        UsageError: a custom window returned something else.
    """
    spans: list[Span] = []
    for one in found:
        if isinstance(one, range) and one.step == 1:
            one = Span(one.start, one.stop, "in the window")
        if not isinstance(one, Span) or not 0 <= one.start <= one.stop <= count:
            hint = f"ranges of indexes from 0 to {count}: range(view.newest(10), view.count)"
            raise UsageError(f"a window cannot keep {shown(one)}", hint=hint)
        spans.append(one)
    return spans or [Span(count, count, "")]


def is_sent(view: View, index: int) -> bool:
    """Whether a message can be sent at all."""
    if view.log.is_hidden(index):
        return False
    return not (view.history.skip_system and view.log[index].role == "system")


def cut_of(spans: list[Span]) -> int:
    """Return the index at which the newest messages begin: the start of the last adjacent spans."""
    cut = spans[-1].start
    for span in reversed(spans[:-1]):
        if span.stop != cut or span.is_apart:
            break
        cut = span.start
    return cut


def torn_in(view: View, kept: Iterable[int]) -> set[int]:
    """Return indexes in the spans whose exchange is incomplete and not required."""
    inside = set(kept)
    exchanges, required = view.log.exchanges, view.required
    return {
        index
        for index in inside
        if index in exchanges
        and index not in required
        and not inside.issuperset(exchanges.members(index))
    }


def why_required(view: View, index: int) -> str:
    """Return why a message outside the window stays."""
    message = view.log[index]
    if message.pinned:
        return "pinned"
    if message.role == "system":
        return "system"
    if index in (view.question, view.asked):
        return "newest question"
    return "belongs to an exchange that stays"
