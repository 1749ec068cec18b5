"""Rows of outlines: one line per message, next to the index of terms."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from contextwright.messages.message import Message
from contextwright.recall.outline import lines_of
from contextwright.store.engines.base import Connection

__all__ = ["add", "remove"]

INSERT = "INSERT INTO outlines (conversation, first, body) VALUES (?, ?, ?)"


def add(connection: Connection, number: int, messages: Sequence[tuple[int, Message]]) -> None:
    """Store the outline of consecutive messages."""
    lines = lines_of(message for _, message in messages)
    connection.run(INSERT, number, messages[0][0], msgspec.json.encode(lines).decode())


def remove(connection: Connection, number: int) -> None:
    """Remove the outline of a conversation."""
    connection.run("DELETE FROM outlines WHERE conversation = ?", number)
