"""Posting lists of a conversation: the messages of each speaker and of each day."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from threading import Lock

__all__ = ["DAY", "Postings", "newest_first"]

DAY = 86_400
"""Seconds per day."""


class Postings:
    """The numbers of the messages of each speaker, and of each day since 1970, in order.

    They are built on demand, because few questions need them. Safe for several threads.
    """

    def __init__(self) -> None:
        self.speakers: dict[str, list[int]] = {}
        self.days: dict[int, list[int]] = {}
        self._added = 0
        self._lock = Lock()

    def add(self, first: int, speakers: Sequence[str], times: Sequence[int | None]) -> None:
        """Add the messages of these columns that are not here yet.

        Args:
            first: the number of the first message of the columns.
        """
        with self._lock:
            new = slice(self._added, min(len(speakers), len(times)))
            pairs = zip(speakers[new], times[new], strict=True)
            for number, (speaker, time) in enumerate(pairs, first + self._added):
                self.speakers.setdefault(speaker, []).append(number)
                if time is not None:
                    self.days.setdefault(time // DAY, []).append(number)
            self._added = max(new.start, new.stop)


def newest_first(numbers: Sequence[int], first: int, last: int) -> Iterator[int]:
    """Yield the numbers from `first` to `last`, the highest first.

    Args:
        numbers: in ascending order.
    """
    start, stop = bisect_left(numbers, first), bisect_right(numbers, last)
    return (numbers[index] for index in range(stop - 1, start - 1, -1))
