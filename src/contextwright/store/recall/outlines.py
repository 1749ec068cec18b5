"""Read the outlines of conversations from the index, and cache them in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from threading import Lock

from contextwright.messages.message import Message
from contextwright.recall.outline import Columns, Outline, Page, SessionState, columns_of
from contextwright.store.engines.base import Connection
from contextwright.store.engines.numbers import damaged
from contextwright.store.rows.conversations import Head
from contextwright.text.json import decoder

__all__ = ["INDEXED", "Outlines", "columns_after"]

MAX_MESSAGES = 1_000_000
"""Maximum number of messages in memory, with about 100 bytes each."""

MAX_CONVERSATIONS = 1_000
"""Maximum number of conversations in memory."""
decode_columns = decoder(Columns).decode

# From the row that contains a message on. It need not begin there, because reindexing may have
# divided the rows differently.
AFTER = """
SELECT first, body FROM outlines WHERE conversation = ? AND first >= (
    SELECT max(first) FROM outlines WHERE conversation = ? AND first <= ?) ORDER BY first"""
INDEXED = "SELECT last FROM indexed WHERE conversation = ?"
REWRITTEN = "SELECT rewritten FROM heads WHERE conversation = ?"


class Outlines:
    """A cache of outlines. Safe for several threads."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, Page] = OrderedDict()
        self._rewritten: dict[int, int] = {}
        """How often messages of each conversation had been rewritten when its page was read."""
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
        """Return the outline of a conversation and its parents, up to a message.

        Args:
            last: the last message of the outline.
            behind: the messages of each conversation that the index lacks.
        """
        pages: list[tuple[int, int, Page]] = []
        stops = accumulate((own - 1 for _, own in head.line[:-1]), min, initial=last)
        before: SessionState | None = None
        with self._lock:  # no page may grow meanwhile
            for (number, own), stop in reversed([*zip(head.line, stops, strict=True)]):
                if own > stop:
                    continue
                page = self._page(connection, number, own, before)
                new = (message for seq, message in behind.get(number, ()) if seq > page.last)
                tail = Page.empty(page.last + 1, page.state_at(page.last))
                tail.extend(columns_of(new))
                pages += (own, min(stop, page.last), page), (tail.first, stop, tail)
                before = (page if stop <= page.last else tail).state_at(stop)
            return Outline(reversed(pages))

    def forget(self, number: int | None) -> None:
        """Drop the cached page of a conversation, or of all."""
        with self._lock:
            for one in [*self._pages] if number is None else [number]:
                self._drop(one)

    def _page(
        self, connection: Connection, number: int, own: int, before: SessionState | None
    ) -> Page:
        """Return the current page of a conversation's own indexed messages.

        Args:
            own: the number of its first own message.
            before: the state after the message before.
        """
        rewritten = sum(count for (count,) in connection.rows(REWRITTEN, number))
        if self._rewritten.get(number, rewritten) != rewritten:
            self._drop(number)
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = Page.empty(own, before)
            self._rewritten[number] = rewritten
        before_size = len(page.sessions)
        for lines in columns_after(connection, number, page.last):
            page.extend(lines)
        self._pages.move_to_end(number)
        self._size += len(page.sessions) - before_size
        while (self._size > MAX_MESSAGES or len(self._pages) > MAX_CONVERSATIONS) and len(
            self._pages
        ) > 1:
            self._drop(next(iter(self._pages)))
        return page

    def _drop(self, number: int) -> None:
        """Drop the cached page of a conversation, if there is one."""
        page = self._pages.pop(number, None)
        self._rewritten.pop(number, None)
        self._size -= len(page.sessions) if page else 0


def columns_after(connection: Connection, number: int, last: int) -> list[Columns]:
    """Read the columns of a conversation's own indexed messages after one.

    Raises:
        StoreError: some of them are missing.
    """
    found: list[Columns] = []
    for (reached,) in connection.rows(INDEXED, number):
        if reached <= last:
            continue
        for first, body in connection.rows(AFTER, number, number, last + 1):
            lines, known = decode_columns(body), last + 1 - first
            if not 0 <= known <= len(lines.sizes):
                break
            found.append(lines.skip(known))
            last += len(found[-1].sizes)
        if last < reached:
            raise damaged(connection, number, "index")
    return found
