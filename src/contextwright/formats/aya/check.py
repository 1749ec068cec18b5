"""The rules of an Aya array: each entry, then their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard, cast

from contextwright.errors import ParseError, Problem, shown
from contextwright.formats.file_formats import iso_time
from contextwright.messages.times import read_time
from contextwright.models import Model
from contextwright.wire.shapes import json_problems

__all__ = [
    "FIELDS",
    "NAME",
    "REPLY_TOOLS",
    "ROLES",
    "SYSTEM_KINDS",
    "UNKNOWN",
    "check",
    "refuse_faults",
]

NAME = "aya"
REPLY_TOOLS: dict[str, str | None] = {"postMessage": "text", "finishRequest": None}
UNKNOWN = "unknown"
"""The id of a speaker who is not named."""
FIELDS = ("index", "turn", "timestamp", "role", "content")
ROLES = ("system", "user", "assistant")
SYSTEM_KINDS = ("conversation_stats", "hints_and_suggestions")
"""The objects that Aya writes as system content, besides plain text."""


def check(payload: Any, model: Model | None = None) -> list[Problem]:
    """List every rule of the format that the array breaks."""
    if not isinstance(payload, list):
        return [Problem("aya.array", "", f"must be a list of entries, not {shown(payload)}")]
    entries = cast("list[Any]", payload)
    problems: list[Problem] = []
    for place, entry in enumerate(entries):
        problems.extend(entry_problems(entry, f"[{place}]"))
    problems.extend(order_problems(entries))
    problems.extend(json_problems(entries))
    return problems


def refuse_faults(payload: Any) -> None:
    """Raise all problems of the array at once, for strict parsing.

    Raises:
        ParseError: the array breaks a rule of the format.
    """
    faults = [
        problem
        for problem in check(payload)
        if problem.level == "error" or problem.code == "aya.system_object"
    ]
    if faults:
        more = [f"{fault.path}: {fault.message}" for fault in faults[1:20]]
        raise ParseError("; ".join([faults[0].message, *more]), path=faults[0].path)


def entry_problems(entry: Any, path: str) -> Iterator[Problem]:
    """Check one entry by itself."""
    if not isinstance(entry, dict):
        yield Problem("aya.entry", path, f"must be an object, not {shown(entry)}")
        return
    fields = cast("dict[str, Any]", entry)
    for name in FIELDS:
        if name not in fields:
            yield Problem("aya.required", f"{path}.{name}", "required field is missing")
    for name in fields:
        if name not in FIELDS:
            yield Problem("aya.extra", f"{path}.{name}", "not a field of this format", "warning")
    for name in ("index", "turn"):
        if name in fields and not is_count(fields[name]):
            message = f"must be a whole number from 0, not {shown(fields[name])}"
            yield Problem(f"aya.{name}", f"{path}.{name}", message)
    if "timestamp" in fields:
        yield from time_problems(fields["timestamp"], f"{path}.timestamp")
    if "role" in fields and fields["role"] not in ROLES:
        message = f"{shown(fields['role'])} is not one of: {', '.join(ROLES)}"
        yield Problem("aya.role", f"{path}.role", message)
    if "content" in fields:
        yield from content_problems(fields.get("role"), fields["content"], f"{path}.content")


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value is an integer of at least 0."""
    return type(value) is int and value >= 0


def time_problems(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield Problem("aya.timestamp", path, f"must be an ISO 8601 string, not {shown(value)}")
    elif iso_time(value) != value:
        message = f"{shown(value)} is not ISO 8601 with a zone"
        yield Problem("aya.timestamp", path, message)


def content_problems(role: Any, content: Any, path: str) -> Iterator[Problem]:
    """Check the content of an entry with this role."""
    if not isinstance(content, str | dict):
        yield Problem("aya.content", path, f"must be a string or an object, not {shown(content)}")
    elif isinstance(content, str):
        if role in ("user", "assistant"):
            yield Problem("aya.content", path, f"{role} content should be an object", "warning")
    elif role == "system":
        known = cast("dict[str, Any]", content).get("type") in SYSTEM_KINDS
        level = "warning" if known else "error"
        code = "aya.system_object" if known else "aya.content"
        yield Problem(code, path, "system content should be a string", level)
    elif role == "user":
        yield from user_problems(cast("dict[str, Any]", content), path)
    elif role == "assistant":
        yield from assistant_problems(cast("dict[str, Any]", content), path)


def user_problems(content: dict[str, Any], path: str) -> Iterator[Problem]:
    userid = content.get("userid")
    if not isinstance(userid, str):
        yield Problem("aya.userid", f"{path}.userid", f"must be a string, not {shown(userid)}")
    elif not (userid.startswith("<@") and userid.endswith(">") and len(userid) > len("<@>")):
        message = f"{shown(userid)} should be written <@…>"
        yield Problem("aya.userid", f"{path}.userid", message, "warning")
    if not isinstance(content.get("text"), str):
        message = f"must be a string, not {shown(content.get('text'))}"
        yield Problem("aya.text", f"{path}.text", message)


def is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def assistant_problems(content: dict[str, Any], path: str) -> Iterator[Problem]:
    name = content.get("toolCall")
    reasoning = content.get("reasoning")
    if "toolCall" not in content:
        message = "an assistant entry should name the tool it calls"
        yield Problem("aya.tool_call", f"{path}.toolCall", message, "warning")
    elif not isinstance(name, str) or not name:
        yield Problem("aya.tool_call", f"{path}.toolCall", f"must be a name, not {shown(name)}")
    elif "reasoning" not in content or is_blank(reasoning):
        message = "a tool call should give its reasoning"
        yield Problem("aya.reasoning", f"{path}.reasoning", message, "warning")
    if "reasoning" in content and not isinstance(reasoning, str):
        message = f"must be a string, not {shown(reasoning)}"
        yield Problem("aya.reasoning", f"{path}.reasoning", message)
    if name == "postMessage" and not isinstance(content.get("text"), str):
        message = "postMessage should have its text here"
        yield Problem("aya.text", f"{path}.text", message, "warning")


def order_problems(entries: list[Any]) -> Iterator[Problem]:
    """Check the order of the entries. Entries without a valid index, turn or time are skipped."""
    last_index, last_turn, last_time = -1, 0, None
    seen: set[int] = set()
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict):
            continue
        fields = cast("dict[str, Any]", entry)
        index, turn, time = fields.get("index"), fields.get("turn"), fields.get("timestamp")
        if is_count(index):
            yield from index_problems(index, last_index, seen, f"[{place}].index")
            last_index = max(last_index, index)
        if is_count(turn):
            if turn < last_turn:
                message = f"turn {turn} follows turn {last_turn}"
                yield Problem("aya.turn_order", f"[{place}].turn", message, "warning")
            last_turn = turn
        moment = read_time(time) if isinstance(time, str) else None
        if moment and last_time and moment < last_time:
            message = f"{shown(time)} is earlier than the previous entry; the index decides"
            yield Problem("aya.time_order", f"[{place}].timestamp", message, "warning")
        last_time = moment or last_time


def index_problems(index: int, last: int, seen: set[int], path: str) -> Iterator[Problem]:
    if index in seen:
        yield Problem("aya.duplicate", path, f"index {index} occurs twice")
    elif index < last:
        yield Problem("aya.order", path, f"index {index} follows index {last}")
    elif index > last + 1:
        missing = str(last + 1) if index == last + 2 else f"{last + 1} to {index - 1}"
        yield Problem("aya.gap", path, f"index {missing} is missing", "warning")
    seen.add(index)
