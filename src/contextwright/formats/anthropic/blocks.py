"""Anthropic's content blocks and our parts, each way."""

from __future__ import annotations

import base64
import binascii
from typing import Any, cast

from contextwright.changes import Change
from contextwright.errors import shown
from contextwright.formats.base import keep_extra
from contextwright.formats.media import ALIASES, standard_base64
from contextwright.formats.reading import Reader
from contextwright.formats.rules import clean_name
from contextwright.formats.schemas import object_schema
from contextwright.formats.target import Target
from contextwright.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
)
from contextwright.wire.anthropic.types import CustomTool
from contextwright.wire.shapes import shape_problems

__all__ = ["block_of", "blocks_of", "message_of", "text_blocks", "tool_of", "tool_wire"]

NAME = "anthropic"


# --- reading ---------------------------------------------------------------------------------


def message_of(message: dict[str, Any], path: str, reader: Reader, model: str | None) -> Message:
    """A message of ours from one of theirs; a user message of results alone is a tool's."""
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
    """The parts of a system text: a string, or text blocks."""
    if isinstance(value, str):
        return [Text(value)]
    blocks = reader.objects({path: value}, path)
    return [part_of(block, place, reader, None) for place, block in blocks]


def part_of(block: dict[str, Any], path: str, reader: Reader, model: str | None) -> Part:
    """A part from a block; what only Anthropic knows stays as it is."""
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
            return Thinking(text, signature or None, NAME, model, extra=extra)
        case "redacted_thinking":
            data = reader.text(block, "data", path)
            return Thinking("", data, NAME, model, redacted=True, extra=leftover(block, "data"))
        case "image" | "document" as kind:
            media = media_of(block, kind)
            return media if media is not None else opaque_of(block)
        case _:
            return opaque_of(block)


def leftover(block: dict[str, Any], *read: str) -> dict[str, dict[str, Any]]:
    """The fields of a block that no field of ours took."""
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
            part_of(piece, place, reader, None)
            for place, piece in reader.objects(block, "content", path)
        ]
        one = read[0] if len(read) == 1 else None
        pieces = one.text if type(one) is Text and not one.extra else tuple(read) or ""
    return ToolResult(
        reader.text(block, "tool_use_id", path),
        pieces,
        is_error=block.get("is_error") is True,
        # An error flag that is there but false says nothing, and still goes back as it came.
        extra=keep_extra(
            NAME, {key: value for key, value in block.items() if not read_already(key, value)}
        ),
    )


def read_already(key: str, value: Any) -> bool:
    """Whether a field of a tool result has a field of ours."""
    return key in ("type", "tool_use_id", "content") or (key == "is_error" and value is True)


def media_of(block: dict[str, Any], kind: Any) -> Media | None:
    """An image or document with a source other providers could understand."""
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
            encoded = base64.b64encode(data.encode(errors="surrogatepass")).decode()
            return Media(kind, mime, encoded, name=name, extra=extra)
        case {"type": "url", "url": str(url)}:
            return Media(kind, url=url, name=name, extra=extra)
        case {"type": "file", "file_id": str(handle)}:
            return Media(kind, file_id=handle, origin=NAME, name=name, extra=extra)
        case _:
            return None


def opaque_of(block: dict[str, Any]) -> Opaque:
    """A block only Anthropic knows, with its words for other readers."""
    return Opaque(NAME, block, "\n".join(words_of(block)) or None)


def words_of(block: dict[str, Any]) -> list[str]:
    """The readable words of a search result, a document or a hosted tool's answer."""
    words: list[str] = []
    for key in ("title", "text", "content", "source", "stdout", "stderr"):
        value = block.get(key)
        if isinstance(value, str) and value and not value.startswith("http"):
            words.append(value)
        elif isinstance(value, dict):
            words.extend(words_of(cast("dict[str, Any]", value)))
        elif isinstance(value, list):
            for item in cast("list[Any]", value):
                if isinstance(item, dict):
                    words.extend(words_of(cast("dict[str, Any]", item)))
    return words


def tool_of(tool: dict[str, Any], path: str, reader: Reader) -> Tool | Opaque:
    """A tool of ours, or one the provider hosts."""
    if tool.get("type") not in (None, "custom"):
        return Opaque(NAME, tool)
    schema = tool.get("input_schema")
    if not isinstance(schema, dict):
        reader.fault(f"{path}.input_schema", f"must be an object, not {shown(schema)}")
        schema = None
    strict = tool.get("strict")
    read = ("name", "description", "input_schema", "strict")
    return Tool(
        reader.text(tool, "name", path),
        reader.optional_text(tool, "description", path),
        cast("dict[str, Any] | None", schema),
        strict if isinstance(strict, bool) else None,
        keep_extra(NAME, {key: value for key, value in tool.items() if key not in read}),
    )


# --- writing ---------------------------------------------------------------------------------


def blocks_of(parts: tuple[Part, ...]) -> list[dict[str, Any]]:
    """The blocks of a message, most of which are words alone."""
    if len(parts) == 1:
        part = parts[0]
        if type(part) is Text and not part.extra:
            return [{"type": "text", "text": part.text}]
    return [block_of(part) for part in parts]


def block_of(part: Part) -> dict[str, Any]:
    """The block for a part that may stand in a message."""
    if type(part) is Text:
        block: dict[str, Any] = {"type": "text", "text": part.text}
    elif type(part) is ToolCall:
        block = {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
    elif type(part) is ToolResult:
        block = result_block(part)
    elif type(part) is Opaque:
        return part.data
    elif type(part) is Thinking:
        block = thinking_block(part)
    else:
        block = media_block(part)
    return {**part.extra.get(NAME, {}), **block} if part.extra else block


def result_block(result: ToolResult) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id}
    content = result.content
    if isinstance(content, tuple):
        block["content"] = [block_of(piece) for piece in content]
    elif content:
        block["content"] = content if isinstance(content, str) else result.text
    if result.is_error:
        block["is_error"] = True
    return block


def thinking_block(thinking: Thinking) -> dict[str, Any]:
    if thinking.redacted:
        return {"type": "redacted_thinking", "data": thinking.signature}
    return {"type": "thinking", "thinking": thinking.text, "signature": thinking.signature}


def media_block(media: Media) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "image" if media.kind == "image" else "document"}
    block["source"] = source_of(media)
    if media.name and media.kind == "document":
        block["title"] = media.name
    return block


def source_of(media: Media) -> dict[str, Any]:
    """Where the bytes are; a plain text document travels as its text."""
    if media.data is not None:
        if media.mime == "text/plain":
            return {"type": "text", "media_type": media.mime, "data": plain_text(media.data) or ""}
        mime = ALIASES.get(media.mime or "", media.mime)
        return {"type": "base64", "media_type": mime, "data": standard_base64(media.data)}
    if media.url is not None:
        return {"type": "url", "url": media.url}
    return {"type": "file", "file_id": media.file_id}


def plain_text(data: str) -> str | None:
    """The words of a text file from its base64; None where it is no such thing."""
    try:
        return base64.b64decode(standard_base64(data), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def tool_wire(tool: Tool, target: Target, path: str, changes: list[Change]) -> dict[str, Any]:
    """A tool's definition; its schema must be an object's."""
    wire: dict[str, Any] = {"name": target.tool_names.get(tool.name, tool.name)}
    if tool.description is not None:
        wire["description"] = tool.description
    schema, reworked = object_schema(tool.parameters or {"type": "object"})
    if reworked:
        reason = f"{', '.join(reworked)} cannot stand at the top here"
        changes.append(Change("repair.schema", f"{path}.parameters", reason))
    wire["input_schema"] = schema
    if tool.strict is not None:
        wire["strict"] = tool.strict
    held = tool.extra.get(NAME, {})
    lost = [field for name, fields in tool.extra.items() if name != NAME for field in fields]
    if held and shape_problems({**held, **wire}, CustomTool):
        lost.extend(held)
        held = {}
    if lost:
        reason = f"{NAME} has no place for {', '.join(map(clean_name, lost))}"
        changes.append(Change("loss.extra", path, reason))
    return {**held, **wire}
