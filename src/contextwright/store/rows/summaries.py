"""Rows of summaries. Each is written once, and found by the last message it covers."""

from __future__ import annotations

import msgspec

from contextwright.errors import StoreError
from contextwright.store.engines.base import Connection, Row
from contextwright.store.records import StoredSummary
from contextwright.summaries.digest import BLOCK_MESSAGES
from contextwright.summaries.summary import Summary
from contextwright.text.json import decoder

__all__ = [
    "INSERT",
    "NEWEST",
    "ROWS",
    "SETTLED",
    "copy_to_fork",
    "decoded",
    "every",
    "first_of",
    "forget_from",
    "is_undone",
    "keep",
    "redo",
    "undo",
]

NEWEST = """
SELECT body, last FROM summaries WHERE conversation = ? AND name = ? AND last <= ?
ORDER BY last DESC LIMIT 1"""
SETTLED = f"""
SELECT body, last FROM summaries
WHERE conversation = ? AND name = ? AND last <= ?
AND last / {BLOCK_MESSAGES} * {BLOCK_MESSAGES} = last
ORDER BY last DESC LIMIT 1"""
INSERT = """
INSERT INTO summaries (conversation, name, last, made, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (conversation, name, last) DO NOTHING"""
ROWS = """
SELECT name, last, made, body FROM summaries WHERE conversation = ? ORDER BY name, last"""
FORK = """
INSERT INTO summaries (conversation, name, last, made, body)
SELECT ?, name, last, made, body FROM summaries WHERE conversation = ? AND last <= ?"""

UNDONE = "undone:"
"""Prefix of the name of a summary that was undone. Its row stays, so that it is not made again."""

decode = decoder(Summary).decode


def first_of(rows: list[Row]) -> Summary | None:
    """Return the summary of the first row; None if there are no rows."""
    return decoded(*rows[0]) if rows else None


def decoded(body: str, last: int) -> Summary:
    """Return the summary of a row.

    Raises:
        StoreError: it cannot be read, or covers other messages.
    """
    try:
        summary = decode(body)
    except (msgspec.DecodeError, UnicodeError):
        summary = None
    if summary is None or summary.last != last:
        hint = "cw doctor --repair removes it"
        raise StoreError(f"the summary up to message {last} is damaged", hint=hint)
    return summary


def keep(
    connection: Connection, number: int, marked: int, name: str, at: str, found: list[Summary]
) -> Summary | None:
    """Store summaries, except existing ones; return the last one as it is stored.

    Returns None and stores nothing if messages were hidden or pinned since they were read.

    Args:
        marked: how often messages had been hidden or pinned when they were read.
    """
    sql = f"SELECT marked FROM heads WHERE conversation = ?{connection.for_update}"
    if connection.rows(sql, number) != [(marked,)]:
        return None
    rows = [(number, name, one.last, at, msgspec.json.encode(one).decode()) for one in found]
    connection.run_many(INSERT, rows)
    return first_of(connection.rows(NEWEST, number, name, found[-1].last))


def every(connection: Connection, number: int) -> list[StoredSummary]:
    """Return the summaries of a conversation that are not undone, by name and last message."""
    rows = connection.rows(ROWS, number)
    return [
        StoredSummary(name, made, decoded(body, last))
        for name, last, made, body in rows
        if not name.startswith(UNDONE)
    ]


def undo(connection: Connection, number: int, name: str) -> Summary | None:
    """Undo the summary of this name that covers the most messages, and return it."""
    last = connection.rows("SELECT last FROM heads WHERE conversation = ?", number)
    found = first_of(connection.rows(NEWEST, number, name, last[0][0])) if last else None
    if found is not None:
        redo(connection, number, name, found.last)
        sql = "UPDATE summaries SET name = ? WHERE conversation = ? AND name = ? AND last = ?"
        connection.run(sql, UNDONE + name, number, name, found.last)
    return found


def redo(connection: Connection, number: int, name: str, last: int) -> None:
    """Let a summary that was undone be made again."""
    sql = "DELETE FROM summaries WHERE conversation = ? AND name = ? AND last = ?"
    connection.run(sql, number, UNDONE + name, last)


def is_undone(connection: Connection, number: int, name: str, last: int) -> bool:
    """Whether the summary up to this message was undone."""
    sql = "SELECT 1 FROM summaries WHERE conversation = ? AND name = ? AND last = ?"
    return bool(connection.rows(sql, number, UNDONE + name, last))


def forget_from(connection: Connection, number: int, seq: int) -> None:
    """Remove all summaries that may cover a message."""
    connection.run("DELETE FROM summaries WHERE conversation = ? AND last >= ?", number, seq)


def copy_to_fork(connection: Connection, parent: int, number: int, at: int) -> None:
    """Copy the summaries of the shared messages to a fork."""
    connection.run(FORK, number, parent, at)
