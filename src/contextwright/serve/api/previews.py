"""Messages as a list shows them: what kind of parts they have, and how each begins."""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

from contextwright.messages.message import Author, Kind, Reply, Role, Visibility
from contextwright.messages.parts import (
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextwright.store.records import StoredMessage
from contextwright.text.json import json_text

__all__ = ["MessagePreview", "PartPreview", "opening", "part_preview", "preview_of"]

PartKind: TypeAlias = Literal["text", "thinking", "tool_call", "tool_result", "media", "opaque"]


class PartPreview(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a message: its kind, and how it begins."""

    kind: PartKind
    text: str
    chars: int
    name: str | None = None
    call_id: str | None = None
    is_error: bool = False
    mime: str | None = None


class MessagePreview(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message in a list."""

    seq: int
    role: Role
    parts: list[PartPreview]
    key: str | None = None
    author: Author | None = None
    sent_at: str | None = None
    stored_at: str | None = None
    reply_to: Reply | None = None
    kind: Kind = "message"
    turn: int | None = None
    pinned: bool = False
    visibility: Visibility = "public"
    tokens: int | None = None
    damage: str = ""


def opening(text: str, chars: int) -> str:
    """Return the beginning of a text, in one line."""
    return " ".join(text[: chars * 2].split())[:chars]


def preview_of(stored: StoredMessage, chars: int, tokens: int | None = None) -> MessagePreview:
    """Return a message with the first characters of each part."""
    message = stored.message
    return MessagePreview(
        seq=stored.seq,
        role=message.role,
        parts=[part_preview(part, chars) for part in message.parts],
        key=stored.key,
        author=message.author,
        sent_at=message.sent_at,
        stored_at=stored.stored_at,
        reply_to=without_media(message.reply_to),
        kind=message.kind,
        turn=message.turn,
        pinned=message.pinned,
        visibility=message.visibility,
        tokens=tokens,
        damage=stored.damage,
    )


def part_preview(part: Part, chars: int) -> PartPreview:
    """Return the kind of a part and its first characters; the bytes of media are left out."""
    match part:
        case Text():
            return cut("text", part.text, chars)
        case Thinking():
            return cut("thinking", part.text, chars)
        case ToolCall():
            return cut("tool_call", part.json, chars, name=part.name, call_id=part.id)
        case ToolResult():
            return cut(
                "tool_result",
                part.text,
                chars,
                name=part.name,
                call_id=part.call_id,
                is_error=part.is_error,
            )
        case Media():
            words = part.name or part.url or part.file_id or ""
            return cut("media", words, chars, name=part.kind, mime=part.mime)
        case Opaque():
            words = json_text(part.data) if part.text is None else part.text
            return cut("opaque", words, chars, name=part.format)
        case _:
            assert_never(part)


def cut(
    kind: PartKind,
    text: str,
    chars: int,
    *,
    name: str | None = None,
    call_id: str | None = None,
    is_error: bool = False,
    mime: str | None = None,
) -> PartPreview:
    """Return a preview with no more than some characters."""
    return PartPreview(
        kind=kind,
        text=text[:chars],
        chars=len(text),
        name=name,
        call_id=call_id,
        is_error=is_error,
        mime=mime,
    )


def without_media(reply: Reply | None) -> Reply | None:
    """Return what a message answers, without the media that it showed."""
    return reply and Reply(reply.message_id, reply.author, reply.excerpt)
