"""The interface of the conversation that a question is asked in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from contextwright.context.context import Context
from contextwright.context.recipe_data import RecipeData
from contextwright.messages.changes import Change
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Opaque
from contextwright.models import Model
from contextwright.recall.memories import MemorySource

__all__ = ["Transcript"]


class Transcript(Protocol):
    """A stored conversation: turns by key, and contexts to send."""

    @property
    def id(self) -> str:
        """The id of the conversation."""
        ...

    async def find(self, key: str) -> list[tuple[int, Message]]:
        """Return the messages of the turn with this key and their numbers, if there are any."""
        ...

    def storable(self, message: Message) -> tuple[Message, Sequence[Change]]:
        """Return a message without the characters that cannot be stored, and what changed."""
        ...

    async def add(self, messages: Sequence[Message], key: str) -> list[int]:
        """Store a turn and return the numbers of its messages, once they are durable."""
        ...

    async def hide(self, seqs: Sequence[int]) -> None:
        """Exclude messages from every context."""
        ...

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
        ...

    def learn(self, context: Context, tokens: int) -> None:
        """Record what a provider counted for a request."""
        ...
