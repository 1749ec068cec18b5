"""Decisions on every message: kept, cleared, dropped or summarised, and why."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Literal, TypeAlias, overload

from msgspec import Struct

from contextwright.messages.message import Message
from contextwright.windows.history import View

__all__ = ["CLEARED", "HIDDEN", "TORN", "Action", "Decision", "Decisions", "Run", "Span"]

Action: TypeAlias = Literal["kept", "dropped", "cleared", "summarised"]

HIDDEN = "hidden from context"
ERASED = "erased"
SKIPPED = "system messages of the history are left out"
TORN = "dropped with its tool call: the exchange does not fit"
CLEARED = "old results and media are cleared"
SUMMARISED = "covered by the summary"
UNSEEN = (HIDDEN, ERASED, SKIPPED)
"""Reasons other than lack of room."""


class Decision(Struct, frozen=True):
    """The decision on one message."""

    index: int
    """Its index in the whole history, from 0."""
    action: Action
    reason: str
    tokens: int | None
    """Its tokens in the request; None if it is not in it."""


class Run(Struct, frozen=True):
    """Adjacent messages with the same decision, from `start` up to but not including `stop`."""

    start: int
    stop: int
    action: Action
    reason: str


class Span(Struct, frozen=True):
    """A range of indexes that a window keeps, and why."""

    start: int
    stop: int
    reason: str
    is_apart: bool = False
    """Whether it stays for its own sake, and does not count as the start of the newest messages."""


class Decisions(Sequence[Decision]):
    """The decision on every message of a history, computed on access."""

    def __init__(
        self, view: View, staying: list[Run], torn: Collection[int], why_dropped: str, *, cut: int
    ) -> None:
        self.staying = staying
        """Runs of the messages that are sent, in order. Equal runs mean equal decisions."""
        self.cut = cut
        """The index at which the newest messages begin."""
        self.summary_stop = 0
        """The index at which the summary ends; 0 without one."""
        self.untold: frozenset[int] = frozenset()
        """Messages before `summary_stop` that the summary does not cover."""
        self._tokens: Callable[[], Mapping[int, int]] = dict
        self.view = view
        self._torn = torn
        self._why_dropped = why_dropped
        self._starts = [run.start for run in staying]

    def __len__(self) -> int:
        return self.view.count

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        found = index + len(self) if index < 0 else index
        if not 0 <= found < len(self):
            raise IndexError(index)
        nearest = bisect_right(self._starts, found) - 1
        if nearest >= 0 and found < self.staying[nearest].stop:
            run = self.staying[nearest]
            return Decision(found, run.action, run.reason, self.tokens.get(found))
        if self._is_covered(found):
            return Decision(found, "summarised", SUMMARISED, None)
        return Decision(found, "dropped", self._why(found), None)

    def with_summary(self, stop: int, untold: frozenset[int] = frozenset()) -> Decisions:
        """Return the decisions with a summary of what is dropped before an index."""
        return self._with(summary_stop=stop, untold=untold)

    def with_tokens(self, tokens: Callable[[], Mapping[int, int]]) -> Decisions:
        """Return the decisions with the tokens of messages, which are asked for when needed."""
        return self._with(_tokens=tokens)

    def _with(self, **fields: object) -> Decisions:
        changed = Decisions.__new__(Decisions)
        changed.__dict__.update(self.__dict__, **fields)
        for derived in ("runs", "summarised"):
            changed.__dict__.pop(derived, None)
        return changed

    @property
    def tokens(self) -> Mapping[int, int]:
        """The tokens of each message that is sent, by its index."""
        return self._tokens()

    def kept(self) -> Iterator[int]:
        """Yield the indexes of the messages that are sent, in order."""
        return chain.from_iterable([range(run.start, run.stop) for run in self.staying])

    def is_kept(self, index: int) -> bool:
        """Whether a message is sent."""
        nearest = bisect_right(self._starts, index) - 1
        return nearest >= 0 and index < self.staying[nearest].stop

    def messages(self) -> list[Message]:
        """Return the messages that are sent, old ones cleared."""
        found: list[Message] = []
        for run in self.staying:
            found += self.view.messages(range(run.start, run.stop))
        return found

    @cached_property
    def runs(self) -> list[Run]:
        """The decisions on all messages, in runs of the same one."""
        runs: list[Run] = []
        reached = 0
        for run in (*self.staying, Run(len(self), len(self), "kept", "")):
            self._add_left_out(runs, reached, run.start)
            add_run(runs, run)
            reached = run.stop
        return runs

    def run_tokens(self, run: Run) -> int | None:
        """Return the tokens of a run in the request; None if it is not in it."""
        if run.action not in ("kept", "cleared") or not self.tokens:
            return None
        return sum(self.tokens.get(index, 0) for index in range(run.start, run.stop))

    @property
    def omitted(self) -> int:
        """The number of messages left out for lack of room."""
        view = self.view
        out = len(view.log.hidden) + (len(view.log.system) if view.history.skip_system else 0)
        return len(self) - out - sum(run.stop - run.start for run in self.staying)

    @cached_property
    def summarised(self) -> int:
        """The number of omitted messages that the summary covers."""
        if not self.summary_stop:
            return 0
        return sum(run.stop - run.start for run in self.runs if run.action == "summarised")

    @cached_property
    def cleared(self) -> frozenset[int]:
        """The indexes of messages whose results or media were cleared."""
        runs = (run for run in self.staying if run.action == "cleared")
        return frozenset(index for run in runs for index in range(run.start, run.stop))

    @cached_property
    def gap(self) -> int | None:
        """The index before which a note on omitted messages belongs; None if nothing is omitted.

        It is before the first message after the cut and what stays directly before that, such as
        the question, or before the exchange that this one ends.
        """
        if not self.omitted:
            return None
        gap = next((max(run.start, self.cut) for run in self.staying if run.stop > self.cut), None)
        if gap is None or gap == self._starts[0]:
            return gap
        gap = self._first_beside(gap)
        # Never split an exchange that stays, wherever its calls and results are.
        exchanges = self.view.log.exchanges
        for index in sorted(exchanges.among(set(self.kept())), reverse=True):
            if index >= gap:
                gap = min(gap, exchanges.first(index))
        return gap

    def _first_beside(self, kept: int) -> int:
        """Return the first message of those that stay together with this one.

        It is the same one if nothing is left out before them.
        """
        first = index = kept
        while index and (self.is_kept(index - 1) or self._why(index - 1) in UNSEEN):
            index -= 1
            first = index if self.is_kept(index) else first
        return first if index else kept

    @property
    def first_changed(self) -> int:
        """The index of the first message that is left out for lack of room, summarised or cleared.

        It is the end if there is none.
        """
        reached = 0
        for run in (*self.staying, Run(len(self), len(self), "kept", "")):
            for index in range(reached, run.start):
                if self._why(index) not in UNSEEN:
                    return index
            if run.action == "cleared":
                return run.start
            reached = run.stop
        return reached

    @property
    def is_changed(self) -> bool:
        """Whether anything is not sent unchanged."""
        return bool(self.omitted) or any(run.action == "cleared" for run in self.staying)

    def _add_left_out(self, runs: list[Run], start: int, stop: int) -> None:
        """Add runs for messages that are not sent."""
        log = self.view.log
        special = {self.summary_stop, *between(log.hidden, start, stop)}
        special.update(index for index in (*self._torn, *self.untold) if start <= index < stop)
        if self.view.history.skip_system:
            special.update(between(log.system, start, stop))
        for index in sorted(special):
            if start <= index < stop:
                self._add_alike(runs, start, index)
                self._add_alike(runs, index, index + 1)
                start = index + 1
        self._add_alike(runs, start, stop)

    def _add_alike(self, runs: list[Run], start: int, stop: int) -> None:
        """Add a run of messages that have the decision of the first."""
        if start < stop:
            first = self[start]
            add_run(runs, Run(start, stop, first.action, first.reason))

    def _is_covered(self, index: int) -> bool:
        """Whether the summary covers a message that is not sent."""
        if index >= self.summary_stop or index in self.untold:
            return False
        return self._why(index) not in UNSEEN

    def _why(self, index: int) -> str:
        """Return why a message is not sent."""
        log = self.view.log
        if log.is_hidden(index):
            return ERASED if index in log.erased else HIDDEN
        if self.view.history.skip_system and between(log.system, index, index + 1):
            return SKIPPED
        return TORN if index in self._torn else self._why_dropped


def between(indexes: list[int], start: int, stop: int) -> list[int]:
    """Return those of some sorted indexes that are in a range."""
    return indexes[bisect_left(indexes, start) : bisect_left(indexes, stop)]


def add_run(runs: list[Run], run: Run) -> None:
    """Append a run, or extend the last one if they match."""
    if run.start >= run.stop:
        return
    last = runs[-1] if runs else None
    if last and last.stop == run.start and (last.action, last.reason) == (run.action, run.reason):
        runs[-1] = Run(last.start, run.stop, run.action, run.reason)
    else:
        runs.append(run)
