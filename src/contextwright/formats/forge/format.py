"""Forge: messages of role and text, with `<tool>` calls and `[thinking]` in assistant text.

Only assistant text is parsed. Calls have no ids in the text: they are numbered, and a result
answers the earliest open call with its tool name, else the earliest open call. If we would write a
text differently, the original is kept in `Message.extra["forge"]["raw"]` and written back as long
as it still says the same as the message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

import msgspec

from contextwright.errors import ParseError, require, shown
from contextwright.formats.base import Format
from contextwright.formats.file_formats import words_of
from contextwright.formats.forge.check import ROLES, check, fields_of, validate_message
from contextwright.formats.forge.markup import result_of, result_text, text_of
from contextwright.formats.forge.read import NAME, Scan, scan, validate_tool_call
from contextwright.formats.forge.write import REPLY_TOOLS, Entry, from_wire, on_wire, render
from contextwright.formats.reader import Reader, plain
from contextwright.formats.replies.events import Finish
from contextwright.formats.replies.reply import ModelReply, finished_reply
from contextwright.messages.conversation import Conversation
from contextwright.messages.exchanges import match_results
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Part, Text, ToolCall, ToolResult

__all__ = [
    "FORMAT",
    "Assistant",
    "System",
    "Tool",
    "User",
    "from_wire",
    "on_wire",
    "validate_message",
    "validate_tool_call",
]

FIELDS = ("role", "content")

replace = msgspec.structs.replace


def User(content: str) -> Entry:
    """Return a user message."""
    require(content, str, "content")
    return {"role": "user", "content": content}


def Assistant(content: str) -> Entry:
    """Return an assistant message: text, thinking in brackets, calls in tags."""
    require(content, str, "content")
    return {"role": "assistant", "content": content}


def System(content: str) -> Entry:
    """Return a system message."""
    require(content, str, "content")
    return {"role": "system", "content": content}


def Tool(name: str, result: str) -> Entry:
    """Return a tool result; an error begins with `Error:`."""
    require(name, str, "the name of a tool")
    require(result, str, "a result")
    return {"role": "tool", "content": result_text(ToolResult(None, result), name)}


# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse a list of messages, or an object that holds one."""
    reader = Reader(NAME, strict=strict)
    body = reader.body(data, "messages")
    whole = isinstance(data, dict)
    messages = [
        message_of(entry, path if whole else path.removeprefix("messages"), reader)
        for path, entry in reader.objects(body, "messages")
    ]
    rest = {name: value for name, value in body.items() if name != "messages"}
    return Conversation(
        tuple(numbered(messages)),
        reply_tools=dict(REPLY_TOOLS),
        source=NAME,
        extra={NAME: rest} if whole else {},
        changes=reader.finish(),
    )


def message_of(entry: Entry, path: str, reader: Reader) -> Message:
    """Read one message. Its calls and results are not matched yet."""
    entry = fields_of(entry)
    role, content = entry.get("role"), entry.get("content")
    if role not in ROLES:
        reader.fault(f"{path}.role", f"invalid role: {shown(role)}")
    if content == "" and reader.strict:
        reader.fault(f"{path}.content", "content cannot be empty")
    content = words_of(content, f"{path}.content", reader)
    extra = {name: value for name, value in entry.items() if name not in FIELDS}
    parts, raw = parts_of(cast("Role", role), content, f"{path}.content", reader)
    if raw:
        extra["raw"] = content
    return Message(
        cast("Role", role),
        parts,
        sent_at=plain(entry.get("timestamp"), str),
        extra={NAME: extra} if extra else {},
    )


def parts_of(role: Role, content: str, path: str, reader: Reader) -> tuple[tuple[Part, ...], bool]:
    """Return the parts of a message, and whether the original text must be kept."""
    if role == "tool":
        result = result_of(content)
        return (result,), result_text(result, result.name) != content
    if role != "assistant":
        return ((Text(content),) if content else ()), False
    found = scan(content)
    say_notes(found, path, reader)
    try:
        spelled = text_of(found.parts)[0]
    except UnicodeEncodeError:  # an argument holds a lone surrogate
        return found.parts, True
    return found.parts, spelled != content


def say_notes(found: Scan, path: str, reader: Reader) -> None:
    """Report each kind of problem with the tags of a text once."""
    for (message, fatal), times in Counter((n.message, n.fatal) for n in found.notes).items():
        count = f" ({times} times)" if times > 1 else ""
        if fatal:
            reason = f"{message}{count}; <tool> is kept as text"
            reader.repair("repair.malformed_call", path, reason)
        else:
            reader.repair("repair.call", path, f"{message}{count}")


def numbered(messages: list[Message]) -> list[Message]:
    """Give each call an id, and each result the id of its call."""
    number = 0
    with_ids: list[Message] = []
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                number += 1
                part = replace(part, id=f"call_{number}")
            parts.append(part)
        with_ids.append(message.with_parts(parts))
    for answer in match_results(with_ids).answers:
        if answer.result is not None and answer.result_at is not None:
            position = answer.result_at[0]
            result = replace(answer.result, call_id=answer.call.id)
            with_ids[position] = with_ids[position].with_parts((result,))
    return with_ids


def parse_reply(reply: Any) -> ModelReply:
    """Parse a reply: its text, or a message that holds it."""
    body = cast("Entry", reply) if isinstance(reply, dict) else {"content": reply}
    content = body.get("content")
    if not isinstance(content, str):
        raise ParseError(f"a forge reply is text, not {shown(content)}", path="content")
    return finished_reply(parse([Assistant(content)]), Finish("stop"), None)


def parse_stream(events: Iterable[Any]) -> ModelReply:
    """Parse a streamed reply from pieces of text, cut anywhere."""
    return parse_reply("".join(piece for event in events if (piece := piece_of(event))))


def piece_of(event: Any) -> str:
    content = cast("Entry", event).get("content") if isinstance(event, dict) else event
    if content is None or isinstance(content, str):
        return content or ""
    raise ParseError(f"a piece of a forge reply is text, not {shown(content)}")


FORMAT = Format(
    name=NAME,
    title="Forge messages: calls in <tool> tags, thinking in brackets",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
)
