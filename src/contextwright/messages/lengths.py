"""The length of messages in UTF-8 bytes: how much of a conversation is about as long as a request.

A token is three to five bytes in every script and in code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.text.json import encode_json, json_text
from contextwright.text.utf8 import utf8_length

__all__ = ["BYTES_PER_TOKEN", "ends_of", "length_of"]

BYTES_PER_TOKEN = 3
FRAME = 16
"""The length that every message adds, so that none has length 0."""
MEDIA = 4_096
"""The length of an average image; the size of its file says nothing about its tokens."""


def ends_of(messages: Iterable[Message], begin: int = 0) -> list[int]:
    """Return the length of a conversation before messages, and after each of them.

    Their content counts, regardless of their other fields.
    """
    ends, end = [begin], begin
    for message in messages:
        end += FRAME
        for part in message.parts:
            # Nearly all of a long history is text, so that is inlined.
            if type(part) is Text:
                text = part.text
            elif type(part) is ToolResult and type(part.content) is str:
                text = part.content
            else:
                end += part_length(part)
                continue
            end += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        ends.append(end)
    return ends


def length_of(message: Message) -> int:
    """Return the length of a message's content, regardless of its other fields."""
    return ends_of((message,))[1]


def part_length(part: Part) -> int:
    """Return the length of one part."""
    if type(part) is ToolResult:
        content = part.content
        if isinstance(content, str):
            return utf8_length(content)
        if isinstance(content, tuple):
            return sum(map(part_length, content))
        return json_length(content) if type(content) is dict else utf8_length(part.text)
    if type(part) is ToolCall:
        arguments = json_length(part.arguments) if part.raw is None else utf8_length(part.raw)
        return utf8_length(part.name) + arguments
    if type(part) is Text or type(part) is Thinking:
        return utf8_length(part.text)
    return json_length(part.data) if type(part) is Opaque else MEDIA


def json_length(value: dict[str, Any]) -> int:
    """Return the bytes of a value as JSON."""
    try:
        return len(encode_json(value))
    except UnicodeEncodeError:  # lone surrogates
        return utf8_length(json_text(value))
