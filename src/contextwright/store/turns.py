"""Writing: one turn in one transaction, once for each key."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TypeAlias

from contextwright.errors import Conflict, NotFound, shown
from contextwright.messages import Message
from contextwright.store import (
    calls,
    conversations,
    notes,
    reach,
    reading,
    search,
    summaries,
    totals,
)
from contextwright.store.engine import Connection, Value
from contextwright.store.hygiene import decode_message
from contextwright.store.records import Details

__all__ = ["Writing", "add", "forget", "fork", "mark", "new_name"]

Writing: TypeAlias = tuple[str, Sequence[Message], Sequence[str], str | None]
"""The id of a conversation, messages, their JSON, and the key of their turn."""

INSERT = "INSERT INTO messages (conversation, seq, joins, kind, body) VALUES (?, ?, ?, ?, ?)"
MARK = "INSERT INTO marks (conversation, seq, visibility, pinned) VALUES (?, ?, ?, ?)"
NAMED = "SELECT first, count FROM turns WHERE conversation = ? AND key = ?"


def new_name() -> str:
    """A key for a turn that has none; no caller's key begins like this."""
    return reading.OURS + secrets.token_urlsafe(16)


def add(
    connection: Connection,
    tenant: str,
    writing: Writing,
    counted: totals.Counted | None = None,
    told: Sequence[str] = (),
) -> list[int]:
    """Store a turn and give the numbers of its messages; a turn that is there already, its numbers.

    `told` are the events that the context before it told.

    Raises:
        Conflict: the key was used for other messages.
    """
    id, messages, bodies, key = writing
    head, last = conversations.locked(connection, tenant, id)
    if key is not None:
        for first, count in connection.rows(NAMED, head.number, key):
            require_same(connection, head.number, first, count, bodies, key)
            return list(range(first, first + count))
    first, number = last + 1, head.number
    joins = calls.join(connection, number, first, messages)
    connection.run_many(
        INSERT,
        [
            (number, first + place, joins[place], reach.kind_of(message), bodies[place])
            for place, message in enumerate(messages)
        ],
    )
    said = [(first + place, marks_of(message)) for place, message in enumerate(messages)]
    connection.run_many(MARK, [(number, seq, *marks) for seq, marks in said if marks])
    if counted is not None:
        totals.extend(connection, number, last, counted)
    turn = "INSERT INTO turns (conversation, first, count, key) VALUES (?, ?, ?, ?)"
    connection.run(turn, number, first, len(messages), key)
    if told:
        notes.count_accesses(connection, tenant, id, told)
    grow = "UPDATE heads SET last = ? WHERE conversation = ?"
    connection.run(grow, last + len(messages), number)
    return list(range(first, first + len(messages)))


def marks_of(message: Message) -> tuple[str | None, int | None] | None:
    """What a message says of itself that `mark` could say later; None if it says nothing."""
    if message.visibility == "public" and not message.pinned:
        return None
    return message.visibility, int(message.pinned)


def require_same(
    connection: Connection, number: int, first: int, count: int, bodies: Sequence[str], key: str
) -> None:
    """Refuse a key that was used for other messages."""
    stored = reading.bodies_between(connection, number, first, first + count - 1)
    if stored == list(bodies):
        return
    # The same messages may be spelled otherwise: fields of an object in another order.
    if len(stored) != len(bodies) or any(
        decode_message(old) != decode_message(new) for old, new in zip(stored, bodies, strict=True)
    ):
        raise Conflict(
            f"the key {shown(key)} was used for other messages ({first} to {first + count - 1})",
            hint="a key names one turn; retry with the same messages, or use a new key",
        )


def mark(connection: Connection, tenant: str, id: str, seq: int, change: dict[str, Value]) -> None:
    """Hide, show, delete, pin or unpin a message; the message itself never changes."""
    head = conversations.require(connection, tenant, id)
    # Whoever stores a summary meanwhile waits for us, or we for them: none is missed below.
    last = conversations.locked_length(connection, head)
    if last is None:
        raise conversations.unknown(id)
    if not 1 <= seq <= last:
        raise NotFound(f"there is no message {seq} in {shown(id)}")
    ((column, value),) = change.items()  # the column's name is ours
    sql = (
        f"INSERT INTO marks (conversation, seq, {column}) VALUES (?, ?, ?) "
        f"ON CONFLICT (conversation, seq) DO UPDATE SET {column} = excluded.{column}"
    )
    connection.run(sql, head.number, seq, value)
    if column == "visibility":
        summaries.forget_from(connection, head.number, seq)
    connection.run("UPDATE heads SET marked = marked + 1 WHERE conversation = ?", head.number)


def forget(connection: Connection, tenant: str, id: str) -> int | None:
    """Remove a conversation with everything in it, and the memories that were told in it alone.

    Gives the number it had.
    """
    number = conversations.forget(connection, tenant, id)
    if number is not None:
        search.remove(connection, number)
    notes.remove_scope(connection, tenant, id)
    return number


def fork(
    connection: Connection,
    tenant: str,
    id: str,
    new_id: str,
    at: int | None,
    known_calls: Sequence[calls.OpenCall] | None,
) -> None:
    """Make a conversation that begins with the messages of another, up to one of them.

    `known_calls` are those that wait for results there, where somebody has looked already.

    Raises:
        Conflict: the new name is taken by something else.
    """
    head = conversations.require(connection, tenant, id)
    last = conversations.locked_length(connection, head)
    if last is None:
        raise conversations.unknown(id)
    at = last if at is None else at
    if not 0 <= at <= last:
        raise NotFound(f"there is no message {at} in {shown(id)}")
    if is_forked(connection, tenant, id, new_id, at):
        return
    old = conversations.details_of(connection, tenant, id)
    new = Details(new_id, at, old.title, old.agent, old.settings, id, at)
    number = conversations.create(connection, tenant, new, head.number)
    if number is None:
        raise Conflict(f"{shown(new_id)} was made by another just now")
    copy_marks = (
        "INSERT INTO marks (conversation, seq, visibility, pinned) "
        "SELECT ?, seq, visibility, pinned FROM marks WHERE conversation = ? AND seq <= ?"
    )
    connection.run(copy_marks, number, head.number, at)
    summaries.copy_to_fork(connection, head.number, number, at)
    if at == last:
        copy_calls = (
            "INSERT INTO open_calls (conversation, seq, part, id, name) "
            "SELECT ?, seq, part, id, name FROM open_calls WHERE conversation = ?"
        )
        connection.run(copy_calls, number, head.number)
    else:
        waiting = open_calls_at(connection, head, at) if known_calls is None else known_calls
        calls.open_call_rows(connection, number, waiting)


def is_forked(connection: Connection, tenant: str, id: str, new_id: str, at: int) -> bool:
    """Whether this very fork is there already."""
    if conversations.find(connection, tenant, new_id) is None:
        return False
    there = conversations.details_of(connection, tenant, new_id)
    if there.parent != id or there.fork_at != at:
        raise Conflict(f"there is a conversation {shown(new_id)} already")
    return True


def open_calls_at(
    connection: Connection, head: conversations.Head, at: int
) -> list[calls.OpenCall]:
    """The calls that waited for a result when a message was the last: all before it are read."""
    return calls.unanswered(
        (seq, decode_message(body)) for seq, body in reading.each_body(connection, head, at)
    )
