"""Messages with shorter texts."""

from __future__ import annotations

from typing import cast

import msgspec

from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, ToolResult
from contextwright.text.json import decode_json
from contextwright.text.shorten import shortened

__all__ = ["cut_to", "longest_text"]

replace = msgspec.structs.replace


def longest_text(message: Message) -> int:
    """Return the characters of the longest text of a message that can be cut."""
    return max((len(text) for part in message.parts for text in texts_of(part)), default=0)


def texts_of(part: Part) -> list[str]:
    """Return the texts of a part that can be cut."""
    if isinstance(part, Text):
        return [part.text]
    if not isinstance(part, ToolResult):
        return []
    if isinstance(part.content, tuple):
        return [piece.text for piece in part.content if isinstance(piece, Text)]
    return [part.text]


def cut_to(message: Message, longest: int) -> Message:
    """Return a message with no text or result longer than `longest`; calls stay unchanged.

    System messages are never cut.
    """
    if message.role == "system" or longest_text(message) <= longest:
        return message
    return message.with_parts(cut_part(part, longest) for part in message.parts)


def cut_part(part: Part, longest: int) -> Part:
    """Return a part with no text longer than `longest`."""
    if isinstance(part, Text):
        return replace(part, text=shortened(part.text, longest))
    if not isinstance(part, ToolResult):
        return part
    content = part.content
    if isinstance(content, tuple):
        pieces = tuple(cast("Text | Media | Opaque", cut_part(piece, longest)) for piece in content)
        return replace(part, content=pieces)
    if isinstance(content, str):
        return replace(part, content=shortened(content, longest))
    short = shortened(part.text, longest)
    return part if short == part.text else replace(part, content=decode_json(short))
