"""Vectors of messages as rows of one matrix, and the search for the nearest rows.

With `query.py` and `rows.py` the only files that compute with vectors and import numpy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

from contextwright.recall.vectors.query import Query, Vectors
from contextwright.recall.vectors.rows import Rows, grown, with_room

__all__ = [
    "Matrix",
    "Numbers",
    "Pool",
    "Query",
    "Scores",
    "Vectors",
    "best_of",
    "cosines_of",
    "joined",
    "packed",
    "scored",
    "unpacked",
]

Numbers: TypeAlias = NDArray[numpy.int32]
Scores: TypeAlias = tuple[Numbers, Vectors]
"""Numbers of messages, and the cosine of each."""

NUMBER, HALF = numpy.dtype("<i4"), numpy.dtype("<f2")
"""The stored type of numbers and vectors: half precision is enough for a cosine."""

SHIFT = 32
"""Bits of a message's number, beside that of its conversation."""

DIGITS = 6
"""Differences beyond these digits are ignored, because sums of floats depend on their order."""


def packed(seqs: Sequence[int], vectors: Vectors) -> bytes:
    """Pack the numbers of messages, followed by their vectors."""
    return numpy.array(seqs, NUMBER).tobytes() + vectors.astype(HALF).tobytes()


def unpacked(body: memoryview, width: int) -> tuple[Numbers, Vectors]:
    """Unpack vectors of that dimension."""
    count = len(body) // (NUMBER.itemsize + width * HALF.itemsize)
    seqs = numpy.frombuffer(body, NUMBER, count)
    vectors = numpy.frombuffer(body, HALF, offset=count * NUMBER.itemsize).reshape(count, width)
    return seqs.astype(numpy.int32), vectors.astype(numpy.float32)


class Matrix:
    """The vectors of a conversation's own messages, in order; it only grows.

    Readers keep seeing it as it was before it grew.
    """

    def __init__(self, rows: Rows, width: int, rewritten: int = 0) -> None:
        self.last = 0
        """The last message whose vectors are here."""
        self.rewritten = rewritten
        """How many times messages had been rewritten; it is no longer valid after that."""
        self.lock = Lock()
        """Held while rows are appended."""
        self.rows = rows
        self._seqs: Numbers = numpy.empty(0, numpy.int32)
        self._filled = self._seqs
        self.sum: Vectors = numpy.zeros(width, numpy.float32)
        """The sum of all vectors."""

    def __len__(self) -> int:
        return len(self._filled)

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self._seqs.nbytes + self.rows.size

    def append(self, last: int, seqs: Numbers, vectors: Vectors) -> None:
        """Add the vectors of messages up to `last`; skip those already here."""
        start, behind = len(self._filled), seqs > self.last
        stop = start + int(behind.sum())
        if stop > len(self._seqs):
            self._seqs = grown(self._seqs, with_room(stop))
        self._seqs[start:stop] = seqs[behind]
        self.rows.append(vectors[behind])
        self._filled = self._seqs[:stop]
        self.sum = self.sum + vectors[behind].sum(0)
        self.last = last

    def scores(self, query: Query, first: int, last: int, most: int) -> Scores:
        """Return the cosines of the nearest messages between two numbers, and of others.

        The cosine of a message is that of its nearest vector.
        """
        seqs = self._filled
        start, stop = numpy.searchsorted(seqs, (first, last + 1))
        places, cosines = self.rows.near(query, int(start), int(stop), most)
        return grouped(seqs[places], cosines)


class Pool:
    """The vectors of many conversations as one matrix; it only grows.

    Readers keep seeing it as it was before it grew.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.extents: dict[int, tuple[int, int]] = {}
        """The last message of each conversation whose vectors are here, and how many times its
        messages had been rewritten.
        """
        self._reached: Mapping[int, tuple[int, int]] | None = None
        """The extents that were found to be here; the same object need not be compared again."""
        self.lock = Lock()
        """Held while rows are appended."""
        self._owners: NDArray[numpy.int64] = numpy.empty(0, numpy.int64)
        self._seqs: Numbers = numpy.empty(0, numpy.int32)
        self._filled = 0

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self._owners.nbytes + self._seqs.nbytes + self.rows.size

    def is_at(self, extents: Mapping[int, tuple[int, int]]) -> bool:
        """Whether all that there is is here, and valid."""
        if self._reached is extents:
            return True
        is_at = self.extents == extents
        self._reached = extents if is_at else None
        return is_at

    def is_before(self, extents: Mapping[int, tuple[int, int]]) -> bool:
        """Whether all that is here is still valid, however much is missing."""
        return self.is_at(extents) or all(
            known[0] <= now[0] and known[1] == now[1]
            for number, known in self.extents.items()
            for now in (extents.get(number, (-1, 0)),)
        )

    def append(
        self, number: int, rewritten: int, last: int, seqs: Numbers, vectors: Vectors
    ) -> None:
        """Add the vectors of a conversation's messages up to `last`; skip those already here."""
        new = seqs > self.extents.get(number, (0, 0))[0]
        if not new.all():
            seqs, vectors = seqs[new], vectors[new]
        start, stop = self._filled, self._filled + len(seqs)
        if stop > len(self._seqs):
            room = with_room(stop)
            self._owners, self._seqs = grown(self._owners, room), grown(self._seqs, room)
        self._owners[start:stop], self._seqs[start:stop] = number, seqs
        self.rows.append(vectors)
        self._filled = stop
        self.extents[number] = last, rewritten

    def nearest(
        self, query: Query, most: int, without: Collection[tuple[int, int]] = ()
    ) -> list[tuple[tuple[int, int], float]]:
        """Return the nearest messages, as conversation and number, best first.

        Of equal ones the newer comes first. A message is as near as the nearest of its vectors.
        """
        if most < 1 or not self._filled:
            return []
        places, cosines = self.rows.near(query, 0, self._filled, most + len(without))
        owners, seqs, cosines = self._owners[places], self._seqs[places], cosines.round(DIGITS)
        begins = numpy.ones(len(seqs), numpy.bool_)
        begins[1:] = (seqs[1:] != seqs[:-1]) | (owners[1:] != owners[:-1])
        if not begins.all():
            starts = numpy.flatnonzero(begins)
            owners, seqs = owners[starts], seqs[starts]
            cosines = numpy.maximum.reduceat(cosines, starts)
        if without:
            hidden = numpy.array([*without], numpy.int64)
            kept = ~numpy.isin((owners << SHIFT) + seqs, (hidden[:, 0] << SHIFT) + hidden[:, 1])
            owners, seqs, cosines = owners[kept], seqs[kept], cosines[kept]
        if len(seqs) > most:
            kept = cosines >= numpy.partition(cosines, -most)[-most]
            owners, seqs, cosines = owners[kept], seqs[kept], cosines[kept]
        order = numpy.lexsort((-owners, -seqs, -cosines))[:most]
        places = zip(owners[order].tolist(), seqs[order].tolist(), strict=True)
        return list(zip(places, cosines[order].tolist(), strict=True))


def joined(pages: Iterable[Scores]) -> Scores:
    """Concatenate the scores of several pages."""
    all_pages = [*pages]
    if not all_pages:
        return numpy.zeros(0, numpy.int32), numpy.zeros(0, numpy.float32)
    seqs, cosines = zip(*all_pages, strict=True)
    return numpy.concatenate(seqs), numpy.concatenate(cosines)


def scored(seqs: Numbers, rows: Vectors, query: Query) -> Scores:
    """Return the message numbers in order, each once, with the best cosine of its rows."""
    return grouped(seqs, query.cosines(rows, query.lengths(rows)))


def grouped(seqs: Numbers, cosines: Vectors) -> Scores:
    """Return numbers in order, each once, with the best of their cosines."""
    begins = numpy.ones(len(seqs), numpy.bool_)
    begins[1:] = seqs[1:] != seqs[:-1]
    if begins.all():
        return seqs, cosines
    starts = numpy.flatnonzero(begins)
    return seqs[starts], numpy.maximum.reduceat(cosines, starts)


def cosines_of(vector: Vectors, texts: Sequence[Vectors]) -> list[float]:
    """Return the cosine of each text: that of the nearest of its rows; 0 if it has none."""
    found = [0.0] * len(texts)
    places = [place for place, rows in enumerate(texts) for _ in rows]
    if places:
        rows = numpy.concatenate([rows for rows in texts if len(rows)])
        query = Query(vector, rows.sum(0), len(rows))
        places, cosines = scored(numpy.array(places, numpy.int32), rows, query)
        for place, cosine in zip(places.tolist(), numpy.round(cosines, DIGITS), strict=True):
            found[place] = float(cosine)
    return found


def best_of(scores: Scores, most: int, without: Collection[int] = ()) -> list[tuple[int, float]]:
    """Return the messages with the highest cosines, best first; of equal ones the newer first."""
    seqs, cosines = scores
    if without:
        kept = ~numpy.isin(seqs, numpy.fromiter(without, numpy.int64, len(without)))
        seqs, cosines = seqs[kept], cosines[kept]
    if most < 1 or not len(seqs):
        return []
    cosines = numpy.round(cosines, DIGITS)
    if len(seqs) > most:
        least = numpy.partition(cosines, -most)[-most]
        kept = cosines >= least  # all equal ones: the newer are chosen below
        seqs, cosines = seqs[kept], cosines[kept]
    order = numpy.lexsort((-seqs, -cosines))[:most]
    return list(zip(seqs[order].tolist(), cosines[order].tolist(), strict=True))
