"""Our parts, written as Anthropic's content blocks."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from contextwright.formats.anthropic.read import NAME
from contextwright.formats.media import padded_base64
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.wire.media import ALIASES

__all__ = ["block_of", "plain_text"]


def block_of(part: Part) -> dict[str, Any]:
    """Write one part as a block."""
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
    """Write the source of an image or document. A plain text document is sent as its text."""
    if media.data is not None:
        if media.mime == "text/plain":
            return {"type": "text", "media_type": media.mime, "data": plain_text(media.data) or ""}
        mime = ALIASES.get(media.mime or "", media.mime)
        return {"type": "base64", "media_type": mime, "data": padded_base64(media.data)}
    if media.url is not None:
        return {"type": "url", "url": media.url}
    return {"type": "file", "file_id": media.file_id}


def plain_text(data: str) -> str | None:
    """Decode a text file from base64; return None if it is not UTF-8 text."""
    try:
        return base64.b64decode(padded_base64(data), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
