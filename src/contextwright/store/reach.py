"""How much of a conversation one build has to read: its end, and what no window may drop.

A build is never given the old messages. What it gets is a `History` with places left for them, and
their price where it is known; if a window asks for more, more is read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from contextwright.history import History, Unread
from contextwright.messages import Message, ToolResult
from contextwright.prices import FREE, Priced
from contextwright.store.engine import Connection
from contextwright.store.pages import Pages
from contextwright.store.tally import CHUNK, Tally

__all__ = ["Reach", "kind_of"]

SYSTEM, QUESTION, ASKED = 1, 2, 3
"""Kinds of messages that are looked for: system messages, words of a user beside results, and
words of a user alone."""

OF_KIND = """
SELECT seq FROM messages WHERE conversation = ? AND kind = ? AND seq BETWEEN ? AND ?"""
NEWEST_OF_KIND = """
SELECT m.seq FROM messages m
WHERE m.conversation = ? AND m.kind = ? AND m.seq BETWEEN ? AND ? AND NOT EXISTS (
    SELECT 1 FROM marks k WHERE k.conversation = ? AND k.seq = m.seq AND k.visibility <> 'public')
ORDER BY m.seq DESC LIMIT 1"""
ANSWERS = "SELECT seq FROM messages WHERE conversation = ? AND joins = ?"
PINNED = "SELECT seq FROM marks WHERE conversation = ? AND pinned = 1 AND seq < ?"
HIDDEN = """
SELECT seq FROM marks WHERE conversation = ? AND visibility <> 'public' AND seq < ? ORDER BY seq"""


def kind_of(message: Message) -> int | None:
    """What a message will be looked for as; None if it never is."""
    if message.role == "system":
        return SYSTEM
    if message.role != "user" or message.kind != "message" or is_mere_result(message):
        return None
    return QUESTION if message.results else ASKED


def is_mere_result(message: Message) -> bool:
    """Whether a message says nothing of its own."""
    return all(type(part) is ToolResult for part in message.parts)


class Reach:
    """What one build reads of one conversation; `further` makes the next read go twice as far."""

    def __init__(
        self, pages: Pages, tally: Tally, length: int, *, tokens: int, first: int, newest: int = 0
    ) -> None:
        self.length = length
        self.newest = newest
        """So many of the newest messages are read, whatever they cost."""
        self._pages, self._tally, self._head = pages, tally, pages.head
        self._tokens = max(tokens, 1)
        self._first = first
        self._there: set[int] = set()
        self._reached = FREE

    def further(self) -> None:
        """Ask for more."""
        self._tokens *= 2
        self._first = max(self._first * 2, 8)

    def fill(self, connection: Connection, history: History) -> None:
        """Give a history what is in reach, and places for what is not."""
        enough = self._tally.enough(connection, self.length, self._tokens)
        cut = self._whole_end(connection, min(enough, max(self.length - self.newest + 1, 1)))
        self._tally.reach_back(connection, cut)
        wanted = list(range(cut, self.length + 1))
        if cut > 1:
            apart = self._with_exchanges(connection, self._apart(connection, cut), cut)
            wanted = [*sorted(apart), *wanted]
        self._there, self._reached = set(), FREE
        self._append(connection, history, wanted, 0)
        self._pages.forget()

    def grow(self, connection: Connection, history: History, length: int) -> bool:
        """Add what came since; False if that belongs to something that was not read."""
        first, self.length = self.length + 1, length
        self._tally.grow(connection, length)
        self._pages.read(connection, first, length)
        new = range(first, length + 1)
        joined = {joins for seq in new if (joins := self._pages.joins(seq)) is not None}
        if not joined <= self._there | set(new):
            return False
        self._append(connection, history, new, first - 1)
        self._pages.forget()
        return True

    def _whole_end(self, connection: Connection, cut: int) -> int:
        """The cut, moved back so that what is behind it can stand alone."""
        while True:
            self._pages.read(connection, cut, self.length)
            near = [cut]
            if cut > 1 and self._is_stray(cut):
                near.append(cut - 1)
            for seq in range(cut, self.length + 1):
                joins = self._pages.joins(seq)
                if joins is not None and cut - CHUNK <= joins < cut:
                    near.append(joins)
            if min(near) == cut:
                return cut
            cut = min(near)

    def _is_stray(self, seq: int) -> bool:
        """Whether a message holds nothing but results of calls that are not there."""
        return self._pages.joins(seq) is None and is_mere_result(self._pages.message(seq))

    def _apart(self, connection: Connection, cut: int) -> set[int]:
        """What stands before the cut and is wanted in any case."""
        own = self._head.number
        apart = set(range(1, min(self._first + 1, cut)))
        apart.update(seq for (seq,) in connection.rows(PINNED, own, cut))
        for number, first in self._head.line:
            rows = connection.rows(OF_KIND, number, SYSTEM, first, cut - 1)
            apart.update(seq for (seq,) in rows)
        for kind in (ASKED, QUESTION):
            for number, first in self._head.line:
                rows = connection.rows(NEWEST_OF_KIND, number, kind, first, cut - 1, own)
                if rows:
                    apart.add(rows[0][0])
                    break
        return apart

    def _with_exchanges(self, connection: Connection, apart: set[int], cut: int) -> set[int]:
        """What stands before the cut and is wanted, and all that belongs to it or to the end."""
        end = (self._pages.joins(seq) for seq in range(cut, self.length + 1))
        found = apart | {joins for joins in end if joins is not None and joins < cut}
        whole = set(found)
        while found:
            related: set[int] = set()
            for seq in found:
                self._pages.read(connection, seq, seq)
                joins = self._pages.joins(seq)
                if joins is not None:
                    related.add(joins)
                if self._pages.message(seq).calls:
                    for number, _ in self._head.line:
                        related.update(one for (one,) in connection.rows(ANSWERS, number, seq))
            found = {seq for seq in related - whole if seq < cut}
            whole |= found
        return whole

    # --- the history ---------------------------------------------------------------------------

    def _append(
        self, connection: Connection, history: History, wanted: Sequence[int], done: int
    ) -> None:
        """What was read, in order, with places for what was not."""
        hidden: list[int] = []
        if len(wanted) < self.length - done:
            rows = connection.rows(HIDDEN, self._head.number, self.length)
            hidden = [seq for (seq,) in rows]
        for seq in wanted:
            if seq > done + 1:
                unread = self._unread(connection, done + 1, seq - 1, hidden)
                history.skip(unread)
                self._reached += unread.priced
            message, tally = self._pages.message(seq), self._tally
            total, before = tally.at(connection, seq), tally.at(connection, seq - 1)
            if total is None or before is None:
                priced = Priced.of(message, tally.price)
                total = self._reached + priced
            else:
                priced = total - before
            history.append(message, priced)
            self._reached, done = total, seq
        self._there.update(wanted)

    def _unread(self, connection: Connection, first: int, last: int, hidden: list[int]) -> Unread:
        """Neighbours that stay unread: how many, and what they cost."""
        count = last - first + 1
        out = hidden[bisect_left(hidden, first) : bisect_right(hidden, last)]
        total = self._tally.at(connection, last)
        known = self._tally.at(connection, first - 1) is not None
        # Running totals are told, not differences: so the grid of a window stays where it is,
        # however much of what lies before was ever counted.
        priced = FREE if total is None else total - self._reached
        return Unread(count, tuple(seq - 1 for seq in out), priced, is_counted=known)
