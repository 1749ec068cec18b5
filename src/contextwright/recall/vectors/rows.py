"""Rows of vectors in memory: as they are, or as codes that take a quarter of the room.

Codes find the nearest rows in two steps. The signs of all numbers, a bit each, select candidates:
rows whose signs mostly agree with those of the question. Then the cosines of these are computed
from their numbers, in eight bits each.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, TypeVar

import numpy
from numpy.typing import NDArray

from contextwright.recall.vectors.query import Query, Vectors

__all__ = ["Codes", "Places", "Rows", "WholeRows", "grown", "with_room"]

Places: TypeAlias = NDArray[numpy.intp]
"""Places of rows."""
Kind = TypeVar("Kind", bound=numpy.generic)

CANDIDATES, FEWEST = 10, 8_192
"""Rows whose cosines are computed for each one wanted, and at least."""
BLOCK = 1 << 16
"""Rows whose signs are compared at once, so that they stay in the processor's cache."""
WORD = 64
"""Bits of a word of signs."""
STEPS = 127
"""The largest number of a code."""


class Rows(Protocol):
    """Vectors of length 1, in the order in which they came; readers see them as they were."""

    def __len__(self) -> int: ...

    @property
    def size(self) -> int:
        """Its size in bytes."""
        ...

    def append(self, vectors: Vectors) -> None:
        """Add vectors."""
        ...

    def near(self, query: Query, start: int, stop: int, most: int) -> tuple[Places, Vectors]:
        """Return the nearest rows between two places, and perhaps others, with their cosines."""
        ...


class WholeRows:
    """Vectors as they are; all cosines are computed."""

    def __init__(self, width: int, room: int = 0) -> None:
        self._rows: Vectors = numpy.empty((room, width), numpy.float32)
        self._filled = self._rows[:0]
        self._lengths: tuple[Vectors, Vectors] | None = None
        """A mean, and the distances of the rows from it; most questions have the same mean."""

    def __len__(self) -> int:
        return len(self._filled)

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self._rows.nbytes

    def append(self, vectors: Vectors) -> None:
        """Add vectors."""
        start, stop = len(self), len(self) + len(vectors)
        if stop > len(self._rows):
            self._rows = grown(self._rows, with_room(stop))
        self._rows[start:stop] = vectors
        self._filled = self._rows[:stop]

    def near(self, query: Query, start: int, stop: int, most: int) -> tuple[Places, Vectors]:
        """Return all rows between two places, with their cosines."""
        rows = self._filled
        lengths = self._lengths_from(query, rows)
        some = lengths if len(lengths) == 1 else lengths[start:stop]
        return numpy.arange(start, stop), query.cosines(rows[start:stop], some)

    def _lengths_from(self, query: Query, rows: Vectors) -> Vectors:
        """Return the distances of rows from the mean."""
        known = self._lengths
        if known and len(known[1]) == len(rows) and numpy.array_equal(known[0], query.middle):
            return known[1]
        lengths = query.lengths(rows)
        self._lengths = query.middle, lengths
        return lengths


class Codes:
    """Vectors in eight bits, and the signs of their numbers in one."""

    def __init__(self, width: int, room: int = 0) -> None:
        self._codes: NDArray[numpy.int8] = numpy.empty((room, width), numpy.int8)
        self._scales: Vectors = numpy.empty(room, numpy.float32)
        words = -(-width // WORD)
        self._signs = [numpy.empty(room, numpy.uint64) for _ in range(words)]
        self._middle: Vectors | None = None
        """The mean of the first vectors: signs that all have in common distinguish nothing."""
        self._filled = 0

    def __len__(self) -> int:
        return self._filled

    @property
    def size(self) -> int:
        """Its size in bytes."""
        signs = sum(words.nbytes for words in self._signs)
        return self._codes.nbytes + self._scales.nbytes + signs

    def append(self, vectors: Vectors) -> None:
        """Add vectors."""
        if not len(vectors):
            return
        middle = vectors.mean(0) if self._middle is None else self._middle
        self._middle = middle
        start, stop = self._filled, self._filled + len(vectors)
        if stop > len(self._scales):
            room = with_room(stop)
            self._codes, self._scales = grown(self._codes, room), grown(self._scales, room)
            self._signs = [grown(words, room) for words in self._signs]
        largest = numpy.maximum(numpy.abs(vectors).max(1), 1e-9)
        self._codes[start:stop] = numpy.rint(vectors * (STEPS / largest)[:, None])
        self._scales[start:stop] = largest / STEPS
        for words, new in zip(self._signs, signs_of(vectors - middle), strict=True):
            words[start:stop] = new
        self._filled = stop

    def near(self, query: Query, start: int, stop: int, most: int) -> tuple[Places, Vectors]:
        """Return the nearest of the rows between two places, by their signs."""
        places = self._candidates(query, start, stop, max(CANDIDATES * most, FEWEST))
        rows = self._codes[places].astype(numpy.float32) * self._scales[places][:, None]
        return places, query.cosines(rows, query.lengths(rows))

    def _candidates(self, query: Query, start: int, stop: int, most: int) -> Places:
        """Return about `most` rows whose signs agree best with those of a question."""
        if stop - start <= most or self._middle is None:
            return numpy.arange(start, stop)
        asked = signs_of((query.vector - self._middle)[None])
        differing = numpy.zeros(stop - start, numpy.uint16)
        for first in range(start, stop, BLOCK):
            last = min(first + BLOCK, stop)
            for words, word in zip(self._signs, asked, strict=True):
                differing[first - start : last - start] += numpy.bitwise_count(
                    words[first:last] ^ word
                )
        counts = numpy.cumsum(numpy.bincount(differing))
        limit = int(numpy.searchsorted(counts, most))
        return numpy.flatnonzero(differing <= limit) + start


def signs_of(vectors: Vectors) -> list[NDArray[numpy.uint64]]:
    """Return the signs of vectors, a column for each 64 numbers."""
    bits = numpy.packbits(vectors > 0, axis=1)
    bits = numpy.pad(bits, ((0, 0), (0, -bits.shape[1] % (WORD // 8))))
    return [*numpy.ascontiguousarray(bits).view(numpy.uint64).T]


def with_room(rows: int) -> int:
    """Return more rows than needed, so that not every append copies all of them."""
    return rows + rows // 8


def grown(array: NDArray[Kind], room: int) -> NDArray[Kind]:
    """Return the same rows in an array with room for more."""
    larger: NDArray[Kind] = numpy.empty((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
