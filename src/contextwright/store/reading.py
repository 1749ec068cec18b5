"""Reading: messages in order, by number, from a conversation and those it was forked from."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from contextwright.errors import NotFound
from contextwright.messages import Message
from contextwright.store.conversations import Head
from contextwright.store.engine import Connection, Row
from contextwright.store.hygiene import decode_message
from contextwright.store.records import Stored

__all__ = [
    "BODIES",
    "OURS",
    "PAGE",
    "between",
    "bodies_between",
    "each_body",
    "marked",
    "marks_between",
    "rows_between",
]

OURS = "\x1f"
"""How keys begin that we gave ourselves."""

PAGE = 128
"""Messages read at once: no view of the store stays open while a caller thinks."""

BETWEEN = """
SELECT m.seq, m.body, (
    SELECT t.key FROM turns t WHERE t.conversation = m.conversation AND t.first <= m.seq
    ORDER BY t.first DESC LIMIT 1)
FROM messages m WHERE m.conversation = ? AND m.seq BETWEEN ? AND ? ORDER BY m.seq"""
MARKS = """
SELECT seq, visibility, pinned FROM marks WHERE conversation = ? AND seq BETWEEN ? AND ?"""
BODIES = """
SELECT seq, body FROM messages WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq"""


def between(connection: Connection, head: Head, first: int, last: int) -> list[Stored]:
    """The messages with these numbers, both ends included.

    Raises:
        NotFound: some are gone, because the conversation was forgotten meanwhile.
    """
    rows = rows_between(connection, head, BETWEEN, first, last)
    if len(rows) != last - first + 1:
        raise NotFound("the conversation was forgotten while it was read")
    marks = marks_between(connection, head, first, last)
    return [as_stored(row, marks.get(row[0])) for row in rows]


def marks_between(connection: Connection, head: Head, first: int, last: int) -> dict[int, Row]:
    """What was said of these messages since: visibility and pin, by number."""
    return {row[0]: row[1:] for row in connection.rows(MARKS, head.number, first, last)}


def rows_between(connection: Connection, head: Head, sql: str, first: int, last: int) -> list[Row]:
    """Rows of a conversation's line, each from the conversation it was written in."""
    parts: list[list[Row]] = []
    for number, own in head.line:
        if last >= own:
            parts.append(connection.rows(sql, number, max(first, own), last))
            last = own - 1
        if last < first:
            break
    return [row for part in reversed(parts) for row in part]


def bodies_between(connection: Connection, number: int, first: int, last: int) -> list[str]:
    """The JSON of a conversation's own messages."""
    return [row[1] for row in connection.rows(BODIES, number, first, last)]


def each_body(connection: Connection, head: Head, last: int) -> Iterator[tuple[int, str]]:
    """Number and JSON of every message up to one, as they were written."""
    for first in range(1, last + 1, PAGE):
        stop = min(first + PAGE - 1, last)
        for row in rows_between(connection, head, BODIES, first, stop):
            yield row[0], row[1]


def as_stored(row: Row, mark: Row | None) -> Stored:
    """A row as a value."""
    seq, body, key = row
    message = decode_message(body)
    if mark is not None:
        message = marked(message, *mark)
    return Stored(seq, None if key is None or key.startswith(OURS) else key, message)


def marked(message: Message, visibility: str | None, pinned: int | None) -> Message:
    """A message as it counts now."""
    return msgspec.structs.replace(
        message,
        visibility=message.visibility if visibility is None else visibility,
        pinned=message.pinned if pinned is None else bool(pinned),
    )
