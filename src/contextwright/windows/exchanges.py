"""Exchanges of tool calls and their results, which a window keeps or drops whole."""

from __future__ import annotations

from contextwright.messages.exchanges import Answer, Waiting
from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall, ToolResult

__all__ = ["Exchanges"]


class Exchanges:
    """The exchanges of a growing log, by the index of each member."""

    def __init__(self) -> None:
        self.late: list[int] = []
        """Indexes of results that other messages separate from their call."""
        self.by_index: dict[int, list[int]] = {}
        """The members of its exchange, in order, for each message that belongs to one."""
        self._names: dict[int, dict[int, str]] = {}
        self._waiting = Waiting()

    def members(self, index: int) -> list[int]:
        """Return the indexes of an exchange's messages, in order; only `index` if it has none."""
        return self.by_index.get(index) or [index]

    def first(self, index: int) -> int:
        """Return the index at which the exchange of a message begins."""
        members = self.by_index.get(index)
        return members[0] if members else index

    def __contains__(self, index: int) -> bool:
        return index in self.by_index

    def among(self, indexes: set[int]) -> set[int]:
        """Return those of some indexes that belong to an exchange."""
        return self.by_index.keys() & indexes

    def tool_names(self, index: int) -> dict[int, str]:
        """Return the tools of a message's results, by the index of the part."""
        return self._names.get(index, {})

    def add(self, message: Message, index: int, *, since: int | None = 0) -> None:
        """Put a message's results into one exchange with their calls.

        `since` is the first message whose calls it can answer; None if it answers none.
        """
        for place, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant":
                self._waiting.add(Answer(part, (index, place)))
            elif type(part) is ToolResult and since is not None:
                answer = self._waiting.take(part)
                if answer is not None and answer.at[0] >= since:
                    answer.result = part
                    self._names.setdefault(index, {})[place] = answer.call.name
                    if answer.at[0] != index:
                        self._link(answer.at[0], index)

    def _link(self, call: int, result: int) -> None:
        """Merge the exchanges of a call and its result."""
        asking, answering = self.by_index.get(call), self.by_index.get(result)
        if asking is not None and asking is answering:
            return
        last = asking[-1] if asking else call
        if last + 1 < result and answering is None:
            self.late.append(result)
        if asking is not None and answering is None:
            asking.append(result)
            self.by_index[result] = asking
            return
        members = sorted({*self.members(call), *self.members(result)})
        for member in members:
            self.by_index[member] = members
