"""Rows of the index of terms: how far it goes, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from contextwright.messages.message import Message
from contextwright.store.engines.base import Connection
from contextwright.store.rows import messages as reading
from contextwright.store.rows import outlines
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import read_message

__all__ = ["Gap", "Place", "gaps_of", "note", "read", "remove"]

Place: TypeAlias = tuple[int, int]
"""The conversation that owns a message, and the message's number."""

GAPS = """
SELECT c.number, coalesce(i.last, c.fork_at, 0), h.last FROM conversations c
JOIN heads h ON h.conversation = c.number
LEFT JOIN indexed i ON i.conversation = c.number
WHERE c.tenant = ? AND h.last > coalesce(i.last, c.fork_at, 0)"""
INDEXED = """
INSERT INTO indexed (conversation, last) VALUES (?, ?)
ON CONFLICT (conversation) DO UPDATE SET last = excluded.last"""


class Gap(Struct, frozen=True):
    """Messages of a conversation that are not indexed yet: all after one of them."""

    conversation: int
    indexed: int
    last: int


def gaps_of(connection: Connection, tenant: str, head: Head | None = None) -> list[Gap]:
    """Return what the index lacks of a tenant, or of one conversation and its origins."""
    if head is None:
        return [Gap(*row) for row in connection.rows(GAPS, tenant)]
    rows = (connection.rows(f"{GAPS} AND c.number = ?", tenant, one) for one, _ in head.line)
    return [Gap(*row) for found in rows for row in found]


def note(connection: Connection, number: int, last: int) -> None:
    """Record that a conversation's own messages are indexed up to this one."""
    connection.run(INDEXED, number, last)


def remove(connection: Connection, number: int) -> None:
    """Remove the terms and the outline of a conversation."""
    connection.run(connection.texts.remove, number)
    outlines.remove(connection, number)


def read(
    connection: Connection, number: int, first: int, last: int
) -> Iterator[tuple[int, Message]]:
    """Yield messages that a conversation owns, with their numbers."""
    for seq, body, digest in connection.rows(reading.BODIES, number, first, last):
        yield seq, read_message(body, digest)
