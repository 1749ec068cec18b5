"""A message, its author, and the tools it may call."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.messages.parts import Extra, Media, Part, Text, ToolCall, ToolResult
from contextwright.messages.times import read_time

__all__ = ["Author", "Message", "Reply", "Role", "Tool", "Visibility"]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


Kind: TypeAlias = Literal["message", "summary", "note", "event"]


Visibility: TypeAlias = Literal["public", "hidden", "internal", "deleted", "erased"]
"""Who sees a message. Only public messages are sent to a model. The text of hidden, deleted and
erased ones is never shown; the text of erased ones is no longer stored anywhere.
"""


class Author(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The sender of a message: any of an id, a display name and a username."""

    id: str | None = None
    name: str | None = None
    username: str | None = None

    @property
    def label(self) -> str:
        """The best available name of this person."""
        return self.name or self.username or self.id or "unknown"


class Reply(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The message that another one replies to: its id, author and an excerpt."""

    message_id: str | None = None
    author: Author | None = None
    excerpt: str | None = None
    media: tuple[Media, ...] = ()
    """The media that it showed, if known; sent only by recipes with `reply_media`."""


class Message(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One entry of a conversation."""

    role: Role
    parts: tuple[Part, ...] = ()
    """Its content, in order."""
    author: Author | None = None
    """The person who wrote it; several people may speak in one conversation."""
    reply_to: Reply | None = None
    """The message that it replies to."""
    sent_at: str | None = None
    """The time in its original spelling; `time` parses it."""
    kind: Kind = "message"
    """`event` is a join, a title or the like, which no model sees as a message."""
    turn: int | None = None
    """The number of its turn, if the source counts turns."""
    pinned: bool = False
    """Whether it stays in every window."""
    visibility: Visibility = "public"
    """Only public messages are sent to a model."""
    meta: dict[str, Any] = {}
    """Data of your own; never sent to a model."""
    extra: Extra = {}
    """Fields of a format that has no counterpart here; written back to that format only."""

    @property
    def text(self) -> str:
        """The text, without thinking, calls and results."""
        if len(self.parts) == 1 and type(part := self.parts[0]) is Text:  # nine of ten
            return part.text
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls among the parts."""
        return tuple([part for part in self.parts if type(part) is ToolCall])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results among the parts."""
        if len(self.parts) == 1 and type(self.parts[0]) is Text:  # nine of ten
            return ()
        return tuple([part for part in self.parts if type(part) is ToolResult])

    @property
    def only_results(self) -> bool:
        """Whether it holds tool results and nothing else; an empty message does not."""
        for part in self.parts:
            if type(part) is not ToolResult:
                return False
        return bool(self.parts)

    @property
    def time(self) -> datetime | None:
        """`sent_at` as a datetime; None if it is missing or cannot be parsed."""
        return read_time(self.sent_at) if self.sent_at else None

    def with_parts(self, parts: Iterable[Part]) -> Message:
        """Return the message with other parts."""
        return msgspec.structs.replace(self, parts=tuple(parts))


class Tool(Struct, frozen=True, tag="tool", omit_defaults=True, forbid_unknown_fields=True):
    """A tool the model may call; `parameters` is plain JSON Schema."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    extra: Extra = {}
