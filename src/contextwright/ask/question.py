"""A question: its content, model, provider, tools and limits."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypedDict

from msgspec import Struct

from contextwright.ask.functions import AnyTool, Toolbox
from contextwright.context.recipe_data import RecipeData
from contextwright.context.recipe_files import as_recipe
from contextwright.errors import UsageError, require, shown
from contextwright.messages.make import Content, user
from contextwright.messages.message import Author, Message
from contextwright.models import Model, as_model
from contextwright.providers.base import AnyProvider
from contextwright.providers.hosts import Host
from contextwright.providers.sync import SyncProvider
from contextwright.recall.memories import MemorySource

__all__ = ["AskOptions", "Question"]


class AskOptions(TypedDict, total=False):
    """Options of a question."""

    recipe: RecipeData | str
    """How requests are built: a recipe, or the name of one; `Recipe()` by default."""
    provider: AnyProvider | SyncProvider | Host | str | None
    """An open provider, or the name of a host. By default the model's own provider, with the key
    from the environment.
    """
    tools: Sequence[AnyTool]
    """Functions, which run here, and tools that the caller or the provider runs."""
    key: str | None
    """The question's key: asked again with the same key, it continues where it stopped."""
    author: Author | str | None
    budget: int | None
    """Tokens of each request."""
    memories: MemorySource | None
    now: datetime | None
    max_steps: int
    """Maximum number of requests; 16 by default."""
    max_price: float | None
    """Maximum price in US dollars: a request that could exceed it is not sent."""
    tool_timeout: float | None
    """Seconds that a function may take; 60 by default, None for no limit."""


class Question(Struct, frozen=True, kw_only=True):
    """A question, complete and checked."""

    message: Message | None
    model: Model
    key: str
    toolbox: Toolbox
    provider: AnyProvider | Host | str
    recipe: RecipeData = RecipeData()
    now: datetime
    budget: int | None = None
    memories: MemorySource | None = None
    max_steps: int = 16
    max_price: float | None = None
    tool_timeout: float | None = 60.0

    @classmethod
    def of(
        cls, content: Content | Message | None, model: str | Model, options: AskOptions
    ) -> Question:
        """Return the validated question of a call.

        Raises:
            UsageError: an option is invalid.
        """
        given: dict[str, Any] = dict(options)
        unknown = set(given) - set(AskOptions.__annotations__)
        if unknown:
            hint = f"known: {', '.join(AskOptions.__annotations__)}"
            raise UsageError(f"ask has no option {shown(sorted(unknown)[0])}", hint=hint)
        facts = as_model(model)
        now = given.pop("now", None) or datetime.now(UTC)
        author, provider = given.pop("author", None), given.pop("provider", None)
        if isinstance(provider, SyncProvider):
            provider = provider.provider
        if content is None or isinstance(content, Message):
            message = content
        else:
            message = user(content, author=author, sent_at=now)
        if message is not None and message.role != "user":
            raise UsageError(f"a question is a message of the user, not of the {message.role}")
        question = cls(
            message=message,
            model=facts,
            key=given.pop("key", None) or f"ask-{secrets.token_urlsafe(12)}",
            toolbox=Toolbox.of(given.pop("tools", ())),
            provider=facts.id if provider is None else provider,
            now=now,
            recipe=as_recipe(given.pop("recipe", RecipeData())),
            **given,
        )
        return require_sound(question)


def require_sound(question: Question) -> Question:
    """Return the question if its limits are valid."""
    require(question.max_steps, int, "max_steps")
    require(question.max_price, int | float | None, "max_price", "US dollars")
    require(question.tool_timeout, int | float | None, "tool_timeout", "seconds")
    if question.max_steps < 1:
        raise UsageError(f"max_steps cannot be {question.max_steps}", hint="use at least 1")
    if question.tool_timeout is not None and not question.tool_timeout > 0:
        raise UsageError(f"tool_timeout is {question.tool_timeout}", hint="seconds, or None")
    if question.max_price is not None:
        if not question.max_price > 0:
            raise UsageError(f"max_price is {question.max_price}", hint="US dollars above 0")
        if question.model.prices.input is None or question.model.prices.output is None:
            hint = "leave max_price out, or give a Model with prices"
            raise UsageError(f"the prices of {question.model.id} are not known", hint=hint)
    return question
