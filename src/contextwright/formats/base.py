"""A format, its options, and the result of rendering."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from contextwright.errors import Problem, UsageError, shown
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.settings import fields_of, is_carried
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.parts import Extra
from contextwright.models import Model
from contextwright.text.json import convert

__all__ = ["Format", "Options", "Rendered"]


class Options(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options for rendering. Those that start with a format's name apply to that format only."""

    repair: bool = True
    """Make the history legal. If false, the messages are written as they are."""
    speaker_prefix: bool | None = None
    """Write `Alice: …` where a format has no field for names. None: when several people speak, but
    not in gryag.
    """
    thinking: Literal["keep", "drop", "text"] = "keep"
    """Keep thinking where the target accepts it (`keep`), drop it everywhere (`drop`), or write it
    as plain text where the target does not accept it (`text`).
    """
    legacy_meta: bool = False
    """gryag: write the old `[meta]` part before each user message."""
    user_parts: bool = False
    """gryag: put the newest user message into `user_parts`, apart from the history."""
    include_results: bool = False
    """aya: keep tool results, in the `result` field of the entry that made the call."""
    turn_rule: Literal["speaker", "exchange", "user"] | None = None
    """aya: renumber turns by this rule. None: keep imported turns, number new ones by `speaker`."""


class Rendered(Struct, frozen=True):
    """A payload, and a change for everything that differs from the conversation."""

    payload: Any
    changes: tuple[Change, ...] = ()
    json: bytes = b""
    """The payload as JSON bytes; `contextwright.render` fills it in."""
    tool_names: dict[str, str] = {}
    """The renamed tools: the name sent → the tool's own name. Pass it to `restore_calls`."""
    origins: tuple[int, ...] = ()
    """The index of the message that each turn begins with; empty if the format does not say."""


Parse: TypeAlias = Callable[[Any, bool], Conversation]


Render: TypeAlias = Callable[[Conversation, Model, Options], Rendered]


Check: TypeAlias = Callable[[Any, Model], list[Problem]]


ParseReply: TypeAlias = Callable[[Any], ModelReply]


ParseStream: TypeAlias = Callable[[Iterable[Any]], ModelReply]


class Format(Struct, frozen=True, kw_only=True):
    """A wire or file format, as a few functions.

    `parse(data, strict)` takes decoded JSON. `render(conversation, model, options)` returns the
    body to send. `check(payload, model)` lists what the provider would refuse. Provider formats
    also read replies: whole (`parse_reply`), or streamed as an iterable of decoded events
    (`parse_stream`).
    """

    name: str
    title: str
    """A one-line description."""
    parse: Parse
    render: Render
    check: Check
    parse_reply: ParseReply | None = None
    parse_stream: ParseStream | None = None
    default_model: str | None = None
    """The model for a request that names none. None: the format needs no model."""
    turns: str | None = None
    """The field of its turns, if they can be read some at a time."""
    last_start: Callable[[Sequence[Any], int], int] | None = None
    """Given turns and an index, returns the last index up to it at which a message begins that can
    be read without the turns before it; 0 if there is none. None: each turn is a message.
    """


def without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the fields without these names."""
    return {key: value for key, value in fields.items() if key not in names}


def keep_extra(format: str, fields: dict[str, Any]) -> Extra:
    """Return leftover fields under the format's name; an empty dict if there are none."""
    return {format: fields} if fields else {}


def foreign_settings(
    conversation: Conversation, format: str, carried: Mapping[str, Collection[str]] | None = None
) -> list[Change]:
    """Return a change for each field of another format's body that is lost here.

    `carried` lists paths per format that this format takes over in addition to `Settings`.
    """
    carried = carried or {}
    return [
        Change("loss.setting", field, f"only {name} has this field, or this value of it")
        for name, fields in conversation.extra.items()
        if name != format
        for field, value in fields_of(fields)
        if value and not is_carried(name, field, value, conversation.settings)
        if field not in carried.get(name, ())
    ]


def as_options(options: dict[str, Any]) -> Options:
    """Return `Options` by name.

    Raises:
        UsageError: it names the first option that does not exist, or whose value is not valid.
    """
    try:
        return convert(options, Options)
    except msgspec.ValidationError as error:
        valid = {field.name: values_of(field.type) for field in msgspec.structs.fields(Options)}
        for name, value in options.items():
            if name not in valid:
                hint = f"options: {', '.join(valid)}"
                raise UsageError(f"no such option: {shown(name)}", hint=hint) from error
            if shown(value) not in valid[name]:
                hint = f"one of: {', '.join(valid[name])}"
                raise UsageError(f"{name} cannot be {shown(value)}", hint=hint) from error
        raise


def values_of(kind: Any) -> list[str]:
    """Return the values of a type that has few, as Python writes them."""
    if kind is bool:
        return ["True", "False"]
    if kind is NoneType:
        return ["None"]
    return [
        value
        for one in get_args(kind)
        for value in ([repr(one)] if isinstance(one, str) else values_of(one))
    ]
