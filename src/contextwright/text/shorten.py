"""A text shortened to its beginning and end."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from contextwright.text.graphemes import cut, end_from
from contextwright.text.json import decode_json, json_text

__all__ = ["shortened"]

HEAD = 0.6
"""The share of what is kept that comes from the beginning."""


SHORTEST = 64
"""Minimum length of a shortened text, because the mark needs room."""


def shortened(text: str, longest: int) -> str:
    """Return the text in at most `longest` characters: beginning and end, with a mark between.

    A JSON object or list is shortened in its strings, lists and objects, so that it remains valid
    JSON. The result may have up to `SHORTEST` characters, because the mark needs room.
    """
    longest = max(longest, SHORTEST)
    if len(text) <= longest:
        return text
    if text.lstrip()[:1] in ("{", "["):
        try:
            return shortened_json(decode_json(text), longest)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            pass  # it only looked like JSON
    return without_middle(text, longest)


def without_middle(text: str, longest: int) -> str:
    """Return the beginning and end of a text, cut between graphemes."""
    room = longest - len(mark(len(text)))
    head = cut(text, int(room * HEAD))
    tail = end_from(text, len(text) - (room - len(head)))
    return head + mark(len(text) - len(head) - len(tail)) + tail


def mark(left_out: int) -> str:
    """Return the mark between the beginning and the end."""
    return f"\n[… {left_out:,} characters left out …]\n"


def shortened_json(value: Any, longest: int) -> str:
    """Return a JSON object or list with long strings, lists and objects shortened until it fits."""
    size = longest
    while size >= 4:
        text = json_text(smaller(value, size))
        if len(text) <= longest:
            return text
        size = size * 3 // 4
    return '{"…":"left out"}' if isinstance(value, dict) else '["… left out"]'


def smaller(value: Any, size: int) -> Any:
    """Return a value with no string longer than `size`, and no list longer than `size // 8`."""
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
    """Return the beginning and end of a string within JSON."""
    if len(text) <= size:
        return text
    head = cut(text, int(size * HEAD))
    return f"{head}…{end_from(text, len(text) - max(size - len(head) - 1, 0))}"
