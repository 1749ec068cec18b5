"""The index of a store: terms, outlines and vectors, updated when needed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from contextwright.errors import StoreBusy, StoreFull, UsageError
from contextwright.recall.vectors.embedder import Embedder
from contextwright.store.engines.base import Engine
from contextwright.store.recall import meanings, terms, vectors
from contextwright.store.recall.indexing import Indexing, IndexResult, Progress
from contextwright.store.recall.nearest import Space
from contextwright.store.recall.outlines import Outlines
from contextwright.store.recall.result_cache import ResultCache

__all__ = ["Index"]


class Index:
    """The index of all tenants, with the vectors and outlines that are in memory."""

    def __init__(self, engine: Engine, embedder: Embedder | None) -> None:
        self.engine = engine
        self.space = None if embedder is None else Space(embedder)
        """The vectors; None if the store has no embedder."""
        self.outlines = Outlines()
        self.results = ResultCache()

    @property
    def embedder(self) -> Embedder | None:
        """The embedder of the store, if it has one."""
        return None if self.space is None else self.space.embedder

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

        One conversation is left alone while at most `few` of its messages are missing. `again`
        removes the index first; `words_only` makes no vectors.
        """
        if self.engine.is_read_only:
            return IndexResult()  # a search reads what the index lacks
        allowed = terms.FEW if few is None else few
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
        """Index what a search needs, if the store can be written.

        In a full or busy store nothing is indexed: the search reads what the index lacks, as in a
        store that is read-only, and the next write raises the error.

        Raises:
            EmbedderError: the embedder failed.
        """
        with suppress(StoreFull, StoreBusy):
            self.update(tenant, conversation, words_only=words_only)

    def catch_up_memories(self, tenant: str, *scopes: str) -> None:
        """Make the vectors that memories of some scopes lack, if they can be written.

        Raises:
            EmbedderError: the embedder failed.
        """
        with suppress(StoreFull, StoreBusy):
            self.update_memories(tenant, scopes)

    def update_memories(self, tenant: str, scopes: Iterable[str] | None = None) -> IndexResult:
        """Make the vectors that memories of some scopes lack, or of all of a tenant.

        Raises:
            EmbedderError: the embedder failed.
        """
        if self.embedder is None or self.engine.is_read_only:
            return IndexResult()
        return IndexResult(vectors=meanings.make(self.engine, tenant, scopes, self.embedder))

    def drop_unused_vectors(self, tenant: str) -> int:
        """Remove the vectors of all other embedders; return how many messages had some.

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
        """Drop what is in memory of a conversation, or of all."""
        self.outlines.forget(number)
        if self.space is not None:
            self.space.forget(number)
