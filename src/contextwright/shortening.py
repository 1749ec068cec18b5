"""Making a text shorter by leaving out its middle, and saying so; JSON stays JSON."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from contextwright.graphemes import cut, end_from
from contextwright.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    ToolResult,
    decode_json,
    json_text,
)

__all__ = ["cut_to", "longest_text", "shortened"]

HEAD = 0.6
"""The share of what is kept that comes from the beginning."""
SHORTEST = 64
"""Asked for less than this, a text may still come out so long: the mark needs its room."""

replace = msgspec.structs.replace


def shortened(text: str, longest: int) -> str:
    """The text in at most `longest` characters: beginning and end, with a mark between.

    Text that is a JSON object or list is shortened in its strings, lists and objects, so that it
    still reads as one. Below `SHORTEST` characters there is no room for a mark, and none is cut.
    """
    longest = max(longest, SHORTEST)
    if len(text) <= longest:
        return text
    if text.lstrip()[:1] in ("{", "["):
        try:
            return shortened_json(decode_json(text), longest)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            pass  # it only looks like JSON
    return without_middle(text, longest)


def without_middle(text: str, longest: int) -> str:
    """Beginning and end of a text, cut between graphemes."""
    room = longest - len(mark(len(text)))
    head = cut(text, int(room * HEAD))
    tail = end_from(text, len(text) - (room - len(head)))
    return head + mark(len(text) - len(head) - len(tail)) + tail


def mark(left_out: int) -> str:
    """What stands between the beginning and the end."""
    return f"\n[… {left_out:,} characters left out …]\n"


# --- JSON ------------------------------------------------------------------------------------


def shortened_json(value: Any, longest: int) -> str:
    """A JSON object or list with its long strings, lists and objects shortened until it fits."""
    size = longest
    while size >= 4:
        text = json_text(smaller(value, size))
        if len(text) <= longest:
            return text
        size = size * 3 // 4
    return '{"…":"left out"}' if isinstance(value, dict) else '["… left out"]'


def smaller(value: Any, size: int) -> Any:
    """A value with no string longer than `size`, and no list with more than `size // 8` items."""
    most = max(size // 8, 1)
    if isinstance(value, str):
        return smaller_string(value, size)
    if isinstance(value, dict):
        entries = list(cast("dict[str, Any]", value).items())
        kept = {key: smaller(item, size) for key, item in entries[:most]}
        left_out = len(entries) - len(kept)
        return {**kept, "…": f"{left_out:,} more"} if left_out else kept
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if len(items) <= most:
            return [smaller(item, size) for item in items]
        head = max(int(most * HEAD), 1)
        tail = items[len(items) - (most - head) :]
        return [
            *(smaller(item, size) for item in items[:head]),
            f"… {len(items) - most:,} more …",
            *(smaller(item, size) for item in tail),
        ]
    return value


def smaller_string(text: str, size: int) -> str:
    """Beginning and end of a string within JSON."""
    if len(text) <= size:
        return text
    head = cut(text, int(size * HEAD))
    return f"{head}…{end_from(text, len(text) - max(size - len(head) - 1, 0))}"


# --- messages --------------------------------------------------------------------------------


def longest_text(message: Message) -> int:
    """The characters of the longest text of a message that can be cut."""
    return max((len(text) for part in message.parts for text in texts_of(part)), default=0)


def texts_of(part: Part) -> list[str]:
    """The texts of a part that can be cut."""
    if isinstance(part, Text):
        return [part.text]
    if not isinstance(part, ToolResult):
        return []
    if isinstance(part.content, tuple):
        return [piece.text for piece in part.content if isinstance(piece, Text)]
    return [part.text]


def cut_to(message: Message, longest: int) -> Message:
    """A message with no text and no result longer than that; calls stay as they are.

    System messages are never cut.
    """
    if message.role == "system" or longest_text(message) <= longest:
        return message
    return message.with_parts(cut_part(part, longest) for part in message.parts)


def cut_part(part: Part, longest: int) -> Part:
    """A part with no text longer than that."""
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
