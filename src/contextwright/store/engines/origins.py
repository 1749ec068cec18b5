"""Data that older stores lack: ids of messages that are gone, and events as events."""

from __future__ import annotations

import msgspec

from contextwright.messages.message import Message
from contextwright.messages.quotes import GONE, source_id
from contextwright.messages.speech import REPLY_TOOLS
from contextwright.store.engines.base import Connection
from contextwright.store.engines.digests import digest_of
from contextwright.text.json import decoder, encode_json

__all__ = ["fill_origins"]

MARKED = f"SELECT conversation, seq FROM marks WHERE visibility IN {GONE}"
BODY = "SELECT body FROM messages WHERE conversation = ? AND seq = ?"
PARENT = "SELECT parent FROM conversations WHERE number = ? AND parent IS NOT NULL"
SET = "UPDATE marks SET origin = ? WHERE conversation = ? AND seq = ?"
SYSTEM = "SELECT conversation, seq, body FROM messages WHERE kind = 1 ORDER BY conversation, seq"
REWRITE = """
UPDATE messages SET body = ?, digest = ?, kind = NULL WHERE conversation = ? AND seq = ?"""
INTERNAL = """
INSERT INTO marks (conversation, seq, visibility) VALUES (?, ?, 'internal')
ON CONFLICT (conversation, seq) DO NOTHING"""
CALLING = "SELECT DISTINCT conversation FROM messages WHERE body LIKE ?"
CHATS = ("slack/", "telegram/")
"""Prefixes of the sources of chat exports, which contain no system text."""

decode = decoder(Message).decode


def fill_origins(connection: Connection) -> None:
    """Record the ids of messages that are gone, and turn imported system messages into events."""
    found: list[tuple[str, int, int]] = []
    for number, seq in connection.rows(MARKED):
        message = message_at(connection, number, seq)
        origin = None if message is None else source_id(message)
        if origin is not None:
            found.append((origin, number, seq))
    connection.run_many(SET, found)
    for number, seq, body in connection.rows(SYSTEM):
        message = decoded(body)
        if message is not None and str(message.meta.get("source")).startswith(CHATS):
            event = msgspec.structs.replace(
                message, role="user", kind="event", visibility="internal"
            )
            written = encode_json(event).decode()
            connection.run(REWRITE, written, digest_of(written), number, seq)
            connection.run(INTERNAL, number, seq)
    forget_index(connection)


def forget_index(connection: Connection) -> None:
    """Remove the index of conversations with speech through tools, because it lacks that text."""
    for tool in REPLY_TOOLS:
        for (number,) in connection.rows(CALLING, f'%"{tool}"%'):
            connection.run(connection.texts.remove, number)
            for table in ("outlines", "indexed", "vectors"):
                connection.run(f"DELETE FROM {table} WHERE conversation = ?", number)


def message_at(connection: Connection, number: int, seq: int) -> Message | None:
    """Return a message of a conversation, possibly a parent's; None if it cannot be read."""
    while True:
        for (body,) in connection.rows(BODY, number, seq):
            return decoded(body)
        above = connection.rows(PARENT, number)
        if not above:
            return None
        ((number,),) = above


def decoded(body: str) -> Message | None:
    """Return a stored message; None if it cannot be read."""
    try:
        return decode(body)
    except (msgspec.DecodeError, UnicodeError):
        return None
