"""How a context is made: plain data, with `build` to make one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from contextwright.context.build import build
from contextwright.context.context import Context
from contextwright.context.meter import TokenMeter
from contextwright.context.plan import Given
from contextwright.context.priced_history import PricedHistory
from contextwright.context.recipe_data import RecipeData
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Opaque
from contextwright.models import Model, as_model
from contextwright.recall.memories import MemorySource
from contextwright.summaries.summary import SummarySource

__all__ = ["Recipe"]


class Recipe(RecipeData, frozen=True, kw_only=True, omit_defaults=True):
    """Sections, a window and a budget: plain data, and `build` to make a context of it."""

    def build(
        self,
        conversation: Given,
        *,
        model: str | Model,
        format: str | None = None,
        tools: Sequence[Tool | Opaque] | None = None,
        now: datetime | None = None,
        budget: int | None = None,
        memories: MemorySource | None = None,
        summaries: SummarySource | None = None,
    ) -> Context:
        """The best valid request within the budget, with its receipt: see `build`."""
        return build(
            conversation,
            self,
            model=model,
            format=format,
            tools=tools,
            now=now,
            budget=budget,
            memories=memories,
            summaries=summaries,
        )

    def history(
        self,
        messages: Iterable[Message] = (),
        *,
        model: str | Model,
        format: str | None = None,
    ) -> PricedHistory:
        """A history to keep and add to: builds from it count nothing twice."""
        facts = as_model(model)
        return PricedHistory(messages, TokenMeter(format or facts.format, facts), self)
