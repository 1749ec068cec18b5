"""Matrices of message vectors in memory, and the nearest neighbour search over them.

Only this file, `query.py` and `rows.py` compute with message vectors in numpy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

from contextwright.recall.vectors.query import CentredQuery, Vectors
from contextwright.recall.vectors.rows import Rows, resized, with_spare

__all__ = [
    "ConversationMatrix",
    "Numbers",
    "TenantMatrix",
    "CentredQuery",
    "Scores",
    "Vectors",
    "top_messages",
    "text_cosines",
    "concatenate",
    "pack",
    "score_rows",
    "unpack",
]

Numbers: TypeAlias = NDArray[numpy.int32]
Scores: TypeAlias = tuple[Numbers, Vectors]
"""Numbers of messages in order, and the cosine of each."""

NUMBER, HALF = numpy.dtype("<i4"), numpy.dtype("<f2")
"""The types in which numbers and vectors are stored; half precision is enough for a cosine."""

NUMBER_BITS = 32
"""Bits of a message's number in a key, below the number of its conversation."""

ROUNDING_DIGITS = 6
"""Digits to which cosines are rounded, because sums of floats depend on their order."""


def pack(seqs: Sequence[int], vectors: Vectors) -> bytes:
    """Return the numbers of messages, then their vectors, as bytes."""
    return numpy.array(seqs, NUMBER).tobytes() + vectors.astype(HALF).tobytes()


def unpack(body: memoryview, width: int) -> tuple[Numbers, Vectors]:
    """Return packed message numbers and vectors of dimension `width`."""
    count = len(body) // (NUMBER.itemsize + width * HALF.itemsize)
    seqs = numpy.frombuffer(body, NUMBER, count)
    vectors = numpy.frombuffer(body, HALF, offset=count * NUMBER.itemsize).reshape(count, width)
    return seqs.astype(numpy.int32), vectors.astype(numpy.float32)


class ConversationMatrix:
    """The vectors of a conversation's own messages, in order.

    It only grows, and readers may search it while it does.
    """

    def __init__(self, rows: Rows, width: int, rewritten: int = 0) -> None:
        self.last = 0
        """The last message whose vectors are here."""
        self.rewritten = rewritten
        """How often messages had been rewritten when it was filled. If the store has a higher
        count, the matrix is outdated."""
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
            self._seqs = resized(self._seqs, with_spare(stop))
        self._seqs[start:stop] = seqs[behind]
        self.rows.append(vectors[behind])
        self._filled = self._seqs[:stop]
        self.sum = self.sum + vectors[behind].sum(0)
        self.last = last

    def scores(self, query: CentredQuery, first: int, last: int, limit: int) -> Scores:
        """Return the cosines of at least the nearest messages from `first` to `last`.

        A message has the cosine of its nearest vector.
        """
        seqs = self._filled
        start, stop = numpy.searchsorted(seqs, (first, last + 1))
        places, cosines = self.rows.nearest(query, int(start), int(stop), limit)
        return best_per_message(seqs[places], cosines)


class TenantMatrix:
    """The vectors of all conversations of a tenant in one matrix.

    It only grows, and readers may search it while it does.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.extents: dict[int, tuple[int, int]] = {}
        """For each conversation, the last message whose vectors are here, and how often messages
        had been rewritten.
        """
        self._known_current: Mapping[int, tuple[int, int]] | None = None
        """The extents that were equal to its own at the last comparison. The same object need not
        be compared again."""
        self.lock = Lock()
        """Held while rows are appended."""
        self._owners: NDArray[numpy.int64] = numpy.empty(0, numpy.int64)
        self._seqs: Numbers = numpy.empty(0, numpy.int32)
        self._filled = 0

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self._owners.nbytes + self._seqs.nbytes + self.rows.size

    def is_current(self, extents: Mapping[int, tuple[int, int]]) -> bool:
        """Whether it has the vectors of all messages, and none is outdated."""
        if self._known_current is extents:
            return True
        is_at = self.extents == extents
        self._known_current = extents if is_at else None
        return is_at

    def is_valid(self, extents: Mapping[int, tuple[int, int]]) -> bool:
        """Whether no vector is outdated; some may be missing."""
        return self.is_current(extents) or all(
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
            room = with_spare(stop)
            self._owners, self._seqs = resized(self._owners, room), resized(self._seqs, room)
        self._owners[start:stop], self._seqs[start:stop] = number, seqs
        self.rows.append(vectors)
        self._filled = stop
        self.extents[number] = last, rewritten

    def nearest(
        self, query: CentredQuery, limit: int, without: Collection[tuple[int, int]] = ()
    ) -> list[tuple[tuple[int, int], float]]:
        """Return the nearest messages as conversation and number, best first.

        Of equal ones the newer comes first. A message has the cosine of its nearest vector.
        """
        if limit < 1 or not self._filled:
            return []
        places, cosines = self.rows.nearest(query, 0, self._filled, limit + len(without))
        owners, seqs, cosines = (
            self._owners[places],
            self._seqs[places],
            cosines.round(ROUNDING_DIGITS),
        )
        begins = numpy.ones(len(seqs), numpy.bool_)
        begins[1:] = (seqs[1:] != seqs[:-1]) | (owners[1:] != owners[:-1])
        if not begins.all():
            starts = numpy.flatnonzero(begins)
            owners, seqs = owners[starts], seqs[starts]
            cosines = numpy.maximum.reduceat(cosines, starts)
        if without:
            hidden = numpy.array([*without], numpy.int64)
            kept = ~numpy.isin(
                (owners << NUMBER_BITS) + seqs, (hidden[:, 0] << NUMBER_BITS) + hidden[:, 1]
            )
            owners, seqs, cosines = owners[kept], seqs[kept], cosines[kept]
        if len(seqs) > limit:
            kept = cosines >= numpy.partition(cosines, -limit)[-limit]
            owners, seqs, cosines = owners[kept], seqs[kept], cosines[kept]
        order = numpy.lexsort((-owners, -seqs, -cosines))[:limit]
        places = zip(owners[order].tolist(), seqs[order].tolist(), strict=True)
        return list(zip(places, cosines[order].tolist(), strict=True))


def concatenate(pages: Iterable[Scores]) -> Scores:
    """Return the scores of several pages as one."""
    all_pages = [*pages]
    if not all_pages:
        return numpy.zeros(0, numpy.int32), numpy.zeros(0, numpy.float32)
    seqs, cosines = zip(*all_pages, strict=True)
    return numpy.concatenate(seqs), numpy.concatenate(cosines)


def score_rows(seqs: Numbers, rows: Vectors, query: CentredQuery) -> Scores:
    """Return the cosine of each message: that of its nearest row."""
    return best_per_message(seqs, query.cosines(rows, query.centred_norms(rows)))


def best_per_message(seqs: Numbers, cosines: Vectors) -> Scores:
    """Return each message number once, with its best cosine.

    Args:
        seqs: the message of each cosine, in order.
    """
    begins = numpy.ones(len(seqs), numpy.bool_)
    begins[1:] = seqs[1:] != seqs[:-1]
    if begins.all():
        return seqs, cosines
    starts = numpy.flatnonzero(begins)
    return seqs[starts], numpy.maximum.reduceat(cosines, starts)


def text_cosines(vector: Vectors, texts: Sequence[Vectors]) -> list[float]:
    """Return the cosine of each text: that of its nearest vector; 0 if it has none.

    Args:
        vector: that of the question.
        texts: the vectors of each text.
    """
    found = [0.0] * len(texts)
    places = [place for place, rows in enumerate(texts) for _ in rows]
    if places:
        rows = numpy.concatenate([rows for rows in texts if len(rows)])
        query = CentredQuery(vector, rows.sum(0), len(rows))
        places, cosines = score_rows(numpy.array(places, numpy.int32), rows, query)
        for place, cosine in zip(
            places.tolist(), numpy.round(cosines, ROUNDING_DIGITS), strict=True
        ):
            found[place] = float(cosine)
    return found


def top_messages(
    scores: Scores, limit: int, without: Collection[int] = ()
) -> list[tuple[int, float]]:
    """Return the messages with the highest cosines, best first; of equal ones, newer first."""
    seqs, cosines = scores
    if without:
        kept = ~numpy.isin(seqs, numpy.fromiter(without, numpy.int64, len(without)))
        seqs, cosines = seqs[kept], cosines[kept]
    if limit < 1 or not len(seqs):
        return []
    cosines = numpy.round(cosines, ROUNDING_DIGITS)
    if len(seqs) > limit:
        least = numpy.partition(cosines, -limit)[-limit]
        kept = cosines >= least  # including all equal ones: the newer are chosen below
        seqs, cosines = seqs[kept], cosines[kept]
    order = numpy.lexsort((-seqs, -cosines))[:limit]
    return list(zip(seqs[order].tolist(), cosines[order].tolist(), strict=True))
