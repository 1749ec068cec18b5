"""From the spans a window keeps to a decision on every message, with exchanges whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import attrgetter

from msgspec.structs import replace

from contextwright.errors import UsageError, require, shown
from contextwright.windows.decisions import CLEARED, Decisions, Run, Span, add_run, between
from contextwright.windows.history import View
from contextwright.windows.policies import Window

__all__ = ["decide", "drops_any"]


def decide(window: Window, view: View, limit: float, *, since: int | None = None) -> Decisions:
    """Return the decisions of a window within a limit, including all messages that must stay.

    Args:
        since: the index from which on every message stays; None: the window decides.
    """
    require(window, Window, "a window")
    require(view, View, "a view", "History(…).view() makes one")
    require(limit, int | float, "limit", "a number of tokens")
    require(since, int | None, "since", "an index")
    spans = as_spans(window.spans(view, limit), view.count)
    return decided(window, view, spans if since is None else with_newest(spans, since, view.count))


def with_newest(spans: list[Span], since: int, count: int) -> list[Span]:
    """Return spans that keep every message from an index on, too."""
    if spans[-1].start <= since and spans[-1].stop == count:
        return spans
    before = [replace(one, stop=min(one.stop, since)) for one in spans if one.start < since]
    return [*before, Span(since, count, "recent")]


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
    cut, spans = cut_of(spans), disjoint(spans)
    inside = set[int]().union(*(range(span.start, span.stop) for span in spans))
    torn = view.torn(inside)
    staying = inside | view.required
    own = own_reasons(view, spans, torn, staying)
    cleared: set[int] = set()
    if view.intact:
        old = (index for index in staying if index < view.intact)
        sent = (index for index in old if own.get(index, "") is not None)
        cleared.update(filter(view.is_cleared, sent))
        own.update(dict.fromkeys(cleared, CLEARED))
    return Decisions(view, runs_of(spans, own, cleared), torn, window.why_dropped, cut=cut)


def own_reasons(
    view: View, spans: list[Span], torn: set[int], staying: set[int]
) -> dict[int, str | None]:
    """Return the reasons of messages that do not have their span's; None if one is not sent."""
    own: dict[int, str | None] = dict.fromkeys(torn)
    for index in view.required:
        if not reason_in(spans, index):
            own[index] = why_required(view, index)
    for index in view.log.silent & staying:
        if not is_sent(view, index):
            own[index] = None
    for index in view.log.edited & staying:
        # What was cached after an edited message is read again.
        reason = own[index] if index in own else reason_in(spans, index)
        own[index] = None if reason is None else f"{reason}, edited"
    return own


def runs_of(spans: list[Span], own: dict[int, str | None], cleared: set[int]) -> list[Run]:
    """Group adjacent messages that stay for the same reason into runs."""
    singles = sorted(own)
    pieces = [
        Run(index, index + 1, "cleared" if index in cleared else "kept", reason)
        for index, reason in own.items()
        if reason is not None
    ]
    for span in spans:
        start = span.start
        for index in between(singles, span.start, span.stop):
            pieces.append(Run(start, index, "kept", span.reason))
            start = index + 1
        pieces.append(Run(start, span.stop, "kept", span.reason))
    runs: list[Run] = []
    for piece in sorted(pieces, key=attrgetter("start")):
        add_run(runs, piece)
    return runs


def disjoint(spans: list[Span]) -> list[Span]:
    """Return spans in order, without overlaps; the last span that has a message counts."""
    if all(one.stop <= following.start for one, following in pairwise(spans)):
        return spans
    reasons: dict[int, str] = {}
    for span in spans:
        reasons.update(dict.fromkeys(range(span.start, span.stop), span.reason))
    apart: list[Span] = []
    for index in sorted(reasons):
        start, reason = index, reasons[index]
        if apart and apart[-1].stop == index and apart[-1].reason == reason:
            start = apart.pop().start
        apart.append(Span(start, index + 1, reason))
    return apart


def reason_in(spans: list[Span], index: int) -> str:
    """Return the reason of the span that has a message; empty if none has it."""
    return next((span.reason for span in spans if span.start <= index < span.stop), "")


def as_spans(found: Sequence[Span | range], count: int) -> list[Span]:
    """Return what a window keeps as spans of a history of `count` messages.

    Raises:
        UsageError: a custom window returned something else.
    """
    spans: list[Span] = []
    for one in found if isinstance(found, Iterable) else [found]:  # pyright: ignore
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
