"""`Recipe`: how a context is made, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from contextwright.context.build import build
from contextwright.context.context import Context
from contextwright.context.fitting.meter import TokenMeter
from contextwright.context.fitting.plan import Given
from contextwright.context.fitting.priced_history import PricedHistory
from contextwright.context.options import BuildOptions
from contextwright.context.recipe_data import RecipeData
from contextwright.messages.message import Message
from contextwright.models import Model, as_model
from contextwright.summaries.summary import SummarySource

__all__ = ["Recipe"]


class Recipe(RecipeData, frozen=True, kw_only=True, omit_defaults=True):
    """Sections, a window and a budget; `build` makes a context of them."""

    def build(
        self,
        conversation: Given,
        *,
        summaries: SummarySource | None = None,
        **options: Unpack[BuildOptions],
    ) -> Context:
        """Return the best valid request within the budget, with its receipt."""
        return build(conversation, self, summaries=summaries, **options)

    def history(
        self,
        messages: Iterable[Message] = (),
        *,
        model: str | Model,
        format: str | None = None,
    ) -> PricedHistory:
        """Return a history to keep and add to; builds from it count no message twice."""
        facts = as_model(model)
        return PricedHistory(messages, TokenMeter(format or facts.format, facts), self)
