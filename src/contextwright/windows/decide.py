"""From the spans a window keeps to a decision about every message: nothing torn, nothing lost."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.windows.decisions import CLEARED, Decisions, Run, Span, add_run
from contextwright.windows.history import View
from contextwright.windows.policies import Window

__all__ = ["decide"]


def decide(window: Window, view: View, limit: float) -> Decisions:
    """The decisions of a window within a limit, with all that no window may drop."""
    spans = window.spans(view, limit)
    reasons = {index: span.reason for span in spans for index in range(span.start, span.stop)}
    torn = torn_in(view, reasons)
    kept = sorted({*view.required, *reasons} - torn)
    staying: list[Run] = []
    for index in kept:
        if not is_sent(view, index):
            continue
        reason = reasons.get(index) or why_required(view, index)
        cleared = view.is_cleared(index)
        action, reason = ("cleared", CLEARED) if cleared else ("kept", reason)
        add_run(staying, Run(index, index + 1, action, reason))
    return Decisions(view, staying, torn, window.why_dropped, cut=cut_of(spans))


def is_sent(view: View, index: int) -> bool:
    """Whether a message can be sent at all."""
    if view.log.is_hidden(index):
        return False
    return not (view.history.skip_system and view.log[index].role == "system")


def cut_of(spans: list[Span]) -> int:
    """The index at which the newest messages begin: the start of the last spans that touch."""
    cut = spans[-1].start
    for span in reversed(spans[:-1]):
        if span.stop != cut or span.is_apart:
            break
        cut = span.start
    return cut


def torn_in(view: View, kept: Iterable[int]) -> set[int]:
    """Indexes within the spans whose exchange is not whole in them and need not stay."""
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
    """Why a message stays that stands outside the window."""
    message = view.log[index]
    if message.pinned:
        return "pinned"
    if message.role == "system":
        return "system"
    if index in (view.question, view.asked):
        return "newest question"
    return "belongs to an exchange that stays"
