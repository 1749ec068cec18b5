"""The numbers of a conversation, compared with its messages and turns: damaged ones are refused.

A wrong last number hides messages, or stands for millions that are not there; a wrong fork shows
those of another conversation. One message that is lost is not mistaken for that: its turn is there.
"""

from __future__ import annotations

from contextwright.errors import StoreError, shown
from contextwright.store.engines.base import Connection, Row

__all__ = ["LARGEST", "NEWEST", "damaged", "line_of", "require_end"]

NEWEST = """coalesce(
    (SELECT max(seq) FROM messages WHERE conversation = h.conversation),
    (SELECT fork_at FROM conversations WHERE number = h.conversation), 0)"""
"""The last message that is there, or is shared with a parent, for a row `h` of `heads`."""
END = f"SELECT h.last, {NEWEST} FROM heads h WHERE h.conversation = ?"
FIRST_TURN = "SELECT min(first) FROM turns WHERE conversation = ?"
LAST_TURN = "SELECT first, count FROM turns WHERE conversation = ? ORDER BY first DESC LIMIT 1"
NAME = "SELECT id FROM conversations WHERE number = ?"
LINE = """
WITH RECURSIVE line (depth, number, parent, fork_at) AS (
    SELECT 0, number, parent, fork_at FROM conversations WHERE tenant = ? AND number = ?
    UNION ALL
    SELECT line.depth + 1, c.number, c.parent, c.fork_at
    FROM line JOIN conversations c
    ON c.number = line.parent AND c.number < line.number AND c.tenant = ?
)
SELECT number, parent, fork_at, (SELECT min(seq) FROM messages WHERE conversation = line.number)
FROM line ORDER BY depth"""
"""A parent is older than its forks, so a damaged line ends too."""
LARGEST = 1 << 62
"""More than any number or length, and less than the databases hold."""


def require_end(
    connection: Connection, number: int, last: int, newest: int, length: int = 0
) -> None:
    """Refuse a last number that neither the messages nor the turns have, or no length.

    Raises:
        StoreError: with the conversation.
    """
    if last != newest:
        # Postgres may have read `newest` before it waited for others, who added messages.
        for last, newest in connection.rows(END, number):
            turns = connection.rows(LAST_TURN, number)
            if last not in (newest, *(first + count - 1 for first, count in turns)):
                raise damaged(connection, number, "end")
    if not 0 <= length < LARGEST:
        raise damaged(connection, number, "length")


def line_of(connection: Connection, tenant: str, number: int) -> list[tuple[int, int]]:
    """Return the numbers of a conversation and its parents, each with its own first message.

    Raises:
        StoreError: a parent is missing, or the messages begin elsewhere.
    """
    rows = connection.rows(LINE, tenant, number, tenant)
    for row in rows:
        if not is_origin(connection, row):
            raise damaged(connection, row[0], "origin")
    if rows and rows[-1][1] is not None:
        raise damaged(connection, rows[-1][0], "origin")
    return [(one, (fork_at or 0) + 1) for one, _, fork_at, _ in rows]


def is_origin(connection: Connection, row: Row) -> bool:
    """Whether a fork begins where its own messages do, or else its turns."""
    number, parent, fork_at, first = row
    if parent is None:
        return fork_at is None
    if fork_at is None or not 0 <= fork_at < LARGEST:
        return False
    return first in (None, fork_at + 1) or connection.rows(FIRST_TURN, number) == [(fork_at + 1,)]


def damaged(connection: Connection, number: int, what: str) -> StoreError:
    """Return the error for a number of a conversation that changed on disk."""
    ids = [id for (id,) in connection.rows(NAME, number)]
    of = shown(ids[0]) if ids else f"conversation {number}"
    return StoreError(f"the {what} of {of} is damaged", hint="cw doctor names what is wrong")
