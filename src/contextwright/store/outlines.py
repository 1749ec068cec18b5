"""Outlines of conversations: rows beside the index of words, and in memory once they were read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

import msgspec

from contextwright.messages import Message
from contextwright.recall.outline import Lines, Outline, Page, lines_of
from contextwright.store.conversations import Head
from contextwright.store.engine import Connection

__all__ = ["Outlines", "add", "remove"]

ROOM = 1_000_000
"""Messages whose outlines are kept in memory: about 100 bytes each."""

MOST = 1_000
"""Conversations of which they are."""

INSERT = "INSERT INTO outlines (conversation, first, body) VALUES (?, ?, ?)"
AFTER = "SELECT body FROM outlines WHERE conversation = ? AND first > ? ORDER BY first"


def add(connection: Connection, number: int, messages: Sequence[tuple[int, Message]]) -> None:
    """Keep the outline of messages that follow each other."""
    lines = lines_of(message for _, message in messages)
    connection.run(INSERT, number, messages[0][0], msgspec.json.encode(lines).decode())


def remove(connection: Connection, number: int) -> None:
    """Throw away the outline of a conversation."""
    connection.run("DELETE FROM outlines WHERE conversation = ?", number)


class Outlines:
    """The outlines that are in memory, for any number of threads."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, Page] = OrderedDict()
        self._lock = Lock()

    def outline(
        self,
        connection: Connection,
        head: Head,
        last: int,
        behind: Mapping[int, Sequence[tuple[int, Message]]],
    ) -> Outline:
        """The outline of a conversation up to a message, with those it was forked from.

        `behind` has the messages of each that are not indexed yet.
        """
        pages: list[tuple[int, int, Page]] = []
        for number, own in head.line:
            if own <= last:
                page = self._page(connection, number, own)
                new = behind.get(number, ())
                if new:
                    tail = following(page, (message for seq, message in new if seq > page.last))
                    pages.append((tail.first, last, tail))
                pages.append((own, min(last, page.last), page))
            last = min(last, own - 1)
        return Outline(pages)

    def forget(self, number: int) -> None:
        """Let go of the outline of a conversation."""
        with self._lock:
            self._pages.pop(number, None)

    def _page(self, connection: Connection, number: int, own: int) -> Page:
        """The outline of a conversation's own messages, as far as they are indexed."""
        with self._lock:
            page = self._pages.get(number)
            if page is None:
                page = self._pages[number] = Page.empty(own)
            for (body,) in connection.rows(AFTER, number, page.last):
                page.extend(msgspec.json.decode(body, type=Lines))
            self._pages.move_to_end(number)
            size = sum(len(one.sittings) for one in self._pages.values())
            while (size > ROOM or len(self._pages) > MOST) and len(self._pages) > 1:
                size -= len(self._pages.popitem(last=False)[1].sittings)
            return page


def following(page: Page, messages: Iterable[Message]) -> Page:
    """A page that goes on where one ends."""
    tail = Page.empty(page.last + 1, page.end if page.sittings else None)
    tail.extend(lines_of(messages))
    return tail
