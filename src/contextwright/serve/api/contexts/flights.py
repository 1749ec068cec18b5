"""Flights: every request that a conversation has led to, and what became of each message in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from contextwright.context.context import Context
from contextwright.context.simulation.simulate import Measure, Request, requests_of
from contextwright.errors import BudgetError
from contextwright.formats import FormatName
from contextwright.models import find as find_model
from contextwright.serve.api.contexts.contexts import own_model, recipe_for, recipe_named
from contextwright.serve.http.fields import Budget, ConversationId, ModelName, RecipeName
from contextwright.store.contexts.build import replay
from contextwright.store.frames import frame_of, question_time, with_time
from contextwright.store.records import StoredMessage
from contextwright.store.store import Store
from contextwright.windows.decisions import Action

__all__ = ["fly"]

MAX_COLUMNS = 600
LOOKED_AT = 20
"""Messages that are read for each request; an agent's run has about two."""
NEARBY = 8
"""Messages among which a time is looked for: many clients note none for calls and results."""


class FlightQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose requests to make again, and how."""

    conversation: ConversationId
    recipe: RecipeName = "default"
    model: ModelName | None = None
    budget: Budget | None = None
    format: FormatName | None = None
    columns: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_COLUMNS,
            description="Maximum number of requests; the newest ones are built.",
        ),
    ] = 200


class Fate(Struct, frozen=True, array_like=True):
    """The decision on messages `first` to `last`."""

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
    refused: str = ""
    """Why there was no request: the budget was too small. Then all its numbers are 0."""


class Flight(Struct, frozen=True, kw_only=True):
    """The newest requests of a conversation, as one recipe makes them."""

    conversation: str
    recipe: str
    model: str
    format: str
    messages: int
    requests: list[FlightRequest]
    refused: int
    earlier: bool
    """Whether there are requests before these."""


def fly(store: Store, query: FlightQuery) -> Flight:
    """Make the newest requests of a conversation again, one after the other.

    Each reply answered a request: everything before it. For each, the answer says what became of
    every message, what the provider's prompt cache would have held, and why it broke. The first
    of them finds nothing in the cache.
    """
    chat = store.conversation(query.conversation)
    info = chat.details()
    start = max(info.length - query.columns * LOOKED_AT, 0)
    stored = list(chat.read(start + 1))
    messages = [with_time(one) for one in stored]
    places = [start + place for place in requests_of(messages)]
    frame = frame_of(info)
    model = find_model(query.model or own_model(frame.model, query.format))
    measure = Measure(model, query.format or model.format)
    requests: list[FlightRequest] = []
    earlier = start > 0 or len(places) > query.columns
    places = places[-query.columns :]
    moments = [(place, question_time(reversed(messages[: place - start]))) for place in places]
    contexts = replay(
        chat.state,
        chat.id,
        recipe_for(recipe_named(query.recipe), frame),
        moments,
        model=model,
        format=query.format,
        tools=frame.tools,
        budget=query.budget,
    )
    for place, context in zip(places, contexts, strict=True):
        time = time_of_last(stored[: place - start])
        if isinstance(context, Context):
            requests.append(request_of(measure(context), time))
        else:
            requests.append(refused_request(place, context, time))
    return Flight(
        conversation=query.conversation,
        recipe=query.recipe,
        model=model.id,
        format=measure.format,
        messages=info.length,
        requests=requests,
        refused=sum(bool(one.refused) for one in requests),
        earlier=earlier,
    )


def time_of_last(stored: Sequence[StoredMessage]) -> str | None:
    """When the last of some messages was sent; of those without a time, when it was stored."""
    times = (one.message.sent_at for one in reversed(stored[-NEARBY:]))
    return next(filter(None, times), stored[-1].stored_at if stored else None)


def request_of(request: Request, time: str | None) -> FlightRequest:
    """Return a request of a simulation, as the answer tells it."""
    charge = request.charge
    return FlightRequest(
        at=request.messages,
        time=time,
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


def refused_request(at: int, error: BudgetError, time: str | None) -> FlightRequest:
    """Return a request that could not be made."""
    return FlightRequest(
        at=at,
        time=time,
        tokens=0,
        budget=error.budget,
        shared=0,
        read=0,
        written=0,
        plain=0,
        again=0,
        price=0.0,
        waste=0.0,
        cause="",
        unread="",
        errors=0,
        fates=[],
        refused=str(error),
    )
