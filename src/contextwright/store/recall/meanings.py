"""Vectors of memories: a row each, made when somebody asks, and removed with the memory.

Only memories that a question is compared with have vectors: the newest of each kind and scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from contextwright.recall.from_memories import text_of
from contextwright.recall.memory_list import embedded
from contextwright.store.engines.base import Connection, Engine, Row, Work
from contextwright.store.recall import vectors
from contextwright.store.recall.vectors import Kind
from contextwright.store.records import StoredMemory
from contextwright.store.rows import memories as notes

if TYPE_CHECKING:
    from contextwright.recall.vectors.embedder import Embedder
    from contextwright.recall.vectors.matrix import Vectors

__all__ = ["MOST_SEARCHED", "make", "meanings_of"]

MOST_SEARCHED = 1_000
"""Maximum memories of a kind that are compared with a question, newest first."""
KINDS = ("memory", "profile", "fact", "episode")
PAGE = 64
"""Memories that are embedded, and read, together."""

SCOPES = "SELECT DISTINCT scope FROM memories WHERE tenant = ? ORDER BY scope"
LACKING = f"""
SELECT m.number, m.body FROM memories m WHERE m.number IN (
    SELECT number FROM memories WHERE tenant = ? AND scope = ? AND kind = ?
    ORDER BY number DESC LIMIT {MOST_SEARCHED}
) AND NOT EXISTS (
    SELECT 1 FROM meanings v JOIN embedders e ON e.number = v.embedder
    WHERE v.memory = m.number AND e.name = ?
) ORDER BY m.number"""
# Its text may have changed while it was embedded.
KEEP = """
INSERT INTO meanings (memory, embedder, body)
SELECT number, ?, ? FROM memories WHERE number = ? AND body = ?
ON CONFLICT (memory, embedder) DO NOTHING"""
READ = f"""
SELECT m.id, v.memory, v.body FROM memories m
JOIN meanings v ON v.memory = m.number AND v.embedder = ?
WHERE m.tenant = ? AND m.id IN ({", ".join("?" * PAGE)})"""


def make(engine: Engine, tenant: str, scopes: Iterable[str] | None, embedder: Embedder) -> int:
    """Make the vectors that memories of some scopes lack, or of all; return how many."""
    lacking = engine.read(lambda connection: rows_without(connection, tenant, scopes, embedder))
    for start in range(0, len(lacking), PAGE):
        rows = lacking[start : start + PAGE]
        memories = [notes.decoded(body) for _, body in rows]
        pages = embedded([text_of(one) if one else "" for one in memories], embedder)
        engine.write(keep(embedder.name, rows, pages))
    return len(lacking)


def rows_without(
    connection: Connection, tenant: str, scopes: Iterable[str] | None, embedder: Embedder
) -> list[Row]:
    """Return the memories of some scopes, or of all, that have no vectors."""
    if scopes is None:
        scopes = [scope for (scope,) in connection.rows(SCOPES, tenant)]
    return [
        row
        for scope in scopes
        for kind in KINDS
        for row in connection.rows(LACKING, tenant, scope, kind, embedder.name)
    ]


def keep(embedder: str, rows: Sequence[Row], pages: Sequence[Vectors]) -> Work[None]:
    """Return work that stores vectors of memories, unless their text is another one by now."""
    from contextwright.recall.vectors.matrix import packed

    def work(connection: Connection) -> None:
        kind = vectors.ensured(connection, embedder, pages[0].shape[1])
        for (number, body), page in zip(rows, pages, strict=True):
            sealed = vectors.sealed(number, number, packed([0] * len(page), page))
            connection.run(KEEP, kind.number, sealed, number, body)

    return work


def meanings_of(
    connection: Connection,
    tenant: str,
    memories: Sequence[StoredMemory],
    embedder: str,
    query: Vectors,
) -> list[float] | None:
    """Return how near the meaning of each memory is to a question's; None if nothing is stored."""
    from contextwright.recall.vectors.matrix import cosines_of

    kind = vectors.kind_of(connection, embedder)
    if kind is None or not kind.width or not memories:
        return None
    vectors.require_width(embedder, len(query), kind.width)
    known = dict(read(connection, tenant, kind, [one.id for one in memories]))
    none = query[None][:0]
    return cosines_of(query, [known.get(one.id, none) for one in memories])


def read(
    connection: Connection, tenant: str, kind: Kind, ids: Sequence[str]
) -> Iterator[tuple[str, Vectors]]:
    """Yield the vectors of memories, by id; damaged ones are left out."""
    from contextwright.recall.vectors.matrix import unpacked

    for start in range(0, len(ids), PAGE):
        some = ids[start : start + PAGE]
        padded = [*some, *[some[0]] * (PAGE - len(some))]
        for id, number, body in connection.rows(READ, kind.number, tenant, *padded):
            content = vectors.content_of(number, number, body)
            if content is not None and len(content) % vectors.row_size(kind.width) == 0:
                yield id, unpacked(content, kind.width)[1]
