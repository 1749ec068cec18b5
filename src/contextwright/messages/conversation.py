"""A conversation: messages, tools, settings, and other data that came with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError, require, shown
from contextwright.messages.changes import Change
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Extra, Opaque
from contextwright.text.json import convert

__all__ = ["Conversation", "Effort", "OutputFormat", "Settings", "ToolChoice"]


class ToolChoice(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Whether the model may, must or must not call a tool, or which one it must call."""

    mode: Literal["auto", "none", "required"]
    name: str | None = None
    allowed: tuple[str, ...] = ()
    """The tools to choose among; empty: all of them."""


Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""Effort of thinking."""


class OutputFormat(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The format of the answer: JSON of a schema, or any JSON object if there is none."""

    schema: dict[str, Any] | None = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None


class Settings(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The request settings that several providers have, each under some name of its own."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_calls: bool | None = None
    """Whether the model may call several tools at once."""
    effort: Effort | None = None
    thinking_budget: int | None = None
    """Token budget for thinking, for models that have one; -1 lets the model decide."""
    show_thinking: bool | None = None
    """Whether the reply includes the thinking."""
    output: OutputFormat | None = None
    verbosity: str | None = None
    top_k: int | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stream: bool | None = None
    service_tier: str | None = None
    cache_key: str | None = None
    store: bool | None = None
    user: str | None = None
    """The end user's id, which the provider receives."""
    metadata: dict[str, str] = {}


class Conversation(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A conversation as values: the result of `parse` and the input of `render`."""

    messages: tuple[Message, ...]
    tools: tuple[Tool | Opaque, ...] = ()
    """Tools the model may call; an `Opaque` is a provider's own hosted tool."""
    model: str | None = None
    settings: Settings = Settings()
    reply_tools: dict[str, str | None] = {}
    """Tools whose calls are speech: name → the argument with the text; None if it has none."""
    id: str | None = None
    source: str | None = None
    """The format it was parsed from; rendering to the same format changes nothing."""
    extra: Extra = {}
    """Fields of the body beyond these, under the format's name."""
    changes: tuple[Change, ...] = ()
    """Repairs made while parsing."""


FRAME = frozenset(Conversation.__struct_fields__) - {"messages", "id", "source", "changes"}
"""The fields that a conversation keeps when its messages are stored elsewhere."""


def replaced(conversation: Conversation, **fields: Any) -> Conversation:
    """Return the conversation with other fields."""
    return msgspec.structs.replace(conversation, **fields)


def framed(settings: Mapping[str, Any]) -> Conversation:
    """Return a conversation without messages, from its fields as plain JSON; others are left out.

    They may be the user's own, under names that we use too: then none of them is taken.
    """
    kept = {name: value for name, value in settings.items() if name in FRAME}
    try:
        return convert({**kept, "messages": ()}, Conversation)
    except msgspec.ValidationError:
        return Conversation(())


def as_conversation(value: Conversation | Message | Iterable[Message]) -> Conversation:
    """Return a conversation from a message, messages or a conversation."""
    if isinstance(value, Conversation):
        require(value.messages, tuple | list, "messages")
        return value
    if isinstance(value, Message):
        return Conversation((value,))
    given = cast("object", value)
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise UsageError(f"a conversation cannot be {shown(value)}", hint=hint_for(value))
    messages = tuple(value)
    require_messages(messages)
    return Conversation(messages)


def require_messages(values: Sequence[Any]) -> None:
    """Raise a `UsageError` for the first value that is not a message."""
    if set(map(type, values)) <= {Message}:
        return
    for index, value in enumerate(values):
        if not isinstance(value, Message):
            reason = f"messages[{index}] is {shown(value)}, not a Message"
            raise UsageError(reason, hint=hint_for(value))


def hint_for(value: object) -> str:
    """Return what to pass instead of a value that is neither a conversation nor a message."""
    kind = type(value)
    if kind is str:
        return "user(…) makes a message of a text; parse() reads other data"
    if "message" in getattr(kind, "__struct_fields__", ()):  # as a store reads them
        return "pass its .message"
    if callable(getattr(kind, "context", None)):
        return "chat.context(recipe, model=…) builds a stored conversation"
    return "parse() reads other data; user(), assistant() … make messages"
