"""The public functions: parse, render, convert, check, count, parse_reply, parse_stream."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar, overload

from msgspec.structs import replace

from contextwright import formats, models
from contextwright.errors import ParseError, Problem, UsageError, in_one_line, shown
from contextwright.formats import FormatName
from contextwright.formats.base import Format, Options, ParseStream, Rendered, as_options
from contextwright.formats.file_formats import file_format
from contextwright.formats.given import (
    REQUESTS,
    Given,
    as_given,
    is_foreign,
    is_one_message,
    reply_format,
)
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.rules.surrogates import without_halves
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.validation import naming_faults, require_roles
from contextwright.models import Model, as_model
from contextwright.text.json import encode_json
from contextwright.tokens.count import Calibration, Count, count_pieces, count_text
from contextwright.tokens.pieces import body_format, outline
from contextwright.wire.values import is_list, is_object

__all__ = ["check", "convert", "count", "parse", "parse_reply", "parse_stream", "render"]

Encoded = TypeVar("Encoded")

ANY_MODEL = "gpt-5.6-sol"
"""The model used if neither the caller nor the format names one."""


STORED = ("aya", "contextwright", "gryag", "port42")
"""File formats, which are never sent: they are counted as the request they render to."""


def parse(data: Any, format: FormatName | str, *, strict: bool = False) -> Conversation:
    """Read a conversation from decoded JSON in a named format.

    Lenient by default: repairs what it can and lists the repairs in `.changes`.

    Raises:
        ParseError: the data is not in that format, or needs a repair and `strict` is true.
    """
    try:
        return formats.find(format).parse(data, strict)
    except RecursionError as error:
        raise ParseError("nested too deeply") from error


def render(
    conversation: Given,
    format: FormatName | str,
    *,
    model: str | Model | None = None,
    **options: Any,
) -> Rendered:
    """Write a conversation in a named format, legal for the model; `.changes` lists what changed.

    `options` are the fields of `Options`: `speaker_prefix=True`, `thinking="text"` …
    """
    target = formats.find(format)
    given = as_given(conversation)
    mended = () if given is conversation else given.changes
    rendered, body = written(given, target, model, as_options(options), encode_json)
    return replace(rendered, changes=(*mended, *rendered.changes), json=body)


def written(
    conversation: Conversation,
    target: Format,
    model: str | Model | None,
    chosen: Options,
    encode: Callable[[Any], Encoded],
) -> tuple[Rendered, Encoded]:
    """Render the conversation without its JSON; return what `encode` makes of the payload too.

    `encode` has to write all of it as JSON, because that finds what has to be mended.
    """
    facts, invented = model_for(conversation, target, model)
    mended: tuple[Change, ...] = ()
    with naming_faults(conversation):
        require_roles(conversation.messages)
        try:
            rendered = target.render(conversation, facts, chosen)
            encoded = encode(rendered.payload)
        except UnicodeEncodeError:
            conversation, mended = without_halves(conversation)
            facts, invented = model_for(conversation, target, model)
            rendered = target.render(conversation, facts, chosen)
            encoded = encode(rendered.payload)
        except RecursionError as error:
            raise UsageError("the conversation holds a value that is nested too deeply") from error
    if invented or mended:
        rendered = replace(rendered, changes=(*invented, *mended, *rendered.changes))
    return rendered, encoded


def convert(
    data: Any,
    source: FormatName | str,
    target: FormatName | str,
    *,
    model: str | Model | None = None,
    strict: bool = False,
    **options: Any,
) -> Rendered:
    """Convert from one format to another: `parse`, then `render`. `.changes` has those of both.

    Converting to the same format, with nothing to repair, returns the same body.
    """
    conversation = parse(data, source, strict=strict)
    rendered = render(conversation, target, model=model, **options)
    changes = (*conversation.changes, *rendered.changes)
    if source == target and is_object(data):
        invented = tuple(change for change in changes if change.code == "invent.model")
        same = is_same(rendered, conversation, data)
        if same or changes == invented:
            unsaid = mended(data, rendered.payload, source, model)
            if same and not unsaid:
                return Rendered(data, invented, encode_json(data))
            changes = (*unsaid, *changes)
    return replace(rendered, changes=changes)


def mended(
    before: Any, after: Any, format: FormatName | str, model: str | Model | None
) -> list[Change]:
    """Return what the provider would refuse in one payload and no longer in another."""
    if before == after:
        return []
    refused = [
        problem
        for problem in check(before, format, model=model)
        if problem.level == "error" and problem.path != "model"
    ]
    if not refused:
        return []
    left = {(problem.code, problem.path) for problem in check(after, format, model=model)}
    return [
        Change("repair.shape", problem.path, problem.message)
        for problem in refused
        if (problem.code, problem.path) not in left
    ]


def is_same(rendered: Rendered, conversation: Conversation, data: Any) -> bool:
    """Whether the rendered body equals the input, apart from spellings that mean the same.

    Examples are a text alone or in a list of one part, and the order of fields.
    """
    if rendered.payload == data:
        return True
    if any(change.code != "invent.model" for change in rendered.changes):
        return False
    # If parsing the result reports a repair again, the format accepts the input as it is.
    return is_object(data) and parse(rendered.payload, conversation.source or "") == conversation


def check(
    payload: Any, format: FormatName | str, *, model: str | Model | None = None
) -> list[Problem]:
    """List what the provider would refuse in a payload (errors), and what it might (warnings)."""
    target = formats.find(format)
    if model is None:
        named = payload.get("model") if is_object(payload) else None
        model = named if isinstance(named, str) else target.default_model or ANY_MODEL
    try:
        return target.check(payload, as_model(model))
    except RecursionError:
        return [Problem("T-depth", "", "nested too deeply")]


def count(
    value: str | Conversation | Message | Sequence[Any] | dict[str, Any],
    *,
    model: str | Model,
    format: FormatName | str | None = None,
    calibration: Calibration | None = None,
) -> Count:
    """Count the tokens of a text, of messages, or of a payload, for a model.

    Messages and files are counted as the request they render to, and messages of a provider as a
    request that has nothing else. The format of a payload is detected from its keys unless `format`
    names it. `calibration` corrects estimates by a provider's own counts (`Store.calibration`);
    exact counts do not need it.
    """
    facts = as_model(model)
    if format is not None:
        formats.find(format)
    else:
        format = file_format(value)
    if isinstance(value, str):
        return count_text(value, facts, calibration=calibration)
    if not isinstance(value, Conversation | Message | Sequence | dict):  # pyright: ignore
        raise UsageError(f"cannot count {shown(value)}", hint="pass text, messages or a request")
    if format in STORED and not isinstance(value, Conversation | Message):
        value, format = parse(value, format), facts.format
    if is_one_message(value):
        value = [value]
    if not is_object(value) and not is_foreign(value):
        format = format or facts.format
        value = render(value, format, model=facts).payload  # pyright: ignore
    format = format or body_format(value, facts.format)
    if is_list(value) and format in REQUESTS:
        value = dict.fromkeys(REQUESTS[format], value)
    counted = count_pieces(outline(value, format), facts, format=format, calibration=calibration)
    return without_claim(counted, check(value, format, model=facts)) if counted.exact else counted


def without_claim(counted: Count, problems: list[Problem]) -> Count:
    """Return the count; not as exact if the API does not take the request as it is written."""
    places = dict.fromkeys(
        problem.path or "request"
        for problem in problems
        if problem.code.startswith("T-") and problem.level == "error"
        if (problem.code, problem.path) != ("T-required", "model")  # the caller names the model
    )
    if not places:
        return counted
    return replace(counted, exact=False, unseen=tuple(places), at_least=True)


def parse_reply(reply: Any, format: FormatName | str | None = None) -> ModelReply:
    """Read a provider's reply: decoded JSON, or an SDK object.

    `.message` is the assistant's message, `.finish` why it ended, `.usage` its tokens, `.refusal`
    and `.error` what went wrong, `.extra` the provider's own fields. A reply that was cut off or
    withheld has the reason in `message.meta["finish"]`, and is never empty.
    """
    name = format or reply_format(reply)
    parser = formats.find(name).parse_reply
    if parser is None:
        raise UsageError(f"{name} has no replies", hint="name a provider's format")
    found = parser(reply)
    try:
        encode_json(found)
    except UnicodeEncodeError:
        found, mended = without_halves(found)
        found = replace(found, changes=(*found.changes, *mended))
    except (TypeError, ValueError, RecursionError) as error:
        reason = f"the reply holds a value that is not JSON: {in_one_line(error)}"
        raise UsageError(reason) from error
    return found


@overload
def parse_stream(events: Iterable[Any], format: FormatName | str) -> ModelReply: ...
@overload
def parse_stream(
    events: AsyncIterable[Any], format: FormatName | str
) -> Coroutine[Any, Any, ModelReply]: ...
def parse_stream(
    events: Iterable[Any] | AsyncIterable[Any], format: FormatName | str
) -> ModelReply | Coroutine[Any, Any, ModelReply]:
    """Read a streamed reply from its events; an interrupted stream keeps what arrived.

    For asynchronous events, await the result: `await parse_stream(events, format)`.

    Raises:
        UsageError: the format has no streams, or `events` is not a stream of events.
    """
    parser = formats.find(format).parse_stream
    if parser is None:
        raise UsageError(f"{format} has no streams", hint="name a provider's format")
    if isinstance(events, AsyncIterable):
        return parse_async(parser, events)
    if not isinstance(events, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a stream cannot be {shown(events)}", hint="pass its events")
    return parser(events)


async def parse_async(parser: ParseStream, events: AsyncIterable[Any]) -> ModelReply:
    """Read a streamed reply from asynchronous events."""
    return parser([event async for event in events])


def model_for(
    conversation: Conversation, target: Format, model: str | Model | None
) -> tuple[Model, tuple[Change, ...]]:
    """Return the given model, else the conversation's if it fits the format, else the default."""
    if model is not None:
        return as_model(model), ()
    default = target.default_model
    if conversation.model is not None:
        facts = models.find(conversation.model)
        if target.name in (conversation.source, facts.format) or default is None:
            return facts, ()
    if default is None:
        return models.find(ANY_MODEL), ()
    change = Change("invent.model", "model", f"not set; using {default}")
    return models.find(default), (change,)
