"""A cache of limited size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """Values by their keys; when they do not fit, the least recently used go. Not for threads.

    Args:
        room: the size of all values together; a value has the size 1 unless it is given.
    """

    def __init__(self, room: int) -> None:
        self._room, self._size = room, 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def __iter__(self) -> Iterator[Key]:
        """Yield the keys, the least recently used first."""
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def get(self, key: Key) -> Value | None:
        """Return a value, which counts as used; None if it is not there."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: Key, value: Value, size: int = 1) -> None:
        """Keep a value, if it is not too large by itself."""
        self.pop(key)
        self._kept[key] = value, size
        self._size += size
        while self._size > self._room:
            self.pop(next(iter(self._kept)))

    def pop(self, key: Key) -> Value | None:
        """Drop a value and return it; None if it is not there."""
        value, size = self._kept.pop(key, (None, 0))
        self._size -= size
        return value
