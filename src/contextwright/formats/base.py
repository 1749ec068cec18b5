"""What a format is, what it parses into, and what it renders from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Struct

from contextwright.changes import Change
from contextwright.messages import Extra, Message, Opaque, Tool
from contextwright.models import Model
from contextwright.tokens import Count, count_pieces
from contextwright.wire.pieces import pieces
from contextwright.wire.shapes import Problem

__all__ = ["Conversation", "Format", "Options", "Rendered", "Settings", "ToolChoice"]


class ToolChoice(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Whether the model may, must or must not call a tool, or which one it must call."""

    mode: Literal["auto", "none", "required"]
    name: str | None = None


class Settings(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The request settings that every provider has under some name."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice | None = None


class Conversation(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A conversation as values: what `parse` gives and `render` takes."""

    messages: tuple[Message, ...]
    tools: tuple[Tool | Opaque, ...] = ()
    """Tools the model may call; an `Opaque` is a provider's own hosted tool."""
    model: str | None = None
    settings: Settings = Settings()
    reply_tools: dict[str, str | None] = {}
    """Tools that are speech: name → the argument that holds the words, None for an end mark."""
    id: str | None = None
    source: str | None = None
    """The format it was parsed from. What came from a format goes back as it came."""
    extra: Extra = {}
    """What the body said beyond these fields, under the format's name."""
    changes: tuple[Change, ...] = ()
    """What parsing had to repair."""


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


Parse: TypeAlias = Callable[[Any, bool], Conversation]
Render: TypeAlias = Callable[[Conversation, Model, Options], Rendered]
Check: TypeAlias = Callable[[Any, Model], list[Problem]]
ParseReply: TypeAlias = Callable[[Any], Conversation]
ParseStream: TypeAlias = Callable[[Iterable[Any]], Conversation]


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

    def cost(self, message: Message, model: Model) -> Count:
        """What one message adds to a request, whatever else stands in it."""
        alone = Conversation((message,))
        payload = self.render(alone, model, Options(repair=False)).payload
        counted = count_pieces(pieces(payload, self.name), model, format=self.name)
        tokens = sum(cost for place, cost in counted.places.items() if place != "request")
        return Count(tokens, counted.exact, counted.bound)


def keep_extra(format: str, fields: dict[str, Any]) -> Extra:
    """The leftover fields of a foreign object, under that format's name; nothing if none."""
    return {format: fields} if fields else {}


TRANSLATED = frozenset(
    (
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "temperature",
        "top_p",
        "stop",
        "stop_sequences",
        "tool_choice",
        "toolConfig",
        "generationConfig.maxOutputTokens",
        "generationConfig.temperature",
        "generationConfig.topP",
        "generationConfig.stopSequences",
    )
)
"""Fields of a body that `Settings` carries from one provider to another."""


def foreign_settings(
    conversation: Conversation, format: str, carried: Mapping[str, Collection[str]] | None = None
) -> list[Change]:
    """What other formats said in the body beyond the common settings, and is lost here.

    `carried` names the fields of a format that this one takes over besides.
    """
    carried = carried or {}
    return [
        Change("loss.setting", field, f"a field of {name} alone")
        for name, fields in conversation.extra.items()
        if name != format
        for field, value in spelled_out(fields)
        if value and field not in TRANSLATED and field not in carried.get(name, ())
    ]


def spelled_out(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a body; those that Gemini keeps in an object of their own, one by one."""
    for field, value in fields.items():
        if field == "generationConfig" and isinstance(value, dict):
            inner = cast("dict[str, Any]", value)
            yield from ((f"{field}.{name}", inner[name]) for name in inner)
        else:
            yield field, value


def replaced(conversation: Conversation, **fields: Any) -> Conversation:
    """The same conversation with other fields."""
    return msgspec.structs.replace(conversation, **fields)
