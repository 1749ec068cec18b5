"""What a format is, what it parses into, and what it renders from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.errors import Problem, UsageError
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.settings import fields_of, is_carried
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.parts import Extra
from contextwright.models import Model
from contextwright.text.json import convert

__all__ = ["Format", "Options", "Rendered"]


class Options(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The choices a renderer offers; each matters to the formats it names."""

    repair: bool = True
    """Make the history legal. Without it, what is there is written as it stands."""
    speaker_prefix: bool | None = None
    """Write `Alice: …` where a format has no field for names. None: when several people speak."""
    thinking: Literal["keep", "drop", "text"] = "keep"
    """Keep thinking where the target may carry it, drop it everywhere, or say it as plain text
    where it may not travel."""
    legacy_meta: bool = False
    """gryag: write the old `[meta]` part before each user message."""
    user_parts: bool = False
    """gryag: what the user says now stands apart from the history, in `user_parts`."""
    include_results: bool = False
    """aya: keep tool results, in a `result` key of the entry that called."""
    turn_rule: Literal["speaker", "exchange", "user"] | None = None
    """aya: count turns anew by this rule. None: keep turns as imported, `speaker` for new ones."""


class Rendered(Struct, frozen=True):
    """A payload, and everything in it that is not as it came."""

    payload: Any
    changes: tuple[Change, ...] = ()
    json: bytes = b""
    """The payload as JSON bytes; `contextwright.render` fills it in."""
    tool_names: dict[str, str] = {}
    """Tools that had to be renamed: the name sent → the tool's own; for `restore_calls`."""


Parse: TypeAlias = Callable[[Any, bool], Conversation]


Render: TypeAlias = Callable[[Conversation, Model, Options], Rendered]


Check: TypeAlias = Callable[[Any, Model], list[Problem]]


ParseReply: TypeAlias = Callable[[Any], ModelReply]


ParseStream: TypeAlias = Callable[[Iterable[Any]], ModelReply]


class Format(Struct, frozen=True, kw_only=True):
    """A wire or file shape, as four functions; one file each.

    `parse(data, strict)` takes decoded JSON. `render(conversation, model, options)` gives the
    body to send. `check(payload, model)` lists what the provider would refuse. Providers also
    read their replies, whole (`parse_reply`) and streamed (`parse_stream`, an iterable of the
    decoded events).
    """

    name: str
    title: str
    """One line for people who look for a format."""
    parse: Parse
    render: Render
    check: Check
    parse_reply: ParseReply | None = None
    parse_stream: ParseStream | None = None
    default_model: str | None = None
    """The model of a request that names none; None where the format needs no model."""


def without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """The fields except those of these names."""
    return {key: value for key, value in fields.items() if key not in names}


def keep_extra(format: str, fields: dict[str, Any]) -> Extra:
    """The leftover fields of a foreign object, under that format's name; nothing if none."""
    return {format: fields} if fields else {}


def foreign_settings(
    conversation: Conversation, format: str, carried: Mapping[str, Collection[str]] | None = None
) -> list[Change]:
    """The fields of other formats' bodies that `Settings` does not carry, and are lost here.

    `carried` names the fields of a format that this one takes over besides.
    """
    carried = carried or {}
    return [
        Change("loss.setting", field, f"only {name} has this field, or this value of it")
        for name, fields in conversation.extra.items()
        if name != format
        for field, value in fields_of(fields)
        if value and not is_carried(name, field, value, conversation.settings)
        if field.partition(".")[0] not in carried.get(name, ())
    ]


def as_options(options: dict[str, Any]) -> Options:
    """Options by name; a wrong one names the right ones."""
    try:
        return convert(options, Options)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        known = ", ".join(Options.__struct_fields__)
        raise UsageError(f"no such option: {error}", hint=f"options: {known}") from error
