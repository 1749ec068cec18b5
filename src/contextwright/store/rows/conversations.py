"""Names of conversations: the only statements that look one up, each within its tenant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from contextwright.errors import Conflict, NotFound, StoreError, shown
from contextwright.messages.times import now_text
from contextwright.store.engines.base import Connection, Row, Value
from contextwright.store.engines.numbers import NEWEST, damaged, line_of, require_end
from contextwright.store.records import ConversationInfo, TenantInfo
from contextwright.store.rows.validation import require_visible
from contextwright.text.json import decoder

__all__ = [
    "End",
    "NOTHING",
    "Head",
    "change",
    "create",
    "create_all",
    "decode_settings",
    "details_after",
    "details_of",
    "ends_at",
    "ensure",
    "find",
    "fingerprint",
    "forks_of",
    "last_times",
    "length_of",
    "locked",
    "locked_end",
    "locked_ends",
    "locked_length",
    "removable",
    "require",
    "seen",
    "size_of",
    "state_of",
    "states",
    "tenants",
    "unknown",
]

PAGE = 100
ATTEMPTS = 10
"""How often a conversation is locked that others remove."""

END = f"""
SELECT h.last, h.length, h.marked, {NEWEST} FROM heads h WHERE h.conversation = ?"""
NAME = "SELECT number, parent, fork_at FROM conversations WHERE tenant = ? AND id = ?"

TENANTS = """
SELECT c.tenant, count(*), CAST(sum(h.last - coalesce(c.fork_at, 0)) AS bigint)
FROM conversations c JOIN heads h ON h.conversation = c.number GROUP BY c.tenant"""

DETAILS = f"""
SELECT c.number, c.id, h.last, c.title, c.agent, c.settings, p.id, c.fork_at, c.created, {NEWEST}
FROM conversations c
JOIN heads h ON h.conversation = c.number
LEFT JOIN conversations p ON p.number = c.parent AND p.number < c.number
WHERE c.tenant = ? AND """

STATES = """
SELECT c.id, h.last, h.marked
FROM conversations c JOIN heads h ON h.conversation = c.number WHERE c.tenant = ?"""
LAST_TIMES = """
SELECT c.number, c.id, m.body, t.stored
FROM conversations c
JOIN heads h ON h.conversation = c.number
LEFT JOIN messages m ON m.conversation = c.number AND m.seq = h.last
LEFT JOIN turns t ON t.conversation = c.number AND t.first = (
    SELECT max(first) FROM turns WHERE conversation = c.number)
WHERE c.tenant = ? AND c.number > ? ORDER BY c.number LIMIT ?"""
FORKS = """
SELECT c.id, c.title, c.fork_at, h.last
FROM conversations c
JOIN heads h ON h.conversation = c.number
JOIN conversations p ON p.number = c.parent
WHERE p.tenant = ? AND p.id = ? ORDER BY c.fork_at, c.number LIMIT ?"""
ANY_FORK = """
SELECT id FROM conversations WHERE parent = ? AND tenant = ? AND number > parent LIMIT 1"""
BYTES = """
SELECT h.length FROM conversations c JOIN heads h ON h.conversation = c.number
WHERE c.tenant = ? AND c.id = ?"""
FINGERPRINT = """
SELECT count(*), max(c.number), sum(h.last), sum(h.marked)
FROM conversations c JOIN heads h ON h.conversation = c.number WHERE c.tenant = ?"""

CREATE = """
INSERT INTO conversations (tenant, id, title, agent, settings, parent, fork_at, created)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, id) DO NOTHING"""
BEGIN = """
INSERT INTO heads (conversation, last, length)
SELECT number, 0, 0 FROM conversations WHERE tenant = ? AND id = ?
ON CONFLICT (conversation) DO NOTHING"""
ENDS = f"""
SELECT c.id, c.number, h.last, h.length, coalesce(c.fork_at, 0), {NEWEST}
FROM conversations c JOIN heads h ON h.conversation = c.number
WHERE c.tenant = ? AND c.id IN ({{}})"""


class Head(Struct, frozen=True):
    """A conversation's number, and those it was forked from."""

    number: int
    line: tuple[tuple[int, int], ...]
    """Numbers of the conversation and its parents, each with its own first message."""

    @property
    def fork_at(self) -> int:
        """The last message that belongs to a parent."""
        return self.line[0][1] - 1

    def owner(self, seq: int) -> int:
        """Return the conversation in which one of its messages was written."""
        return next(number for number, own in self.line if own <= seq)

    def parts(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """Return the conversations that own a range of messages with their own, oldest first."""
        found: list[tuple[int, int, int]] = []
        for number, own in self.line:
            if last >= own:
                found.append((number, max(first, own), last))
                last = own - 1
            if last < first:
                break
        return found[::-1]


class End(Struct, frozen=True):
    """Where a conversation ends. It is locked, so it ends there until the transaction does."""

    number: int
    last: int = 0
    """The number of its last message."""
    length: int = 0
    """In bytes."""
    fork_at: int = 0
    """The last message that belongs to a parent."""


NOTHING = Head(0, ((0, 1),))
"""A missing conversation: no row has its number."""


def find(connection: Connection, tenant: str, id: str) -> Head | None:
    """Return a conversation of a tenant; None if there is none with that id."""
    for number, parent, fork_at in connection.rows(NAME, tenant, id):
        if parent is None and fork_at is None:
            return Head(number, ((number, 1),))
        return Head(number, tuple(line_of(connection, tenant, number)))
    return None


def require(connection: Connection, tenant: str, id: str) -> Head:
    """Return a conversation that exists.

    Raises:
        NotFound: it does not.
    """
    head = find(connection, tenant, id)
    if head is None:
        raise unknown(id)
    return head


def seen(connection: Connection, tenant: str, id: str) -> Head:
    """Return a conversation for reading; one that was never written to is empty."""
    return find(connection, tenant, id) or NOTHING


def ensure(connection: Connection, tenant: str, id: str) -> Head:
    """Return a conversation; create it if there is none."""
    head = find(connection, tenant, id)
    while head is None:
        create(connection, tenant, ConversationInfo(id, 0))
        head = find(connection, tenant, id)
    return head


def create(
    connection: Connection,
    tenant: str,
    details: ConversationInfo,
    parent: int | None = None,
    length: int = 0,
) -> int | None:
    """Create a conversation, with a length if it is a fork; None if another process was faster.

    Raises:
        UsageError: its id or the tenant's name holds invisible characters.
    """
    row = new_row(tenant, details, now_text(), parent)
    for (number,) in connection.rows(f"{CREATE} RETURNING number", *row):
        insert = "INSERT INTO heads (conversation, last, length) VALUES (?, ?, ?)"
        connection.run(insert, number, details.length, length)
        return number
    return None


def create_all(connection: Connection, tenant: str, details: Sequence[ConversationInfo]) -> None:
    """Create empty conversations without a parent, except those that exist already.

    Raises:
        UsageError: an id or the tenant's name holds invisible characters.
    """
    now = now_text()
    connection.run_many(CREATE, [new_row(tenant, one, now) for one in details])
    connection.run_many(BEGIN, [(tenant, one.id) for one in details])


def new_row(
    tenant: str, details: ConversationInfo, now: str, parent: int | None = None
) -> tuple[Value, ...]:
    """Return the row of a new conversation; refuse a name with invisible characters."""
    require_visible(details.id, "conversation's id")
    require_visible(tenant, "tenant")
    settings = msgspec.json.encode(details.settings).decode()
    fields = (details.title, details.agent, settings, parent, details.fork_at, now)
    return tenant, details.id, *fields


def length_of(connection: Connection, head: Head, id: str) -> int:
    """Return the number of a conversation's last message."""
    for last, *_ in ends_at(connection, head.number):
        return last
    if head is NOTHING:
        return 0
    raise unknown(id)


def ends_at(connection: Connection, number: int, lock: str = "") -> list[tuple[int, int, int]]:
    """Return the last message of a conversation, its length, and the number of marks set so far.

    None of it if the conversation is gone.
    """
    rows = connection.rows(END + lock, number)
    for last, length, _, newest in rows:
        require_end(connection, number, last, newest, length)
    return [(last, length, marked) for last, length, marked, _ in rows]


def state_of(connection: Connection, number: int) -> tuple[int, int] | None:
    """Return the last message and the number of marks set so far; None if it is gone."""
    for last, _, marked in ends_at(connection, number):
        return last, marked
    return None


def fingerprint(connection: Connection, tenant: str) -> Row:
    """Return figures that differ once anything was added to a tenant's conversations, or marked."""
    return connection.rows(FINGERPRINT, tenant)[0]


def states(connection: Connection, tenant: str) -> dict[str, tuple[int, int]]:
    """Return what `state_of` does for all conversations of a tenant, by id."""
    return {id: (last, marked) for id, last, marked in connection.rows(STATES, tenant)}


def last_times(
    connection: Connection, tenant: str, number: int
) -> list[tuple[int, str, str | None]]:
    """Return number, id and time of the last message of the next conversations, in order.

    The time is the one it was sent at, else stored at; None if the conversation has no message of
    its own, or neither is known.
    """
    rows = connection.rows(LAST_TIMES, tenant, number, PAGE)
    return [(row[0], row[1], sent_at(row[2]) or row[3]) for row in rows]


def sent_at(body: str | None) -> str | None:
    """Return when a message was sent, from its JSON; None for one that cannot be read."""
    try:
        return None if body is None else read_sent(body).sent_at
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


class Sent(Struct):
    """What is read of a message to know its time."""

    sent_at: str | None = None


read_sent = decoder(Sent).decode


def locked_length(connection: Connection, head: Head) -> int | None:
    """Return the number of the last message, locked until the transaction ends.

    None if the conversation was removed meanwhile.
    """
    end = locked_end(connection, head.number)
    return None if end is None else end.last


def locked_end(connection: Connection, number: int) -> End | None:
    """Lock a conversation that may be a fork; return its end, None if it is gone."""
    for last, length, _ in ends_at(connection, number, connection.for_update):
        return End(number, last, length)
    return None


def locked_ends(connection: Connection, tenant: str, ids: Collection[str]) -> dict[str, End]:
    """Lock those of some conversations that exist; return the end of each by its id."""
    sql = ENDS.format(", ".join("?" * len(ids))) + connection.for_update
    ends: dict[str, End] = {}
    for id, number, last, length, fork_at, newest in connection.rows(sql, tenant, *ids):
        require_end(connection, number, last, newest, length)
        ends[id] = End(number, last, length, fork_at)
    return ends


def locked(connection: Connection, tenant: str, id: str) -> tuple[Head, End]:
    """Lock a conversation, and create it if there is none; return it and its end.

    Raises:
        StoreError: it has no end, because the store is damaged.
    """
    # Another process may remove it meanwhile.
    for _ in range(ATTEMPTS):
        head = ensure(connection, tenant, id)
        end = locked_end(connection, head.number)
        if end is not None:
            return head, end
    raise StoreError(f"the end of {shown(id)} is missing", hint="cw doctor names what is damaged")


def details_of(connection: Connection, tenant: str, id: str) -> ConversationInfo:
    """Return the title, settings and origin of a conversation."""
    for row in connection.rows(f"{DETAILS} c.id = ?", tenant, id):
        return as_details(connection, row)
    raise unknown(id)


def forks_of(
    connection: Connection, tenant: str, id: str, limit: int
) -> list[tuple[str, str | None, int, int]]:
    """Return the forks of a conversation: id, title, last shared message, last message."""
    rows = connection.rows(FORKS, tenant, id, limit)
    return [(id, title, fork_at, last) for id, title, fork_at, last in rows]


def size_of(connection: Connection, tenant: str, id: str) -> int:
    """Return the length of a conversation in bytes."""
    return next((length for (length,) in connection.rows(BYTES, tenant, id)), 0)


def details_after(
    connection: Connection, tenant: str, number: int
) -> list[tuple[int, ConversationInfo]]:
    """Return the next conversations of a tenant, in order of creation."""
    sql = f"{DETAILS} c.number > ? ORDER BY c.number LIMIT {PAGE}"
    return [(row[0], as_details(connection, row)) for row in connection.rows(sql, tenant, number)]


def tenants(connection: Connection) -> list[TenantInfo]:
    """Return all tenants, by name."""
    found = {name: TenantInfo(name, *rest) for name, *rest in connection.rows(TENANTS)}
    for name, count in connection.rows("SELECT tenant, count(*) FROM memories GROUP BY tenant"):
        known = found.get(name, TenantInfo(name))
        found[name] = msgspec.structs.replace(known, memories=count)
    return [found[name] for name in sorted(found)]


def as_details(connection: Connection, row: Row) -> ConversationInfo:
    """Return a row as a value."""
    number, id, last, title, agent, text, parent, fork_at, created, newest = row
    require_end(connection, number, last, newest)
    if (parent is None) != (fork_at is None):
        raise damaged(connection, number, "origin")
    try:
        settings = decode_settings(text)
    except msgspec.DecodeError as error:
        hint = "cw doctor --repair empties them"
        raise StoreError(f"the settings of {shown(id)} are damaged", hint=hint) from error
    return ConversationInfo(id, last, title, agent, settings, parent, fork_at, created)


decode_settings = decoder(dict[str, Any]).decode


def change(connection: Connection, head: Head, fields: dict[str, Value]) -> None:
    """Set fields of a conversation; the field names are ours, never a caller's."""
    columns = ", ".join(f"{name} = ?" for name in fields)
    sql = f"UPDATE conversations SET {columns} WHERE number = ?"
    connection.run(sql, *fields.values(), head.number)


def removable(connection: Connection, tenant: str, id: str) -> int | None:
    """Lock a conversation to remove it; return its number, None if there is none.

    Raises:
        Conflict: others were forked from it, and read its messages.
    """
    for number, *_ in connection.rows(NAME, tenant, id):  # also one whose end is damaged
        connection.rows(END + connection.for_update, number)
        for (fork,) in connection.rows(ANY_FORK, number, tenant):
            hint = "remove the fork first"
            raise Conflict(f"{shown(fork)} was forked from {shown(id)}", hint=hint)
        return number
    return None


def unknown(id: str) -> NotFound:
    """Return the error for a conversation that does not exist."""
    return NotFound(f"there is no conversation {shown(id)}")
