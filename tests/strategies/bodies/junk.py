"""Values that stand nowhere in a body, and the places to put them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, "", "zzz", "\x00", "\ud800", [], ["x"], [{}], [[]], {},
    {"a": 1}, {"type": {}}, {"type": "zzz"}, {"text": []}, {"id": {}},
)  # fmt: skip


NAMES = ("self", "kind", "fields", "choices", "format", "extra", "index", "")
"""Names of fields that code may take for something of its own, such as a parameter."""


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


def mangle(draw: st.DrawFn, body: Any) -> Any:
    """A copy of a body with junk, or a piece of its own, in one to three places.

    It replaces what stands there, or stands beside it under another field's name or an odd one.
    """
    body = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(body))
        if found:
            holder, key = found[draw(st.integers(0, len(found) - 1))]
            other, name = found[draw(st.integers(0, len(found) - 1))]
            own = str(key) != "model" and draw(st.booleans())
            junk = copy.deepcopy(other[name] if own else draw(st.sampled_from(JUNK)))
            if isinstance(holder, list) and draw(st.booleans()):
                holder.insert(key, junk)
            elif isinstance(holder, dict) and draw(st.booleans()):
                odd = draw(st.sampled_from(NAMES))
                holder[odd if isinstance(name, int) or draw(st.booleans()) else name] = junk
            else:
                holder[key] = junk
    return body
