"""`AsyncChat`: the methods of `Chat` for programs with an event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import UNSET, UnsetType

from contextwright.formats.given import Given
from contextwright.messages.make import Content
from contextwright.messages.message import Message
from contextwright.models import Model
from contextwright.recall.packing import RecallResult
from contextwright.store.chat import Chat
from contextwright.store.records import (
    ConversationInfo,
    EraseOptions,
    Erasure,
    SearchResult,
    StoredMemory,
    StoredMessage,
    StoredSummary,
    Version,
)
from contextwright.store.threads import StoreThreads
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

__all__ = ["AsyncChat"]


class AsyncChat:
    """One conversation of an `AsyncStore`."""

    def __init__(self, store: StoreThreads, id: str) -> None:
        self.store, self.id = store, id

    async def add(self, turn: Given, key: str | None = None) -> list[int]:
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
        return AsyncChat(self.store, new_id)

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
        recipe: Recipe | str = "default",
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

    async def search(self, query: str, limit: int = 20) -> SearchResult:
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
