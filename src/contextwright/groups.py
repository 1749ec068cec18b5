"""Messages that live or die together, found as they come: calls, and the results they got."""

from __future__ import annotations

from bisect import insort

from msgspec import Struct

from contextwright.exchanges import Answer, Waiting
from contextwright.messages import Message, ToolCall, ToolResult

__all__ = ["Group", "Groups"]


class Group(Struct):
    """Calls, and the results that answer them."""

    members: list[int]
    """Their places, in order."""
    always: bool = False
    """One of them is pinned, and so all of them stay."""


class Groups:
    """The groups of a history that grows, by the place of each member."""

    def __init__(self) -> None:
        self.places: list[int] = []
        """All places that belong to a group, in order."""
        self._of: dict[int, Group] = {}
        self._waiting = Waiting()

    def get(self, place: int) -> Group | None:
        """The group of the message at a place."""
        return self._of.get(place)

    def with_all(self, place: int) -> list[int]:
        """The place, and all that belong to it."""
        group = self._of.get(place)
        return group.members if group else [place]

    def join(self, message: Message, place: int) -> dict[int, Answer]:
        """Put results into one group with their calls; gives the call that each part answers."""
        called: dict[int, Answer] = {}
        for index, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant":
                self._waiting.add(Answer(part, (place, index)))
            elif type(part) is ToolResult:
                answer = self._waiting.take(part)
                if answer is not None:
                    answer.result = part
                    called[index] = answer
                    if answer.at[0] != place:
                        self._link(answer.at[0], place)
        return called

    def _link(self, call: int, result: int) -> None:
        """One group for a call, its result, and all that belong to either."""
        calling, answering = self._of.get(call), self._of.get(result)
        if calling is not None and calling is answering:
            return
        if calling is None:
            insort(self.places, call)
        if answering is None:
            self.places.append(result)
        if calling is not None and answering is None:
            calling.members.append(result)
            self._of[result] = calling
            return
        group = Group(sorted({*self.with_all(call), *self.with_all(result)}))
        for member in group.members:
            self._of[member] = group
