"""The part of a client's history that a conversation keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from contextwright.context.receipt import CACHE_MARKS
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text, ToolResult
from contextwright.text.quoting import one_line

__all__ = ["settings_of", "title_of", "without_marks"]

TITLE_CHARS = 60


def without_marks(message: Message) -> Message:
    """Return a message without its cache marks, which belong to one request."""
    return message.with_parts([unmarked(part) for part in message.parts])


def unmarked(part: Part) -> Part:
    """Return a part without cache marks."""
    if isinstance(part, Opaque):
        return replace(part, data=without_mark(part.data)) if has_mark(part.data) else part
    if isinstance(part, ToolResult) and isinstance(part.content, tuple):
        part = replace(part, content=tuple(map(unmarked, part.content)))
    if not any(map(has_mark, part.extra.values())):
        return part
    rest = {format: without_mark(held) for format, held in part.extra.items()}
    return replace(part, extra={format: held for format, held in rest.items() if held})


def has_mark(held: Mapping[str, Any]) -> bool:
    """Whether a block, or what is kept of one, has a cache mark."""
    return any(mark in held for mark in CACHE_MARKS)


def without_mark(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block without its cache mark."""
    return {name: value for name, value in held.items() if name not in CACHE_MARKS}


def title_of(said: Conversation) -> str | None:
    """Return the beginning of the question, without what a client puts before it."""
    for message in reversed(said.messages):
        if message.role == "user" and message.text.strip():
            texts = [
                one.text for one in message.parts if isinstance(one, Text) and one.text.strip()
            ]
            return one_line(texts[-1], TITLE_CHARS)
    return None


def settings_of(said: Conversation) -> dict[str, Any]:
    """Return what a conversation says besides its messages: tools and model."""
    held = {"tools": said.tools, "model": said.model}
    return {name: msgspec.to_builtins(value) for name, value in held.items() if value}
