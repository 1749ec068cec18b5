"""Exchanges of tool calls and their results, which a window keeps or drops whole."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Collection
from typing import TypeAlias

from contextwright.messages.exchanges import Answer, Waiting
from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall, ToolResult

__all__ = ["Exchanges", "Holder", "Unloaded"]

FEWEST = 32
"""The number of messages that are matched at first; then three times as many each time."""

Holder: TypeAlias = tuple[int, Message, int | None]
"""The index of a message with calls or results, the message, and the first message whose calls it
can answer; None if it answers none."""


class Unloaded(Exception):
    """Raised if a message is needed that is not loaded; the loader must load more."""


class Exchanges:
    """The exchanges of a growing log, by the index of each member.

    Messages are matched when someone asks for them, the newest first, because a window seldom
    needs more. That gives the same as matching all of them: a result that names its call answers
    the newest call of that name. If one does not, or its call is further back, more are matched.
    """

    def __init__(self, fewest: int = FEWEST) -> None:
        self.since = 0
        """The index from which all messages are matched; there is none after a new one came."""
        self.by_index: dict[int, list[int]] = {}
        """The members of its exchange, in order, for each matched message that belongs to one."""
        self._holders: list[Holder] = []
        """All messages with calls or results, in order."""
        self._indexes: list[int] = []
        """Their indexes."""
        self._first, self._stop = sys.maxsize, 0
        """The range of the holders that are matched."""
        self._fewest = fewest
        self.is_partial = False
        """Whether a result may answer a call that is not loaded."""
        self._begin()

    def _begin(self) -> None:
        """Forget what was matched."""
        self.by_index = {}
        self._late: list[int] = []
        self._results: list[int] = []
        self._answered: int | None = None
        """Where the exchange of the last results begins."""
        self._names: dict[int, dict[int, str]] = {}
        self._waiting = Waiting()

    def extend(self, holders: Collection[Holder]) -> None:
        """Add messages with calls or results at the end."""
        if holders:
            self._holders += holders
            self._indexes += [index for index, _, _ in holders]
            self.since = sys.maxsize

    # --- what is asked for -------------------------------------------------------------------

    def members(self, index: int) -> list[int]:
        """Return the indexes of an exchange's messages, in order; only `index` if it has none."""
        if index < self.since:
            self._match(index)
        return self.by_index.get(index) or [index]

    def first(self, index: int) -> int:
        """Return the index at which the exchange of a message begins."""
        if index < self.since:
            self._match(index)
        members = self.by_index.get(index)
        return members[0] if members else index

    def __contains__(self, index: int) -> bool:
        if index < self.since:
            self._match(index)
        return index in self.by_index

    def among(self, indexes: Collection[int]) -> set[int]:
        """Return those of some indexes that belong to an exchange."""
        if self.since:
            for index in sorted([index for index in indexes if index < self.since]):
                self._match(index)
        return self.by_index.keys() & indexes

    def tool_names(self, index: int) -> dict[int, str]:
        """Return the tools of a message's results, by the index of the part."""
        if index < self.since:
            self._match(index)
        return self._names.get(index, {})

    def late(self, start: int) -> list[int]:
        """Return the results from an index on that other messages separate from their call."""
        self.match_from(start)
        return self._late[bisect_left(self._late, start) :]

    def is_answered(self, start: int, stop: int) -> bool:
        """Whether a call after one index was answered before another."""
        waiting = Waiting()
        for index, message, _ in self._holders:
            if index >= stop:
                break
            for place, part in enumerate(message.parts):
                if type(part) is ToolCall and message.role == "assistant":
                    waiting.add(Answer(part, (index, place)))
                elif type(part) is ToolResult:
                    answer = waiting.take(part)
                    if answer is not None:
                        answer.result = part
                        if start < answer.at[0] < index:
                            return True
        return False

    @property
    def results(self) -> list[int]:
        """The indexes where the results of an exchange begin; parallel results begin once."""
        self.match_from(0)
        return self._results

    # --- matching ----------------------------------------------------------------------------

    def _match(self, index: int) -> None:
        """Match a message if it holds calls or results."""
        place = bisect_left(self._indexes, index)
        if place < len(self._indexes) and self._indexes[place] == index:
            self.match_from(index)

    def match_from(self, index: int) -> None:
        """Match all messages from an index on, and as many before it as that takes."""
        if index >= self.since:
            return
        count, wanted = len(self._holders), bisect_left(self._indexes, index)
        if wanted < self._first or not self._go_on(self._stop, count):
            first = self._restart(min(wanted, self._further(count)))
            while not self._go_on(first, count):
                first = self._restart(self._further(count))
        self.since = self._indexes[self._first - 1] + 1 if self._first else 0

    def _further(self, count: int) -> int:
        """Return the holder to begin with for three times as many as are matched."""
        matched = max(count - self._first, 0)
        return max(count - max(3 * matched, self._fewest), 0)

    def _restart(self, first: int) -> int:
        """Forget what was matched, to begin at another holder, or at the calls before it."""
        while first and self._holders[first][1].results:
            first -= 1
        self._begin()
        self._first = first
        return first

    def _go_on(self, start: int, stop: int) -> bool:
        """Match some holders; False if one may answer a call before those that are matched."""
        for place in range(start, stop):
            if not self._pair(*self._holders[place]):
                if self._first:
                    return False
                if self.is_partial:
                    raise Unloaded(self._holders[place][0])
        self._stop = stop
        return True

    def _pair(self, index: int, message: Message, since: int | None) -> bool:
        """Match the results of a message with their calls; False if one might answer another."""
        is_certain, has_results = True, False
        if since is None and message.calls:
            since = index  # it may answer its own
        for place, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant":
                self._waiting.add(Answer(part, (index, place)))
            elif type(part) is ToolResult:
                has_results = True
                answer = self._waiting.take(part) if since is not None else None
                if answer is not None and since is not None and answer.at[0] >= since:
                    answer.result = part
                    self._names.setdefault(index, {})[place] = answer.call.name
                    if answer.at[0] != index:
                        self._link(answer.at[0], index)
                if since is not None and (answer is None or part.call_id is None):
                    is_certain = False
        if has_results:
            self._note_results(index)
        return is_certain

    def _note_results(self, index: int) -> None:
        """Record where results begin."""
        members = self.by_index.get(index)
        first = members[0] if members else index
        if first == index or first != self._answered:
            self._results.append(index)
        self._answered = first if first != index else None

    def _link(self, call: int, result: int) -> None:
        """Merge the exchanges of a call and its result."""
        asking, answering = self.by_index.get(call), self.by_index.get(result)
        if asking is not None and asking is answering:
            return
        last = asking[-1] if asking else call
        if last + 1 < result and answering is None:
            self._late.append(result)
        if asking is not None and answering is None:
            asking.append(result)
            self.by_index[result] = asking
            return
        members = sorted({*(asking or [call]), *(answering or [result])})
        for member in members:
            self.by_index[member] = members
