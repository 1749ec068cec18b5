"""Events of a streamed reply: one vocabulary for all providers.

A stream is: `ReplyStart`, then the pieces of each part followed by its `PartEnd`, then `Finish`,
exactly once and last. `index` tells parts apart; the parts of the message stand in the order of
their indices. The pieces of a part make up its whole text: joined, they equal what `PartEnd`
carries. A part may go on after its `PartEnd`; the next `PartEnd` of the same index replaces it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from contextwright.messages.changes import Change
from contextwright.messages.parts import Extra, Part

__all__ = [
    "ArgumentsDelta",
    "CallStart",
    "ErrorEvent",
    "ErrorKind",
    "Event",
    "Finish",
    "FinishReason",
    "PartEnd",
    "ReplyError",
    "ReplyStart",
    "SignatureDelta",
    "TextDelta",
    "ThinkingDelta",
    "Usage",
    "UsageUpdate",
]

FinishReason: TypeAlias = Literal[
    "stop",
    "stop_sequence",
    "length",
    "context",
    "tool_calls",
    "refusal",
    "filter",
    "pause",
    "error",
    "interrupted",
    "other",
]
"""Why a reply ended. `length`: the output limit; `context`: the model's window; `refusal`: the
model declined; `filter`: the provider withheld the answer; `pause`: a hosted tool wants to go on;
`interrupted`: the stream broke off before its end."""

ErrorKind: TypeAlias = Literal[
    "invalid",
    "authentication",
    "permission",
    "billing",
    "not_found",
    "too_large",
    "timeout",
    "rate_limit",
    "overloaded",
    "server",
    "connection",
]


class Usage(Struct, frozen=True, omit_defaults=True):
    """The tokens of one reply: `input` includes cached and written ones, `output` reasoning."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Input read from the provider's prompt cache."""
    written: int = 0
    """Input written to the provider's prompt cache."""
    reasoning: int = 0
    """Output spent on thinking."""


class ReplyError(Struct, frozen=True, omit_defaults=True):
    """An error a provider answered with, or a connection that broke."""

    kind: ErrorKind
    message: str
    status: int | None = None
    """The HTTP status; within a stream, the one the error would have had."""
    type: str | None = None
    """The provider's own word for it."""
    retry_after: float | None = None
    """Seconds to wait before another try, as the provider asked."""


class ReplyStart(Struct, frozen=True, omit_defaults=True, tag="reply_start"):
    """The provider begins to answer."""

    id: str | None = None
    model: str | None = None
    usage: Usage | None = None


class TextDelta(Struct, frozen=True, omit_defaults=True, tag="text"):
    """A piece of text."""

    index: int
    text: str
    refusal: bool = False
    slot: str = ""
    """Where the sending provider keeps the part; only a writer of the same format reads it."""


class ThinkingDelta(Struct, frozen=True, omit_defaults=True, tag="thinking"):
    """A piece of reasoning."""

    index: int
    text: str
    slot: str = ""
    """As in `TextDelta`."""


class SignatureDelta(Struct, frozen=True, tag="signature"):
    """The signature of a reasoning part."""

    index: int
    signature: str


class CallStart(Struct, frozen=True, omit_defaults=True, tag="call_start"):
    """A tool call begins."""

    index: int
    name: str
    id: str | None = None
    custom: bool = False
    """The tool takes free text: the arguments are that text, not JSON."""
    extra: Extra = {}


class ArgumentsDelta(Struct, frozen=True, tag="arguments"):
    """A piece of a call's arguments: JSON text, or the free text of a custom tool."""

    index: int
    text: str


class PartEnd(Struct, frozen=True, tag="part_end"):
    """A part is complete: text, thinking, a call, media, or a provider's own block."""

    index: int
    part: Part


class UsageUpdate(Struct, frozen=True, tag="usage"):
    """The tokens counted so far."""

    usage: Usage


class ErrorEvent(Struct, frozen=True, tag="error"):
    """The provider reported an error, or the connection broke; `Finish` follows."""

    error: ReplyError


class Finish(Struct, frozen=True, omit_defaults=True, tag="finish"):
    """The reply is over."""

    reason: FinishReason
    detail: str = ""
    """The provider's own word for the reason, or why the stream broke off."""
    usage: Usage | None = None
    refusal: str | None = None
    """Why the model or the provider declined, where it says so."""
    extra: Extra = {}
    """What the reply said besides, under the format's name."""
    message_extra: Extra = {}
    """What the message said besides its parts."""
    changes: tuple[Change, ...] = ()


Event: TypeAlias = (
    ReplyStart
    | TextDelta
    | ThinkingDelta
    | SignatureDelta
    | CallStart
    | ArgumentsDelta
    | PartEnd
    | UsageUpdate
    | ErrorEvent
    | Finish
)
