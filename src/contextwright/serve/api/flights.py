"""Flights: every request that a conversation has led to, and what became of each message in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from contextwright.context.simulate import Request, requests_of, simulate
from contextwright.formats import FormatName
from contextwright.messages.message import Message
from contextwright.models import find as find_model
from contextwright.serve.api.contexts import own_model, recipe_named
from contextwright.serve.api.fields import Budget, ConversationId, ModelName, RecipeName
from contextwright.store.frames import conversation_of
from contextwright.store.store import Store
from contextwright.windows.decisions import Action

__all__ = ["fly"]

MAX_COLUMNS = 600


class FlightQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose requests to make again, and how."""

    conversation: ConversationId
    recipe: RecipeName = "default"
    model: ModelName | None = None
    budget: Budget | None = None
    format: FormatName | None = None
    columns: Annotated[
        int, Meta(ge=1, le=MAX_COLUMNS, description="Most requests; the newest are made.")
    ] = 200


class Fate(Struct, frozen=True, array_like=True):
    """What became of messages `first` to `last`."""

    first: int
    last: int
    action: Action


class FlightRequest(Struct, frozen=True, kw_only=True):
    """A request: its tokens, what was read from the cache, and what was paid for again."""

    at: int
    time: str | None
    tokens: int
    budget: int
    shared: int
    read: int
    written: int
    plain: int
    again: int
    price: float | None
    waste: float | None
    cause: str
    unread: str
    errors: int
    fates: list[Fate]


class Flight(Struct, frozen=True, kw_only=True):
    """The newest requests of a conversation, as one recipe makes them."""

    conversation: str
    recipe: str
    model: str
    format: str
    messages: int
    requests: list[FlightRequest]
    refused: int
    earlier: int
    """Requests before these."""


def fly(store: Store, query: FlightQuery) -> Flight:
    """Make the requests of a conversation again, one after the other.

    Each reply answered a request: everything before it. For each, the answer says what became of
    every message, what the provider's prompt cache would have held, and why it broke.
    """
    conversation = conversation_of(store.conversation(query.conversation), timed=True)
    recipe = recipe_named(query.recipe)
    model = find_model(query.model or own_model(conversation.model, query.format))
    messages = conversation.messages
    places = requests_of(messages)
    row = simulate(
        conversation,
        recipe,
        model=model,
        budget=query.budget,
        format=query.format,
        last=query.columns,
    )[0]
    return Flight(
        conversation=query.conversation,
        recipe=query.recipe,
        model=model.id,
        format=query.format or model.format,
        messages=len(messages),
        requests=[request_of(one, messages) for one in row.requests],
        refused=row.refused,
        earlier=max(len(places) - query.columns, 0),
    )


def request_of(request: Request, messages: Sequence[Message]) -> FlightRequest:
    """A request of a simulation, as the answer tells it."""
    charge = request.charge
    return FlightRequest(
        at=request.messages,
        time=messages[request.messages - 1].sent_at if request.messages else None,
        tokens=request.tokens,
        budget=request.budget,
        shared=request.shared,
        read=charge.read,
        written=charge.written,
        plain=charge.plain,
        again=request.again,
        price=request.dollars,
        waste=request.waste,
        cause=request.cause,
        unread=request.unread,
        errors=len(request.errors),
        fates=[Fate(run.start + 1, run.stop, run.action) for run in request.runs],
    )
