"""The functions people call: parse, render, convert, check, count, parse_reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from contextwright import formats, models
from contextwright.changes import Change
from contextwright.errors import ParseError, UsageError, shown
from contextwright.formats.base import Conversation, Format, Options, Rendered
from contextwright.formats.surrogates import without_halves
from contextwright.messages import Message, encode_json
from contextwright.models import Model
from contextwright.tokens import Count, count_pieces, count_text
from contextwright.wire.pieces import pieces
from contextwright.wire.shapes import Problem
from contextwright.wire.values import is_object

__all__ = ["check", "convert", "count", "parse", "parse_reply", "parse_stream", "render"]

DEFAULT_MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}
"""The model of a request that names none; a request has to name one."""
ANY_MODEL = "gpt-5.6-sol"
STORED = ("aya", "contextwright", "gryag", "port42")
"""Formats that are never sent as they are: they are counted as the request they become."""


def parse(data: Any, format: str, *, strict: bool = False) -> Conversation:
    """Read a conversation from decoded JSON in a named format.

    Lenient by default: what can be mended is, and `.changes` says so.

    Raises:
        ParseError: the data is not of that format, or `strict` and something had to be mended.
    """
    try:
        return formats.find(format).parse(data, strict)
    except RecursionError as error:
        raise ParseError("nested too deeply") from error


def render(
    conversation: Conversation | Message | Iterable[Message],
    format: str,
    *,
    model: str | Model | None = None,
    **options: Any,
) -> Rendered:
    """Write a conversation in a named format, legal for the model, and say what had to change.

    `options` are the fields of `Options`: `speaker_prefix=True`, `thinking="text"` …
    """
    target = formats.find(format)
    conversation = as_conversation(conversation)
    facts, invented = model_for(conversation, target, model)
    chosen = as_options(options)
    mended: tuple[Change, ...] = ()
    try:
        rendered = target.render(conversation, facts, chosen)
        body = encode_json(rendered.payload)
    except UnicodeEncodeError:
        conversation, mended = without_halves(conversation)
        rendered = target.render(conversation, facts, chosen)
        body = encode_json(rendered.payload)
    except TypeError as error:
        raise UsageError(f"the conversation holds a value that is not JSON: {error}") from error
    except RecursionError as error:
        raise UsageError("the conversation holds a value that is nested too deeply") from error
    return Rendered(rendered.payload, (*invented, *mended, *rendered.changes), body)


def convert(
    data: Any,
    source: str,
    target: str,
    *,
    model: str | Model | None = None,
    strict: bool = False,
    **options: Any,
) -> Rendered:
    """From one format to another: `parse`, then `render`; `.changes` holds those of both."""
    conversation = parse(data, source, strict=strict)
    rendered = render(conversation, target, model=model, **options)
    return Rendered(rendered.payload, (*conversation.changes, *rendered.changes), rendered.json)


def check(payload: Any, format: str, *, model: str | Model | None = None) -> list[Problem]:
    """What the provider would refuse in a payload (errors), and what it might (warnings)."""
    if model is None:
        named = payload.get("model") if is_object(payload) else None
        model = named if isinstance(named, str) else DEFAULT_MODELS.get(format, ANY_MODEL)
    try:
        return formats.find(format).check(payload, as_model(model))
    except RecursionError:
        return [Problem("T-depth", "", "nested too deeply")]


def count(
    value: str | Conversation | Message | Sequence[Any] | dict[str, Any],
    *,
    model: str | Model,
    format: str | None = None,
) -> Count:
    """The tokens of a text, of messages of ours, or of a payload, for a model.

    Messages, and files of formats that are not sent as they are, are counted as the request they
    make. A payload is read as the model's own format unless one is named.
    """
    facts = as_model(model)
    if isinstance(value, str):
        return count_text(value, facts)
    format = format or facts.format
    if format in STORED and not isinstance(value, Conversation | Message):
        value, format = parse(value, format), facts.format
    if isinstance(value, Conversation | Message) or is_messages(value):
        value = render(value, format, model=facts).payload  # pyright: ignore
    return count_pieces(pieces(value, format), facts, format=format)


def parse_reply(reply: Any, format: str | None = None) -> Conversation:
    """Read a provider's reply: decoded JSON, or the SDK's own object.

    The assistant's message is in `.messages`, usage and stop reason in `.extra`.
    """
    name = format or reply_format(reply)
    parser = formats.find(name).parse_reply
    if parser is None:
        raise UsageError(f"{name} has no replies", hint="name a provider's format")
    return parser(reply)


def parse_stream(events: Iterable[Any], format: str) -> Conversation:
    """Read a streamed reply from its events; a broken stream keeps what came, and says so."""
    parser = formats.find(format).parse_stream
    if parser is None:
        raise UsageError(f"{format} has no streams", hint="name a provider's format")
    return parser(events)


REPLY_FIELDS = {
    "choices": "openai-chat",
    "candidates": "gemini",
    "output": "openai-responses",
    "content": "anthropic",
}
"""The field that tells whose reply it is."""


def reply_format(reply: Any) -> str:
    """Whose reply this is, by the field that holds the answer."""
    for field, name in REPLY_FIELDS.items():
        if (field in reply) if is_object(reply) else hasattr(reply, field):
            return name
    raise UsageError(f"no provider replies with {shown(reply)}", hint="name the format")


def as_conversation(value: Conversation | Message | Iterable[Message]) -> Conversation:
    """A conversation from whatever holds messages."""
    if isinstance(value, Conversation):
        return value
    messages = (value,) if isinstance(value, Message) else tuple(value)
    for index, message in enumerate(messages):
        if not isinstance(message, Message):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(
                f"messages[{index}] is {shown(message)}, not a Message",
                hint="parse() reads foreign data; user(), assistant() … make messages",
            )
    return Conversation(messages)


def is_messages(value: Any) -> bool:
    """Whether a value is a sequence of our messages rather than foreign data."""
    items = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return bool(items) and isinstance(items[0], Message)


def as_model(model: str | Model) -> Model:
    """The facts about a model."""
    return models.find(model) if isinstance(model, str) else model


def model_for(
    conversation: Conversation, target: Format, model: str | Model | None
) -> tuple[Model, tuple[Change, ...]]:
    """The model asked for, the one the conversation names if it fits, or the format's default."""
    if model is not None:
        return as_model(model), ()
    name = target.name
    if conversation.model is not None:
        facts = models.find(conversation.model)
        if conversation.source == name or facts.format == name or name not in DEFAULT_MODELS:
            return facts, ()
    default = DEFAULT_MODELS.get(name)
    if default is None:
        return models.find(ANY_MODEL), ()
    change = Change("invent.model", "model", f"none is named; {default} stands in")
    return models.find(default), (change,)


def as_options(options: dict[str, Any]) -> Options:
    """Options by name; a wrong one names the right ones."""
    try:
        return msgspec.convert(options, Options)
    except msgspec.ValidationError as error:
        known = ", ".join(Options.__struct_fields__)
        raise UsageError(f"no such option: {error}", hint=f"options: {known}") from error
