"""Counting a conversation once: running totals, read where they are stored and added where not."""

from __future__ import annotations

from bisect import bisect_left

from contextwright.prices import FREE, Price, Priced
from contextwright.store import conversations, totals
from contextwright.store.engine import Connection
from contextwright.store.pages import Pages

__all__ = ["CHUNK", "Tally"]

CHUNK = 64
"""Totals read at once, and messages that were never counted."""


class Tally:
    """What the messages of a conversation cost by one meter, as far as anyone asked."""

    def __init__(self, pages: Pages, meter: str, price: Price) -> None:
        self.meter, self.price = meter, price
        self.new: dict[int, Priced] = {}
        """Totals that were counted here and not stored yet."""
        self._pages = pages
        self.conversation = pages.head.number
        self._number: int | None = None
        self._totals: dict[int, Priced] = {}
        self._length = 0
        self._ends: tuple[int, int] | None = None
        """The first and the last of the stored totals; None if there were none."""

    def enough(self, connection: Connection, length: int, tokens: int) -> int:
        """The message from which on everything costs more than so many tokens, if any."""
        self._number = totals.meter_number(connection, self.meter)
        self._length, self._ends = length, None
        self._totals = self._stored(connection, length, CHUNK)
        newest, lowest = max(self._totals, default=None), min(self._totals, default=length)
        if newest is None:
            self._totals[length] = FREE
        else:
            self._count_behind(connection, newest)
        while lowest > 0 and self._behind(lowest) <= tokens:
            lowest = self._count_before(connection, lowest)
        if newest is None:
            self._begin_with_nothing(lowest)
        seqs = range(lowest, length)
        little = bisect_left(seqs, True, key=lambda seq: self._behind(seq) <= tokens)
        return max(lowest + little, 1)

    def reach_back(self, connection: Connection, first: int) -> None:
        """Count from a message on."""
        lowest = min(self._totals)
        while lowest >= first:
            lowest = self._count_before(connection, lowest)

    def grow(self, connection: Connection, length: int) -> None:
        """Go on to a message behind what was counted."""
        since, self._length = self._length, length
        if self._number is None:
            self._number = totals.meter_number(connection, self.meter)
        stored = self._stored(connection, length, length - since)
        self._totals.update({seq: total for seq, total in stored.items() if seq > since})
        self._count_behind(connection, max(stored, default=since))

    def at(self, connection: Connection, seq: int) -> Priced | None:
        """The running total up to a message; None if it was never counted."""
        total = self._totals.get(seq)
        if total is None and self._number is not None:
            total = totals.row_at(connection, self.conversation, self._number, seq)
            if total is not None:
                self._totals[seq] = total
        return total

    def write(self, connection: Connection) -> None:
        """Store what was counted here."""
        if conversations.locked_length(connection, self._pages.head) is not None:
            totals.write(connection, self.conversation, self.meter, self.new, self._ends)

    def _behind(self, seq: int) -> int:
        """The least that everything behind a message can cost."""
        behind = self._totals[self._length] - self._totals[seq]
        return behind.cost - behind.savings.both

    def _stored(self, connection: Connection, last: int, most: int) -> dict[int, Priced]:
        """The newest totals up to a message that were stored before this."""
        if self._number is None:
            return {}
        return totals.newest(connection, self.conversation, self._number, last, most)

    def _count_behind(self, connection: Connection, newest: int) -> None:
        """Count what was added since."""
        if newest == self._length:
            return
        self._note_ends(connection)
        self._pages.read(connection, newest + 1, self._length)
        total = self._totals[newest]
        for seq in range(newest + 1, self._length + 1):
            total += Priced.of(self._pages.message(seq), self.price)
            self._totals[seq] = self.new[seq] = total

    def _count_before(self, connection: Connection, lowest: int) -> int:
        """Look, or count, further back; gives how far."""
        older = self._stored(connection, lowest - 1, CHUNK)
        if older:
            self._totals.update(older)
            return min(older)
        self._note_ends(connection)
        first = max(lowest - CHUNK + 1, 1)
        self._pages.read(connection, first, lowest)
        for seq in range(lowest, first - 1, -1):
            total = self._totals[seq] - Priced.of(self._pages.message(seq), self.price)
            self._totals[seq - 1] = self.new[seq - 1] = total
        return first - 1

    def _begin_with_nothing(self, lowest: int) -> None:
        """Let the totals begin at zero where counting began."""
        origin = self._totals[lowest]
        for seq, total in self._totals.items():
            self._totals[seq] = self.new[seq] = total - origin

    def _note_ends(self, connection: Connection) -> None:
        """Remember what was stored, before anything is added to it."""
        if self._ends is None and self._number is not None and not self.new:
            ends = "SELECT min(seq), max(seq) FROM totals WHERE conversation = ? AND meter = ?"
            ((first, last),) = connection.rows(ends, self.conversation, self._number)
            self._ends = None if first is None else (first, last)
