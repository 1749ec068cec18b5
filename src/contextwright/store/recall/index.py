"""The index of a store: terms, outlines and vectors, updated before a search."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from contextwright.errors import StoreBusy, StoreFull, UsageError
from contextwright.recall.vectors.embedder import Embedder
from contextwright.store.engines.base import Engine
from contextwright.store.recall import memory_vectors, terms, vectors
from contextwright.store.recall.indexing import Indexing, IndexResult, Progress
from contextwright.store.recall.nearest import VectorIndex
from contextwright.store.recall.outlines import Outlines
from contextwright.store.recall.result_cache import ResultCache

__all__ = ["Index"]


class Index:
    """The index of a store, with the vectors and outlines that are cached in memory."""

    def __init__(self, engine: Engine, embedder: Embedder | None) -> None:
        self.engine = engine
        self.vectors = None if embedder is None else VectorIndex(embedder)
        """The index of vectors; None if the store has no embedder."""
        self.outlines = Outlines()
        self.results = ResultCache()

    @property
    def embedder(self) -> Embedder | None:
        """The embedder of the store, if it has one."""
        return None if self.vectors is None else self.vectors.embedder

    def update(
        self,
        tenant: str,
        conversation: str | None = None,
        *,
        few: int | None = None,
        again: bool = False,
        words_only: bool = False,
        progress: Progress | None = None,
    ) -> IndexResult:
        """Index the messages that are missing, of one conversation or of all of a tenant.

        Args:
            few: one conversation is skipped while at most this many of its messages are missing.
            again: remove the index first.
            words_only: make no vectors.
        """
        if self.engine.is_read_only:
            return IndexResult()  # a search reads what the index lacks
        allowed = terms.MAX_UNINDEXED if few is None else few
        allowed = 0 if again else allowed
        indexing = Indexing(self.engine, tenant, conversation, allowed, self.results)
        embedder = None if words_only else self.embedder
        if again:
            for number in indexing.clear(embedder):
                self.forget(number)
        return indexing.run(embedder, progress)

    def catch_up(
        self, tenant: str, conversation: str | None = None, *, words_only: bool = False
    ) -> None:
        """Index what is missing before a search, if the store can be written.

        A full or busy store is not indexed. The search then reads the messages that the index
        lacks, as in a read-only store. The next write raises the error.

        Raises:
            EmbedderError: the embedder failed.
        """
        with suppress(StoreFull, StoreBusy):
            self.update(tenant, conversation, words_only=words_only)

    def catch_up_memories(self, tenant: str, *scopes: str) -> None:
        """Make the missing vectors of memories in some scopes, if the store can be written.

        Raises:
            EmbedderError: the embedder failed.
        """
        with suppress(StoreFull, StoreBusy):
            self.update_memories(tenant, scopes)

    def update_memories(self, tenant: str, scopes: Iterable[str] | None = None) -> IndexResult:
        """Make the missing vectors of memories in some scopes, or in all of a tenant.

        Raises:
            EmbedderError: the embedder failed.
        """
        if self.embedder is None or self.engine.is_read_only:
            return IndexResult()
        return IndexResult(
            vectors=memory_vectors.make_vectors(self.engine, tenant, scopes, self.embedder)
        )

    def drop_unused_vectors(self, tenant: str) -> int:
        """Remove the vectors of all other embedders; return how many messages had any.

        Raises:
            UsageError: the store has no embedder, so it is unknown which vectors are in use.
        """
        if self.embedder is None:
            raise UsageError(
                "a store without an embedder has no vectors in use",
                hint="open it with the embedder whose vectors are to stay",
            )
        name = self.embedder.name
        return self.engine.write_alone(
            lambda connection: vectors.remove_others(connection, tenant, name)
        )

    def forget(self, number: int | None = None) -> None:
        """Drop the cached outline and vectors of a conversation, or of all."""
        self.outlines.forget(number)
        if self.vectors is not None:
            self.vectors.forget(number)
