"""Aya: a Slack bot's context as a JSON array of numbered, timed entries.

Every assistant entry is a tool call with its arguments next to the name: `postMessage` is how Aya
speaks, `finishRequest` ends a turn. They are parsed as tool calls, so that the array can be written
back unchanged; `Conversation.reply_tools` tells other formats that they are speech. Assistant text
from other formats is written as `postMessage`.
"""

from __future__ import annotations

from typing import Any, cast

from contextwright.errors import UsageError, shown
from contextwright.formats.aya.check import (
    FIELDS,
    NAME,
    REPLY_TOOLS,
    ROLES,
    SYSTEM_KINDS,
    UNKNOWN,
    check,
    is_count,
    refuse_faults,
)
from contextwright.formats.aya.write import render
from contextwright.formats.base import Format
from contextwright.formats.file_formats import iso_time, words_of
from contextwright.formats.reader import Reader, misshapen
from contextwright.messages.conversation import Conversation
from contextwright.messages.make import as_result
from contextwright.messages.message import Author, Message, Role
from contextwright.messages.parts import Extra, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.text.json import json_text

__all__ = ["FORMAT"]


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse an array, in the order of its indexes."""
    if not isinstance(data, list):
        raise misshapen(NAME, "a list of entries", data)
    if strict:
        refuse_faults(data)
    reader = Reader(NAME, strict=strict)
    messages: list[Message] = []
    ordered = in_order(cast("list[Any]", data), reader)
    for position, (index, path, entry) in enumerate(ordered):
        messages.extend(messages_of(entry, path, index, position, reader))
    return Conversation(
        tuple(messages), reply_tools=dict(REPLY_TOOLS), source=NAME, changes=reader.finish()
    )


def in_order(entries: list[Any], reader: Reader) -> list[tuple[int, str, dict[str, Any]]]:
    """Sort the entries by index, each with its index and path. Equal indexes keep their order."""
    found: list[tuple[int, str, dict[str, Any]]] = []
    for place, entry in enumerate(entries):
        path = f"[{place}]"
        if isinstance(entry, dict):
            fields = cast("dict[str, Any]", entry)
            index = number_of(fields, "index", path, reader)
            found.append((place if index is None else index, path, fields))
        else:
            reader.fault(path, f"must be an object, not {shown(entry)}")
    ordered = sorted(found, key=lambda one: one[0])
    for was, now in zip(found, ordered, strict=True):
        if was is not now:
            reader.repair("repair.order", was[1], "entries are sorted by index")
            break
    last = -1
    for index, path, _ in ordered:
        if index == last:
            reader.repair("repair.index", f"{path}.index", f"index {index} occurs twice")
        elif index > last + 1:
            reason = f"index {index} follows {last}" if last >= 0 else f"begins with {index}"
            reader.repair("repair.index", f"{path}.index", f"{reason}; renumbered")
        last = index
    return ordered


def number_of(entry: dict[str, Any], name: str, path: str, reader: Reader) -> int | None:
    """Read a whole number. Digits in a string are accepted as a repair."""
    value = entry.get(name)
    if is_count(value):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        reader.repair(f"repair.{name}", f"{path}.{name}", f"{shown(value)} is read as a number")
        return int(value)
    wrong = f"{shown(value)} is not a whole number from 0" if name in entry else "is missing"
    reader.repair(f"repair.{name}", f"{path}.{name}", f"{wrong}; renumbered")
    return None


def messages_of(
    entry: dict[str, Any], path: str, index: int, position: int, reader: Reader
) -> list[Message]:
    """Read one entry as a message, followed by a tool message if the entry records a result."""
    role, content = role_of(entry, path, reader), entry.get("content", "")
    if not isinstance(content, str | dict):
        message = f"must be a string or an object, not {shown(content)}"
        reader.fault(f"{path}.content", message)
        return []
    content = cast("str | dict[str, Any]", content)
    if "content" not in entry:
        reader.repair("repair.content", f"{path}.content", "is missing; read as empty")
    extra: dict[str, Any] = {}
    rest = {name: value for name, value in entry.items() if name not in FIELDS}
    if rest:
        extra["entry"] = rest
    author, parts = None, list[Part]()
    if role == "system":
        parts = [system_part(content, f"{path}.content", reader)]
    elif role == "user":
        author, parts = user_parts(content, f"{path}.content", extra, reader)
    elif role == "assistant":
        parts = assistant_parts(content, position, f"{path}.content", extra, reader)
    message = Message(
        role or "user",
        tuple(part for part in parts if type(part) is not ToolResult),
        author,
        sent_at=time_of(entry, path, reader),
        turn=number_of(entry, "turn", path, reader),
        meta={"index": index},
        extra={NAME: extra} if extra else {},
    )
    results = tuple(part for part in parts if type(part) is ToolResult)
    return [message, Message("tool", results)] if results else [message]


def role_of(entry: dict[str, Any], path: str, reader: Reader) -> Role | None:
    """Read the role. It is never guessed."""
    role = entry.get("role")
    if role in ROLES:
        return role
    reader.fault(f"{path}.role", f"{shown(role)} is not one of: {', '.join(ROLES)}")
    return None


def time_of(entry: dict[str, Any], path: str, reader: Reader) -> str | None:
    """Read the time. ISO 8601 with a zone keeps its spelling."""
    value = entry.get("timestamp")
    spelled = str(value) if type(value) in (int, float) else value
    time = iso_time(spelled) if isinstance(spelled, str) else None
    if time is None:
        wrong = f"{shown(value)} is not a time" if "timestamp" in entry else "is missing"
        reader.repair("loss.timestamp", f"{path}.timestamp", wrong)
    elif time != value:
        reason = f"{shown(value)} is read as {time}"
        reader.repair("repair.timestamp", f"{path}.timestamp", reason)
    return time


def system_part(content: str | dict[str, Any], path: str, reader: Reader) -> Part:
    if isinstance(content, str):
        return Text(content)
    if content.get("type") not in SYSTEM_KINDS:
        reader.repair("repair.content", path, "system content should be a string")
    return Opaque(NAME, content, json_text(content))


def user_parts(
    content: str | dict[str, Any], path: str, extra: dict[str, Any], reader: Reader
) -> tuple[Author | None, list[Part]]:
    """Return the speaker and the text of a user entry."""
    if isinstance(content, str):
        reader.repair("repair.content", path, "no speaker is named")
        return None, [Text(content)]
    fields = dict(content)
    userid, text = fields.pop("userid", None), fields.pop("text", None)
    if fields:
        extra["content"] = fields
    author = author_of(userid, f"{path}.userid", reader)
    return author, [Text(words_of(text, f"{path}.text", reader))]


def author_of(userid: Any, path: str, reader: Reader) -> Author | None:
    """Read the author from a user id; Slack writes `<@U123>`."""
    if type(userid) is int:
        reader.repair("repair.author", path, f"{shown(userid)} is read as text")
        return Author(str(userid))
    if not isinstance(userid, str):
        reader.repair("repair.author", path, "no speaker is named")
        return None
    written = userid.startswith("<@") and userid.endswith(">")
    id = userid[2:-1] if written else userid
    if not (written and id):
        reader.repair("repair.author", path, f"{shown(userid)} should be <@…>")
    elif id.startswith("<@") and id.endswith(">"):
        reader.repair("repair.author", path, f"{shown(userid)} has its brackets twice")
    return None if id in ("", UNKNOWN) else Author(id)


def assistant_parts(
    content: str | dict[str, Any], position: int, path: str, extra: dict[str, Any], reader: Reader
) -> list[Part]:
    """Return the reasoning, then the call or plain text, then the result if one is recorded."""
    if isinstance(content, str):
        reader.repair("repair.content", path, "assistant content should be an object")
        extra["content"] = {}
        return [Text(content)]
    fields = dict(content)
    parts: list[Part] = []
    reasoning = fields.pop("reasoning", None)
    if reasoning is not None:
        words = words_of(reasoning, f"{path}.reasoning", reader)
        parts.append(Thinking(words, origin=NAME))
    elif "reasoning" in content:
        reader.repair("repair.content", f"{path}.reasoning", "null is left out")
    name = fields.pop("toolCall", None)
    if isinstance(name, str) and name:
        try:
            return [*parts, *call_parts(name, fields, position)]
        except UsageError as error:
            reader.fault(path, str(error))
            return []
    if "toolCall" in content:
        reader.fault(f"{path}.toolCall", f"must be a name, not {shown(name)}")
    if "text" in fields:
        parts.append(Text(words_of(fields.pop("text"), f"{path}.text", reader)))
    extra["content"] = fields
    return parts


def call_parts(name: str, fields: dict[str, Any], position: int) -> list[Part]:
    """Return a call with its arguments, flat or under `arguments`, and its result if recorded.

    A reply tool never has a result, so `result` is one of its arguments.
    """
    id = f"call_{position}"
    results: list[Part] = []
    if name not in REPLY_TOOLS and "result" in fields:
        value = fields.pop("result")
        recorded: Extra = {NAME: {"result": value}}
        failed = False
        if type(fields.get("is_error")) is bool:
            failed = recorded[NAME]["is_error"] = fields.pop("is_error")
        results.append(ToolResult(id, as_result(value), name, failed, recorded))
    nested = fields.get("arguments")
    if len(fields) == 1 and isinstance(nested, dict):
        arguments = cast("dict[str, Any]", nested)
        return [ToolCall(name, arguments, id, extra={NAME: {"nested": True}}), *results]
    return [ToolCall(name, fields, id), *results]


FORMAT = Format(
    name=NAME,
    title="Aya's context array: numbered entries, speech and actions as tool calls",
    parse=parse,
    render=render,
    check=check,
)
