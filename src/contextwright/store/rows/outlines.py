"""Rows of outlines: one line per message, next to the index of terms."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from contextwright.messages.message import Message
from contextwright.recall.outline import Lines, lines_of
from contextwright.store.engines.base import Connection
from contextwright.text.json import decoder

__all__ = ["add", "remove"]

ROW = 500
"""Maximum messages of a row that was merged."""

INSERT = "INSERT INTO outlines (conversation, first, body) VALUES (?, ?, ?)"
REMOVE = "DELETE FROM outlines WHERE conversation = ? AND first >= ?"
BEFORE = """
SELECT first FROM outlines WHERE conversation = ? AND first < ? ORDER BY first DESC LIMIT 10"""
BODY = "SELECT body FROM outlines WHERE conversation = ? AND first = ?"
decode_lines = decoder(Lines).decode


def add(connection: Connection, number: int, messages: Sequence[tuple[int, Message]]) -> None:
    """Store the outline of consecutive messages, merged with smaller rows before them.

    So a line is written again only when its row at least doubles.
    """
    lines, first = lines_of(message for _, message in messages), messages[0][0]
    for (start,) in connection.rows(BEFORE, number, first):
        count = first - start
        if count > len(lines.sizes) or count + len(lines.sizes) > ROW:
            break
        ((body,),) = connection.rows(BODY, number, start)
        lines, first = decode_lines(body).with_lines(lines), start
    connection.run(REMOVE, number, first)
    connection.run(INSERT, number, first, msgspec.json.encode(lines).decode())


def remove(connection: Connection, number: int) -> None:
    """Remove the outline of a conversation."""
    connection.run(REMOVE, number, 0)
