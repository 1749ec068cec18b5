"""Which tool result answers which call.

Chat Completions pairs by adjacency, Responses by id, Anthropic and Gemini by turn, Forge not at
all. Here a result answers the latest call with its id; a result without an id answers the
earliest unanswered call of its name, else the earliest unanswered call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall, ToolResult

__all__ = ["Answer", "Matching", "match_results"]

At: TypeAlias = tuple[int, int]
"""Position of a part: index of its message, index among the parts."""


class Answer(Struct):
    """A call, and its result once one is found."""

    call: ToolCall
    at: At
    result: ToolResult | None = None
    result_at: At | None = None


class Matching(Struct):
    """All calls of a conversation in order, and the results that answer no call."""

    answers: list[Answer]
    orphans: list[At]


def match_results(messages: Sequence[Message]) -> Matching:
    """Match every result with the call it answers, in one pass."""
    matching = Matching([], [])
    waiting = Waiting()
    for index, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant":
                answer = Answer(part, (index, place))
                matching.answers.append(answer)
                waiting.add(answer)
            elif type(part) is ToolResult:
                answer = waiting.take(part)
                if answer is None:
                    matching.orphans.append((index, place))
                else:
                    answer.result, answer.result_at = part, (index, place)
    return matching


class Waiting:
    """The unanswered calls, by id, by name and by age, each found in constant time."""

    def __init__(self) -> None:
        self.by_id: dict[str, deque[Answer]] = {}
        """The calls of the latest message that has the id: one message may use it several times."""
        self.by_name: dict[str, deque[Answer]] = {}
        self.by_age: deque[Answer] = deque()

    def add(self, answer: Answer) -> None:
        call = answer.call
        if call.id is not None:
            queue = self.by_id.get(call.id)
            if queue and queue[0].at[0] == answer.at[0]:
                queue.append(answer)
            else:
                self.by_id[call.id] = deque((answer,))
        named = self.by_name.get(call.name)
        if named is None:
            named = self.by_name[call.name] = deque()
        named.append(answer)
        self.by_age.append(answer)

    def take(self, result: ToolResult) -> Answer | None:
        if result.call_id is not None:
            queue = self.by_id.get(result.call_id)
            return next_unanswered(queue) if queue else None
        named = self.by_name.get(result.name) if result.name else None
        return (next_unanswered(named) if named else None) or next_unanswered(self.by_age)


def next_unanswered(queue: deque[Answer]) -> Answer | None:
    """Remove and return the first of a queue that has no result."""
    while queue:
        answer = queue.popleft()
        if answer.result is None:
            return answer
    return None
