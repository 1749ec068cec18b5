"""Hidden, deleted and erased messages, and quotes of them in replies.

A reply's excerpt is removed together with the message it quotes. A reply names that message by the
id it has where it was sent: `meta["message_id"]`, or the end of `meta["source"]` for an imported
message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from contextwright.messages.message import Message

__all__ = [
    "GONE",
    "SOURCE",
    "is_gone",
    "quoted_id",
    "source_id",
    "stone_of",
    "unquoted",
    "without_quotes",
]

GONE = ("hidden", "deleted", "erased")
"""Visibilities of messages whose text is never shown."""
SOURCE = "source"
"""Key in `Message.meta`: which message of which source this is. It is the same in every import."""

replace = msgspec.structs.replace


def is_gone(message: Message) -> bool:
    """Whether the text of a message must not be shown."""
    return message.visibility in GONE


def source_id(message: Message) -> str | None:
    """Return the id by which replies name a message; None if it has none."""
    if "message_id" in message.meta:
        return str(message.meta["message_id"])
    source = message.meta.get(SOURCE)
    return source.rpartition("/")[2] or None if isinstance(source, str) else None


def quoted_id(message: Message) -> str | None:
    """Return the id of the message that a reply quotes; None if it quotes nothing."""
    reply = message.reply_to
    return reply.message_id if reply and (reply.excerpt or reply.media) else None


def unquoted(message: Message, excerpt: str | None = None) -> Message:
    """Return a reply without the quoted text and media, or with another excerpt."""
    if message.reply_to is None:
        return message
    return replace(message, reply_to=replace(message.reply_to, excerpt=excerpt, media=()))


def without_quotes(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages without quotes of those among them that are gone."""
    lost = ids_of(message for message in messages if is_gone(message))
    if not lost:
        return messages
    return [unquoted(one) if quoted_id(one) in lost else one for one in messages]


def ids_of(messages: Iterable[Message]) -> Collection[str]:
    """Return the ids by which replies name these messages."""
    return {id for message in messages if (id := source_id(message)) is not None}


def stone_of(message: Message) -> Message:
    """Return what readers see of a message that is gone: its sender and time."""
    return Message(
        message.role,
        (),
        message.author,
        sent_at=message.sent_at,
        kind=message.kind,
        turn=message.turn,
        pinned=message.pinned,
        visibility=message.visibility,
    )
