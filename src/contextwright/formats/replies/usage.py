"""Token counts in replies."""

from __future__ import annotations

from contextwright.messages.changes import Change
from contextwright.wire.values import Object, is_object

__all__ = ["UNCOUNTED", "count_of"]

UNCOUNTED = Change("invent.usage", "usage", "the provider counted no tokens; zeros, as required")
"""For an API whose clients refuse a reply without a count."""


def count_of(usage: Object, *path: str) -> int:
    """Return the number at a path of a usage object, 0 if missing."""
    value: object = usage
    for step in path:
        value = value.get(step) if is_object(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
