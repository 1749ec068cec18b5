"""Update the index of terms and vectors, many messages at a time.

Indexing may be interrupted at any moment and continues where it stopped. Several processes may
index at the same time. Texts are embedded outside transactions, and a page is stored only if no
other process stored it meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from contextwright.recall.vectors.embedder import Embedder
from contextwright.store.engines.base import Connection, Engine, Work
from contextwright.store.recall import terms, vectors
from contextwright.store.recall.result_cache import ResultCache
from contextwright.store.rows import conversations, index
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.index import Gap

__all__ = ["IndexResult", "Indexing", "Progress"]

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number done and the total."""

MAX_LACKING_SHARE = 8
"""Vectors are made when more than one in this many messages lacks them, even if these are few."""


NUMBERS = "SELECT number FROM conversations WHERE tenant = ? ORDER BY number"


class IndexResult(Struct):
    """The result of indexing."""

    words: int = 0
    """Messages whose words were indexed."""
    vectors: int = 0
    """Messages and memories that were embedded, including those without text."""

    def __add__(self, other: IndexResult) -> IndexResult:
        return IndexResult(self.words + other.words, self.vectors + other.vectors)


class Indexing:
    """One update of the index of a tenant, or of one conversation and its parents.

    Args:
        few: how many messages of the one conversation may be missing from the index.
        results: caches what is missing of all conversations, as long as nothing is written.
    """

    def __init__(
        self, engine: Engine, tenant: str, id: str | None, few: int, results: ResultCache
    ) -> None:
        self.engine, self.tenant, self.id, self.few = engine, tenant, id, few
        self.results = results

    def run(self, embedder: Embedder | None, progress: Progress | None = None) -> IndexResult:
        """Index the messages that are missing, with their vectors if there is an embedder."""
        lacking_vectors = self._lacking_vectors(embedder)
        words, pages = self.engine.read(
            lambda connection: (self._lacking_words(connection), lacking_vectors(connection))
        )
        total = count_missing(words) + count_missing(pages)
        done = IndexResult()

        def tell(more: IndexResult) -> None:
            nonlocal done
            done += more
            if progress is not None:
                progress(min(done.words + done.vectors, total), total)

        for gap in words:
            self._index_words(gap, tell)
        for gap in pages:
            if embedder is not None:
                self._embed(gap, embedder, tell)
        return done

    def _index_words(self, gap: Gap, tell: Callable[[IndexResult], None]) -> None:
        """Index the terms of one conversation."""
        left = gap.last - gap.indexed
        while self.engine.write(terms.index_next(self.tenant, gap.conversation)):
            tell(IndexResult(words=min(left, terms.PAGE_MESSAGES)))
            left = max(left - terms.PAGE_MESSAGES, 0)

    def _embed(self, gap: Gap, embedder: Embedder, tell: Callable[[IndexResult], None]) -> None:
        """Make the vectors of one conversation."""

        def work(connection: Connection) -> vectors.Messages:
            return vectors.next_messages(connection, gap.conversation, embedder.name, gap.last)

        while messages := self.engine.read(work):
            page = vectors.embed_page(gap.conversation, messages, embedder)
            if self.engine.write(vectors.store_page(page)):
                tell(IndexResult(vectors=len(messages)))

    def clear(self, embedder: Embedder | None) -> list[int]:
        """Remove the index; return the conversations it covered."""
        numbers = self.engine.read(self._numbers)
        for number in numbers:
            self.engine.write(clear_conversation(number, embedder))
        return numbers

    # --- what is missing -----------------------------------------------------------------------

    def _numbers(self, connection: Connection) -> list[int]:
        """Return the conversations to index."""
        if self.id is None:
            return [number for (number,) in connection.rows(NUMBERS, self.tenant)]
        head = conversations.require(connection, self.tenant, self.id)
        return [number for number, _ in head.line]

    def _lacking_words(self, connection: Connection) -> Sequence[Gap]:
        if self.id is None:
            return self.results.of(connection, index.gaps_of, self.tenant)
        head = conversations.find(connection, self.tenant, self.id)
        gaps = index.gaps_of(connection, self.tenant, head) if head else []
        return gaps if count_missing(gaps) > self.few else []

    def _lacking_vectors(self, embedder: Embedder | None) -> Work[Sequence[Gap]]:
        def work(connection: Connection) -> Sequence[Gap]:
            if embedder is None:
                return ()
            if self.id is None:
                return self.results.of(connection, vectors.gaps_of, self.tenant, embedder.name)
            head = conversations.find(connection, self.tenant, self.id)
            gaps = vectors.gaps_of(connection, self.tenant, embedder.name, head) if head else []
            longest = max((gap.last for gap in gaps), default=0)
            return gaps if count_missing(gaps) > min(self.few, longest // MAX_LACKING_SHARE) else []

        return work


def count_missing(gaps: Sequence[Gap]) -> int:
    """Return the number of messages in gaps."""
    return sum(gap.last - gap.indexed for gap in gaps)


def clear_conversation(number: int, embedder: Embedder | None) -> Work[None]:
    """Return work that removes the index of a conversation's own messages."""

    def work(connection: Connection) -> None:
        head = Head(number, ((number, 1),))
        if conversations.locked_length(connection, head) is None:
            return
        index.remove(connection, number)
        connection.run("DELETE FROM indexed WHERE conversation = ?", number)
        if embedder is not None:
            vectors.remove(connection, number, embedder.name)

    return work
