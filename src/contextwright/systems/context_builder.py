"""013's context builder: a message array from a conversation, the system prompt first."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

import msgspec

from contextwright.context.context import Context
from contextwright.context.fitting.priced_history import PricedHistory
from contextwright.context.recipe import Recipe
from contextwright.context.recipe_files import as_recipe, find
from contextwright.errors import NotFound, UsageError, require
from contextwright.formats.api import parse
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.models import Model, as_model
from contextwright.sections import Text
from contextwright.windows.decisions import SKIPPED

if TYPE_CHECKING:
    from contextwright.context.options import BuildOptions
    from contextwright.store.async_chat import AsyncChat
    from contextwright.store.chat import Chat

__all__ = ["ContextBuilder", "LLMMessage", "recipe"]

FORMAT = "openai-chat"
DEFAULT_PROMPT = "You are a helpful assistant."

Row: TypeAlias = Mapping[str, Any]
LLMMessage: TypeAlias = dict[str, Any]
"""A message as the API takes it: `role`, `content`, `tool_calls`, `tool_call_id`, `name`."""
Given: TypeAlias = Conversation | PricedHistory | Message | Iterable[Message] | Sequence[Row] | Row
"""Our messages, a Chat Completions body or its messages, or rows of 013's database."""

replace = msgspec.structs.replace


def recipe() -> Recipe:
    """Return 013's recipe: one system prompt, then all messages; the oldest are dropped first."""
    return find("013")


class ContextBuilder:
    """Builds message arrays with one recipe, for one model."""

    def __init__(
        self,
        system_prompt: str | None = None,
        *,
        recipe: str | Recipe = "013",
        model: str | Model = "gpt-4o",
        budget: int | None = None,
        repair: bool = True,
        cache: bool = True,
    ) -> None:
        self.model = as_model(model)
        self.budget = budget
        prompted = with_prompt(as_recipe(recipe), system_prompt)
        options = {**prompted.options, "repair": repair}
        self.recipe = replace(prompted, options=options, cache=prompted.cache and cache)

    @overload
    def build(self, conversation: AsyncChat) -> Awaitable[list[LLMMessage]]: ...
    @overload
    def build(self, conversation: Given | Chat) -> list[LLMMessage]: ...
    def build(
        self, conversation: Given | Chat | AsyncChat
    ) -> list[LLMMessage] | Awaitable[list[LLMMessage]]:
        """Return the message array: the system prompt, then the messages in order.

        Reads only the end of a store's conversation that fits. Await the result for a conversation
        of an `AsyncStore`: `await builder.build(chat)`.
        """
        from contextwright.store.async_chat import AsyncChat

        if isinstance(conversation, AsyncChat):
            return self._build(conversation)
        return self.context(conversation).payload["messages"]

    async def _build(self, chat: AsyncChat) -> list[LLMMessage]:
        context = await self._context(chat)
        return context.payload["messages"]

    @overload
    def context(self, conversation: AsyncChat) -> Awaitable[Context]: ...
    @overload
    def context(self, conversation: Given | Chat) -> Context: ...
    def context(self, conversation: Given | Chat | AsyncChat) -> Context | Awaitable[Context]:
        """Return the whole context: the request, and the decision on every message.

        For an empty conversation of a store it is the prompt alone.

        Raises:
            BudgetError: the prompt and the newest question do not fit.
            ParseError: the rows are not messages.
        """
        from contextwright.store.async_chat import AsyncChat
        from contextwright.store.chat import Chat

        if isinstance(conversation, AsyncChat):
            return self._context(conversation)
        if isinstance(conversation, Chat):
            try:
                return reported(conversation.context(self.recipe, **self._options))
            except NotFound:
                return self.recipe.build(Conversation((), id=conversation.id), **self._options)
        given = read(conversation)
        context = reported(self.recipe.build(given, **self._options))
        said = given.changes if isinstance(given, Conversation) else ()
        return replace(context, changes=(*said, *context.changes)) if said else context

    async def _context(self, chat: AsyncChat) -> Context:
        try:
            return reported(await chat.context(self.recipe, **self._options))
        except NotFound:
            return self.recipe.build(Conversation((), id=chat.id), **self._options)

    @property
    def _options(self) -> BuildOptions:
        return {"model": self.model, "format": FORMAT, "budget": self.budget}

    def history(self, messages: Iterable[Message] = ()) -> PricedHistory:
        """Return a history to keep and add to, so that builds count nothing twice."""
        return self.recipe.history(messages, model=self.model, format=FORMAT)


def reported(context: Context) -> Context:
    """Return the context with a change for stored system messages that the prompt replaces."""
    skipped = [run for run in context.decisions.runs if run.reason == SKIPPED]
    changes = [Change("loss.system", f"messages[{run.start}]", SKIPPED) for run in skipped]
    return replace(context, changes=(*changes, *context.changes)) if changes else context


def with_prompt(recipe: Recipe, prompt: str | None) -> Recipe:
    """Return the recipe with another system prompt."""
    if prompt is None:
        return recipe if recipe.system else replace(recipe, system=(DEFAULT_PROMPT,))
    require(prompt, str, "system_prompt")
    if not prompt.strip():
        raise UsageError(
            "system_prompt.empty: the system prompt has no words",
            hint="leave it out for the default prompt",
        )
    others = [part for part in recipe.system if not isinstance(part, str | Text)]
    return replace(recipe, system=(prompt, *others))


def read(given: Given) -> Conversation | PricedHistory | Message | list[Message]:
    """Read messages from any of the accepted inputs."""
    if isinstance(given, Conversation | PricedHistory | Message):
        return given
    if isinstance(given, Mapping):
        return parse(dict(cast("Row", given)), FORMAT)
    require(given, Iterable, "conversation", "pass messages, rows or a chat")
    entries = list(given)
    if entries and isinstance(entries[0], Mapping):
        rows = [dict(entry) if isinstance(entry, Mapping) else entry for entry in entries]
        return parse(rows, FORMAT)
    return cast("list[Message]", entries)
