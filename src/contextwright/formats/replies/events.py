"""Events of a streamed reply: one vocabulary for all providers.

A stream is: `ReplyStart`, then the deltas of each part followed by its `PartEnd`, then `Finish`,
exactly once and last. `index` identifies a part; the parts of the message are in the order of their
indices. The deltas of a part, joined, equal the text that `PartEnd` carries. A part may continue
after its `PartEnd`; the next `PartEnd` with the same index replaces it.
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
"""Why a reply ended. `length`: the output limit; `context`: the model's window was full; `refusal`:
the model declined; `filter`: the provider withheld the answer; `pause`: a hosted tool wants to
continue; `interrupted`: the stream ended too early.
"""

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
    """The tokens of one reply. `input` includes cached and written tokens, `output` reasoning."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Input read from the provider's prompt cache."""
    written: int = 0
    """Input written to the provider's prompt cache."""
    reasoning: int = 0
    """Output spent on thinking."""


class ReplyError(Struct, frozen=True, omit_defaults=True):
    """An error a provider returned, or a broken connection."""

    kind: ErrorKind
    message: str
    status: int | None = None
    """The HTTP status; within a stream, the status the error would have had."""
    type: str | None = None
    """The provider's own name for it."""
    retry_after: float | None = None
    """Seconds to wait before a retry, as the provider asked."""


class ReplyStart(Struct, frozen=True, omit_defaults=True, tag="reply_start"):
    """The reply begins."""

    id: str | None = None
    model: str | None = None
    usage: Usage | None = None


class TextDelta(Struct, frozen=True, omit_defaults=True, tag="text"):
    """A piece of text."""

    index: int
    text: str
    refusal: bool = False
    slot: str = ""
    """Where the sending provider keeps the part, after its format (`openai-chat/reasoning`): read
    only by a writer of the same format.
    """


class ThinkingDelta(Struct, frozen=True, omit_defaults=True, tag="thinking"):
    """A piece of reasoning."""

    index: int
    text: str
    slot: str = ""
    """As in `TextDelta`."""


def slot_of(format: str, place: str) -> str:
    """Return the slot of a part that a format keeps in a place; empty if it has none."""
    return f"{format}/{place}" if place else ""


def place_in(format: str, slot: str) -> str:
    """Return the place of a part in a format; empty if another format sent it."""
    sender, _, place = slot.partition("/")
    return place if sender == format else ""


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
    """Whether the tool takes free text: the arguments are that text, not JSON."""
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
    """The token counts so far."""

    usage: Usage


class ErrorEvent(Struct, frozen=True, tag="error"):
    """The provider reported an error, or the connection broke. `Finish` follows."""

    error: ReplyError


class Finish(Struct, frozen=True, omit_defaults=True, tag="finish"):
    """The reply has ended."""

    reason: FinishReason
    detail: str = ""
    """The provider's own word for the reason, or why the stream was interrupted."""
    usage: Usage | None = None
    refusal: str | None = None
    """Why the model or the provider declined, if it says so."""
    extra: Extra = {}
    """Leftover fields of the reply, under the format's name."""
    message_extra: Extra = {}
    """Leftover fields of the message."""
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
