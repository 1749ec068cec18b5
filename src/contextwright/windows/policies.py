"""Window policies as plain data: which messages stay."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from contextwright.text.fields import Checked, Fraction, Natural
from contextwright.windows.decisions import Span
from contextwright.windows.history import View
from contextwright.windows.log import first_from
from contextwright.windows.room import Room

__all__ = [
    "BuiltIn",
    "FirstAndRecent",
    "KeepAll",
    "KeepRecent",
    "Layers",
    "Stepped",
    "Window",
]

TASK = 0.25
"""The share of the room that an agent's task may take and still be kept."""


class Window:
    """A policy that decides which messages stay. Your own is a class with `spans`.

    class LastTen(Window):
        def spans(self, view, limit):
            return [range(view.newest(10), view.count)]
    """

    why_dropped: ClassVar[str] = "outside the window"
    """The reason given for messages that do not stay."""
    is_unlimited: ClassVar[bool] = False
    """Whether it keeps everything, whatever the limit."""

    @property
    def unused(self) -> float:
        """The share of the room it may leave unused.

        If rendering leaves more, because messages cost less than foreseen, it is asked again.
        """
        return 1.0

    @property
    def fullest(self) -> Window:
        """The same window without a share that it may leave unused."""
        return self

    def begun_by(self, latest: int) -> Window:
        """Return the same window, which begins at an index at the latest."""
        return self

    @property
    def first_messages(self) -> int:
        """The number of first messages it may keep."""
        return 0

    @property
    def alternatives(self) -> Sequence[Window]:
        """The ways it can use its room, the best first; the one that keeps most messages counts.

        With a higher limit each of them keeps what it kept, and perhaps more.
        """
        return (self,)

    def spans(self, view: View, limit: float) -> Sequence[Span | range]:
        """Return the ranges of indexes that stay, in order, within a number of tokens.

        A `Span` gives a reason, a range none. Required messages (system and pinned ones, the newest
        question, an unfinished exchange) stay anyway, and no exchange is split.
        """
        raise NotImplementedError


class KeepAll(
    Window, Checked, frozen=True, tag="keep-all", forbid_unknown_fields=True, omit_defaults=True
):
    """Keeps everything, whatever it costs."""

    why_dropped: ClassVar[str] = ""
    is_unlimited: ClassVar[bool] = True

    def spans(self, view: View, limit: float) -> list[Span]:
        """Keep everything."""
        return [Span(0, view.count, "all")]


class KeepRecent(
    Window, Checked, frozen=True, tag="keep-recent", forbid_unknown_fields=True, omit_defaults=True
):
    """Keeps the newest messages that fit; the cut moves with every message and breaks the cache."""

    messages: Natural | None = None
    """Maximum number of messages; system messages do not count."""
    whole_turns: bool = False
    """Whether to begin with a question, so that an answer is dropped with its question."""

    why_dropped: ClassVar[str] = "older than the newest that fit"

    @property
    def unused(self) -> float:
        """The share of the room it may leave unused: none."""
        return 0.0

    def spans(self, view: View, limit: float) -> list[Span]:
        """Keep the newest messages within the limit."""
        earliest = newest(view, self.messages)
        start = max(Room(view, limit, earliest=earliest).start, earliest)
        if start and self.whole_turns:
            # If no question follows, all of it answers the newest one, which stays.
            question = first_from(view.log.plain, start)
            start = start if question is None else question
        return [Span(min(start, view.last or 0), view.count, "recent")]


class Stepped(
    Window, Checked, frozen=True, tag="stepped", forbid_unknown_fields=True, omit_defaults=True
):
    """Keeps the newest messages that fit, cut in steps: between two cuts a request only grows.

    The cut only moves forward as the history grows, so a dropped message does not return; the few
    exceptions are in `docs/windows.md`.
    """

    step: Fraction = 0.6
    """The share of what fits that a cut may leave unused. `benchmarks/caching.py` shows what other
    steps cost: a larger one breaks the cache less often and keeps less."""
    messages: Natural | None = None
    """Maximum number of messages; system messages do not count."""
    task: bool = True
    """Whether to keep the first question of an agent's run, its task, unless it is very long."""

    why_dropped: ClassVar[str] = "before the cut, which moves in steps"

    @property
    def unused(self) -> float:
        """The share of the room it may leave unused: a step."""
        return self.step

    @property
    def fullest(self) -> Stepped:
        """The same window with a cut to the token."""
        return replace(self, step=0)

    def begun_by(self, latest: int) -> SteppedBy:
        """Return the same window, whose cut is at an index at the latest."""
        return SteppedBy(self, latest)

    def spans(self, view: View, limit: float, latest: int | None = None) -> list[Span]:
        """Keep what follows the cut, and the task."""
        earliest = newest(view, self.messages)
        task = self._task(view, limit)
        room = Room(view, limit, also=task, earliest=earliest)
        if task and room.base > limit:
            task, room = [], Room(view, limit, earliest=earliest)
        start = min(max(room.stepped_start(self.step, latest), earliest), view.last or 0)
        start = start if latest is None else min(start, latest)
        spans = [Span(start, view.count, "recent")]
        return [*(Span(index, index + 1, "task", True) for index in task if index < start), *spans]

    def _task(self, view: View, limit: float) -> list[int]:
        """Return the task, if there is one and it is short enough."""
        task = view.log.task
        if not self.task or task is None or view.price(task) > limit * TASK:
            return []
        return [task]


class SteppedBy(Window, Struct, frozen=True):
    """A stepped window whose cut is at an index at the latest."""

    window: Stepped
    latest: int

    why_dropped: ClassVar[str] = Stepped.why_dropped

    def spans(self, view: View, limit: float) -> list[Span]:
        """Keep what follows the cut, and the task."""
        return self.window.spans(view, limit, self.latest)


class FirstAndRecent(
    Window,
    Checked,
    frozen=True,
    tag="first-and-recent",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """Keeps the first few messages, which set the scene, and the newest; drops the middle."""

    messages: Natural = 20
    """Maximum number of messages, including the omission note; system messages do not count."""
    first: Natural = 2
    """The number of first messages to keep. With little room half of them, a quarter and so on, or
    none stay, where that keeps more messages in all.
    """

    why_dropped: ClassVar[str] = "between the first and the newest"

    @property
    def unused(self) -> float:
        """The share of the room it may leave unused: none."""
        return 0.0

    @property
    def first_messages(self) -> int:
        """The number of first messages it may keep."""
        return self.first

    @property
    def alternatives(self) -> list[AllOrFirst]:
        """The same with all first messages, half of them, a quarter and so on, and none."""
        recent = max(1, self.messages - self.first - 1)
        first = max(0, min(self.first, self.messages - 1 - recent))
        halves = [first >> times for times in range(first.bit_length() + 1)]
        return [AllOrFirst(self.messages, number, recent) for number in halves]

    def spans(self, view: View, limit: float) -> list[Span]:
        """Keep everything while it fits; else the first ones and the newest."""
        found = [one.spans(view, limit) for one in self.alternatives]
        return max(found, key=partial(size, view))  # with the most first ones among equals


class AllOrFirst(Window, Struct, frozen=True):
    """Keeps everything while it fits, else a fixed number of first messages, and the newest."""

    messages: int
    first: int
    recent: int

    why_dropped: ClassVar[str] = FirstAndRecent.why_dropped

    @property
    def unused(self) -> float:
        """The share of the room it may leave unused: none."""
        return 0.0

    def spans(self, view: View, limit: float) -> list[Span]:
        """Keep everything, else the first messages and as many of the newest as fit."""
        if view.spoken <= self.messages and Room(view, limit).stopped is None:
            return [Span(0, view.count, "all")]
        head = whole_exchanges(view, view.first(self.first))
        stop = head[-1] + 1 if head else 0
        earliest = max(stop, view.newest(self.recent))
        room = Room(view, limit, also=head, earliest=earliest)
        last = view.last or 0
        if room.base > limit:
            return [Span(last, view.count, "recent")]
        start = min(max(room.start, earliest), last)
        first = [Span(index, index + 1, "first messages") for index in head if index < start]
        return [*first, Span(start, view.count, "recent")]


class Layers(
    Window, Checked, frozen=True, tag="layers", forbid_unknown_fields=True, omit_defaults=True
):
    """Keeps gryag's two layers of history: the immediate messages, and the recent ones before."""

    immediate: Natural = 5
    recent: Natural = 30
    """The number of messages in both layers."""

    why_dropped: ClassVar[str] = "older than both layers"

    @property
    def unused(self) -> float:
        """The share of the room it may leave unused: none."""
        return 0.0

    def spans(self, view: View, limit: float) -> list[Span]:
        """Keep the recent messages, each once and in order; drop the oldest first."""
        earliest = view.newest(max(self.recent, self.immediate))
        start = max(Room(view, limit, earliest=earliest).start, earliest)
        start = min(start, view.last or 0)
        middle = max(start, view.newest(self.immediate))
        return [
            Span(start, middle, "recent layer"),
            Span(middle, view.count, "immediate layer"),
        ]


BuiltIn: TypeAlias = KeepAll | KeepRecent | Stepped | FirstAndRecent | Layers
"""The windows that recipe files can name."""


def newest(view: View, messages: int | None) -> int:
    """Return where the newest messages begin; 0 without a limit."""
    return 0 if messages is None else view.newest(messages)


def size(view: View, spans: list[Span]) -> int:
    """Return how many messages stay with these spans, required ones included."""
    inside = {index for span in spans for index in range(span.start, span.stop)}
    return len((inside - view.torn(inside) | view.required) - view.log.silent)


def whole_exchanges(view: View, indexes: list[int]) -> list[int]:
    """Return those of some indexes whose exchange is among them as a whole."""
    members = view.log.exchanges.members
    return [index for index in indexes if set(members(index)) <= set(indexes)]
