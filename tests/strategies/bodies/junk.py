"""Values that stand nowhere in a body, and the places to put them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, "", "zzz", "\x00", "\ud800", [], ["x"], [{}], [[]], {},
    {"a": 1}, {"type": {}}, {"type": "zzz"}, {"text": []}, {"id": {}},
)  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or list with each of its keys or indexes."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield value, key
            yield from places(item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield value, index
            yield from places(item)
