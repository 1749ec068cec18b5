"""Stored summaries: each written once, found by the last message it covers, gone when one hides.

A digest is a pure function of the messages, and is kept so that none of them is read twice. What
a model wrote is kept because it cannot be made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from contextwright.errors import SummaryError
from contextwright.messages import Message
from contextwright.store import conversations, reading
from contextwright.store.engine import Connection, Row
from contextwright.store.records import StoredSummary
from contextwright.summaries import BLOCK, NOBODY, Digest, Summarise, Summary, Told, made

if TYPE_CHECKING:
    from contextwright.store.chat import Chat

__all__ = [
    "INSERT",
    "ROWS",
    "Looking",
    "StoreSummaries",
    "copy_to_fork",
    "every",
    "forget_from",
    "keep",
    "undo",
]

TRIES = 3
"""So often a summary is made anew because messages were hidden meanwhile."""
HIDDEN = "messages were hidden while it was made"

NEWEST = """
SELECT body FROM summaries WHERE conversation = ? AND name = ? AND last <= ?
ORDER BY last DESC LIMIT 1"""
SETTLED = f"""
SELECT body FROM summaries
WHERE conversation = ? AND name = ? AND last <= ? AND last / {BLOCK} * {BLOCK} = last
ORDER BY last DESC LIMIT 1"""
INSERT = """
INSERT INTO summaries (conversation, name, last, made, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (conversation, name, last) DO NOTHING"""
ROWS = """
SELECT name, last, made, body FROM summaries WHERE conversation = ? ORDER BY name, last"""
FORK = """
INSERT INTO summaries (conversation, name, last, made, body)
SELECT ?, name, last, made, body FROM summaries WHERE conversation = ? AND last <= ?"""

decode = msgspec.json.Decoder(Summary).decode


class Known(Struct, frozen=True):
    """What is there of summaries, and the state of the conversation they belong to."""

    head: conversations.Head
    marked: int
    """How often messages of it had been hidden or pinned."""
    newest: Summary | None
    settled: Summary | None
    """The newest that a digest can go on from."""


class Looking:
    """Makes no summary: it only sees how far one would reach."""

    def __init__(self) -> None:
        self.last = 0

    def upto(self, last: int) -> Told:
        """Note the last message that is left out."""
        self.last = last
        return Told()


class StoreSummaries:
    """The summaries of one chat, made one way, and kept.

    Whoever writes them is asked by `ask`, when the cut is final: until then a build is told what is
    there. A program's excerpts are made at once.
    """

    def __init__(self, chat: Chat, summarise: Summarise) -> None:
        self.chat, self.summarise = chat, summarise
        self._missing = 0
        """The last message of the summary that the last build lacked; 0 where it lacked none."""
        self._is_asked = False
        self._failure = ""
        """Why it lacked it, as far as that is known."""
        if summarise.using is None:
            self._failure = NOBODY
        elif summarise.background:
            self._failure = chat.store.background.failure(self._key) or "it is being written"

    def upto(self, last: int) -> Told:
        """The summary of all messages up to one, or the longest there is of fewer."""
        if self.summarise.is_digest:
            return self._digested(last)
        newest = self._known(last).newest
        is_there = newest is not None and newest.last == last
        self._missing = 0 if is_there else last
        return Told(newest) if is_there else Told(newest, self._failure)

    def ask(self) -> bool:
        """Have written what the last build lacked, once; whether there is more to tell now."""
        if not self._missing or self._is_asked or self.summarise.using is None:
            return False
        self._is_asked, last = True, self._missing
        if self.summarise.background:
            own = StoreSummaries(self.chat, self.summarise)
            self.chat.store.background.start(self._key, lambda: own.further(last).failure)
            return False
        self._failure = self._written(self._known(last), last).failure
        return True

    def further(self, last: int) -> Told:
        """Make all that is missing, step by step, until it is there or one fails."""
        while True:
            if self.summarise.is_digest:
                return self._digested(last)
            known = self._known(last)
            if known.newest is not None and known.newest.last == last:
                return Told(known.newest)
            told = self._written(known, last)
            if told.failure:
                return told

    def whole(self, last: int) -> Summary | None:
        """The summary of all messages up to one, made if it is not there.

        Raises:
            SummaryError: it cannot be made.
        """
        told = self.further(last)
        if told.failure:
            raise SummaryError(f"no summary of messages 1 to {last}: {told.failure}")
        return told.summary

    @property
    def _key(self) -> tuple[str, str, str]:
        """What it is known by in the background: one of a kind is written at a time."""
        return self.chat.store.tenant, self.chat.id, self.summarise.name

    def _digested(self, last: int) -> Told:
        """The digest of all messages up to one: read where the last one that can grow ended."""
        for _ in range(TRIES):
            known = self._known(last)
            if known.newest is not None and known.newest.last == last:
                return Told(known.newest)
            digest = Digest(self.summarise.longest, known.settled)
            settled: Summary | None = None
            for _, message in self._messages(known, digest.last + 1, last):
                digest.add(message)
                if digest.is_settled:
                    settled = digest.summary
            found = [digest.summary] if settled is None else [settled, digest.summary]
            if self._keep(known, found):
                return Told(digest.summary)
        return Told(failure=HIDDEN)

    def _written(self, known: Known, last: int) -> Told:
        """A summary that goes on from the newest there is, as far as one request reaches."""
        newest = known.newest
        first = newest.last + 1 if newest else 1
        told = made(self.summarise, newest, self._messages(known, first, last))
        if told.summary is None or told.summary is newest:
            return told
        kept = self._keep(known, [told.summary])
        return Told(kept) if kept else Told(newest, HIDDEN)

    def _known(self, last: int) -> Known:
        """What is there, all of one moment."""
        tenant, id, name = self.chat.store.tenant, self.chat.id, self.summarise.name

        def work(connection: Connection) -> Known:
            head = conversations.require(connection, tenant, id)
            state = conversations.state_of(connection, head.number)
            if state is None:
                raise conversations.unknown(id)
            newest, settled = (
                first_of(connection.rows(sql, head.number, name, last)) for sql in (NEWEST, SETTLED)
            )
            return Known(head, state[1], newest, settled)

        return self.chat.store.engine.read(work)

    def _messages(self, known: Known, first: int, last: int) -> Iterator[tuple[int, Message]]:
        """Messages with their numbers, both ends included, read page by page."""
        for start in range(first, last + 1, reading.PAGE):
            stop = min(start + reading.PAGE - 1, last)
            page = self.chat.store.engine.read(
                lambda connection, start=start, stop=stop: reading.between(
                    connection, known.head, start, stop
                )
            )
            yield from ((stored.seq, stored.message) for stored in page)

    def _keep(self, known: Known, found: list[Summary]) -> Summary | None:
        """Store summaries, and give the last as it is stored; None if they tell too much by now."""
        name, at = self.summarise.name, datetime.now(UTC).isoformat(timespec="seconds")
        return self.chat.store.engine.write(
            lambda connection: keep(connection, known.head.number, known.marked, name, at, found),
            self.chat.id,
        )


def first_of(rows: list[Row]) -> Summary | None:
    """The summary of the first row."""
    return decode(rows[0][0]) if rows else None


def keep(
    connection: Connection, number: int, marked: int, name: str, at: str, found: list[Summary]
) -> Summary | None:
    """Store summaries, unless messages were hidden since they were read; what is there stays."""
    sql = f"SELECT marked FROM heads WHERE conversation = ?{connection.for_update}"
    if connection.rows(sql, number) != [(marked,)]:
        return None
    rows = [(number, name, one.last, at, msgspec.json.encode(one).decode()) for one in found]
    connection.run_many(INSERT, rows)
    return first_of(connection.rows(NEWEST, number, name, found[-1].last))


def every(connection: Connection, number: int) -> list[StoredSummary]:
    """All summaries of a conversation, those made one way together, in order."""
    rows = connection.rows(ROWS, number)
    return [StoredSummary(name, made, decode(body)) for name, _, made, body in rows]


def undo(connection: Connection, number: int, name: str) -> Summary | None:
    """Remove the summary made one way that reaches furthest; the one before it stands again."""
    last = connection.rows("SELECT last FROM heads WHERE conversation = ?", number)
    found = first_of(connection.rows(NEWEST, number, name, last[0][0])) if last else None
    if found is not None:
        sql = "DELETE FROM summaries WHERE conversation = ? AND name = ? AND last = ?"
        connection.run(sql, number, name, found.last)
    return found


def forget_from(connection: Connection, number: int, seq: int) -> None:
    """Remove all summaries that may tell of a message: it was hidden, or shown again."""
    connection.run("DELETE FROM summaries WHERE conversation = ? AND last >= ?", number, seq)


def copy_to_fork(connection: Connection, parent: int, number: int, at: int) -> None:
    """A fork has the summaries of what it begins with."""
    connection.run(FORK, number, parent, at)
