"""Vectors of memories: a row for each, made before a search, and removed with the memory.

Only memories that are searched have vectors: the newest of each kind and scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from contextwright.recall.memory_list import embed_texts
from contextwright.recall.memory_ranking import memory_text
from contextwright.store.engines.base import Connection, Engine, Row, Work
from contextwright.store.recall import vectors
from contextwright.store.recall.vectors import StoredEmbedder
from contextwright.store.records import StoredMemory
from contextwright.store.rows import memories as notes

if TYPE_CHECKING:
    from contextwright.recall.vectors.embedder import Embedder
    from contextwright.recall.vectors.matrix import Vectors

__all__ = ["MAX_SEARCHED", "make_vectors", "memory_cosines"]

MAX_SEARCHED = 1_000
"""Maximum memories of a kind and scope that are searched, newest first."""
KINDS = ("memory", "profile", "fact", "episode")
PAGE_MEMORIES = 64
"""Memories that are embedded or read at once."""

SCOPES = "SELECT DISTINCT scope FROM memories WHERE tenant = ? ORDER BY scope"
LACKING = f"""
SELECT m.number, m.body FROM memories m WHERE m.number IN (
    SELECT number FROM memories WHERE tenant = ? AND scope = ? AND kind = ?
    ORDER BY number DESC LIMIT {MAX_SEARCHED}
) AND NOT EXISTS (
    SELECT 1 FROM meanings v JOIN embedders e ON e.number = v.embedder
    WHERE v.memory = m.number AND e.name = ?
) ORDER BY m.number"""
# `body = ?`, because the text may have changed while it was embedded.
INSERT = """
INSERT INTO meanings (memory, embedder, body)
SELECT number, ?, ? FROM memories WHERE number = ? AND body = ?
ON CONFLICT (memory, embedder) DO NOTHING"""
READ = f"""
SELECT m.id, v.memory, v.body FROM memories m
JOIN meanings v ON v.memory = m.number AND v.embedder = ?
WHERE m.tenant = ? AND m.id IN ({", ".join("?" * PAGE_MEMORIES)})"""


def make_vectors(
    engine: Engine, tenant: str, scopes: Iterable[str] | None, embedder: Embedder
) -> int:
    """Make the missing vectors of memories in some scopes, or in all; return how many."""
    lacking = engine.read(
        lambda connection: rows_without_vectors(connection, tenant, scopes, embedder)
    )
    for start in range(0, len(lacking), PAGE_MEMORIES):
        rows = lacking[start : start + PAGE_MEMORIES]
        memories = [notes.decoded(body) for _, body in rows]
        pages = embed_texts([memory_text(one) if one else "" for one in memories], embedder)
        engine.write(store_vectors(embedder.name, rows, pages))
    return len(lacking)


def rows_without_vectors(
    connection: Connection, tenant: str, scopes: Iterable[str] | None, embedder: Embedder
) -> list[Row]:
    """Return the rows of memories without vectors, in some scopes or in all."""
    if scopes is None:
        scopes = [scope for (scope,) in connection.rows(SCOPES, tenant)]
    return [
        row
        for scope in scopes
        for kind in KINDS
        for row in connection.rows(LACKING, tenant, scope, kind, embedder.name)
    ]


def store_vectors(embedder: str, rows: Sequence[Row], pages: Sequence[Vectors]) -> Work[None]:
    """Return work that stores vectors of memories, unless their text has changed meanwhile."""
    from contextwright.recall.vectors.matrix import pack

    def work(connection: Connection) -> None:
        kind = vectors.register_embedder(connection, embedder, pages[0].shape[1])
        for (number, body), page in zip(rows, pages, strict=True):
            sealed = vectors.with_checksum(number, number, pack([0] * len(page), page))
            connection.run(INSERT, kind.number, sealed, number, body)

    return work


def memory_cosines(
    connection: Connection,
    tenant: str,
    memories: Sequence[StoredMemory],
    embedder: str,
    query: Vectors,
) -> list[float] | None:
    """Return the cosine of each memory and a question; None if no vectors are stored."""
    from contextwright.recall.vectors.matrix import text_cosines

    kind = vectors.find_embedder(connection, embedder)
    if kind is None or not kind.width or not memories:
        return None
    vectors.require_dimension(embedder, len(query), kind.width)
    known = dict(read_vectors(connection, tenant, kind, [one.id for one in memories]))
    none = query[None][:0]
    return text_cosines(query, [known.get(one.id, none) for one in memories])


def read_vectors(
    connection: Connection, tenant: str, kind: StoredEmbedder, ids: Sequence[str]
) -> Iterator[tuple[str, Vectors]]:
    """Yield the ids and vectors of memories; damaged ones are left out."""
    from contextwright.recall.vectors.matrix import unpack

    for start in range(0, len(ids), PAGE_MEMORIES):
        some = ids[start : start + PAGE_MEMORIES]
        padded = [*some, *[some[0]] * (PAGE_MEMORIES - len(some))]
        for id, number, body in connection.rows(READ, kind.number, tenant, *padded):
            content = vectors.checked_content(number, number, body)
            if content is not None and len(content) % vectors.row_size(kind.width) == 0:
                yield id, unpack(content, kind.width)[1]
