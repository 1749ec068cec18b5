"""The Hugging Face message list, which the chat templates of open models turn into a prompt.

Templates differ: one raises an error where another does not, so most problems here are warnings.
Arguments of calls are objects, and results belong to calls by their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, cast

from msgspec import UNSET, Struct, UnsetType

from contextwright.errors import Level, Problem, shown
from contextwright.models import Model
from contextwright.wire.shapes import Shape, json_problems, objects_in, shape_problems

__all__ = ["check"]

Content: TypeAlias = str | list[dict[str, Any]]


class CalledFunction(Shape):
    name: str
    arguments: dict[str, Any] | str


class Call(Shape):
    function: CalledFunction
    type: Literal["function"] | UnsetType = UNSET
    id: str | None = None


class SystemMessage(Struct, tag_field="role", tag="system"):
    content: Content


class DeveloperMessage(Struct, tag_field="role", tag="developer"):
    """A role that only the template of gpt-oss knows."""

    content: Content


class UserMessage(Struct, tag_field="role", tag="user"):
    content: Content


class AssistantMessage(Struct, tag_field="role", tag="assistant"):
    content: Content | None = None
    tool_calls: list[Call] | None = None


class ToolMessage(Struct, tag_field="role", tag="tool"):
    content: Content
    name: str | None = None
    tool_call_id: str | None = None


ChatMessage: TypeAlias = (
    SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage
)
"""Other fields are allowed, because templates read more than these (`reasoning_content` …)."""


class Chat(Struct):
    messages: list[ChatMessage]
    tools: list[dict[str, Any]] | None = None


def check(payload: Any, model: Model) -> list[Problem]:
    """List everything in a chat that a template refuses, or might refuse."""
    problems = json_problems(payload)
    if isinstance(payload, list):
        messages, path = cast("list[Any]", payload), ""
        types = shape_problems(messages, list[ChatMessage])
    else:
        types = shape_problems(payload, Chat)
        entries = cast("dict[str, Any]", payload) if isinstance(payload, dict) else {}
        messages, path = entries.get("messages"), "messages"
    problems.extend(problem for problem in types if problem.code != "T-extra")
    turns = [(f"{path}[{index}]", message) for index, message in objects_in(messages)]
    strict: Level = "warning" if model.mid_system else "error"
    for rule in (alternation, pairing, arguments):
        problems.extend(rule(turns, strict))
    return problems


Turns = list[tuple[str, dict[str, Any]]]


def alternation(turns: Turns, level: Level) -> Iterator[Problem]:
    """User and assistant take turns after an optional system message; tool exchanges excepted."""
    previous = ""
    for index, (path, message) in enumerate(turns):
        role = message.get("role")
        if role == "system":
            if index:
                yield Problem(
                    "H-system", path, "many templates accept system text only at the start", level
                )
        elif role == previous and role in ("user", "assistant"):
            yield Problem("H-alternate", path, f"two {role} messages in a row", level)
        elif role == "assistant" and previous == "":
            yield Problem("H-alternate", path, "the first turn is the user's", level)
        if role in ("user", "assistant", "tool"):
            previous = cast("str", role)


def pairing(turns: Turns, level: Level) -> Iterator[Problem]:
    """As many results as calls, directly after them, in the same order."""
    waiting: deque[tuple[str, Any, Any]] = deque()
    for path, message in turns:
        role = message.get("role")
        if role == "tool":
            if not waiting:
                yield Problem("H-orphan", path, "no call for this result in the turn before")
                continue
            _, name, id = waiting.popleft()
            given, given_id = message.get("name"), message.get("tool_call_id")
            if (given and name and given != name) or (given_id and id and given_id != id):
                reason = f"results follow the order of the calls: {shown(name)} is next"
                yield Problem("H-order", path, reason, "warning")
            continue
        for place, _, _ in waiting:
            yield Problem("H-unanswered", place, "no result directly after this call", "warning")
        waiting.clear()
        for index, call in objects_in(message.get("tool_calls")):
            function = call.get("function")
            entries = cast("dict[str, Any]", function) if isinstance(function, dict) else {}
            place = f"{path}.tool_calls[{index}]"
            waiting.append((place, entries.get("name"), call.get("id")))
    # Calls may end the list: that is how training data ends.


def arguments(turns: Turns, level: Level) -> Iterator[Problem]:
    """Arguments are objects, because templates encode them as JSON, and a string twice."""
    for path, message in turns:
        for index, call in objects_in(message.get("tool_calls")):
            match call:
                case {"function": {"arguments": str()}}:
                    place = f"{path}.tool_calls[{index}].function.arguments"
                    yield Problem("H-args", place, "a JSON string is encoded twice", "warning")
                case _:
                    pass
