"""Which messages stay: policies, as plain data, that decide about every message of a history.

A window is a pure function of the history's totals and a limit. It returns runs of places, so
deciding about a hundred thousand messages costs as much as deciding about a hundred.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias, overload

from msgspec import Struct

from contextwright.exchanges import match_results
from contextwright.history import History, has_results

__all__ = [
    "Action",
    "Decision",
    "Decisions",
    "FirstAndRecent",
    "KeepAll",
    "KeepRecent",
    "Layers",
    "Stepped",
    "Window",
]

Action: TypeAlias = Literal["kept", "dropped", "cleared", "summarised", "merged"]


class Decision(Struct, frozen=True):
    """What became of one message, and why."""

    place: int
    action: Action
    reason: str
    tokens: int


HIDDEN = "hidden from context"


class Run(Struct, frozen=True):
    """Neighbours with the same fate."""

    start: int
    stop: int
    action: Action
    reason: str

    @property
    def left_out(self) -> bool:
        """Whether these were dropped for want of room, not hidden by someone's wish."""
        return self.action == "dropped" and self.reason != HIDDEN


class Decisions(Sequence[Decision]):
    """One decision for each message of the history, made when it is looked at."""

    def __init__(self, runs: list[Run], history: History) -> None:
        self.runs = runs
        self._history = history
        self._starts = [run.start for run in runs]

    def __len__(self) -> int:
        return self.runs[-1].stop if self.runs else 0

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        run = self.runs[bisect_left(self._starts, place + 1) - 1]
        return Decision(place, run.action, run.reason, self._history.cost(place))

    def kept(self) -> Iterator[int]:
        """The places that stay, in order."""
        for run in self.runs:
            if run.action in ("kept", "cleared"):
                yield from range(run.start, run.stop)

    @property
    def omitted(self) -> int:
        """How many messages were left out for want of room."""
        return sum(run.stop - run.start for run in self.runs if run.left_out)

    @property
    def gap(self) -> int | None:
        """The first message that is kept behind those left out: where a note about them belongs."""
        last = max(
            (run.stop for run in self.runs if run.left_out and run.stop < len(self)), default=None
        )
        behind = next((run for run in self.runs if last is not None and run.start >= last), None)
        return behind.start if behind else None

    @property
    def changed(self) -> bool:
        """Whether anything is not sent as it was."""
        return any(run.left_out or run.action == "cleared" for run in self.runs)


class Kept(Struct):
    """Places to keep: ranges in order, and why."""

    start: int
    stop: int
    reason: str


class KeepAll(Struct, frozen=True, tag="keep-all", forbid_unknown_fields=True, omit_defaults=True):
    """Everything stays."""

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep all of it, whatever the limit."""
        return decided(history, [Kept(0, len(history), "all")], "")


class KeepRecent(
    Struct, frozen=True, tag="keep-recent", forbid_unknown_fields=True, omit_defaults=True
):
    """The newest that fit: the cut moves with every message, and the prompt cache with it."""

    messages: int | None = None

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep the newest messages within the limit."""
        start = recent_start(history, limit)
        if self.messages is not None:
            start = max(start, len(history) - self.messages)
        start = min(start, last_start(history))
        return decided(
            history, [Kept(start, len(history), "recent")], "older than the newest that fit"
        )


class Stepped(Struct, frozen=True, tag="stepped", forbid_unknown_fields=True, omit_defaults=True):
    """The newest, cut only on a fixed grid of running totals: the cut stays put for a whole step."""

    step: float = 0.4
    """The grid's width, as a share of the limit the recipe sets."""
    messages: int | None = None
    grid: int | None = None
    """The grid's width in tokens, where it should not follow the limit."""

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep what stands behind the first grid line that leaves little enough."""
        grid = max(1, self.grid or int(limit * self.step))
        start = recent_start(history, limit)
        lines = -(-history.before(start) // grid)
        start = history.place_of_total(lines * grid) if lines else 0
        if self.messages is not None:
            width = max(1, int(self.messages * self.step))
            over = len(history) - self.messages
            start = max(start, -(-over // width) * width if over > 0 else 0)
        start = min(start, last_start(history))
        return decided(
            history, [Kept(start, len(history), "recent")], "before the cut, which moves in steps"
        )


class FirstAndRecent(
    Struct, frozen=True, tag="first-and-recent", forbid_unknown_fields=True, omit_defaults=True
):
    """The first few, which set the scene, and the newest: the middle goes."""

    messages: int = 20
    first: int = 2

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep everything while it fits; else the first ones and the newest."""
        places = [place for place in range(len(history)) if place not in set(history.hidden)]
        if len(places) <= self.messages and history.total <= limit:
            return decided(history, [Kept(0, len(history), "all")], "")
        head = places[min(self.first, len(places)) - 1] + 1 if places and self.first else 0
        recent = max(1, self.messages - self.first - 1)
        start = places[-recent] if recent < len(places) else head
        start = max(start, head, recent_start(history, limit - history.before(head)))
        start = min(start, last_start(history))
        kept = [Kept(0, min(head, start), "first messages"), Kept(start, len(history), "recent")]
        return decided(history, kept, "between the first and the newest")


class Layers(Struct, frozen=True, tag="layers", forbid_unknown_fields=True, omit_defaults=True):
    """gryag's two layers of history: the immediate messages, and the recent ones before them."""

    immediate: int = 5
    recent: int = 30

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep the recent messages, oldest going first, each once and in order."""
        count = len(history)
        start = max(recent_start(history, limit), count - max(self.recent, self.immediate))
        start = min(start, last_start(history))
        middle = max(start, count - self.immediate)
        kept = [Kept(start, middle, "recent layer"), Kept(middle, count, "immediate layer")]
        return decided(history, kept, "older than the layers reach")


Window: TypeAlias = KeepAll | KeepRecent | Stepped | FirstAndRecent | Layers


def last_start(history: History) -> int:
    """The latest place a window may begin: an unfinished exchange at the end is never cut off."""
    tail = history.tail()
    return tail if tail < len(history) else max(0, len(history) - 1)


def recent_start(history: History, limit: int) -> int:
    """The earliest place from which on everything fits, beside what is always kept."""
    count = len(history)

    def fits(place: int) -> bool:
        return history.total - history.before(place) + kept_before(history, place) <= limit

    return bisect_left(range(count), True, key=fits)


def kept_before(history: History, place: int) -> int:
    """What the messages before a place cost that no window drops."""
    cost = history.always_totals[bisect_left(history.always, place)]
    if history.question is not None and history.question < place:
        cost += history.cost(history.question)
    return cost


def decided(history: History, kept: list[Kept], why_dropped: str) -> Decisions:
    """A fate for every place: the ranges, what no window drops, and nothing torn apart."""
    fates: dict[int, tuple[Action, str]] = {}
    results, media = history.faded_before
    for span in kept:
        for place in range(span.start, span.stop):
            fates[place] = ("kept", span.reason)
    for place in history.always:
        message = history.messages[place]
        fates.setdefault(place, ("kept", "pinned" if message.pinned else "system"))
    if history.question is not None:
        fates.setdefault(history.question, ("kept", "newest question"))
    for place in sorted(fates):
        for answer in answers_behind(history, place):
            fates.setdefault(answer, ("kept", "answers a call that stays"))
    for place in sorted(fates):
        if place < max(results, media) and history.at(place) != history.messages[place]:
            fates[place] = ("cleared", "older results and media fade")
    for place in torn(history, sorted(fates)):
        fates[place] = ("dropped", "its call is not in the window")
    for place in history.hidden:
        fates[place] = ("dropped", HIDDEN)
    return Decisions(runs_of(fates, len(history), why_dropped), history)


def answers_behind(history: History, place: int) -> Iterator[int]:
    """The messages directly behind a call that hold its results."""
    if not history.messages[place].calls:
        return
    following = place + 1
    while following < len(history) and has_results(history.messages[following]):
        yield following
        following += 1


def torn(history: History, places: list[int]) -> Iterator[int]:
    """The places that hold nothing but results whose calls are not among the places."""
    messages = [history.messages[place] for place in places]
    orphans: dict[int, int] = {}
    for index, _ in match_results(messages).orphans:
        orphans[index] = orphans.get(index, 0) + 1
    for index, count in orphans.items():
        if count == len(messages[index].parts):
            yield places[index]


def runs_of(fates: dict[int, tuple[Action, str]], count: int, why_dropped: str) -> list[Run]:
    """The fates as runs that cover all places; what has no fate is dropped."""
    runs: list[Run] = []

    def add(start: int, stop: int, action: Action, reason: str) -> None:
        if start >= stop:
            return
        if runs and (runs[-1].action, runs[-1].reason) == (action, reason):
            start = runs.pop().start
        runs.append(Run(start, stop, action, reason))

    reached = 0
    for place in sorted(fates):
        add(reached, place, "dropped", why_dropped)
        add(place, place + 1, *fates[place])
        reached = place + 1
    add(reached, count, "dropped", why_dropped)
    return runs
