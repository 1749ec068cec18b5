"""Anthropic's messages and content blocks, read into ours."""

from __future__ import annotations

import base64
from typing import Any, cast

from contextwright.errors import shown
from contextwright.formats.base import keep_extra
from contextwright.formats.reader import Reader
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.wire.anthropic.types import UNSIGNED

__all__ = ["NAME", "message_of", "part_of", "text_blocks"]

NAME = "anthropic"
NO_PIECES = ("tool_use", "tool_result", "thinking", "redacted_thinking")
"""Blocks that may not stand in a tool result."""


def message_of(message: dict[str, Any], path: str, reader: Reader, model: str | None) -> Message:
    """Read one message. A user message that holds only tool results gets the role `tool`."""
    role = message.get("role")
    if role not in ("user", "assistant", "system"):
        reader.fault(f"{path}.role", f"{shown(role)} is not one of: user, assistant, system")
        return Message("user")
    content = message.get("content")
    if isinstance(content, str):
        parts: list[Part] = [Text(content)]
    else:
        parts = [
            part_of(block, place, reader, model)
            for place, block in reader.objects(message, "content", path)
        ]
    if parts and all(type(part) is ToolResult for part in parts):
        role = "tool"
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    return Message(role, tuple(parts), extra=keep_extra(NAME, rest))


def text_blocks(value: Any, path: str, reader: Reader) -> list[Part]:
    """Read a system prompt: a string, or text blocks."""
    if isinstance(value, str):
        return [Text(value)]
    blocks = reader.objects({path: value}, path)
    return [part_of(block, place, reader, None) for place, block in blocks]


def part_of(block: dict[str, Any], path: str, reader: Reader, model: str | None) -> Part:
    """Read one block. A block that only Anthropic knows becomes `Opaque`."""
    match block.get("type"):
        case "text":
            return Text(reader.text(block, "text", path), leftover(block, "text"))
        case "tool_use":
            return call_of(block, path, reader)
        case "tool_result":
            return result_of(block, path, reader)
        case "thinking":
            signature = reader.optional_text(block, "signature", path)
            text = reader.text(block, "thinking", path)
            extra = leftover(block, "thinking", "signature")
            signature = None if signature == UNSIGNED else signature or None
            return Thinking(text, signature, NAME, model, extra=extra)
        case "redacted_thinking":
            data = reader.text(block, "data", path)
            return Thinking("", data, NAME, model, redacted=True, extra=leftover(block, "data"))
        case "image" | "document" as kind:
            media = media_of(block, kind)
            return media if media is not None else opaque_of(block)
        case _:
            return opaque_of(block)


def leftover(block: dict[str, Any], *read: str) -> dict[str, dict[str, Any]]:
    """Return the fields of a block that were not read into our own fields."""
    if len(block) == len(read) + 1:
        return {}
    return keep_extra(NAME, {key: block[key] for key in block if key != "type" and key not in read})


def call_of(block: dict[str, Any], path: str, reader: Reader) -> ToolCall:
    arguments = block.get("input")
    if not isinstance(arguments, dict):
        reader.repair(
            "repair.arguments", f"{path}.input", f"must be an object, not {shown(arguments)}"
        )
        arguments = {} if arguments is None else {"_raw": arguments}
    return ToolCall(
        reader.text(block, "name", path),
        cast("dict[str, Any]", arguments),
        reader.text(block, "id", path),
        extra=leftover(block, "input", "name", "id"),
    )


def result_of(block: dict[str, Any], path: str, reader: Reader) -> ToolResult:
    content = block.get("content")
    pieces: Any = content or ""
    if content is not None and not isinstance(content, str):
        read = [
            piece_of(piece, place, reader)
            for place, piece in reader.objects(block, "content", path)
        ]
        one = read[0] if len(read) == 1 else None
        pieces = one.text if type(one) is Text and not one.extra else tuple(read) or ""
    return ToolResult(
        reader.text(block, "tool_use_id", path),
        pieces,
        is_error=block.get("is_error") is True,
        # Keep an explicit `is_error: false`, so that it is written back.
        extra=keep_extra(
            NAME, {key: value for key, value in block.items() if not read_already(key, value)}
        ),
    )


def piece_of(block: dict[str, Any], path: str, reader: Reader) -> Text | Media | Opaque:
    """Read one block of a result; thinking, calls and results inside it become `Opaque`."""
    if block.get("type") in NO_PIECES:
        return opaque_of(block)
    return cast("Text | Media | Opaque", part_of(block, path, reader, None))


def read_already(key: str, value: Any) -> bool:
    """Whether a field of a tool result is read into a field of ours."""
    return key in ("type", "tool_use_id", "content") or (key == "is_error" and value is True)


def media_of(block: dict[str, Any], kind: Any) -> Media | None:
    """Read an image or document whose source other providers understand; else return None."""
    source = block.get("source")
    if not isinstance(source, dict):
        return None
    source = cast("dict[str, Any]", source)
    name = block.get("title")
    extra = leftover(block, "source", *(("title",) if isinstance(name, str) else ()))
    name = name if isinstance(name, str) else None
    mime = source.get("media_type")
    match source:
        case {"type": "base64", "data": str(data)} if isinstance(mime, str):
            return Media(kind, mime, data, name=name, extra=extra)
        case {"type": "text", "data": str(data)} if mime == "text/plain":
            try:
                encoded = base64.b64encode(data.encode()).decode()
            except UnicodeEncodeError:
                return None  # half of a character: base64 would hide it from the repair
            return Media(kind, mime, encoded, name=name, extra=extra)
        case {"type": "url", "url": str(url)}:
            return Media(kind, url=url, name=name, extra=extra)
        case {"type": "file", "file_id": str(handle)}:
            return Media(kind, file_id=handle, origin=NAME, name=name, extra=extra)
        case _:
            return None


def opaque_of(block: dict[str, Any]) -> Opaque:
    """Wrap a block that only Anthropic knows, with its text for other providers."""
    return Opaque(NAME, block, "\n".join(words_of(block)) or None)


WORDY = ("title", "context", "text", "content", "source", "data", "stdout", "stderr")
"""Fields that hold text, or blocks with text."""


def words_of(block: dict[str, Any]) -> list[str]:
    """Return the readable text of a search result, a document or a hosted tool's result."""
    words: list[str] = []
    for key in WORDY:
        value = block.get(key)
        if key == "data" and block.get("type") != "text":
            continue  # base64 data, or an encrypted block
        if isinstance(value, str) and value and not value.startswith("http"):
            words.append(value)
        elif isinstance(value, dict):
            words.extend(words_of(cast("dict[str, Any]", value)))
        elif isinstance(value, list):
            for item in cast("list[Any]", value):
                if isinstance(item, dict):
                    words.extend(words_of(cast("dict[str, Any]", item)))
    return words
