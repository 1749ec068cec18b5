"""From the spans a window keeps to a decision on every message, with exchanges whole."""

from __future__ import annotations

from collections.abc import Sequence

from contextwright.errors import UsageError, shown
from contextwright.windows.decisions import CLEARED, Decisions, Run, Span
from contextwright.windows.history import View
from contextwright.windows.policies import Window

__all__ = ["decide", "drops_any"]


def decide(window: Window, view: View, limit: float) -> Decisions:
    """Return the decisions of a window within a limit, including all messages that must stay."""
    return decided(window, view, as_spans(window.spans(view, limit), view.count))


def drops_any(window: Window, view: View, limit: float) -> bool:
    """Whether a window drops any message within a limit."""
    spans = as_spans(window.spans(view, limit), view.count)
    if any(span.start == 0 and span.stop == view.count for span in spans):
        return False
    inside = sum(view.countable(span.start, span.stop) for span in spans)
    if inside + len(view.required) < view.spoken:
        return True
    return decided(window, view, spans).omitted > 0


def decided(window: Window, view: View, spans: list[Span]) -> Decisions:
    """Return the decisions of a window that keeps these spans."""
    reasons: dict[int, str] = {}
    for span in spans:
        reasons.update(dict.fromkeys(range(span.start, span.stop), span.reason))
    torn = torn_in(view, set(reasons))
    for index in torn:
        del reasons[index]
    for index in view.required:
        reasons[index] = reasons.get(index) or why_required(view, index)
    for index in view.log.silent & reasons.keys():
        if not is_sent(view, index):
            del reasons[index]
    for index in view.log.edited & reasons.keys():
        # What was cached after an edited message is read again.
        reasons[index] += ", edited"
    cleared = set(filter(view.is_cleared, reasons)) if view.cleared_until else set[int]()
    reasons.update(dict.fromkeys(cleared, CLEARED))
    staying = runs_of(reasons, cleared)
    return Decisions(view, staying, torn, window.why_dropped, cut=cut_of(spans))


def runs_of(reasons: dict[int, str], cleared: set[int]) -> list[Run]:
    """Group adjacent messages that stay for the same reason into runs."""
    bounds: list[tuple[int, int]] = []
    start = stop = -1
    reason = ""
    for index in sorted(reasons):
        why = reasons[index]
        changes = cleared and (index in cleared) != (start in cleared)
        if index != stop or why != reason or changes:
            bounds.append((start, stop))
            start, reason = index, why
        stop = index + 1
    bounds.append((start, stop))
    return [
        Run(start, stop, "cleared" if start in cleared else "kept", reasons[start])
        for start, stop in bounds[1:]
    ]


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


def torn_in(view: View, inside: set[int]) -> set[int]:
    """Return indexes in the spans whose exchange is incomplete and not required."""
    exchanges = view.log.exchanges
    return {
        index
        for index in exchanges.among(inside) - view.required
        if not inside.issuperset(exchanges.members(index))
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
