"""`AsyncStore`: the methods of `Store` for programs with an event loop.

Every call runs in a thread, so that neither a disk nor another process blocks the loop. Tasks that
write at the same moment share a transaction, as threads do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from contextwright.recall.memories import Memory, MemoryKind
from contextwright.recall.packing import RecallResult
from contextwright.recall.vectors.choose import EmbedderChoice
from contextwright.store.async_chat import AsyncChat
from contextwright.store.engines.base import Outcomes, Sync
from contextwright.store.recall.indexing import IndexResult, Progress
from contextwright.store.records import (
    ConversationInfo,
    EraseOptions,
    Erasure,
    MemoryChanges,
    MemoryFields,
    Numbers,
    Places,
    SearchResult,
    StoredMemory,
    Tenants,
    Turn,
)
from contextwright.store.requests import RecordedRequest, RequestBodies, Requests
from contextwright.store.rows.validation import require_name
from contextwright.store.store import Store
from contextwright.store.threads import StoreThreads

if TYPE_CHECKING:
    from contextwright.store.recall.options import RecallOptions

__all__ = ["AsyncStore"]

THREADS = 32
"""Maximum number of calls at once; the writers among them share a sync."""


class AsyncStore(StoreThreads):
    """A `Store` for an event loop; it opens at the first call, or with `async with`."""

    def __init__(
        self,
        place: str | Path,
        *,
        tenant: str = "",
        sync: Sync = "full",
        embedder: EmbedderChoice = "auto",
    ) -> None:
        super().__init__(
            lambda: self.run(Store, place, tenant=tenant, sync=sync, embedder=embedder),
            ThreadPoolExecutor(THREADS, thread_name_prefix="contextwright"),
        )

    def for_tenant(self, tenant: str) -> AsyncStore:
        """Return the same store for another tenant; closing one closes both."""
        require_name(tenant, "tenant", empty=True)

        async def opened() -> Store:
            return (await self.store()).for_tenant(tenant)

        other = object.__new__(AsyncStore)
        StoreThreads.__init__(other, opened, self._threads)
        return other

    def conversation(self, id: str) -> AsyncChat:
        """Return a conversation by its id; the first write creates it."""
        return AsyncChat(self, require_name(id, "conversation's id"))

    async def list(self) -> AsyncIterator[ConversationInfo]:
        """Iterate over all conversations, in order of creation."""
        async for details in self.each((await self.store()).list()):
            yield details

    async def forget(self, id: str) -> None:
        """Remove a conversation and everything in it permanently."""
        await self.run((await self.store()).forget, id)

    async def rename(self, id: str, new_id: str) -> None:
        """Give a conversation another id; see `Store.rename`."""
        await self.run((await self.store()).rename, id, new_id)

    async def tenants(self) -> Tenants:
        """Return all tenants of the store by name, with how much each has."""
        return await self.run((await self.store()).tenants)

    async def erase_person(self, id: str, **options: Unpack[EraseOptions]) -> Erasure:
        """Erase all that a person said; see `Store.erase_person`."""
        return await self.run((await self.store()).erase_person, id, **options)

    async def erase_tenant(self, name: str, **options: Unpack[EraseOptions]) -> Erasure:
        """Remove all conversations and memories of a tenant permanently."""
        return await self.run((await self.store()).erase_tenant, name, **options)

    async def erase_before(self, time: datetime | str, **options: Unpack[EraseOptions]) -> Erasure:
        """Erase messages and memories from before a time; those without a time stay."""
        return await self.run((await self.store()).erase_before, time, **options)

    async def scrub(self) -> Places:
        """Rewrite the database's files without what was removed."""
        return await self.run((await self.store()).scrub)

    async def remember(self, memory: Memory | str, **fields: Unpack[MemoryFields]) -> str:
        """Store a memory, or a text with what it is about; return its id."""
        return await self.run((await self.store()).remember, memory, **fields)

    async def update_memory(self, id: str, **changes: Unpack[MemoryChanges]) -> Memory:
        """Change a stored memory, and return it; see `Store.update_memory`."""
        return await self.run((await self.store()).update_memory, id, **changes)

    async def forget_memory(self, id: str) -> None:
        """Remove a memory permanently; `forget` removes a conversation."""
        await self.run((await self.store()).forget_memory, id)

    async def memories(
        self,
        *,
        about: str | None = None,
        kind: MemoryKind | None = None,
        scope: str | None = None,
    ) -> AsyncIterator[StoredMemory]:
        """Iterate over the memories with these fields, in the order in which they were stored."""
        found = (await self.store()).memories(about=about, kind=kind, scope=scope)
        async for stored in self.each(found):
            yield stored

    async def search(
        self, query: str, conversation: str | None = None, limit: int = 20
    ) -> SearchResult:
        """Return the messages that have most of a query's words, best first."""
        return await self.run((await self.store()).search, query, conversation, limit)

    async def recall(self, query: str, **options: Unpack[RecallOptions]) -> RecallResult:
        """Return the messages of all conversations that a question needs, within a token budget."""
        return await self.run((await self.store()).recall, query, **options)

    async def index(
        self,
        conversation: str | None = None,
        *,
        few: int | None = None,
        again: bool = False,
        words_only: bool = False,
        progress: Progress | None = None,
    ) -> IndexResult:
        """Update the index, words and vectors; `progress` is called in a thread."""
        return await self.run(
            (await self.store()).index,
            conversation,
            few=few,
            again=again,
            words_only=words_only,
            progress=progress,
        )

    async def drop_unused_vectors(self) -> int:
        """Remove the vectors of all embedders except the store's own."""
        return await self.run((await self.store()).drop_unused_vectors)

    async def add_each(self, turns: Iterable[Turn]) -> Outcomes[Numbers]:
        """Store turns with one sync; each is stored whole or not at all, and fails on its own."""
        return await self.run((await self.store()).add_each, turns)

    async def add_all(self, turns: Iterable[Turn]) -> int:
        """Store any number of turns, all of them or none; return the number of messages."""
        return await self.run((await self.store()).add_all, turns)

    async def requests(
        self, conversation: str | None = None, *, limit: int = 100, before: int | None = None
    ) -> Requests:
        """Return the newest recorded requests, newest first; see `Store.requests`."""
        found = (await self.store()).requests
        return await self.run(found, conversation, limit=limit, before=before)

    async def request(self, number: int) -> RecordedRequest:
        """Return a recorded request."""
        return await self.run((await self.store()).request, number)

    async def request_bodies(self, number: int) -> RequestBodies:
        """Return what was sent and answered, byte for byte, as far as it was kept."""
        return await self.run((await self.store()).request_bodies, number)

    async def close(self) -> None:
        """Close all connections; a second call does nothing."""
        if self._store is not None:
            # Not in the store's own threads, which the first call ends for all tenants.
            await asyncio.to_thread(self._store.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> AsyncStore:
        await self.store()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
