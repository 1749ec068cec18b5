"""Reading: messages in order, by number, from a conversation and those it was forked from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import intern
from typing import get_args

import msgspec

from contextwright.errors import NotFound, StoreError, shown
from contextwright.messages.message import Message, Visibility
from contextwright.messages.quotes import GONE, is_gone, quoted_id, stone_of, unquoted
from contextwright.store.engines.base import AS_BYTES, Connection, Engine, Row
from contextwright.store.records import StoredMessage
from contextwright.store.rows import conversations
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import STAND_IN, damage_of, read_message

__all__ = [
    "BODIES",
    "OURS",
    "PAGE",
    "VISIBILITIES",
    "between",
    "bodies_between",
    "each",
    "each_message",
    "marked",
    "public",
    "marks_between",
    "rows_between",
    "with_missing",
    "without_gone_text",
    "without_lost_quotes",
]

OURS = "\x1f"
"""Prefix of keys that the store made itself."""

PAGE = 128
"""Messages read at once, so that no transaction stays open while the caller works."""

VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
"""What a mark can say."""

MAX_IDS = 1_000
"""Ids of messages in one statement; SQLite takes 32,766 values."""

BETWEEN = f"""
SELECT m.seq, {AS_BYTES.format("m.body")}, m.digest, t.key, t.stored
FROM messages m LEFT JOIN turns t ON t.conversation = m.conversation AND t.first = (
    SELECT max(first) FROM turns WHERE conversation = m.conversation AND first <= m.seq)
WHERE m.conversation = ? AND m.seq BETWEEN ? AND ? ORDER BY m.seq"""
MARKS = """
SELECT seq, visibility, pinned FROM marks WHERE conversation = ? AND seq BETWEEN ? AND ?"""
LOST = f"""
SELECT origin FROM marks
WHERE conversation = ? AND visibility IN {GONE} AND origin IN ({{}})"""
BODIES = """
SELECT seq, body, digest FROM messages
WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq"""


def each(
    engine: Engine,
    tenant: str,
    id: str,
    start: int = 0,
    stop: int | None = None,
    *,
    hidden: bool = False,
) -> Iterator[StoredMessage]:
    """Read messages from one number up to, but not including, another, page by page.

    Messages added meanwhile are not included. The text of hidden and deleted messages is included
    only with `hidden`.
    """

    def found(connection: Connection) -> tuple[Head, int]:
        head = conversations.seen(connection, tenant, id)
        return head, conversations.length_of(connection, head, id)

    head, length = engine.read(found)
    last = length if stop is None else min(stop - 1, length)
    for first in range(max(start, 1), last + 1, PAGE):
        page = range(first, min(first + PAGE, last + 1))
        stored = engine.read(
            lambda connection, page=page: between(connection, head, page[0], page[-1])
        )
        yield from stored if hidden else map(without_gone_text, stored)


def without_gone_text(stored: StoredMessage) -> StoredMessage:
    """Return a message as readers see it: without its text if it is gone."""
    if stored.damage or not is_gone(stored.message):
        return stored
    return msgspec.structs.replace(stored, message=stone_of(stored.message))


def between(connection: Connection, head: Head, first: int, last: int) -> list[StoredMessage]:
    """Return the messages with these numbers, both ends included.

    Raises:
        NotFound: the conversation was removed meanwhile.
    """
    rows = rows_between(connection, head, BETWEEN, first, last)
    rows = with_missing(connection, head.number, rows, first, last, (b"", None, None, None))
    marks = marks_between(connection, head, first, last)
    stored = [as_stored(row, marks.get(row[0])) for row in rows]
    messages = without_lost_quotes(connection, head.number, [one.message for one in stored])
    return [
        one if one.message is message else msgspec.structs.replace(one, message=message)
        for one, message in zip(stored, messages, strict=True)
    ]


def without_lost_quotes(
    connection: Connection, number: int, messages: Sequence[Message]
) -> list[Message]:
    """Return messages without quotes of hidden, deleted or erased ones."""
    asked = sorted({id for message in messages if (id := quoted_id(message)) is not None})
    if not asked:
        return list(messages)
    lost: set[str] = set()
    for start in range(0, len(asked), MAX_IDS):
        some = asked[start : start + MAX_IDS]
        sql = LOST.format(", ".join("?" * len(some)))
        lost.update(origin for (origin,) in connection.rows(sql, number, *some))
    return [unquoted(one) if quoted_id(one) in lost else one for one in messages]


def marks_between(connection: Connection, head: Head, first: int, last: int) -> dict[int, Row]:
    """Return the current visibility and pin of these messages, by number."""
    marks: dict[int, Row] = {}
    for seq, visibility, pinned in connection.rows(MARKS, head.number, first, last):
        marks[seq] = require_state(visibility), pinned
    return marks


def rows_between(connection: Connection, head: Head, sql: str, first: int, last: int) -> list[Row]:
    """Return rows of a conversation and its parents, each from its owner."""
    return [row for part in head.parts(first, last) for row in connection.rows(sql, *part)]


def with_missing(
    connection: Connection, number: int, rows: list[Row], first: int, last: int, blank: Row
) -> list[Row]:
    """Return rows with a blank one for each that a damaged file lacks: a damaged message.

    Raises:
        NotFound: the conversation was removed meanwhile.
    """
    if len(rows) == last - first + 1:
        return rows
    if conversations.state_of(connection, number) is None:
        raise NotFound("the conversation was removed while it was read")
    found = {row[0]: row for row in rows}
    return [found.get(seq, (seq, *blank)) for seq in range(first, last + 1)]


def bodies_between(
    connection: Connection, number: int, first: int, last: int
) -> list[tuple[str, int]]:
    """Return the JSON of a conversation's own messages, with their digests."""
    return [(body, digest) for _, body, digest in connection.rows(BODIES, number, first, last)]


def each_message(connection: Connection, head: Head, last: int) -> Iterator[tuple[int, Message]]:
    """Yield number and message of every message up to one, as written."""
    for first in range(1, last + 1, PAGE):
        stop = min(first + PAGE - 1, last)
        for seq, body, digest in rows_between(connection, head, BODIES, first, stop):
            yield seq, read_message(body, digest)


def as_stored(row: Row, mark: Row | None) -> StoredMessage:
    """Return a row as a value."""
    seq, body, digest, key, stored_at = row
    message = read_message(body, digest)
    damage = damage_of(message, seq)
    if mark is not None:
        message = marked(message, *mark)
    own_key = None if key is None or key.startswith(OURS) else key
    return StoredMessage(seq, own_key, message, damage, stored_at)


def public(
    body: str | bytes, digest: int, visibility: str | None, pinned: int | None
) -> Message | None:
    """Return a message with its current marks; None if it is hidden or deleted.

    A damaged message is its placeholder, unless a mark hides it.
    """
    message = marked(read_message(body, digest), require_state(visibility), pinned)
    shown_as = visibility or "public" if STAND_IN in message.meta else message.visibility
    return message if shown_as == "public" else None


def require_state(visibility: str | None) -> str | None:
    """Return what a mark says of who sees a message.

    Raises:
        StoreError: it says something else.
    """
    if visibility is not None and visibility not in VISIBILITIES:
        hint = "cw doctor --repair hides it"
        raise StoreError(f"a message is marked as {shown(visibility)}", hint=hint)
    return visibility


def marked(message: Message, visibility: str | None, pinned: int | None) -> Message:
    """Return a message with its current marks; a placeholder for a damaged one stays hidden."""
    if visibility is None and pinned is None:
        return message
    if STAND_IN in message.meta and visibility not in GONE:
        return message
    return msgspec.structs.replace(
        message,
        # The very object of the default, because msgspec tells by it what to leave out of JSON.
        visibility=message.visibility if visibility is None else intern(visibility),
        pinned=message.pinned if pinned is None else bool(pinned),
    )
