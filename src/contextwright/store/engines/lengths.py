"""The length of a conversation up to each of its messages, for stores that lack it."""

from __future__ import annotations

import msgspec

from contextwright.messages.lengths import length_of
from contextwright.messages.message import Message
from contextwright.store.engines.base import Connection
from contextwright.text.json import decoder

__all__ = ["fill_lengths", "length_until"]

PAGE = 1_000
CONVERSATIONS = "SELECT number, parent, fork_at FROM conversations ORDER BY number"
BODIES = """
SELECT seq, body FROM messages WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?"""
LENGTH = "SELECT length FROM messages WHERE conversation = ? AND seq = ?"
PARENT = "SELECT parent FROM conversations WHERE number = ? AND parent < number"

decode = decoder(Message).decode


def fill_lengths(connection: Connection) -> None:
    """Write the lengths of all conversations; a fork continues from the length at its parent."""
    for number, parent, fork_at in connection.rows(CONVERSATIONS):
        length = 0 if parent is None else length_until(connection, parent, fork_at)
        seq = -1
        while rows := connection.rows(BODIES, number, seq, PAGE):
            found: list[tuple[int, int, int]] = []
            for seq, body in rows:
                length += length_of_body(body)
                found.append((length, number, seq))
            sql = "UPDATE messages SET length = ? WHERE conversation = ? AND seq = ?"
            connection.run_many(sql, found)
        connection.run("UPDATE heads SET length = ? WHERE conversation = ?", length, number)


def length_until(connection: Connection, number: int, seq: int) -> int:
    """Return the length of a conversation up to one of its messages, possibly a parent's."""
    while seq:
        for (length,) in connection.rows(LENGTH, number, seq):
            return length
        above = connection.rows(PARENT, number)
        if not above:
            return 0
        number = above[0][0]
    return 0


def length_of_body(body: str) -> int:
    """Return the length of a stored message; if it cannot be read, that of its body."""
    try:
        return length_of(decode(body))
    except (msgspec.DecodeError, UnicodeError):
        return len(body)
