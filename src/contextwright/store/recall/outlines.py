"""Outlines of conversations: rows next to the word index, cached in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from threading import Lock

from contextwright.messages.message import Message
from contextwright.recall.outline import End, Lines, Outline, Page, lines_of
from contextwright.store.engines.base import Connection
from contextwright.store.engines.numbers import damaged
from contextwright.store.rows.conversations import Head
from contextwright.text.json import decoder

__all__ = ["INDEXED", "Outlines", "lines_after"]

ROOM = 1_000_000
"""Maximum number of messages whose outlines are in memory: about 100 bytes each."""

MOST = 1_000
"""Maximum number of conversations in memory."""
decode_lines = decoder(Lines).decode

# The row of the next message on, if there is one: reindexing may have divided rows differently.
AFTER = """
SELECT first, body FROM outlines WHERE conversation = ? AND first >= (
    SELECT max(first) FROM outlines WHERE conversation = ? AND first <= ?) ORDER BY first"""
INDEXED = "SELECT last FROM indexed WHERE conversation = ?"
REWRITTEN = "SELECT rewritten FROM heads WHERE conversation = ?"


class Outlines:
    """The outlines in memory, for any number of threads."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, Page] = OrderedDict()
        self._rewritten: dict[int, int] = {}
        """How many times messages of each had been rewritten; it is no longer valid after that."""
        self._size = 0
        """Number of messages in all pages."""
        self._lock = Lock()

    def outline(
        self,
        connection: Connection,
        head: Head,
        last: int,
        behind: Mapping[int, Sequence[tuple[int, Message]]],
    ) -> Outline:
        """Return the outline of a conversation up to a message, with those it was forked from.

        `behind` has the messages of each that are not indexed yet.
        """
        pages: list[tuple[int, int, Page]] = []
        stops = accumulate((own - 1 for _, own in head.line[:-1]), min, initial=last)
        before: End | None = None
        with self._lock:  # nothing grows while it is read
            for (number, own), stop in reversed([*zip(head.line, stops, strict=True)]):
                if own > stop:
                    continue
                page = self._page(connection, number, own, before)
                new = (message for seq, message in behind.get(number, ()) if seq > page.last)
                tail = Page.empty(page.last + 1, page.end(page.last))
                tail.extend(lines_of(new))
                pages += (own, min(stop, page.last), page), (tail.first, stop, tail)
                before = (page if stop <= page.last else tail).end(stop)
            return Outline(reversed(pages))

    def forget(self, number: int | None) -> None:
        """Drop the outline of a conversation, or of all."""
        with self._lock:
            for one in [*self._pages] if number is None else [number]:
                self._drop(one)

    def _page(self, connection: Connection, number: int, own: int, before: End | None) -> Page:
        """Return the outline of a conversation's own messages, as far as they are indexed."""
        rewritten = sum(count for (count,) in connection.rows(REWRITTEN, number))
        if self._rewritten.get(number, rewritten) != rewritten:
            self._drop(number)
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = Page.empty(own, before)
            self._rewritten[number] = rewritten
        before_size = len(page.sessions)
        for lines in lines_after(connection, number, page.last):
            page.extend(lines)
        self._pages.move_to_end(number)
        self._size += len(page.sessions) - before_size
        while (self._size > ROOM or len(self._pages) > MOST) and len(self._pages) > 1:
            self._drop(next(iter(self._pages)))
        return page

    def _drop(self, number: int) -> None:
        """Drop the outline of a conversation, if it is here."""
        page = self._pages.pop(number, None)
        self._rewritten.pop(number, None)
        self._size -= len(page.sessions) if page else 0


def lines_after(connection: Connection, number: int, last: int) -> list[Lines]:
    """Return the outline of a conversation's own messages after one, as far as they are indexed.

    Raises:
        StoreError: it is not that of all of them.
    """
    found: list[Lines] = []
    for (reached,) in connection.rows(INDEXED, number):
        if reached <= last:
            continue
        for first, body in connection.rows(AFTER, number, number, last + 1):
            lines, known = decode_lines(body), last + 1 - first
            if not 0 <= known <= len(lines.sizes):
                break
            found.append(lines.behind(known))
            last += len(found[-1].sizes)
        if last < reached:
            raise damaged(connection, number, "index")
    return found
