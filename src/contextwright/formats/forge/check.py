"""Forge's validation of messages, with Forge's own error texts in Forge's order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from contextwright.errors import Level, Problem, shown
from contextwright.formats.forge.read import scan
from contextwright.messages.parts import ToolCall
from contextwright.models import Model
from contextwright.wire.shapes import json_problems

__all__ = ["ROLES", "check", "fields_of", "validate_message"]

ROLES = ("system", "user", "assistant", "tool")
KNOWN = ("role", "content", "timestamp", "metadata")
CAPITALS = {"Role": "role", "Content": "content"}
"""Forge's struct has no JSON tags, so Go writes its keys capitalised."""
BARE = 20
"""A result that is a single word of at most this many characters says too little."""


def validate_message(message: Any) -> list[str]:
    """Return Forge's errors for one message: its role, then its content."""
    fields = fields_of(message)
    role, content = fields.get("role"), fields.get("content")
    faults: list[str] = []
    if role not in ROLES:
        faults.append(f"invalid role: {role if isinstance(role, str) else shown(role)}")
    if not isinstance(content, str):
        faults.append(f"content must be a string, not {shown(content)}")
    elif not content:
        faults.append("content cannot be empty")
    return faults


def check(payload: Any, model: Model | None = None) -> list[Problem]:
    """Check a list of messages, or an object that holds one."""
    body = cast("dict[str, Any]", payload).get("messages") if isinstance(payload, dict) else payload
    path = "messages" if isinstance(payload, dict) else ""
    if not isinstance(body, list):
        return [Problem("forge.messages", path, "must be a list of messages")]
    messages = cast("list[Any]", body)
    problems: list[Problem] = []
    if messages and not any(role_of(message) == "system" for message in messages):
        text = "there is no system message"
        problems.append(Problem("forge.no_system", path, text, "warning"))
    open_calls = 0
    for index, message in enumerate(messages):
        place = f"{path}[{index}]"
        problems.extend(message_problems(message, place))
        content = fields_of(message).get("content") if role_of(message) else None
        if not isinstance(content, str):
            continue
        if role_of(message) == "assistant":
            found = scan(content)
            open_calls += sum(isinstance(part, ToolCall) for part in found.parts)
            faults: dict[str, Level] = {note.message: note.level for note in found.notes}
            problems.extend(
                Problem("forge.call", f"{place}.content", fault, level)
                for fault, level in faults.items()
            )
        elif role_of(message) == "tool":
            problems.extend(result_problems(content, place, answers=open_calls > 0))
            open_calls = max(0, open_calls - 1)
    return [*problems, *json_problems(cast("object", payload))]


def message_problems(message: Any, path: str) -> Iterator[Problem]:
    """Check one message by itself."""
    for fault in validate_message(message):
        field = "role" if fault.startswith("invalid role") else "content"
        yield Problem(f"forge.{field}", f"{path}.{field}", fault)
    for name in fields_of(message):
        if name not in KNOWN:
            text = "not a field of this format"
            yield Problem("forge.extra", f"{path}.{name}", text, "warning")


def result_problems(content: str, path: str, *, answers: bool) -> Iterator[Problem]:
    """Check a tool result and its position."""
    if not answers:
        yield Problem("forge.orphan", path, "no earlier call is waiting for this result")
    words = content.partition("\n")[2] if content.startswith("Tool: ") else content
    if len(words) <= BARE and len(words.split()) == 1:
        text = "the result has no marker that says what it is"
        yield Problem("forge.bare_result", f"{path}.content", text, "warning")


def role_of(message: Any) -> Any:
    return fields_of(message).get("role")


def fields_of(message: Any) -> dict[str, Any]:
    """Return the fields of a message under Forge's names; none if it is not an object."""
    if not isinstance(message, Mapping):
        return {}
    fields = cast("Mapping[str, Any]", message)
    if "role" in fields:
        return dict(fields)
    return {CAPITALS.get(name, name): value for name, value in fields.items()}
