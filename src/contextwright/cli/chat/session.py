"""A conversation with a model: its provider, its settings and its cost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from contextwright.ask.events import Answer, AskEvent
from contextwright.ask.record import record_of
from contextwright.cli.requests.snapshots import RequestTask, stored_arguments
from contextwright.context.context import Context
from contextwright.context.recipe import Recipe
from contextwright.errors import NotFound, UsageError
from contextwright.messages.message import Message
from contextwright.models import Model
from contextwright.providers.hosts import host_for
from contextwright.providers.provider import connect_sync
from contextwright.providers.sync import SyncProvider
from contextwright.store.chat import Chat
from contextwright.store.records import StoredMessage

__all__ = ["Session", "receipt_line"]

PAGE = 64


class Session:
    """One interactive conversation; its provider stays open between questions."""

    def __init__(
        self, chat: Chat, task: RequestTask, host: str | None = None, base_url: str | None = None
    ) -> None:
        self.chat, self.task = chat, task
        self.host, self.base_url = host, base_url
        self._provider: SyncProvider | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the provider."""
        if self._provider is not None:
            self._provider.close()
            self._provider = None

    @property
    def provider(self) -> SyncProvider:
        """The provider of the model, opened on first use."""
        if self._provider is None:
            target = self.host or self.task.format or self.task.model.id
            self._provider = connect_sync(target, base_url=self.base_url)
        return self._provider

    @property
    def format(self) -> str:
        """The format of requests; finding it needs no key."""
        if self.host is None:
            return self.task.format or self.task.model.format
        return host_for(self.host, self.base_url).format

    def ask(self, message: Message) -> Iterator[AskEvent]:
        """Ask a question; yield the events until its answer."""
        recipe, arguments = self.arguments()
        return self.chat.ask_stream(
            message,
            model=self.task.model,
            recipe=recipe,
            provider=self.provider,
            tools=arguments["tools"] or (),
            budget=self.task.budget,
        )

    # --- what is sent ------------------------------------------------------------------------

    def arguments(self, at: int | None = None) -> tuple[Recipe, dict[str, Any]]:
        """Return the recipe, and the other arguments for building a context."""
        if not self.is_begun:
            return self.task.recipe, {"tools": self.task.tools}
        recipe, arguments = stored_arguments(self.task, self.chat, at=at)
        return recipe, {**arguments, "format": self.format}

    @property
    def is_begun(self) -> bool:
        """Whether anything is stored yet."""
        try:
            return len(self.chat) > 0
        except NotFound:
            return False

    def context(self, at: int | None = None) -> Context:
        """Return the request as it is now, or as it was after a message.

        Raises:
            UsageError: the conversation is empty.
        """
        if not self.is_begun:
            raise UsageError("the conversation has no messages yet")
        recipe, arguments = self.arguments(at)
        return self.chat.context(recipe, **arguments, at=at)

    def requests(self, count: int) -> list[int]:
        """Return the messages after which the last requests were sent, oldest first."""
        asked = (one.seq - 1 for one in self.newest_first() if record_of(one.message) is not None)
        return list(islice((seq for seq in asked if seq), count))[::-1]

    def newest_first(self) -> Iterator[StoredMessage]:
        """Yield the messages from last to first, read as needed."""
        for stop in range(len(self.chat) if self.is_begun else 0, 0, -PAGE):
            yield from reversed(list(self.chat.read(max(stop - PAGE + 1, 1), stop + 1)))

    # --- changes of mind ---------------------------------------------------------------------

    def use_model(self, model: Model) -> None:
        """Use another model from now on; its provider is found by its name."""
        self.close()
        self.host = self.base_url = None
        self.task = msgspec.structs.replace(self.task, model=model, format=None)

    def use_recipe(self, recipe: Recipe) -> None:
        """Use another recipe from now on."""
        self.task = msgspec.structs.replace(self.task, recipe=recipe)

    def use_budget(self, budget: int | None) -> None:
        """Use another token budget from now on."""
        self.task = msgspec.structs.replace(self.task, budget=budget)

    def undo(self) -> str | None:
        """Delete the last question and all that followed; return its text, None without one."""
        for stored in self.newest_first():
            if stored.message.visibility != "public":
                continue
            self.chat.delete(stored.seq)
            if stored.message.role == "user" and not stored.message.results:
                return stored.message.text
        return None

    def fork(self, id: str) -> None:
        """Continue in a fork of this conversation."""
        self.chat = self.chat.fork(id)


def receipt_line(answer: Answer) -> str:
    """Return the cost of an answer on one line."""
    usage = answer.usage
    words = [
        f"{usage.input:,} tokens in",
        f"{answer.cached:.0%} cached",
        f"{usage.output:,} out",
        "price unknown" if answer.price is None else money(answer.price),
        f"{sum(step.seconds for step in answer.steps):.1f} s",
    ]
    if any(step.estimated for step in answer.steps):
        words.append("estimated")
    if answer.finish != "stop":
        words.append(answer.finish.replace("_", " "))
    return " · ".join(words)


def money(dollars: float) -> str:
    """Format a price with as many digits as it needs."""
    return f"${dollars:.2f}" if dollars == 0 or dollars >= 1 else f"${dollars:.4f}"
