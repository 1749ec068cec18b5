"""Find the messages nearest to a question, with matrices of vectors that are cached in memory.

There is a matrix for each conversation, and one for each tenant whose conversations are searched
together. The first query fills it, and later ones add new vectors. The least recently used are
dropped. Messages without vectors, at most a few dozen of the newest (see `indexing.py`), are not
found here. They are mostly in the window, and the search by terms finds them.
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
from contextwright.store.recall.vectors import StoredEmbedder
from contextwright.store.rows import conversations
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.index import Place

if TYPE_CHECKING:
    from contextwright.recall.vectors.matrix import (
        CentredQuery,
        ConversationMatrix,
        Scores,
        TenantMatrix,
        Vectors,
    )
    from contextwright.recall.vectors.rows import Rows

__all__ = ["Nearest", "VectorIndex"]

MAX_BYTES = 640 * 2**20
"""Maximum bytes of vectors in memory: a million messages of 512 numbers each, quantised."""
FLOAT_SHARE, QUANTISED_SHARE = 0.4, 0.85
"""The share of it that one matrix may take as floats (250,000 messages of 256 numbers each), and
the share that it may take quantised if it has more.
"""

CACHED_QUESTIONS = 8
"""Number of questions whose vectors are cached."""

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


class VectorIndex:
    """The vectors of a store by one embedder. Safe for several threads.

    Args:
        room: maximum bytes of vectors in memory.
    """

    def __init__(self, embedder: Embedder, room: int = MAX_BYTES) -> None:
        self.embedder, self.room = embedder, room
        self._matrices: LruCache[tuple[int | str, int], ConversationMatrix | TenantMatrix] = (
            LruCache(room)
        )
        """The cached matrices, by conversation or tenant, and embedder."""
        self._lock = Lock()
        self._results = ResultCache()
        # Several sections of a context ask the same question.
        self._embedded = lru_cache(CACHED_QUESTIONS)(embedder.one)

    def vector_of(self, query: str) -> Vectors:
        """Return the vector of a question. It may be slow, so do not call it in a transaction."""
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

        Args:
            asks: whether the query is a question, not a remark.
            last: the last message that is searched; by default the newest.
            without: messages that are left out.
        """
        kind = self._stored_embedder(connection, query)
        if kind is None:
            return []
        from contextwright.recall.vectors.matrix import concatenate, top_messages

        stop = conversations.length_of(connection, head, "") if last is None else last
        hidden = {seq for (seq,) in connection.rows(HIDDEN, head.number)}
        left_out = hidden.union(without)
        matrices = {number: self._matrix(connection, number, kind) for number, _ in head.line}
        asked = centred_query(connection, kind, query, matrices, asks)
        found: Nearest = []
        for number, own in head.line:
            if own <= stop:
                limits = (own, stop)
                matrix = matrices[number]
                scores = (
                    concatenate(score_conversation(connection, number, kind, asked, *limits))
                    if matrix is None
                    else matrix.scores(asked, *limits, most + len(left_out))
                )
                best = top_messages(scores, most, left_out)
                found += [((number, seq), cosine) for seq, cosine in best]
            stop = min(stop, own - 1)
        if len(head.line) > 1:  # the messages of one conversation are in order already
            found.sort(key=best_first)
        return found[: max(most, 0)]

    def nearest_of_tenant(
        self, connection: Connection, tenant: str, query: Vectors, most: int
    ) -> Nearest:
        """Return the nearest messages of all conversations of a tenant.

        A message that forks share belongs to the conversation it was written in.
        """
        kind = self._stored_embedder(connection, query)
        if kind is None:
            return []
        from contextwright.recall.vectors.matrix import CentredQuery, top_messages

        asked = CentredQuery(query)
        hidden: dict[int, set[int]] = {}
        places = self._results.of(connection, hidden_in_tenant, tenant)
        pool = self._tenant_matrix(connection, tenant, kind)
        if pool is not None:
            return pool.nearest(asked, most, places)
        for number, seq in places:
            hidden.setdefault(number, set()).add(seq)
        found = (
            ((number, seq), cosine)
            for number, scores in score_tenant(connection, tenant, kind, asked)
            for seq, cosine in top_messages(scores, most, hidden.get(number, ()))
        )
        return nsmallest(most, found, key=best_first)

    def forget(self, number: int | None) -> None:
        """Drop the cached matrices with vectors of a conversation, or all."""
        with self._lock:
            for key in [*self._matrices]:
                extents = getattr(self._matrices.get(key), "extents", ())
                if number is None or key[0] == number or number in extents:
                    self._matrices.pop(key)

    # --- inside ------------------------------------------------------------------------------

    def _stored_embedder(self, connection: Connection, query: Vectors) -> StoredEmbedder | None:
        """Return the stored embedder; None if there are no vectors, or the query has no meaning."""
        kind = vectors.find_embedder(connection, self.embedder.name)
        if kind is None or not kind.width or not query.any():
            return None
        vectors.require_dimension(self.embedder.name, len(query), kind.width)
        return kind

    def _matrix(
        self, connection: Connection, number: int, kind: StoredEmbedder
    ) -> ConversationMatrix | None:
        """Return the current matrix of a conversation; None if it does not fit in memory."""
        from contextwright.recall.vectors.matrix import ConversationMatrix

        with self._lock:
            matrix = self._matrices.get((number, kind.number))
        extent = vectors.extent_of(connection, number, kind)
        if not isinstance(matrix, ConversationMatrix) or matrix.rewritten != extent.rewritten:
            rows = self._empty_rows(connection, kind, SIZE, number, kind.number)
            if rows is None:
                return None
            matrix = ConversationMatrix(rows, kind.width, extent.rewritten)
        with matrix.lock:
            if matrix.last < extent.last:
                for page in vectors.pages_after(connection, number, kind, matrix.last):
                    matrix.append(*page)
        self._cache((number, kind.number), matrix)
        return matrix

    def _tenant_matrix(
        self, connection: Connection, tenant: str, kind: StoredEmbedder
    ) -> TenantMatrix | None:
        """Return the current matrix of a tenant; None if it does not fit in memory."""
        from contextwright.recall.vectors.matrix import TenantMatrix

        key = (tenant, kind.number)
        with self._lock:
            pool = self._matrices.get(key)
        extents = self._results.of(connection, vectors.extents_of, tenant, kind)
        if not isinstance(pool, TenantMatrix) or not pool.is_valid(extents):
            # There is none, or it is outdated. A matrix only grows, so a new one is made.
            rows = self._empty_rows(connection, kind, POOL_SIZE, kind.number, tenant)
            if rows is None:
                return None
            pool = TenantMatrix(rows)
        with pool.lock:
            for number, (last, rewritten) in () if pool.is_current(extents) else extents.items():
                known = pool.extents.get(number, (0, 0))[0]
                if known < last and pool.size <= self.room:
                    for page in vectors.pages_after(connection, number, kind, known):
                        pool.append(number, rewritten, *page)
        self._cache(key, pool)
        return pool if pool.size <= self.room else None

    def _empty_rows(
        self, connection: Connection, kind: StoredEmbedder, sql: str, *which: Value
    ) -> Rows | None:
        """Return empty rows with room for vectors: as floats if they are few, else quantised.

        None if they do not fit in memory at all.

        Args:
            sql: the query for the bytes of the stored vectors.
            which: its arguments.
        """
        from contextwright.recall.vectors.rows import FloatRows, QuantisedRows, with_spare

        ((size,),) = connection.rows(sql, *which)
        room = with_spare(size // vectors.row_size(kind.width))
        if 4 * kind.width * room <= FLOAT_SHARE * self.room:
            return FloatRows(kind.width, room)
        return (
            QuantisedRows(kind.width, room)
            if kind.width * room <= QUANTISED_SHARE * self.room
            else None
        )

    def _cache(self, key: tuple[int | str, int], matrix: ConversationMatrix | TenantMatrix) -> None:
        """Cache a matrix; the least recently used ones are dropped for it."""
        with self._lock:
            self._matrices.put(key, matrix, matrix.size)


def hidden_in_tenant(connection: Connection, tenant: str) -> list[Place]:
    """Return the messages of a tenant that are hidden in the conversation they were written in."""
    return [(number, seq) for number, seq in connection.rows(ALL_HIDDEN, tenant)]


def centred_query(
    connection: Connection,
    kind: StoredEmbedder,
    query: Vectors,
    matrices: Mapping[int, ConversationMatrix | None],
    asks: bool,
) -> CentredQuery:
    """Return a question centred on the mean of a conversation and its parents.

    Args:
        matrices: the matrix of each; None for those that do not fit in memory.
        asks: whether the query is a question, not a remark.
    """
    from contextwright.recall.vectors.query import (
        QUESTION_MEAN_SHARE,
        REMARK_MEAN_SHARE,
        CentredQuery,
    )

    sum, count = query * 0, 0
    for number, matrix in matrices.items():
        if matrix is not None:
            sum, count = sum + matrix.sum, count + len(matrix)
            continue
        for _, _, rows in vectors.pages_after(connection, number, kind, 0):
            sum, count = sum + rows.sum(0), count + len(rows)
    return CentredQuery(query, sum, count, QUESTION_MEAN_SHARE if asks else REMARK_MEAN_SHARE)


def score_conversation(
    connection: Connection,
    number: int,
    kind: StoredEmbedder,
    query: CentredQuery,
    first: int,
    last: int,
) -> Iterator[Scores]:
    """Yield the cosines of messages from `first` to `last`, page by page, without caching them."""
    from contextwright.recall.vectors.matrix import score_rows

    for end, seqs, rows in vectors.pages_after(connection, number, kind, first - 1):
        within = (seqs >= first) & (seqs <= last)
        yield score_rows(seqs[within], rows[within], query)
        if end >= last:
            return


def score_tenant(
    connection: Connection, tenant: str, kind: StoredEmbedder, query: CentredQuery
) -> Iterator[tuple[int, Scores]]:
    """Yield the cosines of all messages of a tenant, page by page, with their conversation."""
    from contextwright.recall.vectors.matrix import score_rows

    number, first = 0, 0
    while rows := connection.rows(OF_TENANT, kind.number, tenant, number, number, first):
        for number, first, last, body in rows:
            yield number, score_rows(*vectors.vectors_in(first, last, body, kind.width), query)


def best_first(found: tuple[Place, float]) -> tuple[float, int, int]:
    """Sort key: best first, of equal ones newer first."""
    (number, seq), cosine = found
    return -cosine, -seq, -number
