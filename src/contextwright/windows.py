"""Which messages stay: policies, as plain data, that decide about every message of a history.

A window is a pure function of the history's totals and a limit. It decides about spans of places
and looks only into those that stay, so deciding about a hundred thousand messages costs as much
as deciding about a thousand.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TypeAlias

from msgspec import Struct

from contextwright.decisions import Action, Decision, Decisions, Run, Span, decided
from contextwright.history import History, Seen

__all__ = [
    "Action",
    "Decision",
    "Decisions",
    "FirstAndRecent",
    "KeepAll",
    "KeepRecent",
    "Layers",
    "Run",
    "Stepped",
    "Window",
]


class KeepAll(Struct, frozen=True, tag="keep-all", forbid_unknown_fields=True, omit_defaults=True):
    """Everything stays."""

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep all of it, whatever the limit."""
        return decided(history, [Span(0, len(history), "all")], "")


class KeepRecent(
    Struct, frozen=True, tag="keep-recent", forbid_unknown_fields=True, omit_defaults=True
):
    """The newest that fit: the cut moves with every message, and the prompt cache with it."""

    messages: int | None = None
    """Keep at most so many; system messages do not count."""

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep the newest messages within the limit."""
        start = Room(history, history.seen(), limit).start()
        if self.messages is not None:
            start = max(start, newest(history, self.messages))
        start = min(start, last_place(history))
        return decided(
            history, [Span(start, len(history), "recent")], "older than the newest that fit"
        )


class Stepped(Struct, frozen=True, tag="stepped", forbid_unknown_fields=True, omit_defaults=True):
    """The newest, cut only on a fixed grid of running totals: the cut stays put for a whole step.

    As the history grows the cut never moves back, so what was left out once does not return.
    """

    step: float = 0.5
    """The grid's width, as a share of the limit: half is where figures of `benchmarks/caching.py`
    put 93 % of all tokens into the previous prefix and still fill the window to three quarters."""
    messages: int | None = None
    """Keep at most so many; system messages do not count. The cut moves by a share of them."""
    grid: int | None = None
    """The grid's width in tokens, where it should not follow the limit."""

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep what stands behind the first grid line that leaves little enough."""
        grid = max(1, self.grid or int(limit * self.step))
        start = furthest_start(history, limit)
        # The first line behind the last message that cannot stay, not behind the first that can:
        # a message wider than the grid would take the cut a whole step too far.
        lines = history.settled(start - 1) // grid + 1 if start else 0
        start = max(start, history.place_settled(lines * grid))
        if self.messages is not None:
            width = max(1, int(self.messages * self.step))
            over = history.spoken - self.messages
            if over > 0:
                left_out = -(-over // width) * width
                start = max(start, newest(history, history.spoken - left_out))
        start = min(start, last_place(history))
        return decided(
            history, [Span(start, len(history), "recent")], "before the cut, which moves in steps"
        )


class FirstAndRecent(
    Struct, frozen=True, tag="first-and-recent", forbid_unknown_fields=True, omit_defaults=True
):
    """The first few, which set the scene, and the newest: the middle goes."""

    messages: int = 20
    """The most that are sent, the note on those left out among them; system messages do not
    count."""
    first: int = 2
    exact: bool = False
    """Let a note say what Port 42 says: how many the history has beyond `messages`, which is one
    less than are left out."""

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep everything while it fits; else the first ones and the newest."""
        seen, counted, count = history.seen(), history.counted, len(history)
        room = Room(history, seen, limit)
        over = history.spoken - self.messages
        if over <= 0 and history.before(count, seen) <= limit:
            return decided(history, [Span(0, count, "all")], "")
        recent = max(1, self.messages - self.first - 1)
        # Where there is little room the first messages give way, never the newest.
        firsts = range(1, min(self.first, self.messages - 1 - recent, len(counted)) + 1)
        fitting = bisect_right(
            firsts, limit - room.kept_before(count), key=lambda n: room.beyond(counted[n - 1] + 1)
        )
        head = counted[fitting - 1] + 1 if fitting else 0
        left = Room(history, seen, limit - room.beyond(head))
        start = max(head, newest(history, recent), left.start())
        start = min(start, last_place(history))
        spans = [Span(0, min(head, start), "first messages"), Span(start, count, "recent")]
        told = over if self.exact and over > 0 else None
        return decided(history, spans, "between the first and the newest", told=told)


class Layers(Struct, frozen=True, tag="layers", forbid_unknown_fields=True, omit_defaults=True):
    """gryag's two layers of history: the immediate messages, and the recent ones before them."""

    immediate: int = 5
    recent: int = 30
    """With the immediate ones among them."""

    def decide(self, history: History, limit: int) -> Decisions:
        """Keep the recent messages, oldest going first, each once and in order."""
        count = len(history)
        start = Room(history, history.seen(), limit).start()
        start = max(start, newest(history, max(self.recent, self.immediate)))
        start = min(start, last_place(history))
        middle = max(start, newest(history, self.immediate))
        spans = [Span(start, middle, "recent layer"), Span(middle, count, "immediate layer")]
        return decided(history, spans, "older than the layers reach")


Window: TypeAlias = KeepAll | KeepRecent | Stepped | FirstAndRecent | Layers


class Room:
    """How much of a history fits within a limit, beside what stays in any case."""

    def __init__(self, history: History, seen: Seen, limit: int) -> None:
        self.history = history
        self.seen = seen
        self.limit = limit
        self._must = [(place, history.cost(place, seen)) for place in history.must(seen)]
        self._total = history.before(seen.count, seen)

    def kept_before(self, place: int) -> int:
        """What the messages before a place cost that no window drops."""
        cost = self.history.always_before(place)
        for must, tokens in self._must:
            if must < place:
                cost += tokens
        return cost

    def beyond(self, place: int) -> int:
        """What the messages before a place cost that a window may drop."""
        return self.history.before(place, self.seen) - self.kept_before(place)

    def fits(self, place: int) -> bool:
        """Whether everything from a place on fits."""
        return self._total - self.beyond(place) <= self.limit

    def start(self) -> int:
        """The earliest place from which on everything fits; the very end if nothing does."""
        if self.fits(0):
            return 0
        return bisect_left(range(self.seen.count), True, key=self.fits)


def furthest_start(history: History, limit: int) -> int:
    """The latest place at which the newest that fit ever began, while the history grew.

    A question that is answered, or results that fade, make room again. Were it filled with older
    messages, the prefix would change twice.
    """
    start = Room(history, history.seen(), limit).start()
    while True:
        before = start
        for length in history.turning_points(start):
            if length > start:
                room = Room(history, history.seen(length), limit)
                if not room.fits(start):
                    start = room.start()
        if start == before:
            return start


def newest(history: History, messages: int) -> int:
    """Where the newest so many messages begin, system messages not counted."""
    counted = history.counted
    if messages >= len(counted):
        return 0
    return counted[-messages] if messages > 0 else len(history)


def last_place(history: History) -> int:
    """The latest place a window may begin: at the last message that anyone said."""
    return history.counted[-1] if history.counted else 0
