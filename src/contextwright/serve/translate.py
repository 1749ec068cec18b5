"""Translation: a request crosses to another API, and the answer crosses back, piece by piece."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from math import ceil
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from contextwright.context.cache_marks import CacheBreakpoints, mark_cache
from contextwright.context.receipt import is_marked
from contextwright.context.recipe import Recipe
from contextwright.errors import ProviderError
from contextwright.formats import api
from contextwright.formats.base import Rendered
from contextwright.formats.replies.compactions import asks_for_summary, compacted, in_words
from contextwright.formats.replies.events import (
    ErrorEvent,
    Event,
    Finish,
    ReplyError,
    ReplyStart,
    UsageUpdate,
)
from contextwright.formats.replies.home import HomeCalls
from contextwright.formats.replies.reply import ModelReply, gather_partial
from contextwright.formats.replies.streams import stream_writer, write_reply
from contextwright.formats.replies.writer import Frame
from contextwright.formats.tools import restore_calls
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, Settings, replaced
from contextwright.models import Model, as_model
from contextwright.providers.base import AnyProvider
from contextwright.providers.hosts import body_for
from contextwright.providers.provider import Provider
from contextwright.serve.calls import Call
from contextwright.serve.http.stream import BrokenOff, StreamedAnswer
from contextwright.serve.reading import repairs_in
from contextwright.serve.settings import ECHO, Route
from contextwright.text.json import decode_object, encode_json

__all__ = [
    "CHANGES_HEADER",
    "Crossing",
    "answer",
    "as_client_reads",
    "count_tokens",
    "cross",
    "named",
]

CHANGES_HEADER = "x-contextwright-changes"
MAX_CODES = 20
ENDS = CacheBreakpoints(volatile="", static=(), key=None)
"""Nothing in a client's request is known to change but its end."""
EVENTS = "text/event-stream"
VERSIONS = ("anthropic-version", "anthropic-beta")
"""Headers without which a provider refuses fields of the body."""
ANTHROPIC = "anthropic"
INVENTED = "invent.max_tokens"
RESPONSES = "openai-responses"
"""The one API that stores requests by default."""


class Crossing(Struct, frozen=True):
    """A client's request in the API of its upstream."""

    call: Call
    said: Conversation
    """The client's conversation."""
    conversation: Conversation
    """The same with what the client left out, and the settings of the upstream."""
    model: str
    """The model that the upstream is asked for."""
    payload: dict[str, Any]
    """The request for the upstream."""
    body: bytes
    """The same as JSON."""
    changes: Sequence[Change]
    tool_names: Mapping[str, str]


class Sent(NamedTuple):
    """A payload, what it could not carry, and the names its tools were sent under."""

    payload: dict[str, Any]
    json: bytes | None
    """The same as JSON, if that is known."""
    changes: Sequence[Change]
    tool_names: Mapping[str, str]


def cross(
    call: Call, said: Conversation, whole: Conversation, route: Route, recipe: Recipe | None
) -> Crossing:
    """Write what a client said in the API of its upstream; `whole` has what the client left out.

    Raises:
        ContextwrightError: it does not fit the budget.
    """
    host = None if route.upstream == ECHO else route.host(call.format)
    format = call.format if host is None else host.format
    model = route.send_as or call.model
    whole = in_words(whole, format)
    conversation = replaced(whole, model=model, settings=stored_as(whole, format))
    sent = rendered(conversation, format, model, recipe, route.budget)
    payload = sent.payload if host is None else body_for(host, sent.payload, model)
    return Crossing(
        call=call,
        said=said,
        conversation=conversation,
        model=model,
        payload=payload,
        body=body_of(payload, sent),
        changes=(*repairs_in(call.body), *conversation.changes, *sent.changes),
        tool_names=sent.tool_names,
    )


def stored_as(conversation: Conversation, format: str) -> Settings:
    """Return the settings; where only the upstream stores by default, nothing is stored."""
    settings = conversation.settings
    if conversation.source != RESPONSES and format == RESPONSES and settings.store is None:
        return replace(settings, store=False)
    return settings


def rendered(
    conversation: Conversation, format: str, model: str, recipe: Recipe | None, budget: int | None
) -> Sent:
    """Return the request for a conversation: whole, or as a recipe fits it into a budget."""
    facts = as_model(model)
    if recipe is None and budget is None:
        whole = api.render(conversation, format, model=facts)
        if format != ANTHROPIC or conversation.source == ANTHROPIC:
            return Sent(whole.payload, whole.json, whole.changes, whole.tool_names)
        return for_anthropic(whole, facts, is_limited=conversation.settings.max_tokens is not None)
    chosen = recipe or Recipe()
    context = chosen.build(conversation, model=facts, format=format, budget=budget)
    return Sent(context.payload, None, context.changes, context.tool_names)


def for_anthropic(whole: Rendered, model: Model, *, is_limited: bool) -> Sent:
    """Return a request with what clients of other APIs do not know that they have to ask for.

    The others cache by themselves, and let a model write as much as it can.
    """
    payload, changes, json = dict(whole.payload), whole.changes, whole.json
    if not is_limited and model.max_output and model.matched != "default":
        room = model.max_input - len(json)  # a token has at least a byte
        if room < model.max_output:
            counted = api.count(payload, model=model, format=ANTHROPIC)
            room = model.max_input - ceil(counted.tokens * (1 + counted.bound))
        tokens = max(payload["max_tokens"], min(model.max_output, room))
        payload["max_tokens"], json = tokens, None
        reason = f"required by this API and not set; using {tokens:,}"
        others = (change for change in changes if change.code != INVENTED)
        changes = (*others, Change(INVENTED, "max_tokens", reason))
    if not is_marked(whole.json):
        mark_cache(payload, ANTHROPIC, model, ENDS, set_marks=True, marked=False)
        json = None
    return Sent(payload, json, changes, whole.tool_names)


def body_of(payload: dict[str, Any], sent: Sent) -> bytes:
    """Return a payload as JSON; what was sent of it before is not written again."""
    changed = any(
        value is not payload.get(field) and (field != "model" or value != payload.get(field))
        for field, value in sent.payload.items()
    )
    if sent.json is None or changed:
        return encode_json(payload)
    rest = {field: value for field, value in payload.items() if field not in sent.payload}
    return sent.json[:-1] + b"," + encode_json(rest)[1:] if rest else sent.json


async def answer(
    crossing: Crossing,
    provider: AnyProvider,
    id: str,
    end: Callable[[list[Event]], None],
    note: Callable[[Sequence[Change]], None],
) -> Response:
    """Ask the upstream, and answer the client in its own API; `end` gets the whole answer.

    `id` is what the client knows it by. `note` gets what of the answer could not cross.

    Raises:
        ProviderError: the upstream refused, could not be reached, or broke off a whole answer.
    """
    call = crossing.call
    home = HomeCalls(crossing.conversation, crossing.tool_names, provider.format)
    model = crossing.model
    if isinstance(provider, Provider):
        headers = own_headers(call) if call.format == provider.format else None
        batches = provider.post(crossing.body, model=model, headers=headers)
    else:
        batches = provider.batches(crossing.payload, model=model)
    if provider.format != RESPONSES and asks_for_summary(crossing.said):
        batches = compacted(batches)
    first = with_error(await anext(batches))
    if (error := error_in(first)) is not None and not any(map(is_content, first)):
        await batches.aclose()
        raise refusal(error)

    whole = at_home(first, batches, home, end)
    headers = {CHANGES_HEADER: named(crossing.changes)}
    if call.streams:
        frames = written(whole, call, id, note)
        kind, chunks = ("application/json", as_list) if call.wants_list else (EVENTS, as_events)
        headers["content-type"] = f"{kind}; charset=utf-8"
        streamed = StreamedAnswer(chunks(frames), headers=headers.items())
        streamed.held.push_async_callback(batches.aclose)
        return streamed
    seen = [event async for batch in whole for event in batch]
    if (error := error_in(seen)) is not None:
        raise refusal(error)
    reply = gather_partial(seen, provider.format)
    sent = write_reply(reply, call.format, model=call.model, id=id, created=int(time.time()))
    lost = of_reply((*reply.changes, *sent.changes))
    note(lost)
    headers[CHANGES_HEADER] = named((*crossing.changes, *lost))
    return Response(encode_json(sent.body), headers=headers, media_type="application/json")


def of_reply(changes: Sequence[Change]) -> list[Change]:
    """Return the changes of an answer in the same form as those of its request.

    Signatures are not among them: they are put back when the client sends the history again.
    """
    return [
        replace(one, path=one.path if one.path == "reply" else f"reply.{one.path}".rstrip("."))
        for one in changes
        if one.code != "loss.signature"
    ]


def as_client_reads(
    events: list[Event], format: str, call: Call, said: Conversation, id: str
) -> ModelReply:
    """Return an answer of an upstream as a client reads it, with the ids that it knows."""
    body = write_reply(gather_partial(events, format), call.format, id=id).body
    return restore_calls(api.parse_reply(body, call.format), said)


def own_headers(call: Call) -> dict[str, str]:
    """Return a client's headers that say how the body is to be read."""
    return {name: call.headers[name] for name in VERSIONS if name in call.headers}


async def at_home(
    first: list[Event],
    batches: AsyncGenerator[list[Event], None],
    home: HomeCalls,
    end: Callable[[list[Event]], None],
) -> AsyncGenerator[list[Event], None]:
    """Yield the events of an answer, with calls under the names that the client knows.

    `end` gets all of them when the last has come.
    """
    seen: list[Event] = []
    batch: list[Event] | None = first
    async with aclosing(batches):
        while batch is not None:
            events = [own for event in with_error(batch) for own in home.pass_on(event)]
            seen += events
            if events and isinstance(events[-1], Finish):
                end(seen)  # before the client can ask again
            yield events
            batch = await anext(batches, None)


async def written(
    batches: AsyncGenerator[list[Event], None],
    call: Call,
    id: str,
    note: Callable[[Sequence[Change]], None],
) -> AsyncGenerator[list[Frame], None]:
    """Yield the events of an answer in the client's API, as they come.

    Raises:
        BrokenOff: the upstream broke off; the client got that as an error.
    """
    writer = stream_writer(call.format, call.model, id=id, created=int(time.time()))
    async with aclosing(batches):
        async for batch in batches:
            frames = [frame for event in batch for frame in writer.write(event)]
            if batch and isinstance(batch[-1], Finish):
                note(of_reply((*batch[-1].changes, *writer.changes)))
            if frames:
                yield frames
            error = error_in(batch)
            if error is not None and error.kind == "connection":
                # It is logged; the client alone reads the words of the upstream.
                raise BrokenOff("the answer broke off", is_sent=True)


async def as_events(batches: AsyncGenerator[list[Frame], None]) -> AsyncGenerator[bytes, None]:
    """Yield server-sent events."""
    async with aclosing(batches):
        async for frames in batches:
            yield b"".join([frame.encode() for frame in frames])


async def as_list(batches: AsyncGenerator[list[Frame], None]) -> AsyncGenerator[bytes, None]:
    """Yield a JSON list, piece by piece; it is whole also where the answer broke off."""
    opening = b"["
    async with aclosing(batches):
        try:
            async for frames in batches:
                yield opening + b",\n".join([encode_json(frame.data) for frame in frames])
                opening = b",\n"
        except BrokenOff:
            yield b"]"
            raise
    yield b"]"


def with_error(batch: list[Event]) -> list[Event]:
    """Return the events of an answer; one that ends too early ends in an error."""
    last = batch[-1] if batch else None
    if isinstance(last, Finish) and last.reason == "interrupted" and error_in(batch) is None:
        error = ReplyError("connection", "the answer ended before its last event")
        return [*batch[:-1], ErrorEvent(error), last]
    return batch


def error_in(events: Sequence[Event]) -> ReplyError | None:
    """Return the error among the events of an answer, if there is one."""
    return next((event.error for event in events if isinstance(event, ErrorEvent)), None)


def is_content(event: Event) -> bool:
    """Whether an event brings something of an answer."""
    return not isinstance(event, ReplyStart | UsageUpdate | ErrorEvent | Finish)


def refusal(error: ReplyError) -> ProviderError:
    """Return the error for a client that has not been sent anything."""
    if error.kind == "connection":
        return BrokenOff(error.message)
    return ProviderError(
        error.message, kind=error.kind, status=error.status, retry_after=error.retry_after
    )


def named(changes: Sequence[Change]) -> str:
    """Return what a translation changed, for a header: how many, and their codes."""
    codes = sorted({change.code for change in changes})
    return f"{len(changes)}{'; ' if codes else ''}{', '.join(codes[:MAX_CODES])}"


def count_tokens(call: Call) -> Response:
    """Count a request here, and answer as its API does."""
    payload = decode_object(call.body) or {}
    if call.format == "gemini" and isinstance(payload.get("generateContentRequest"), dict):
        payload = payload["generateContentRequest"]
    count = api.count(payload, model=call.model, format=call.format)
    name = "totalTokens" if call.format == "gemini" else "input_tokens"
    return Response(encode_json({name: count.tokens}), media_type="application/json")
