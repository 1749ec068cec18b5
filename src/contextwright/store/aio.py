"""`AsyncStore` and `AsyncChat`: the same methods for programs with an event loop.

Every call runs in a thread, so that neither a disk nor another process blocks the loop. Tasks that
write at the same moment share a transaction, as threads do.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import UNSET, UnsetType

from contextwright.messages.make import Content
from contextwright.messages.message import Message
from contextwright.models import Model
from contextwright.recall.memories import Memory, MemoryKind
from contextwright.recall.packing import RecallResult
from contextwright.recall.vectors.choose import EmbedderChoice
from contextwright.store.chat import Chat
from contextwright.store.engines.base import Outcomes, Sync
from contextwright.store.recall.indexing import IndexResult, Progress
from contextwright.store.records import (
    ConversationInfo,
    EraseOptions,
    Erasure,
    MemoryChanges,
    MemoryFields,
    StoredMemory,
    StoredMessage,
    StoredSummary,
    Turn,
    Version,
)
from contextwright.store.requests import RecordedRequest, RequestBodies
from contextwright.store.rows.validation import require_name
from contextwright.store.store import Hits, Numbers, Places, Requests, Store, Tenants
from contextwright.store.threads import StoreThreads
from contextwright.store.turns import TurnMessages
from contextwright.summaries.policy import Summariser
from contextwright.summaries.summary import Summary

if TYPE_CHECKING:
    from contextwright.ask.events import Answer, AskEvent
    from contextwright.ask.question import AskOptions
    from contextwright.context.context import Context
    from contextwright.context.options import BuildOptions
    from contextwright.context.recipe import Recipe
    from contextwright.recall.episodes.boundaries import Embed, EpisodeRules
    from contextwright.recall.episodes.refine import EpisodeWriter
    from contextwright.store.recall.episodes import EpisodeResult
    from contextwright.store.recall.options import RecallOptions
    from contextwright.tokens.count import Calibration

__all__ = ["AsyncChat", "AsyncStore"]

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

    async def search(self, query: str, conversation: str | None = None, limit: int = 20) -> Hits:
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
        """Close all connections."""
        if self._store is not None:
            await self.run(self._store.close)
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


class AsyncChat:
    """One conversation of an `AsyncStore`."""

    def __init__(self, store: AsyncStore, id: str) -> None:
        self.store, self.id = store, id

    async def add(self, turn: TurnMessages, key: str | None = None) -> list[int]:
        """Store a message, or several as one turn; return their numbers once they are durable."""
        return await self.store.run((await self._chat()).add, turn, key)

    async def hide(self, seq: int) -> None:
        """Exclude a message from every context; `show` brings it back."""
        await self.store.run((await self._chat()).hide, seq)

    async def show(self, seq: int) -> None:
        """Return a hidden or deleted message to contexts."""
        await self.store.run((await self._chat()).show, seq)

    async def delete(self, seq: int) -> bool:
        """Exclude a message from every context, marked as deleted; see `Chat.delete`."""
        return await self.store.run((await self._chat()).delete, seq)

    async def edit(self, seq: int, message: Message | str, *, keep: bool = True) -> None:
        """Replace a message or its text; see `Chat.edit`."""
        await self.store.run((await self._chat()).edit, seq, message, keep=keep)

    async def versions(self, seq: int) -> list[Version]:
        """Return the earlier versions of a message, oldest first."""
        return await self.store.run((await self._chat()).versions, seq)

    async def erase(self, *seqs: int, **options: Unpack[EraseOptions]) -> Erasure:
        """Remove the text of messages permanently; see `Chat.erase`."""
        return await self.store.run((await self._chat()).erase, *seqs, **options)

    async def pin(self, seq: int) -> None:
        """Keep a message in every window."""
        await self.store.run((await self._chat()).pin, seq)

    async def unpin(self, seq: int) -> None:
        """Allow windows to drop a message again."""
        await self.store.run((await self._chat()).unpin, seq)

    async def update(
        self,
        *,
        title: str | None | UnsetType = UNSET,
        agent: str | None | UnsetType = UNSET,
        settings: dict[str, Any] | UnsetType = UNSET,
    ) -> None:
        """Set the title, agent or settings of the conversation; fields left out stay."""
        chat = await self._chat()
        await self.store.run(chat.update, title=title, agent=agent, settings=settings)

    async def fork(self, new_id: str, at: int | None = None) -> AsyncChat:
        """Create a conversation that continues after one of the messages; nothing is copied."""
        await self.store.run((await self._chat()).fork, new_id, at)
        return self.store.conversation(new_id)

    async def read(
        self, start: int = 0, stop: int | None = None, *, hidden: bool = False
    ) -> AsyncIterator[StoredMessage]:
        """Iterate over the messages from one number up to, but not including, another."""
        async for stored in self.store.each((await self._chat()).read(start, stop, hidden=hidden)):
            yield stored

    async def tail(self, count: int) -> list[StoredMessage]:
        """Return the last messages, in order."""
        return await self.store.run((await self._chat()).tail, count)

    async def length(self) -> int:
        """Return the number of messages, hidden and deleted ones included."""
        return await self.store.run((await self._chat()).length)

    async def details(self) -> ConversationInfo:
        """Return the title, settings and origin of the conversation."""
        return await self.store.run((await self._chat()).details)

    async def context(
        self,
        recipe: Recipe | str,
        *,
        at: int | None = None,
        **options: Unpack[BuildOptions],
    ) -> Context:
        """Build the best valid request within the budget, with its receipt."""
        return await self.store.run((await self._chat()).context, recipe, at=at, **options)

    async def ask(
        self,
        content: Content | Message | None,
        *,
        model: str | Model,
        **options: Unpack[AskOptions],
    ) -> Answer:
        """Ask a model until it answers; see `Chat.ask`."""
        from contextwright.store.asking import last_of

        return last_of(
            [event async for event in self.ask_stream(content, model=model, **options)][-1]
        )

    async def ask_stream(
        self,
        content: Content | Message | None,
        *,
        model: str | Model,
        **options: Unpack[AskOptions],
    ) -> AsyncGenerator[AskEvent, None]:
        """Ask, and yield every event as it happens; the last is the `Answer`.

        Closing the generator (`contextlib.aclosing`), or cancelling its task, stops the model; what
        arrived is stored as interrupted.
        """
        from contextwright.store.asking import stream

        state = (await self._chat()).state
        async with aclosing(
            stream(state, self.id, self.store.run, content, model, options)
        ) as events:
            async for event in events:
                yield event

    async def search(self, query: str, limit: int = 20) -> Hits:
        """Return the messages that have most of a query's words, best first, then newest."""
        return await self.store.run((await self._chat()).search, query, limit)

    async def recall(self, query: str, **options: Unpack[RecallOptions]) -> RecallResult:
        """Return the messages that a question needs, within a token budget, in their order."""
        return await self.store.run((await self._chat()).recall, query, **options)

    async def episodes(
        self, *, participant: str | None = None, min_weight: float = 0.0
    ) -> list[StoredMemory]:
        """Return the episodes of this conversation, in the order in which they were stored."""
        return await self.store.run(
            (await self._chat()).episodes, participant=participant, min_weight=min_weight
        )

    async def make_episodes(
        self,
        writer: EpisodeWriter | None = None,
        *,
        boundaries: EpisodeRules | None = None,
        now: datetime | None = None,
        embed: Embed | None = None,
    ) -> EpisodeResult:
        """Make episodes of the messages since the last time; `writer` runs in a thread."""
        chat = await self._chat()
        return await self.store.run(
            chat.make_episodes, writer, boundaries=boundaries, now=now, embed=embed
        )

    async def summarise(
        self,
        recipe: Recipe | str,
        *,
        summariser: Summariser | None = None,
        **options: Unpack[BuildOptions],
    ) -> Summary | None:
        """Write the summary that the next context of this recipe would lack, and store it."""
        chat = await self._chat()
        return await self.store.run(chat.summarise, recipe, summariser=summariser, **options)

    async def calibration(self, model: str | Model, format: str | None = None) -> Calibration:
        """Return what the newest stored answers of a model show about our counts."""
        return await self.store.run((await self._chat()).calibration, model, format)

    async def summaries(self) -> list[StoredSummary]:
        """Return the stored summaries, ordered by how they were made and the last message."""
        return await self.store.run((await self._chat()).summaries)

    async def undo_summary(self, recipe: Recipe | str) -> Summary | None:
        """Remove and return the newest summary of this recipe; the one before it is used again."""
        return await self.store.run((await self._chat()).undo_summary, recipe)

    async def _chat(self) -> Chat:
        return (await self.store.store()).conversation(self.id)
