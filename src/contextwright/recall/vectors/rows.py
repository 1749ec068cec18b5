"""Rows of vectors in memory, as floats or quantised to a quarter of the size.

Quantised rows are searched in two steps. First, candidates are the rows whose signs, a bit for each
number, have the smallest Hamming distance to those of the question. Then their cosines are computed
from eight bits for each number.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, TypeVar

import numpy
from numpy.typing import NDArray

from contextwright.recall.vectors.query import CentredQuery, Vectors

__all__ = ["QuantisedRows", "RowIndices", "Rows", "FloatRows", "resized", "with_spare"]

RowIndices: TypeAlias = NDArray[numpy.intp]
"""Indices of rows."""
Kind = TypeVar("Kind", bound=numpy.generic)

CANDIDATES_PER_RESULT, MIN_CANDIDATES = 10, 8_192
"""How many candidates are compared for each row that is wanted, and at least."""
BLOCK_ROWS = 1 << 16
"""Rows whose signs are compared at once, so that they stay in the processor's cache."""
SIGN_BITS = 64
"""Bits in a word of signs."""
MAX_CODE = 127
"""The largest number in eight bits with a sign."""


class Rows(Protocol):
    """Vectors of length 1 in the order they were added. Readers may search while they grow."""

    def __len__(self) -> int: ...

    @property
    def size(self) -> int:
        """Its size in bytes."""
        ...

    def append(self, vectors: Vectors) -> None:
        """Add vectors."""
        ...

    def nearest(
        self, query: CentredQuery, start: int, stop: int, limit: int
    ) -> tuple[RowIndices, Vectors]:
        """Return at least the `limit` nearest rows from `start` to before `stop`, with cosines."""
        ...


class FloatRows:
    """Vectors as floats; a search computes all cosines."""

    def __init__(self, width: int, room: int = 0) -> None:
        self._rows: Vectors = numpy.empty((room, width), numpy.float32)
        self._filled = self._rows[:0]
        self._norms: tuple[Vectors, Vectors] | None = None
        """A mean and the lengths of the rows centred on it; most questions have the same mean."""

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
            self._rows = resized(self._rows, with_spare(stop))
        self._rows[start:stop] = vectors
        self._filled = self._rows[:stop]

    def nearest(
        self, query: CentredQuery, start: int, stop: int, limit: int
    ) -> tuple[RowIndices, Vectors]:
        """Return all rows from `start` to before `stop`, with their cosines."""
        rows = self._filled
        lengths = self._norms_from(query, rows)
        some = lengths if len(lengths) == 1 else lengths[start:stop]
        return numpy.arange(start, stop), query.cosines(rows[start:stop], some)

    def _norms_from(self, query: CentredQuery, rows: Vectors) -> Vectors:
        """Return the lengths of the centred rows."""
        known = self._norms
        if known and len(known[1]) == len(rows) and numpy.array_equal(known[0], query.mean):
            return known[1]
        lengths = query.centred_norms(rows)
        self._norms = query.mean, lengths
        return lengths


class QuantisedRows:
    """Vectors quantised to eight bits for each number, with the signs in one bit each."""

    def __init__(self, width: int, room: int = 0) -> None:
        self._codes: NDArray[numpy.int8] = numpy.empty((room, width), numpy.int8)
        self._scales: Vectors = numpy.empty(room, numpy.float32)
        words = -(-width // SIGN_BITS)
        self._signs = [numpy.empty(room, numpy.uint64) for _ in range(words)]
        self._mean: Vectors | None = None
        """The mean of the first vectors. It is subtracted before signs are taken, because signs
        that all vectors have in common distinguish nothing."""
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
        middle = vectors.mean(0) if self._mean is None else self._mean
        self._mean = middle
        start, stop = self._filled, self._filled + len(vectors)
        if stop > len(self._scales):
            room = with_spare(stop)
            self._codes, self._scales = resized(self._codes, room), resized(self._scales, room)
            self._signs = [resized(words, room) for words in self._signs]
        largest = numpy.maximum(numpy.abs(vectors).max(1), 1e-9)
        self._codes[start:stop] = numpy.rint(vectors * (MAX_CODE / largest)[:, None])
        self._scales[start:stop] = largest / MAX_CODE
        for words, new in zip(self._signs, signs_of(vectors - middle), strict=True):
            words[start:stop] = new
        self._filled = stop

    def nearest(
        self, query: CentredQuery, start: int, stop: int, limit: int
    ) -> tuple[RowIndices, Vectors]:
        """Return the candidates from `start` to before `stop`, with their cosines."""
        candidates = self._candidates(
            query, start, stop, max(CANDIDATES_PER_RESULT * limit, MIN_CANDIDATES)
        )
        rows = self._codes[candidates].astype(numpy.float32) * self._scales[candidates][:, None]
        return candidates, query.cosines(rows, query.centred_norms(rows))

    def _candidates(self, query: CentredQuery, start: int, stop: int, most: int) -> RowIndices:
        """Return about `most` rows with the smallest Hamming distance to the question's signs."""
        if stop - start <= most or self._mean is None:
            return numpy.arange(start, stop)
        asked = signs_of((query.vector - self._mean)[None])
        differing = numpy.zeros(stop - start, numpy.uint16)
        for first in range(start, stop, BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, stop)
            for words, word in zip(self._signs, asked, strict=True):
                differing[first - start : last - start] += numpy.bitwise_count(
                    words[first:last] ^ word
                )
        counts = numpy.cumsum(numpy.bincount(differing))
        limit = int(numpy.searchsorted(counts, most))
        return numpy.flatnonzero(differing <= limit) + start


def signs_of(vectors: Vectors) -> list[NDArray[numpy.uint64]]:
    """Return the signs of vectors as columns of words with `SIGN_BITS` bits."""
    bits = numpy.packbits(vectors > 0, axis=1)
    bits = numpy.pad(bits, ((0, 0), (0, -bits.shape[1] % (SIGN_BITS // 8))))
    return [*numpy.ascontiguousarray(bits).view(numpy.uint64).T]


def with_spare(rows: int) -> int:
    """Return a capacity with spare rows, so that not every append copies all of them."""
    return rows + rows // 8


def resized(array: NDArray[Kind], capacity: int) -> NDArray[Kind]:
    """Return a larger array with the same first rows."""
    larger: NDArray[Kind] = numpy.empty((capacity, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
