"""The messages nearest to a question: the vectors of conversations, cached in memory.

A conversation's vectors are read at its first query, and then only new ones; those of a tenant, for
questions to all conversations, in the same way. The least recently used ones are dropped. Messages
without vectors yet, at most a few dozen of the newest (see `indexing.py`), are not found here: a
window shows them, and a search by words finds them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from heapq import nsmallest
from threading import Lock
from typing import TYPE_CHECKING

from contextwright.lru import LruCache
from contextwright.recall.vectors.embedder import Embedder
from contextwright.store.engines.base import Connection, Value
from contextwright.store.recall import vectors
from contextwright.store.recall.result_cache import ResultCache
from contextwright.store.recall.vectors import Kind
from contextwright.store.rows import conversations
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.index import Place

if TYPE_CHECKING:
    from contextwright.recall.vectors.matrix import Matrix, Pool, Query, Scores, Vectors
    from contextwright.recall.vectors.rows import Rows

__all__ = ["Nearest", "Space"]

ROOM = 640 * 2**20
"""Bytes of vectors kept in memory: a million messages with 512 numbers each, as codes."""
WHOLE, CODED = 0.4, 0.85
"""The share of it that whole vectors of one conversation or tenant may take (250,000 messages with
256 numbers each), and the codes of those that are more.
"""

QUESTIONS = 8
"""Number of questions whose vectors are kept."""

Nearest = list[tuple[Place, float]]
"""Messages with their cosines, best first; of equal ones the newer first."""

HIDDEN = "SELECT seq FROM marks WHERE conversation = ? AND visibility <> 'public'"
ALL_HIDDEN = """
SELECT k.conversation, k.seq FROM marks k JOIN conversations c ON c.number = k.conversation
WHERE c.tenant = ? AND k.visibility <> 'public'"""
SIZE = """
SELECT coalesce(sum(length(body)), 0) FROM vectors WHERE conversation = ? AND embedder = ?"""
POOL_SIZE = """
SELECT coalesce(sum(length(v.body)), 0) FROM conversations c
JOIN vectors v ON v.conversation = c.number AND v.embedder = ? WHERE c.tenant = ?"""
OF_TENANT = """
SELECT v.conversation, v.first, v.last, v.body FROM conversations c
JOIN vectors v ON v.conversation = c.number AND v.embedder = ?
WHERE c.tenant = ? AND c.number >= ? AND (v.conversation > ? OR v.first > ?)
ORDER BY v.conversation, v.first LIMIT 32"""


class Space:
    """All vectors of a store by one embedder, for any number of threads.

    Args:
        embedder: makes vectors of texts.
        room: bytes of vectors to keep in memory.
    """

    def __init__(self, embedder: Embedder, room: int = ROOM) -> None:
        self.embedder, self.room = embedder, room
        self._kept: LruCache[tuple[int | str, int], Matrix | Pool] = LruCache(room)
        """By conversation or tenant, and embedder."""
        self._lock = Lock()
        self._results = ResultCache()
        # Several sections of a context ask the same question.
        self._embedded = lru_cache(QUESTIONS)(embedder.one)

    def vector_of(self, query: str) -> Vectors:
        """Return the vector of a question. Call it before a transaction, because it may be slow."""
        return self._embedded(query)

    def nearest(
        self,
        connection: Connection,
        head: Head,
        query: Vectors,
        most: int,
        *,
        asks: bool = False,
        last: int | None = None,
        without: Collection[int] = (),
    ) -> Nearest:
        """Return the nearest visible messages of a conversation and its parents.

        Only messages up to `last`, except those in `without`. What asks is not like a message.
        """
        kind = self._kind(connection, query)
        if kind is None:
            return []
        from contextwright.recall.vectors.matrix import best_of, joined

        stop = conversations.length_of(connection, head, "") if last is None else last
        hidden = {seq for (seq,) in connection.rows(HIDDEN, head.number)}
        left_out = hidden.union(without)
        matrices = {number: self._matrix(connection, number, kind) for number, _ in head.line}
        asked = relative(connection, kind, query, matrices, asks)
        found: Nearest = []
        for number, own in head.line:
            if own <= stop:
                limits = (own, stop)
                matrix = matrices[number]
                scores = (
                    joined(pages_scored(connection, number, kind, asked, *limits))
                    if matrix is None
                    else matrix.scores(asked, *limits, most + len(left_out))
                )
                best = best_of(scores, most, left_out)
                found += [((number, seq), cosine) for seq, cosine in best]
            stop = min(stop, own - 1)
        return sorted(found, key=order_of)[: max(most, 0)]

    def nearest_of_tenant(
        self, connection: Connection, tenant: str, query: Vectors, most: int
    ) -> Nearest:
        """Return the nearest messages of all conversations, each from its owner."""
        kind = self._kind(connection, query)
        if kind is None:
            return []
        from contextwright.recall.vectors.matrix import Query, best_of

        asked = Query(query)
        hidden: dict[int, set[int]] = {}
        places = self._results.of(connection, hidden_of, tenant)
        pool = self._pool(connection, tenant, kind)
        if pool is not None:
            return pool.nearest(asked, most, places)
        for number, seq in places:
            hidden.setdefault(number, set()).add(seq)
        found = (
            ((number, seq), cosine)
            for number, scores in pages_of_tenant(connection, tenant, kind, asked)
            for seq, cosine in best_of(scores, most, hidden.get(number, ()))
        )
        return nsmallest(most, found, key=order_of)

    def forget(self, number: int | None) -> None:
        """Drop the vectors of a conversation, or of all."""
        with self._lock:
            for key in [*self._kept]:
                extents = getattr(self._kept.get(key), "extents", ())
                if number is None or key[0] == number or number in extents:
                    self._kept.pop(key)

    # --- inside ------------------------------------------------------------------------------

    def _kind(self, connection: Connection, query: Vectors) -> Kind | None:
        """Return the embedder as the store knows it; None if there is nothing to find."""
        kind = vectors.kind_of(connection, self.embedder.name)
        if kind is None or not kind.width or not query.any():
            return None
        vectors.require_width(self.embedder.name, len(query), kind.width)
        return kind

    def _matrix(self, connection: Connection, number: int, kind: Kind) -> Matrix | None:
        """Return the vectors of a conversation, up to date; None if they do not fit in memory."""
        from contextwright.recall.vectors.matrix import Matrix

        with self._lock:
            matrix = self._kept.get((number, kind.number))
        extent = vectors.extent_of(connection, number, kind)
        if not isinstance(matrix, Matrix) or matrix.rewritten != extent.rewritten:
            rows = self._rows(connection, kind, SIZE, number, kind.number)
            if rows is None:
                return None
            matrix = Matrix(rows, kind.width, extent.rewritten)
        with matrix.lock:
            if matrix.last < extent.last:
                for page in vectors.pages_after(connection, number, kind, matrix.last):
                    matrix.append(*page)
        self._keep((number, kind.number), matrix)
        return matrix

    def _pool(self, connection: Connection, tenant: str, kind: Kind) -> Pool | None:
        """Return the vectors of a tenant, up to date; None if they do not fit in memory."""
        from contextwright.recall.vectors.matrix import Pool

        key = (tenant, kind.number)
        with self._lock:
            pool = self._kept.get(key)
        extents = self._results.of(connection, vectors.extents_of, tenant, kind)
        if not isinstance(pool, Pool) or not pool.is_before(extents):
            # There is none, or conversations were removed or rewritten: it only grows.
            rows = self._rows(connection, kind, POOL_SIZE, kind.number, tenant)
            if rows is None:
                return None
            pool = Pool(rows)
        with pool.lock:
            for number, (last, rewritten) in () if pool.is_at(extents) else extents.items():
                known = pool.extents.get(number, (0, 0))[0]
                if known < last and pool.size <= self.room:
                    for page in vectors.pages_after(connection, number, kind, known):
                        pool.append(number, rewritten, *page)
        self._keep(key, pool)
        return pool if pool.size <= self.room else None

    def _rows(self, connection: Connection, kind: Kind, sql: str, *which: Value) -> Rows | None:
        """Return room for vectors: whole if they are few, else as codes.

        None if they do not fit at all.
        """
        from contextwright.recall.vectors.rows import Codes, WholeRows, with_room

        ((size,),) = connection.rows(sql, *which)
        room = with_room(size // vectors.row_size(kind.width))
        if 4 * kind.width * room <= WHOLE * self.room:
            return WholeRows(kind.width, room)
        return Codes(kind.width, room) if kind.width * room <= CODED * self.room else None

    def _keep(self, key: tuple[int | str, int], matrix: Matrix | Pool) -> None:
        """Cache a matrix, and drop the least recently used ones."""
        with self._lock:
            self._kept.put(key, matrix, matrix.size)


def hidden_of(connection: Connection, tenant: str) -> list[Place]:
    """Return the messages of a tenant that are hidden where they were written."""
    return [(number, seq) for number, seq in connection.rows(ALL_HIDDEN, tenant)]


def relative(
    connection: Connection,
    kind: Kind,
    query: Vectors,
    matrices: Mapping[int, Matrix | None],
    asks: bool,
) -> Query:
    """Return a question relative to the mean of a conversation and its parents.

    Args:
        matrices: their vectors; None for those that are too many for the memory.
    """
    from contextwright.recall.vectors.query import ASKED, SAID, Query

    sum, count = query * 0, 0
    for number, matrix in matrices.items():
        if matrix is not None:
            sum, count = sum + matrix.sum, count + len(matrix)
            continue
        for _, _, rows in vectors.pages_after(connection, number, kind, 0):
            sum, count = sum + rows.sum(0), count + len(rows)
    return Query(query, sum, count, ASKED if asks else SAID)


def pages_scored(
    connection: Connection, number: int, kind: Kind, query: Query, first: int, last: int
) -> Iterator[Scores]:
    """Yield the cosines of messages between two numbers; pages are read and dropped again."""
    from contextwright.recall.vectors.matrix import scored

    for end, seqs, rows in vectors.pages_after(connection, number, kind, first - 1):
        within = (seqs >= first) & (seqs <= last)
        yield scored(seqs[within], rows[within], query)
        if end >= last:
            return


def pages_of_tenant(
    connection: Connection, tenant: str, kind: Kind, query: Query
) -> Iterator[tuple[int, Scores]]:
    """Yield the cosines of all messages, page by page, with the conversation of each."""
    from contextwright.recall.vectors.matrix import scored

    number, first = 0, 0
    while rows := connection.rows(OF_TENANT, kind.number, tenant, number, number, first):
        for number, first, last, body in rows:
            yield number, scored(*vectors.vectors_in(first, last, body, kind.width), query)


def order_of(found: tuple[Place, float]) -> tuple[float, int, int]:
    """Sort key: best first, of equal ones the newer first."""
    (number, seq), cosine = found
    return -cosine, -seq, -number
