"""Writing: one turn in one transaction, once for each key."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from contextwright.errors import Conflict, NotFound, UsageError, shown
from contextwright.messages.lengths import ends_of
from contextwright.messages.message import Message
from contextwright.messages.quotes import source_id
from contextwright.store.engines.base import Connection, Value
from contextwright.store.engines.digests import digests_of
from contextwright.store.engines.lengths import length_until
from contextwright.store.engines.numbers import damaged
from contextwright.store.records import ConversationInfo, StoredMessage
from contextwright.store.rows import conversations, index, pairing, summaries
from contextwright.store.rows import memories as notes
from contextwright.store.rows import messages as reading
from contextwright.store.rows.damage import missing, read_message
from contextwright.store.rows.kinds import kind_of
from contextwright.store.rows.recorded import bodies
from contextwright.store.rows.validation import decode_message

__all__ = [
    "EncodedTurn",
    "KnownCalls",
    "Mark",
    "add",
    "append",
    "append_all",
    "forget",
    "fork",
    "mark",
    "new_name",
    "open_calls_at",
    "remove",
    "remove_number",
    "rename",
    "with_key",
]

INSERT = """
INSERT INTO messages (conversation, seq, joins, kind, body, length, digest)
VALUES (?, ?, ?, ?, CAST(? AS TEXT), ?, ?)"""
MARK = """
INSERT INTO marks (conversation, seq, visibility, pinned, origin) VALUES (?, ?, ?, ?, ?)"""
TURN = "INSERT INTO turns (conversation, first, count, key, stored) VALUES (?, ?, ?, ?, ?)"
GROW = "UPDATE heads SET last = ?, length = ? WHERE conversation = ?"
NAMED = "SELECT first, count FROM turns WHERE conversation = ? AND key = ?"


Mark: TypeAlias = Literal["visibility", "pinned"]


class EncodedTurn(Struct, frozen=True):
    """A turn that is ready to be stored."""

    messages: Sequence[Message]
    bodies: Sequence[bytes]
    """The JSON of each message."""
    key: str | None = None


class KnownCalls(Struct, frozen=True):
    """The calls that were open when a message was the last."""

    calls: Sequence[pairing.OpenCall]
    marked: int
    """How many times messages of the conversation had been hidden, edited or erased."""


def new_name() -> str:
    """Return a key for a turn that has none; no caller's key begins like this."""
    return reading.OURS + secrets.token_urlsafe(16)


def add(
    connection: Connection,
    tenant: str,
    id: str,
    turn: EncodedTurn,
    included: Sequence[str] = (),
    stored: str | None = None,
) -> list[int]:
    """Store a turn and return the numbers of its messages, also if it is stored already.

    `included` are the episodes in the context before it, `stored` is the time of storing.

    Raises:
        Conflict: the key was used for other messages.
    """
    head, end = conversations.locked(connection, tenant, id)
    known = None if turn.key is None else named(connection, head.number, turn.key, end.last)
    if known is not None and turn.key is not None:
        require_same(connection, head.number, known, turn.bodies, turn.key)
        return list(known)
    if included:
        notes.count_accesses(connection, tenant, id, included)
    return append(connection, end, turn, stored)


def append(
    connection: Connection, end: conversations.End, turn: EncodedTurn, stored: str | None
) -> list[int]:
    """Store a turn whose key is new, and return the numbers of its messages."""
    append_all(connection, [(end, turn)], stored)
    return list(range(end.last + 1, end.last + 1 + len(turn.messages)))


def append_all(
    connection: Connection,
    additions: Iterable[tuple[conversations.End, EncodedTurn]],
    stored: str | None,
) -> None:
    """Store turns whose keys are new, each at the end of another conversation.

    All of them take as many statements as one does, unless calls wait for their results.
    """
    rows: list[Sequence[Value]] = []
    marked: list[Sequence[Value]] = []
    turns: list[Sequence[Value]] = []
    heads: list[Sequence[Value]] = []
    for end, turn in additions:
        number, messages, first = end.number, turn.messages, end.last + 1
        seqs = range(first, first + len(messages))
        joins = pairing.join(connection, number, first, messages)
        lengths = ends_of(messages, end.length)
        kinds, texts = map(kind_of, messages), map(connection.text, turn.bodies)
        columns = (seqs, joins, kinds, texts, lengths[1:], digests_of(turn.bodies))
        rows.extend(zip([number] * len(seqs), *columns, strict=True))
        marks = zip(seqs, map(marks_of, messages), strict=True)
        marked.extend((number, seq, *values) for seq, values in marks if values)
        turns.append((number, first, len(messages), turn.key, stored))
        heads.append((seqs[-1], lengths[-1], number))
    connection.run_many(INSERT, rows)
    if marked:
        connection.run_many(MARK, marked)
    connection.run_many(TURN, turns)
    connection.run_many(GROW, heads)


def with_key(connection: Connection, head: conversations.Head, key: str) -> list[StoredMessage]:
    """Return the messages of the turn with this key, with their current marks; empty if none."""
    last = conversations.length_of(connection, head, "")
    known = named(connection, head.number, key, last)
    return [] if known is None else reading.between(connection, head, known[0], known[-1])


def named(connection: Connection, number: int, key: str, last: int) -> range | None:
    """Return the numbers of the turn with a key; None if there is none.

    Raises:
        StoreError: they are no numbers of messages, because the store is damaged.
    """
    for first, count in connection.rows(NAMED, number, key):
        if not 1 <= first < first + count <= last + 1:
            raise damaged(connection, number, f"turn {shown(key)}")
        return range(first, first + count)
    return None


def marks_of(message: Message) -> tuple[str | None, int | None, str | None] | None:
    """Return the marks that a message comes with; None if it has none."""
    if message.visibility == "public" and not message.pinned:
        return None
    return message.visibility, int(message.pinned), source_id(message)


def require_same(
    connection: Connection, number: int, known: range, bodies: Sequence[bytes], key: str
) -> None:
    """Raise if a key was used for other messages."""
    stored = reading.bodies_between(connection, number, known[0], known[-1])
    if [body for body, _ in stored] == [body.decode() for body in bodies]:
        return
    # The same messages may be spelled differently: with fields in another order.
    if len(stored) != len(bodies) or any(
        not is_same(read_message(*old), decode_message(new))
        for old, new in zip(stored, bodies, strict=True)
    ):
        raise Conflict(
            f"the key {shown(key)} was used for another turn, from message {known[0]} on",
            hint="a key names one turn; retry with the same messages, or use a new key",
        )


def is_same(stored: Message, message: Message) -> bool:
    """Whether a message is the stored one, possibly edited or erased since."""
    return stored == message or stored.visibility == "erased" or "edited" in stored.meta


def mark(
    connection: Connection, tenant: str, id: str, seq: int, column: Mark, value: Value
) -> bool:
    """Hide, show, delete, pin or unpin a message; the message itself never changes.

    Returns whether it was marked otherwise before.
    """
    head = conversations.require(connection, tenant, id)
    # Lock against writers of summaries, so that none is missed below.
    last = conversations.locked_length(connection, head)
    if last is None:
        raise conversations.unknown(id)
    if not 1 <= seq <= last:
        raise NotFound(f"there is no message {seq} in {shown(id)}")
    sql = (
        f"INSERT INTO marks (conversation, seq, {column}) VALUES (?, ?, ?) "
        f"ON CONFLICT (conversation, seq) DO UPDATE SET {column} = excluded.{column}"
    )
    message = message_at(connection, head, seq)
    if message.visibility == "erased":
        raise UsageError(
            f"message {seq} of {shown(id)} was erased", hint="erased text cannot be restored"
        )
    marked = f"SELECT {column} FROM marks WHERE conversation = ? AND seq = ?"
    before = connection.rows(marked, head.number, seq)
    connection.run(sql, head.number, seq, value)
    if column == "visibility":
        origin = "UPDATE marks SET origin = ? WHERE conversation = ? AND seq = ?"
        connection.run(origin, source_id(message), head.number, seq)
        summaries.forget_from(connection, head.number, seq)
        was_public = (before[0][0] if before else None) in (None, "public")
        if (message.calls or message.results) and was_public != (value == "public"):
            pairing.pair_again(connection, head, last)
    connection.run("UPDATE heads SET marked = marked + 1 WHERE conversation = ?", head.number)
    return (value,) not in before


def message_at(connection: Connection, head: conversations.Head, seq: int) -> Message:
    """Return one message as it was written."""
    for _, body, digest in reading.rows_between(connection, head, reading.BODIES, seq, seq):
        return read_message(body, digest)
    raise missing(seq)


def forget(connection: Connection, tenant: str, id: str) -> int | None:
    """Remove a conversation with everything in it, and the memories of its scope.

    Returns its number.
    """
    number = remove(connection, tenant, id)
    notes.remove_scope(connection, tenant, id)
    return number


def remove(connection: Connection, tenant: str, id: str) -> int | None:
    """Remove a conversation with everything in it; return its number."""
    number = conversations.removable(connection, tenant, id)
    if number is not None:
        remove_number(connection, number)
    return number


def remove_number(connection: Connection, number: int) -> None:
    """Remove the conversation with a number; bodies of other requests stay as they are."""
    bodies.remove(connection, "SELECT number FROM requests WHERE conversation = ?", number)
    index.remove(connection, number)
    connection.run("DELETE FROM conversations WHERE number = ?", number)


def rename(connection: Connection, tenant: str, id: str, new_id: str) -> None:
    """Give a conversation and the memories of its scope another id.

    Raises:
        NotFound: there is no such conversation.
        Conflict: the new id is taken.
    """
    head = conversations.require(connection, tenant, id)
    if id == new_id:
        return
    if conversations.find(connection, tenant, new_id) is not None:
        raise Conflict(f"conversation {shown(new_id)} already exists", hint="choose another id")
    conversations.change(connection, head, {"id": new_id})
    # Make other processes reload contexts that they cached under the old id.
    connection.run("UPDATE heads SET marked = marked + 1 WHERE conversation = ?", head.number)
    notes.change_scope(connection, tenant, id, new_id)


def fork(
    connection: Connection,
    tenant: str,
    id: str,
    new_id: str,
    at: int | None,
    known_calls: KnownCalls | None,
) -> conversations.Head:
    """Create a conversation that begins with the messages of another, up to one of them.

    `known_calls` are its open calls, if they have been found already. They are found again if
    messages were hidden, edited or erased since.

    Raises:
        Conflict: the new id is in use.
    """
    head = conversations.require(connection, tenant, id)
    last = conversations.locked_length(connection, head)
    if last is None:
        raise conversations.unknown(id)
    at = last if at is None else at
    if not 0 <= at <= last:
        raise NotFound(f"there is no message {at} in {shown(id)}")
    if is_forked(connection, tenant, id, new_id, at):
        return conversations.require(connection, tenant, new_id)
    old = conversations.details_of(connection, tenant, id)
    new = ConversationInfo(new_id, at, old.title, old.agent, old.settings, id, at)
    length = length_until(connection, head.number, at)
    number = conversations.create(connection, tenant, new, head.number, length)
    if number is None:
        raise Conflict(f"{shown(new_id)} was just created by another process")
    copy_marks = (
        "INSERT INTO marks (conversation, seq, visibility, pinned, origin) "
        "SELECT ?, seq, visibility, pinned, origin FROM marks WHERE conversation = ? AND seq <= ?"
    )
    connection.run(copy_marks, number, head.number, at)
    summaries.copy_to_fork(connection, head.number, number, at)
    pairing.copy_to_fork(connection, head.number, number, at)
    if at == last:
        copy_calls = (
            "INSERT INTO open_calls (conversation, seq, part, id, name) "
            "SELECT ?, seq, part, id, name FROM open_calls WHERE conversation = ?"
        )
        connection.run(copy_calls, number, head.number)
    else:
        _, marked = conversations.state_of(connection, head.number) or (0, 0)
        if known_calls is None or known_calls.marked != marked:
            known_calls = open_calls_at(connection, head, at)
        pairing.open_call_rows(connection, number, known_calls.calls)
    return conversations.Head(number, ((number, at + 1), *head.line))


def is_forked(connection: Connection, tenant: str, id: str, new_id: str, at: int) -> bool:
    """Whether this fork exists already."""
    if conversations.find(connection, tenant, new_id) is None:
        return False
    there = conversations.details_of(connection, tenant, new_id)
    if there.parent != id or there.fork_at != at:
        raise Conflict(f"conversation {shown(new_id)} already exists")
    return True


WAITING = "SELECT 1 FROM open_calls WHERE conversation = ? AND seq <= ? LIMIT 1"
LATER = "SELECT 1 FROM {} WHERE conversation = ? AND joins <= ? AND seq > ? LIMIT 1"
LATER_ANSWER, LATER_JOIN = LATER.format("answers"), LATER.format("messages")


def open_calls_at(connection: Connection, head: conversations.Head, at: int) -> KnownCalls:
    """Return the calls that were open when a message was the last.

    Reads all messages before it, unless no call there was answered later or is still open.
    """
    _, marked = conversations.state_of(connection, head.number) or (0, 0)
    number, line = head.number, [number for number, _ in head.line]
    waits = connection.rows(WAITING, number, at) or connection.rows(LATER_ANSWER, number, at, at)
    if not waits and not any(connection.rows(LATER_JOIN, one, at, at) for one in line):
        return KnownCalls((), marked)
    found = pairing.pairing_of(pairing.tools_in(connection, head, at))
    return KnownCalls(found.open_calls, marked)
