"""Messages of one conversation, each read once."""

from __future__ import annotations

from msgspec import Struct

from contextwright.messages import Message
from contextwright.store import reading
from contextwright.store.conversations import Head
from contextwright.store.engine import Connection
from contextwright.store.hygiene import decode_message

__all__ = ["Page", "Pages"]

ROWS = """
SELECT seq, joins, body FROM messages WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq"""


class Page(Struct, frozen=True):
    """A message as it was read."""

    message: Message
    joins: int | None
    """The first earlier message with a call that it answers."""


class Pages:
    """What was read of a conversation, by number."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self._pages: dict[int, Page] = {}

    def read(self, connection: Connection, first: int, last: int) -> None:
        """Read messages, both ends included, that were not read yet."""
        missing = [seq for seq in range(first, last + 1) if seq not in self._pages]
        if not missing:
            return
        first, last = missing[0], missing[-1]
        marks = reading.marks_between(connection, self.head, first, last)
        for seq, joins, body in reading.rows_between(connection, self.head, ROWS, first, last):
            message = decode_message(body)
            if seq in marks:
                message = reading.marked(message, *marks[seq])
            self._pages[seq] = Page(message, joins)

    def message(self, seq: int) -> Message:
        """A message that was read."""
        return self._pages[seq].message

    def joins(self, seq: int) -> int | None:
        """The first earlier message with a call that this one answers."""
        return self._pages[seq].joins

    def forget(self) -> None:
        """Make room; what was read is read again when it is wanted."""
        self._pages.clear()
