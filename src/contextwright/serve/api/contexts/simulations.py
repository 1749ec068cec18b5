"""Simulations: what recipes would have sent, request by request, and what it would have cost."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from contextwright.context.simulation.simulate import Request, Row, simulate
from contextwright.errors import UsageError
from contextwright.formats import FormatName
from contextwright.models import find as find_model
from contextwright.serve.api.contexts.contexts import own_model, recipe_named
from contextwright.serve.http.fields import Budget, ConversationId, ModelName, RecipeName
from contextwright.store.frames import conversation_of
from contextwright.store.store import Store

__all__ = ["simulate_recipes"]

MAX_MESSAGES = 5_000
"""A longer conversation would keep a thread busy for minutes."""


class SimulationBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stored conversation, and the recipes to replay it with."""

    conversation: ConversationId
    recipes: Annotated[tuple[RecipeName, ...], Meta(min_length=1, max_length=8)] = ("default",)
    model: ModelName | None = None
    budget: Budget | None = None
    format: FormatName | None = None


class SimulationRow(Struct, frozen=True, kw_only=True):
    """The figures of one recipe, and those of each request."""

    recipe: str
    refused: int
    sent: int
    shared: int
    share: float
    fill: float
    breaks: int
    dollars: float | None
    requests: list[Request]


class SimulationAnswer(Struct, frozen=True, kw_only=True):
    """One row for each recipe."""

    model: str
    rows: list[SimulationRow]


def simulate_recipes(store: Store, body: SimulationBody) -> SimulationAnswer:
    """Replay a conversation with recipes, and price every request.

    Each reply answers one request: everything before it. Conversations of up to 5,000 messages.
    """
    chat = store.conversation(body.conversation)
    if chat.details().length > MAX_MESSAGES:
        raise UsageError(f"more than {MAX_MESSAGES:,} messages", hint="use cw simulate")
    recipes = [recipe_named(name) for name in body.recipes]
    conversation = conversation_of(chat)
    facts = find_model(body.model or own_model(conversation.model, body.format))
    rows = simulate(conversation, recipes, model=facts, budget=body.budget, format=body.format)
    return SimulationAnswer(model=facts.id, rows=[row_of(row) for row in rows])


def row_of(row: Row) -> SimulationRow:
    """Return the figures of a recipe."""
    return SimulationRow(
        recipe=row.recipe,
        refused=row.refused,
        sent=row.sent,
        shared=row.shared,
        share=row.share,
        fill=row.fill,
        breaks=row.breaks,
        dollars=row.dollars,
        requests=list(row.requests),
    )
