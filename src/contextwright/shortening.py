"""Making a text shorter by leaving out its middle, and saying so; JSON stays JSON."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from contextwright.graphemes import cut, end_from
from contextwright.messages import decode_json, encode_json

__all__ = ["shortened"]

HEAD = 0.6
"""The share of what is kept that comes from the beginning."""


def shortened(text: str, longest: int) -> str:
    """The text in at most about `longest` characters: beginning and end, with a mark between.

    Text that is a JSON object or list is shortened in its strings and lists, so that it still
    reads as one.
    """
    if len(text) <= longest:
        return text
    if text[:1] in "{[":
        try:
            value = decode_json(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return without_middle(text, longest)
        return shortened_json(value, longest)
    return without_middle(text, longest)


def without_middle(text: str, longest: int) -> str:
    """Beginning and end of a text, cut between graphemes."""
    mark = f"\n[… {len(text) - longest:,} characters left out …]\n"
    room = max(longest - len(mark), 0)
    head = cut(text, int(room * HEAD))
    return head + mark + end_from(text, len(text) - (room - len(head)))


def shortened_json(value: Any, longest: int) -> str:
    """JSON whose long strings and lists are shortened until it fits, as far as that goes."""
    size = longest
    while True:
        text = encode_json(smaller(value, size)).decode()
        if len(text) <= longest or size < 8:
            return text
        size //= 2


def smaller(value: Any, size: int) -> Any:
    """A value with no string longer than `size`, and no list with more than `size // 8` items."""
    if isinstance(value, str):
        return value if len(value) <= size else cut(value, size) + "…"
    if isinstance(value, dict):
        entries = list(cast("dict[str, Any]", value).items())
        kept = {key: smaller(item, size) for key, item in entries[: max(size // 8, 1)]}
        return (
            kept if len(kept) == len(entries) else {**kept, "…": f"{len(entries) - len(kept)} more"}
        )
    if isinstance(value, list):
        items = cast("list[Any]", value)
        most = max(size // 8, 1)
        kept_items = [smaller(item, size) for item in items[:most]]
        return kept_items if len(items) <= most else [*kept_items, f"… {len(items) - most} more"]
    return value
