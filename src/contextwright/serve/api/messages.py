"""Messages: pages of them, one of them, and turns to add."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from contextwright.context.fitting.meter import TokenMeter
from contextwright.errors import NotFound, UsageError
from contextwright.formats.given import as_given
from contextwright.messages.changes import Change
from contextwright.models import find as find_model
from contextwright.serve.api.previews import MessagePreview, preview_of
from contextwright.serve.http.fields import ConversationId, Limit, ModelName, Seq
from contextwright.store.records import StoredMessage
from contextwright.store.store import Store

__all__ = ["add_turn", "get_message", "list_messages"]


class MessagesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which messages to list."""

    conversation: ConversationId
    start: Annotated[Seq, Meta(description="Number of the first message.")] | None = field(
        name="from", default=None
    )
    before: Annotated[Seq, Meta(description="List those before this number.")] | None = None
    count: Limit = 50
    preview: Annotated[
        int, Meta(ge=0, le=100_000, description="Maximum characters of each part.")
    ] = 240
    model: Annotated[ModelName, Meta(description="Count tokens for this model.")] | None = None


class MessagePage(Struct, frozen=True, kw_only=True):
    """Messages in their order; `total` is the number of the last message there is."""

    messages: list[MessagePreview]
    total: int


class MessageQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which message."""

    conversation: ConversationId
    seq: Seq


class TurnQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversation a turn is for; the first one makes it."""

    conversation: ConversationId


class TurnBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Messages to store together."""

    messages: Annotated[
        list[dict[str, Any]],
        Meta(min_length=1, description="In our own format, or in that of any provider."),
    ]
    key: Annotated[str, Meta(min_length=1, description="Idempotency key.")] | None = None


class TurnAnswer(Struct, frozen=True):
    """`seq`: the numbers of a turn's messages, and what was repaired in them."""

    seq: list[int]
    changes: list[Change]


def list_messages(store: Store, query: MessagesQuery) -> MessagePage:
    """List messages of a conversation, with how each begins.

    The last ones by default; `from` continues from a number, `before` goes back from one. Hidden
    and deleted messages have only author, time and state.
    """
    if query.start is not None and query.before is not None:
        raise UsageError("`from` and `before` exclude each other", hint="leave one out")
    chat = store.conversation(query.conversation)
    total = chat.details().length
    stop = min(query.before or total + 1, total + 1)
    first = query.start or max(stop - query.count, 1)
    found = list(chat.read(first, min(first + query.count, stop)))
    meter = meter_for(query.model)
    return MessagePage(
        messages=[
            preview_of(one, query.preview, meter and meter.estimate(one.message)) for one in found
        ],
        total=total,
    )


def get_message(store: Store, query: MessageQuery) -> StoredMessage:
    """Return a message whole."""
    chat = store.conversation(query.conversation)
    total = chat.details().length
    for stored in chat.read(query.seq, query.seq + 1):
        return stored
    raise NotFound(f"there is no message {query.seq}", hint=f"the last is {total}")


def add_turn(store: Store, query: TurnQuery, body: TurnBody) -> TurnAnswer:
    """Store messages as one turn: all of them or none, durable once it is answered.

    The same key again stores nothing and gives the same numbers; with other messages it is a
    conflict.
    """
    given = as_given(body.messages)
    numbers = store.conversation(query.conversation).add(given.messages, body.key)
    return TurnAnswer(numbers, list(given.changes))


def meter_for(model: str | None) -> TokenMeter | None:
    """Return what counts the tokens of messages for a model, if one is named."""
    if model is None:
        return None
    facts = find_model(model)
    return TokenMeter(facts.format, facts)
