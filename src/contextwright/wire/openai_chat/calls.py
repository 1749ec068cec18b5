"""Calls and tool messages of Chat Completions: their names, ids and order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import msgspec

from contextwright.errors import Level, Problem, shown
from contextwright.text.json import decode_json
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import is_object

__all__ = ["NAME_RULE", "TOOL_NAME", "Messages", "functions", "is_plain_call", "pairing"]

Messages: TypeAlias = list[tuple[int, dict[str, Any]]]
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch
MAX_ID = 40


def is_plain_call(call: dict[str, Any], open_calls: set[str]) -> bool:
    """Whether no rule about calls finds anything in a function call; adds it to `open_calls`."""
    id, function = call["id"], call.get("function")
    if function is None or id in open_calls or not 0 < len(id) <= MAX_ID:
        return False
    open_calls.add(id)
    return TOOL_NAME(function["name"]) is not None and is_json_object(function["arguments"])


def pairing(messages: Messages, level: Level) -> Iterator[Problem]:
    """Every call is answered by the tool messages directly after it, and by none later."""
    open_calls: dict[str, str] = {}
    left: Counter[str] = Counter()
    for index, message in messages:
        role = message.get("role")
        if role == "tool":
            id = message.get("tool_call_id")
            if isinstance(id, str):
                path = f"messages[{index}]"
                open_calls.pop(id, None)
                if id not in left:
                    yield Problem("OC-orphan", path, f"no call {shown(id)} in the message before")
                elif not left[id]:
                    reason = f"call {shown(id)} has a tool message already"
                    yield Problem("OC-dup-result", path, reason, level)
                else:
                    left[id] -= 1
            continue
        if open_calls:
            yield from unanswered(open_calls)
        open_calls = {}
        left.clear()
        if role == "assistant" and "tool_calls" in message:
            path = f"messages[{index}].tool_calls"
            yield from calls(message["tool_calls"], path, level, open_calls, left)
    yield from unanswered(open_calls)


def unanswered(open_calls: dict[str, str]) -> Iterator[Problem]:
    for id, path in open_calls.items():
        reason = f"call {shown(id)} has no tool message directly after it"
        yield Problem("OC-unanswered", path, reason)


def calls(
    given: object, path: str, level: Level, open_calls: dict[str, str], left: Counter[str]
) -> Iterator[Problem]:
    """Check the calls of one message, add them to `open_calls`, and count those of each id."""
    if given == []:
        yield Problem("OC-calls-empty", path, "leave tool_calls out instead of []", level)
    for place, call in objects_in(given):
        at = f"{path}[{place}]"
        id = call.get("id")
        if isinstance(id, str):
            if id in open_calls:
                yield Problem("OC-dup-id", f"{at}.id", f"id {shown(id)} is used twice", "warning")
            open_calls[id] = at
            left[id] += 1
        yield from one_call(call, at, level)


def one_call(call: dict[str, Any], path: str, level: Level) -> Iterator[Problem]:
    id = call.get("id")
    if id == "":
        yield Problem("OC-id-empty", f"{path}.id", "an id has at least one character", level)
    if isinstance(id, str) and len(id) > MAX_ID:
        yield Problem("OC-id-long", f"{path}.id", f"at most {MAX_ID} characters", level)
    for kind in ("function", "custom"):
        called = call.get(kind)
        if not isinstance(called, dict):
            continue
        called = cast("dict[str, Any]", called)
        name = called.get("name")
        if isinstance(name, str) and not TOOL_NAME(name):
            yield Problem("OC-callname", f"{path}.{kind}.name", NAME_RULE, level)
        text = called.get("arguments")
        if isinstance(text, str) and not is_json_object(text):
            yield Problem(
                "OC-args",
                f"{path}.{kind}.arguments",
                "not a JSON object: only this format accepts it",
                "warning",
            )


NAME_RULE = "must be 1 to 64 letters, digits, _ or -"


def is_json_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(decode_json(text), dict)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False


def functions(messages: Messages, level: Level) -> Iterator[Problem]:
    """Calls and results in the old style follow each other, as those in the new style must."""
    called = ""  # the function whose result is next
    for index, message in messages:
        path = f"messages[{index}]"
        if message.get("role") == "function":
            if not called or message.get("name") != called:
                reason = "the message before does not call this function"
                yield Problem("OC-function", path, reason, "warning")
            called = ""
            continue
        if called:
            reason = f"the result of {shown(called)} does not come before it"
            yield Problem("OC-function", path, reason, "warning")
        call = message.get("function_call")
        called = str(call.get("name")) if is_object(call) else ""
        if called and message.get("tool_calls"):
            reason = "beside tool_calls, which replace it"
            yield Problem("OC-function", f"{path}.function_call", reason, "warning")
            called = ""
    if called:
        yield Problem("OC-function", "messages", f"no result of {shown(called)}", "warning")
