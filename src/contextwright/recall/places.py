"""Where each speaker and each day is in a conversation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from threading import Lock

__all__ = ["DAY", "Places", "newest_first"]

DAY = 86_400
"""Seconds per day."""


class Places:
    """The numbers of the messages of each speaker, and of each day, counted from 1970.

    They are noted when somebody asks for them, because few questions do, and each message once.
    Any number of threads may ask.
    """

    def __init__(self) -> None:
        self.speakers: dict[str, list[int]] = {}
        self.days: dict[int, list[int]] = {}
        self._noted = 0
        self._lock = Lock()

    def note(self, first: int, speakers: Sequence[str], times: Sequence[int | None]) -> None:
        """Note the messages of these columns, from the first number on, that are not noted yet."""
        with self._lock:
            new = slice(self._noted, min(len(speakers), len(times)))
            pairs = zip(speakers[new], times[new], strict=True)
            for number, (speaker, time) in enumerate(pairs, first + self._noted):
                self.speakers.setdefault(speaker, []).append(number)
                if time is not None:
                    self.days.setdefault(time // DAY, []).append(number)
            self._noted = max(new.start, new.stop)


def newest_first(numbers: Sequence[int], first: int, last: int) -> Iterator[int]:
    """Yield those of ascending numbers that are between two, the highest first."""
    start, stop = bisect_left(numbers, first), bisect_right(numbers, last)
    return (numbers[place] for place in range(stop - 1, start - 1, -1))
