"""Rows of the index of terms: how far it goes, what it lacks, and the outline next to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from contextwright.messages.message import Message
from contextwright.recall.outline import Columns, columns_of
from contextwright.store.engines.base import Connection, Row
from contextwright.store.engines.numbers import damaged
from contextwright.store.rows import messages as reading
from contextwright.store.rows.conversations import Head, ends_at
from contextwright.store.rows.damage import read_message
from contextwright.text.json import decoder

__all__ = ["Gap", "Place", "add_outline", "gap_of", "gaps_of", "set_indexed", "read", "remove"]

Place: TypeAlias = tuple[int, int]
"""The conversation that owns a message, and the message's number."""

GAPS = """
SELECT c.number, coalesce(i.last, c.fork_at, 0), h.last FROM conversations c
JOIN heads h ON h.conversation = c.number
LEFT JOIN indexed i ON i.conversation = c.number
WHERE c.tenant = ? AND h.last <> coalesce(i.last, c.fork_at, 0)"""
INDEXED = """
INSERT INTO indexed (conversation, last) VALUES (?, ?)
ON CONFLICT (conversation) DO UPDATE SET last = excluded.last"""
MAX_ROW_MESSAGES = 500
"""Maximum messages of an outline's row that was merged."""
OUTLINE = "INSERT INTO outlines (conversation, first, body) VALUES (?, ?, ?)"
REMOVE = "DELETE FROM outlines WHERE conversation = ? AND first >= ?"
BEFORE = """
SELECT first FROM outlines WHERE conversation = ? AND first < ? ORDER BY first DESC LIMIT 10"""
BODY = "SELECT body FROM outlines WHERE conversation = ? AND first = ?"

decode_columns = decoder(Columns).decode


class Gap(Struct, frozen=True):
    """Messages of a conversation that are not indexed yet: all after one of them."""

    conversation: int
    indexed: int
    last: int


def gaps_of(connection: Connection, tenant: str, head: Head | None = None) -> list[Gap]:
    """Return what the index lacks of a tenant, or of one conversation and its origins."""
    if head is None:
        return [gap_of(connection, row) for row in connection.rows(GAPS, tenant)]
    rows = (connection.rows(f"{GAPS} AND c.number = ?", tenant, one) for one, _ in head.line)
    return [gap_of(connection, row) for found in rows for row in found]


def gap_of(connection: Connection, row: Row) -> Gap:
    """Return a row as a value.

    Raises:
        StoreError: the index goes further than the conversation, or that has a damaged end.
    """
    gap = Gap(*row)
    ends_at(connection, gap.conversation)
    if not 0 <= gap.indexed <= gap.last:
        raise damaged(connection, gap.conversation, "index")
    return gap


def set_indexed(connection: Connection, number: int, last: int) -> None:
    """Record that a conversation's own messages are indexed up to this one."""
    connection.run(INDEXED, number, last)


def remove(connection: Connection, number: int) -> None:
    """Remove the terms and the outline of a conversation."""
    connection.run(connection.texts.remove, number)
    connection.run(REMOVE, number, 0)


def read(
    connection: Connection, number: int, first: int, last: int
) -> Iterator[tuple[int, Message]]:
    """Yield messages that a conversation owns, with their numbers."""
    rows = connection.rows(reading.BODIES, number, first, last)
    blank = (b"", None)
    if any(type(row[0]) is not int for row in rows):  # whoever asks for the next would never end
        raise damaged(connection, number, "number of a message")
    for seq, body, digest in reading.with_missing(connection, number, rows, first, last, blank):
        yield seq, read_message(body, digest)


def add_outline(
    connection: Connection, number: int, messages: Sequence[tuple[int, Message]]
) -> None:
    """Store one line for each of consecutive messages, merged with smaller rows before them.

    So a line is written again only when its row at least doubles.
    """
    lines, first = columns_of(message for _, message in messages), messages[0][0]
    for (start,) in connection.rows(BEFORE, number, first):
        count = first - start
        if count > len(lines.sizes) or count + len(lines.sizes) > MAX_ROW_MESSAGES:
            break
        ((body,),) = connection.rows(BODY, number, start)
        lines, first = decode_columns(body).extended(lines), start
    connection.run(REMOVE, number, first)
    connection.run(OUTLINE, number, first, msgspec.json.encode(lines).decode())
