"""Questions in a stored conversation: `ask` and `ask_stream`, with and without an event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from contextwright.ask.events import Answer, AskEvent
from contextwright.ask.loop import ask_events
from contextwright.ask.question import AskOptions, Question
from contextwright.context.context import Context
from contextwright.context.recipe_data import RecipeData
from contextwright.messages.changes import Change
from contextwright.messages.make import Content
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Opaque
from contextwright.models import Model
from contextwright.providers.loop import OwnLoop
from contextwright.providers.sync import SyncProvider
from contextwright.recall.memories import MemorySource
from contextwright.store.contexts.build import build
from contextwright.store.engines.base import Connection
from contextwright.store.records import Turn
from contextwright.store.rows import conversations, turns
from contextwright.store.rows.validation import replace_invalid, require_name
from contextwright.store.state import State
from contextwright.store.turns import add_work

__all__ = ["Call", "ask", "ask_stream", "direct", "last_of", "stream"]

Call: TypeAlias = Callable[..., Awaitable[Any]]
"""Runs a function of the store: at once, or in a thread."""


class StoredTranscript:
    """A conversation of a store, as a transcript for questions."""

    def __init__(self, state: State, id: str, call: Call) -> None:
        self.state, self.id, self.call = state, id, call

    async def find(self, key: str) -> list[tuple[int, Message]]:
        """Return the messages of a turn, with their current marks."""
        tenant, id = self.state.tenant, self.id
        require_name(key, "key")

        def work(connection: Connection) -> list[tuple[int, Message]]:
            head = conversations.find(connection, tenant, id)
            found = turns.with_key(connection, head, key) if head else []
            return [(stored.seq, stored.message) for stored in found]

        return await self.call(self.state.engine.read, work)

    def storable(self, message: Message) -> tuple[Message, list[Change]]:
        """Return a message with U+FFFD for what cannot be stored, and what changed."""
        (clean,), changes = replace_invalid([message])
        return clean, changes

    async def add(self, messages: Sequence[Message], key: str) -> list[int]:
        """Store a turn."""
        id, work = add_work(self.state, Turn(self.id, messages, key))
        return await self.call(self.state.engine.write, work, id)

    async def hide(self, seqs: Sequence[int]) -> None:
        """Exclude messages from every context."""
        tenant, id = self.state.tenant, self.id

        def work(connection: Connection) -> None:
            for seq in seqs:
                turns.mark(connection, tenant, id, seq, "visibility", "hidden")

        await self.call(self.state.engine.write, work, id)

    async def context(
        self,
        recipe: RecipeData,
        *,
        model: Model,
        format: str,
        tools: Sequence[Tool | Opaque],
        now: datetime,
        budget: int | None,
        memories: MemorySource | None,
    ) -> Context:
        """Build the request for what is stored."""
        return await self.call(
            build,
            self.state,
            self.id,
            recipe,
            model=model,
            format=format,
            tools=tools,
            now=now,
            budget=budget,
            memories=memories,
        )

    def learn(self, context: Context, tokens: int) -> None:
        """Compare our count of a request with the provider's."""
        counted = context.ledger.tokens
        self.state.builds.learn(context.format, context.model, counted, tokens)


async def direct(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a function directly, because nothing else runs in our own loop."""
    return function(*arguments, **named)


def stream(
    state: State,
    id: str,
    call: Call,
    content: Content | Message | None,
    model: str | Model,
    options: AskOptions,
) -> AsyncGenerator[AskEvent, None]:
    """Yield the events of a question."""
    return ask_events(StoredTranscript(state, id, call), Question.of(content, model, options))


def ask_stream(
    state: State,
    id: str,
    content: Content | Message | None,
    model: str | Model,
    options: AskOptions,
) -> Iterator[AskEvent]:
    """Yield the events of a question, for a program without an event loop."""
    provider = options.get("provider")
    loop = provider.loop if isinstance(provider, SyncProvider) else OwnLoop()
    events = stream(state, id, direct, content, model, options)
    try:
        yield from loop.iterate(events)
    finally:
        if not isinstance(provider, SyncProvider):
            loop.close()


def ask(
    state: State,
    id: str,
    content: Content | Message | None,
    model: str | Model,
    options: AskOptions,
) -> Answer:
    """Return the answer to a question."""
    *_, answer = ask_stream(state, id, content, model, options)
    return last_of(answer)


def last_of(event: AskEvent) -> Answer:
    """Return the last event of a question."""
    assert isinstance(event, Answer)
    return event
