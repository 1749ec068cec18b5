"""The length of messages on a ruler that never changes: UTF-8 bytes, the same for every model.

Stepped windows move their cut along this ruler. It only has to be stable, not exact: a token is
three to five bytes in every script and in code.
"""

from __future__ import annotations

from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.text.json import json_text

__all__ = ["BYTES_PER_TOKEN", "FRAME", "bytes_of", "length_of"]

BYTES_PER_TOKEN = 3
FRAME = 16
"""Length that every message adds, so that even an empty one has one."""
MEDIA = 4_096
"""A picture of common size; the bytes of its file say nothing about its tokens."""


def length_of(message: Message) -> int:
    """The length of a message: its content alone, whatever is marked or noted about it."""
    length = FRAME
    for part in message.parts:
        length += bytes_of(part.text) if type(part) is Text else part_length(part)
    return length


def part_length(part: Part) -> int:
    """The length of one part."""
    match part:
        case Text() | Thinking():
            return bytes_of(part.text)
        case ToolCall():
            return bytes_of(part.name) + bytes_of(part.json)
        case ToolResult():
            if isinstance(part.content, tuple):
                return sum(map(part_length, part.content))
            return bytes_of(part.text)
        case Media():
            return MEDIA
        case Opaque():
            return bytes_of(json_text(part.data))


def bytes_of(text: str) -> int:
    """The bytes of a text in UTF-8; half a surrogate pair counts as any other character."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
