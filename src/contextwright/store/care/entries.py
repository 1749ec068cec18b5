"""Conversations as rows, to copy or compare whole: read in pages, identified by digests."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import msgspec
from msgspec import Struct

from contextwright.errors import shown
from contextwright.store.engines.base import Connection, Engine, Row
from contextwright.store.engines.digests import digest_of
from contextwright.store.rows.damage import is_damaged, stand_in_body
from contextwright.store.rows.kinds import SET_ASIDE

__all__ = [
    "ANSWERS",
    "CALLS",
    "Entry",
    "MARKS",
    "MESSAGES",
    "TURNS",
    "content_of",
    "entries_of",
    "entry_of",
    "named",
    "pages",
    "whole_of",
]

ENTRIES = """
SELECT c.number, c.tenant, c.id, c.title, c.agent, c.settings, p.id, c.fork_at, c.created,
    h.last, h.marked, h.length
FROM conversations c JOIN heads h ON h.conversation = c.number
LEFT JOIN conversations p ON p.number = c.parent"""
ALL = f"{ENTRIES} ORDER BY c.number"
NAMED = f"{ENTRIES} WHERE c.tenant = ? AND c.id = ?"
MESSAGES = """
SELECT seq, joins, kind, body, length, digest FROM messages
WHERE conversation = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT 500"""
TURNS = """
SELECT first, count, key, stored FROM turns
WHERE conversation = ? AND first > ? AND first <= ? ORDER BY first LIMIT 500"""
MARKS = "SELECT seq, visibility, pinned, origin FROM marks WHERE conversation = ? ORDER BY seq"
ANSWERS = "SELECT seq, joins FROM answers WHERE conversation = ? ORDER BY seq, joins"
CALLS = """
SELECT seq, part, id, name FROM open_calls WHERE conversation = ? ORDER BY seq, part"""


class Entry(Struct, frozen=True):
    """A conversation as the tables `conversations` and `heads` have it."""

    number: int
    tenant: str
    id: str
    title: str | None
    agent: str | None
    settings: str
    parent: str | None
    fork_at: int | None
    created: str
    last: int
    marked: int
    length: int

    @property
    def before(self) -> int:
        """The last message that belongs to a parent."""
        return self.fork_at or 0

    @property
    def own(self) -> int:
        """The number of its own messages."""
        return self.last - self.before


def entries_of(connection: Connection) -> list[Entry]:
    """Return all conversations of all tenants at one moment, so that no fork lacks its parent."""
    entries = [Entry(*row) for row in connection.rows(ALL)]
    sum(entry.own for entry in entries)  # numbers: others are refused here, as a damaged row
    return entries


def entry_of(connection: Connection, tenant: str, id: str) -> Entry | None:
    """Return a conversation by its id."""
    for row in connection.rows(NAMED, tenant, id):
        return Entry(*row)
    return None


def pages(
    engine: Engine, sql: str, number: int, after: int, last: int, *more: int
) -> Iterator[list[Row]]:
    """Yield rows of a conversation after one number up to another, page by page."""

    def work(connection: Connection, after: int) -> list[Row]:
        rows = connection.rows(sql, number, after, last, *more)
        return [with_stand_in(row) for row in rows] if sql is MESSAGES else rows

    while rows := engine.read(lambda connection, after=after: work(connection, after)):
        yield rows
        after = rows[-1][0]


def with_stand_in(row: Row) -> Row:
    """Return the row of a message, with a placeholder for a damaged body."""
    seq, joins, kind, body, length, digest = row
    if is_damaged(body, digest):
        body = stand_in_body(body)
        return seq, joins, SET_ASIDE, body, length, digest_of(body)
    return seq, joins, kind, body if isinstance(body, str) else body.decode(), length, digest


def whole_of(engine: Engine, entry: Entry, last: int) -> bytes:
    """Return the digest of everything stored of a conversation, up to a message."""
    marks = engine.read(lambda connection: connection.rows(MARKS, entry.number))
    about = [entry.tenant, entry.id, entry.title, entry.agent, entry.settings]
    about += [entry.parent, entry.fork_at]
    digest = blake2b(msgspec.json.encode([about, marks]), digest_size=16)
    digest.update(content_of(engine, entry, last))
    return digest.digest()


def content_of(engine: Engine, entry: Entry, last: int) -> bytes:
    """Return the digest of a conversation's own messages and turns, up to a message."""
    digest = blake2b(digest_size=16)
    for sql in (MESSAGES, TURNS):
        for rows in pages(engine, sql, entry.number, entry.before, last):
            digest.update(b"".join(msgspec.json.encode(row) for row in rows))
    return digest.digest()


def named(entry: Entry) -> str:
    """Describe a conversation."""
    tenant = f" of {shown(entry.tenant)}" if entry.tenant else ""
    return f"conversation {shown(entry.id)}{tenant}"
