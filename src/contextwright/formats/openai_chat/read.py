"""Chat Completions messages, read into ours; also used for Hugging Face lists.

Fields without a counterpart stay in `extra`. A key there that is also one of the format's own
fields records how that field was spelled: `role: "developer"`, `content: False` (the field was
missing), `type: "refusal"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, cast

from contextwright.errors import shown
from contextwright.formats.base import keep_extra, without
from contextwright.formats.openai_chat.media import media_of
from contextwright.formats.openai_chat.tools import block_call, call_of
from contextwright.formats.reader import Reader
from contextwright.messages.message import Author, Message, Role
from contextwright.messages.parts import (
    Extra,
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextwright.text.json import decode_halves, json_text
from contextwright.wire.shapes import objects_in

__all__ = ["message_of"]

ROLES: dict[Any, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
ROW_MARKS = frozenset(("conversation_id", "created_at", "tool_results"))
"""Fields that identify a stored row; see `unshelved`."""
REASONING = (
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
    "thinking_blocks",
)
"""Fields in which compatible hosts put an assistant's reasoning."""


def message_of(message: dict[str, Any], path: str, reader: Reader, model: str | None) -> Message:
    """Read one message."""
    role = message.get("role")
    content = message.get("content")
    if len(message) == 2 and isinstance(content, str) and role in ("system", "user", "assistant"):
        return Message(role, (Text(content),))
    if role == "tool" and len(message) == 3 and isinstance(content, str):
        if isinstance(id := message.get("tool_call_id"), str):
            return Message("tool", (ToolResult(id, content),))
    ours = ROLES.get(role) if isinstance(role, str) else None
    if ours is None:
        reader.fault(f"{path}.role", f"{shown(role)} is not one of: {', '.join(ROLES)}")
        return Message("user")
    sent_at: str | None = None
    meta: dict[str, Any] = {}
    if is_row(message):
        message, sent_at, meta = unshelved(message)
    if ours == "tool":
        return Message(ours, results_of(message, path, reader), sent_at=sent_at, meta=meta)
    fields = without(message, "role", "content")
    parts = parts_of(content, f"{path}.content", reader, model, nullable=ours == "assistant")
    author = None
    if isinstance(fields.get("name"), str):
        author = Author(name=fields.pop("name"))
    if ours == "system":  # Mistral's prompts show how to think
        parts = [shown_thinking(part, reader.format) for part in parts]
    if ours == "assistant":
        parts = assistant_parts(message, parts, fields, path, reader, model)
        if "content" not in message:
            fields["content"] = False
        elif not content and content not in (None, ""):
            fields["content"] = []
    elif role == "developer":
        fields["role"] = role
    elif parts and all(type(part) is ToolResult for part in parts):
        ours = "tool"
    extra = keep_extra(reader.format, fields)
    return Message(ours, tuple(parts), author, sent_at=sent_at, meta=meta, extra=extra)


def shown_thinking(part: Part, format: str) -> Part:
    """Return thinking that is not the model's as a block that only this format has."""
    if not isinstance(part, Thinking):
        return part
    return Opaque(format, part.extra[format], part.text)


def is_row(message: dict[str, Any]) -> bool:
    """Whether a message is a stored row: by its fields, or by a column of JSON as text."""
    return not ROW_MARKS.isdisjoint(message) or isinstance(message.get("tool_calls"), str | bytes)


def unshelved(row: dict[str, Any]) -> tuple[dict[str, Any], str | None, dict[str, Any]]:
    """Return a stored row as a message, its time, and its keys, which no provider is sent."""
    meta = {key: row[key] for key in ("id", "conversation_id") if row.get(key) is not None}
    written = row.get("created_at")
    if isinstance(written, datetime):  # as a database's driver reads the column
        written = written.isoformat()
    sent_at = str(written) if isinstance(written, str | int | float) else None
    columns = {key: decoded(row.get(key)) for key in ("tool_calls", "tool_results")}
    message = without(row, "id", "conversation_id", "created_at", *columns)
    message |= {key: value for key, value in columns.items() if value}
    return message, sent_at, meta


def decoded(column: Any) -> Any:
    """Return the value of a JSON column, which some drivers give as text."""
    if not isinstance(column, str | bytes):
        return column
    try:
        return decode_halves(column)
    except (ValueError, RecursionError):
        return column


# --- content ---------------------------------------------------------------------------------


def parts_of(
    content: Any, path: str, reader: Reader, model: str | None, *, nullable: bool = False
) -> list[Part]:
    """Read a content: a string, or a list of parts."""
    if isinstance(content, str):
        return [Text(content)]
    if content is None:
        if not nullable:
            reader.repair("repair.content", path, "content is missing; read as empty")
        return []
    if isinstance(content, dict):
        reader.repair("repair.content", path, "one part without its list")
        return [part_of(cast("dict[str, Any]", content), path, reader, model)]
    if not isinstance(content, list):
        reader.fault(path, f"must be a string or a list of parts, not {shown(content)}")
        return []
    parts: list[Part] = []
    for index, part in enumerate(cast("list[Any]", content)):
        place = f"{path}[{index}]"
        if isinstance(part, dict):
            parts.append(part_of(cast("dict[str, Any]", part), place, reader, model))
        elif isinstance(part, str):
            reader.repair("repair.content", place, "a bare string among parts")
            parts.append(Text(part))
        else:
            reader.fault(place, f"must be an object, not {shown(part)}")
    return parts


def part_of(part: dict[str, Any], path: str, reader: Reader, model: str | None) -> Part:
    """Read one part. A part that only this format knows becomes `Opaque`."""
    name = reader.format
    match part.get("type"):
        case "text":
            text = reader.text(part, "text", path)
            if len(part) == 2:
                return Text(text)
            return Text(text, keep_extra(name, without(part, "type", "text")))
        case "refusal":
            fields = {"type": "refusal", **without(part, "type", "refusal")}
            return Text(reader.text(part, "refusal", path), {name: fields})
        case "thinking":
            text = "\n".join(words_of(part.get("thinking")))
            signature = part.get("signature")
            signature = signature if isinstance(signature, str) else None
            return Thinking(text, signature, name, model, extra={name: part})
        case "tool_use":
            return block_call(part, path, reader)
        case "tool_result":
            return block_result(part, path, reader)
        case None if isinstance(part.get("text"), str):
            reader.repair("repair.content", path, "a text part without its type")
            return Text(part["text"], keep_extra(name, without(part, "type", "text")))
        case _:
            text = part.get("text")
            text = text if isinstance(text, str) else None
            return media_of(part, name) or Opaque(name, part, text)


def words_of(value: Any) -> list[str]:
    """Return the text of reasoning: a string, or pieces that hold text or a summary."""
    if isinstance(value, str):
        return [value] if value else []
    words: list[str] = []
    for _, piece in objects_in(value):
        for key in ("text", "summary", "thinking"):
            text = piece.get(key)
            if isinstance(text, str) and text:
                words.append(text)
    return words


# --- assistants ------------------------------------------------------------------------------


def assistant_parts(
    message: dict[str, Any],
    parts: list[Part],
    fields: dict[str, Any],
    path: str,
    reader: Reader,
    model: str | None,
) -> list[Part]:
    """Return an assistant message's reasoning, text and calls; take them out of `fields`."""
    thinking = {field: fields.pop(field) for field in REASONING if fields.get(field)}
    if thinking:
        parts.insert(0, thinking_of(thinking, reader.format, model))
    if isinstance(fields.get("refusal"), str):
        # `refusal: True` records that the refusal was a field of the message, not a part.
        parts.append(Text(fields["refusal"], {reader.format: {"type": "refusal"}}))
        fields["refusal"] = True
    if isinstance(fields.get("audio"), dict):
        audio = fields.pop("audio")
        transcript = audio.get("transcript")
        transcript = transcript if isinstance(transcript, str) and transcript else None
        parts.append(Opaque(reader.format, {"type": "audio", "audio": audio}, transcript))
    if isinstance(fields.get("tool_calls"), list) and fields["tool_calls"]:
        del fields["tool_calls"]
        calls = [
            call_of(call, at, reader) for at, call in reader.objects(message, "tool_calls", path)
        ]
        parts = without_copies(parts, calls, path, reader)
        parts.extend(calls)
    elif fields.get("tool_calls", []) not in (None, []):
        given = fields.pop("tool_calls")
        reader.fault(f"{path}.tool_calls", f"must be a list, not {shown(given)}")
    if isinstance(fields.get("function_call"), dict):
        call = call_of({"function": fields.pop("function_call")}, f"{path}.function_call", reader)
        parts.append(ToolCall(call.name, call.arguments, None, call.raw, old_style(reader)))
    return parts


def old_style(reader: Reader) -> Extra:
    """Return the mark of a call or result in the old `function_call` style."""
    return {reader.format: {"role": "function"}}


def thinking_of(fields: dict[str, Any], format: str, model: str | None) -> Thinking:
    """Read reasoning, and keep the host's fields to write it back."""
    spoken = [words for value in fields.values() if (words := words_of(value))]
    signature = None
    for field in ("reasoning_details", "thinking_blocks"):
        for _, piece in objects_in(fields.get(field)):
            signature = signature or piece.get("signature") or piece.get("data")
    signature = signature if isinstance(signature, str) else None
    text = "\n".join(spoken[0]) if spoken else ""
    return Thinking(text, signature, format, model, redacted=not spoken, extra={format: fields})


def without_copies(
    parts: list[Part], calls: list[ToolCall], path: str, reader: Reader
) -> list[Part]:
    """Remove calls from the content that `tool_calls` repeats."""
    if ToolCall not in map(type, parts):  # as in nearly all messages
        return parts
    ids = {call.id for call in calls}
    kept = [part for part in parts if not (type(part) is ToolCall and part.id in ids)]
    if len(kept) < len(parts):
        reader.repair("repair.copy", f"{path}.content", "its tool_use blocks repeat tool_calls")
    return kept


# --- results ---------------------------------------------------------------------------------


def results_of(message: dict[str, Any], path: str, reader: Reader) -> tuple[ToolResult, ...]:
    """Read the results of a tool message: one, or those that a stored row lists."""
    if "tool_results" in message:
        if message.get("content"):
            reason = "text next to tool_results is left out"
            reader.repair("loss.content", f"{path}.content", reason)
        listed = reader.objects(message, "tool_results", path)
        return tuple(
            result_of(entry, place, reader, without(entry, "content", "tool_call_id"))
            for place, entry in listed
        )
    fields = without(message, "role", "content", "tool_call_id")
    if message.get("role") == "function":
        fields["role"] = "function"
    return (result_of(message, path, reader, fields),)


def result_of(
    entry: dict[str, Any], path: str, reader: Reader, fields: dict[str, Any]
) -> ToolResult:
    """Read one result. Without an id it is paired by name and order."""
    given = entry.get("content")
    place = f"{path}.content"
    content: Any = given
    if isinstance(given, list) and is_data(cast("list[Any]", given)):
        reader.repair("repair.content", place, "a list of data; sent as JSON text")
        content = data_text(given, place, reader)
    elif isinstance(given, list):
        pieces = tuple(pieces_of(cast("list[str | dict[str, Any]]", given), place, reader))
        one = pieces[0] if len(pieces) == 1 else None
        content = one.text if type(one) is Text and not one.extra else pieces or ""
    elif given is None:
        if entry.get("role") == "function":
            fields["content"] = None  # the old style accepts null
        else:
            reader.repair("repair.content", place, "content is missing; read as empty")
        content = ""
    elif not isinstance(given, str | dict):
        reader.repair("repair.content", place, f"must be a string, not {shown(given)}")
        content = data_text(given, place, reader)
    elif isinstance(given, dict):
        reader.repair("repair.content", place, "an object; sent as JSON text")
    id = reader.optional_text(entry, "tool_call_id", path)
    name = entry.get("name")
    name = name if isinstance(name, str) else None
    return ToolResult(id, content, name, extra=keep_extra(reader.format, fields))


def is_data(content: list[Any]) -> bool:
    """Whether the list of a result holds values of the tool's own, not parts."""
    return not all(
        isinstance(item, str) or (isinstance(item, dict) and ("type" in item or "text" in item))
        for item in content
    )


def data_text(value: Any, path: str, reader: Reader) -> str:
    """Return a value of a tool's own as JSON text."""
    try:
        return json_text(value)
    except TypeError:
        reader.fault(path, f"must be JSON, not {shown(value)}")
        return ""


def pieces_of(
    content: list[str | dict[str, Any]], path: str, reader: Reader
) -> Iterator[Text | Media | Opaque]:
    """Read the parts of a result; thinking and calls inside it become `Opaque`."""
    for index, piece in enumerate(content):
        place = f"{path}[{index}]"
        if isinstance(piece, str):
            reader.repair("repair.content", place, "a bare string among parts")
            yield Text(piece)
        elif piece.get("type") in NO_PIECES:
            yield Opaque(reader.format, piece)
        else:
            yield cast("Text | Media | Opaque", part_of(piece, place, reader, None))


NO_PIECES = ("thinking", "tool_use", "tool_result")


def block_result(block: dict[str, Any], path: str, reader: Reader) -> ToolResult:
    """Read a result that is a content block, as in Anthropic's format."""
    reader.repair("repair.result", path, "a tool_result block; results are tool messages")
    entry = {"tool_call_id": block.get("tool_use_id"), "content": block.get("content") or ""}
    result = result_of(entry, path, reader, {})
    return ToolResult(result.call_id, result.content, is_error=block.get("is_error") is True)
