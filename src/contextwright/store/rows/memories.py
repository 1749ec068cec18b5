"""Memories as records of a tenant: written once, read in order, removed for good."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from contextwright.errors import Conflict, NotFound, StoreError, UsageError, require, shown
from contextwright.messages.times import now_text
from contextwright.recall.episodes.episode import Episode
from contextwright.recall.memories import Memory
from contextwright.store.engines.base import Connection, Engine, Row, Value, Work
from contextwright.store.engines.numbers import LARGEST
from contextwright.store.records import StoredMemory
from contextwright.store.rows import conversations
from contextwright.store.rows.validation import decode_memory, memory_body, require_name

__all__ = [
    "DAMAGED",
    "add",
    "after",
    "change_scope",
    "copy",
    "count",
    "count_accesses",
    "decoded",
    "find",
    "find_equal",
    "is_visible",
    "made_from",
    "merged",
    "new_id",
    "newest",
    "page_after",
    "remove",
    "remove_scope",
    "replace",
    "require_agreement",
    "sound",
]

PAGE = 100
DAMAGED = Memory("memory", "(damaged)")
"""The placeholder of a memory that cannot be read."""

INSERT = """
INSERT INTO memories (tenant, id, kind, about, scope, body) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, id) DO NOTHING"""
COPY = """
INSERT INTO memories (tenant, id, kind, about, scope, body, accesses, accessed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
ROWS = """
SELECT number, tenant, id, kind, about, scope, body, accesses, accessed FROM memories
WHERE number > ? ORDER BY number LIMIT ?"""
SELECT = "SELECT number, id, body, accesses, accessed FROM memories WHERE tenant = ?"
HIDDEN = """
SELECT seq FROM marks
WHERE conversation = ? AND seq BETWEEN ? AND ? AND visibility <> 'public'"""
UNEMBED = """
DELETE FROM meanings WHERE memory IN (SELECT number FROM memories WHERE tenant = ? AND id = ?)"""
ACCESS = """
UPDATE memories SET accesses = accesses + 1, accessed = ?
WHERE tenant = ? AND id = ? AND scope = ?"""


def new_id() -> str:
    """Return a new id that is easy to type."""
    return secrets.token_hex(8)


def add(connection: Connection, tenant: str, id: str, memory: Memory, body: str) -> None:
    """Store a memory; the same id again changes nothing."""
    connection.run(INSERT, tenant, id, memory.kind, memory.about, memory.scope, body)


def remove(connection: Connection, tenant: str, id: str) -> None:
    """Remove a memory, if it exists."""
    connection.run("DELETE FROM memories WHERE tenant = ? AND id = ?", tenant, id)


def remove_scope(connection: Connection, tenant: str, scope: str) -> None:
    """Remove the memories that belong to one conversation."""
    connection.run("DELETE FROM memories WHERE tenant = ? AND scope = ?", tenant, scope)


def change_scope(connection: Connection, tenant: str, scope: str, new_scope: str) -> None:
    """Move the memories of one conversation to another id."""
    rows = connection.rows(
        "SELECT id, body FROM memories WHERE tenant = ? AND scope = ?", tenant, scope
    )
    moved = [
        (new_scope, memory_body(msgspec.structs.replace(memory, scope=new_scope)), tenant, id)
        for id, body in rows
        if (memory := decoded(body)) is not None
    ]
    sql = "UPDATE memories SET scope = ?, body = ? WHERE tenant = ? AND id = ?"
    connection.run_many(sql, moved)


def replace(connection: Connection, tenant: str, id: str, body: str) -> None:
    """Change the text of a memory, if it exists, and remove its vectors."""
    connection.run(UNEMBED, tenant, id)
    connection.run("UPDATE memories SET body = ? WHERE tenant = ? AND id = ?", body, tenant, id)


def count_accesses(connection: Connection, tenant: str, scope: str, ids: Sequence[str]) -> None:
    """Count that memories of a conversation were included in a context.

    Only its own, because the lock on its head keeps other writers out.
    """
    now = now_text()
    connection.run_many(ACCESS, [(now, tenant, id, scope) for id in ids])


# --- into another store --------------------------------------------------------------------------


def copy(source: Engine, target: Engine, tenant: str | None = None) -> int:
    """Copy the memories of all tenants, or of one, into another store; return how many.

    Memories that the target already has are compared and not written again. Episodes become those
    of the source, because they are rebuilt when messages are hidden.

    Raises:
        Conflict: the target has another memory with the same id.
    """
    count = 0
    for rows in pages(source, tenant):
        target.write_alone(lambda connection, rows=rows: add_missing(connection, rows))
        count += len(rows)
    return count


def count(source: Engine, tenant: str | None = None) -> int:
    """Return the number of memories of all tenants, or of one."""
    return sum(map(len, pages(source, tenant)))


def require_agreement(source: Engine, target: Engine, tenant: str | None = None) -> None:
    """Refuse a target that has a different memory with the same id, before anything is written."""
    for rows in pages(source, tenant):
        target.read(lambda connection, rows=rows: [is_up_to_date(connection, row) for row in rows])


def pages(source: Engine, tenant: str | None) -> Iterator[list[Row]]:
    """Yield the memories of all tenants, or of one, page by page."""
    number = 0
    while rows := source.read(lambda connection, after=number: connection.rows(ROWS, after, PAGE)):
        yield [row for row in rows if tenant is None or row[1] == tenant]
        number = rows[-1][0]


def add_missing(connection: Connection, rows: Sequence[Row]) -> None:
    """Write the memories that the target lacks."""
    for row in rows:
        _, tenant, id, kind, about, scope, body, *accesses = row
        there = is_up_to_date(connection, row)
        if there is None:
            connection.run(COPY, tenant, id, kind, about, scope, body, *accesses)
        elif not there:
            replace(connection, tenant, id, body)


def is_up_to_date(connection: Connection, row: Row) -> bool | None:
    """Whether the target has a memory; False for an episode with other text, None if not at all.

    Raises:
        Conflict: it has another memory with the same id that cannot be rebuilt.
    """
    _, tenant, id, _, _, _, body, *_ = row
    for _, _, known, *_ in connection.rows(f"{SELECT} AND id = ?", tenant, id):
        if known != body and not (is_made_episode(known) and is_made_episode(body)):
            hint = "copy into another store, or forget it there"
            raise Conflict(f"the memory {shown(id)} of the target is different", hint=hint)
        return known == body
    return None


def is_made_episode(body: str) -> bool:
    """Whether a memory is an episode made from messages, not added by a person."""
    memory = decoded(body)
    return memory is not None and Episode.of(memory) is not None


# --- reading -------------------------------------------------------------------------------------


def after(
    connection: Connection, tenant: str, number: int, fields: dict[str, Value]
) -> list[tuple[int, StoredMemory]]:
    """Return the next memories with these fields, in insertion order; the field names are ours."""
    conditions = "".join(f" AND {name} = ?" for name in fields)
    sql = f"{SELECT}{conditions} AND number > ? ORDER BY number LIMIT {PAGE}"
    rows = connection.rows(sql, tenant, *fields.values(), number)
    return [(row[0], as_stored(row)) for row in rows]


def as_stored(row: Row) -> StoredMemory:
    """Return a row as a value; a placeholder if it is damaged."""
    _, id, body, accesses, accessed = row
    return StoredMemory(id, decoded(body) or DAMAGED, accesses, accessed)


def decoded(body: str) -> Memory | None:
    """Return the memory of a row; None if it is damaged."""
    try:
        return decode_memory(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def newest(
    connection: Connection,
    tenant: str,
    scope: str,
    fields: dict[str, Value],
    most: int,
    *,
    without: str = "",
) -> list[StoredMemory]:
    """Return the newest memories with these fields in a chat's scope, oldest first.

    Those of the kind `without` do not count, and damaged ones are left out.
    """
    conditions = "".join(f" AND {name} = ?" for name in fields)
    sql = f"{SELECT}{conditions} AND kind <> ? AND scope = ? ORDER BY number DESC LIMIT ?"
    visible = [
        row
        for one in {"", scope}
        for row in connection.rows(sql, tenant, *fields.values(), without, one, most)
    ]
    visible.sort(key=lambda row: row[0])
    found = [as_stored(row) for row in visible[-most:]] if most > 0 else []
    return [one for one in found if one.memory is not DAMAGED]


def find(connection: Connection, tenant: str, id: str) -> Memory:
    """Return one memory by its id.

    Raises:
        NotFound: there is none.
    """
    for _, _, body, *_ in connection.rows(f"{SELECT} AND id = ?", tenant, id):
        if (memory := decoded(body)) is not None:
            return memory
        hint = f"cw forget-memory {id} removes it"
        raise StoreError(f"the memory {shown(id)} is damaged", hint=hint)
    raise NotFound(f"there is no memory {shown(id)}")


def find_equal(connection: Connection, tenant: str, memory: Memory) -> StoredMemory | None:
    """Return the equal memory about the same person in the same scope; None if there is none."""
    if memory.about is None or memory.kind not in ("fact", "memory"):
        return None
    sql = f"{SELECT} AND kind = ? AND about = ? AND scope = ?"
    values = (tenant, memory.kind, memory.about, memory.scope)
    for row in connection.rows(sql, *values):
        known = as_stored(row)
        if sense_of(known.memory) == sense_of(memory):
            return known
    return None


def sense_of(memory: Memory) -> tuple[object, ...]:
    """Return what two equal memories have in common."""
    words = [
        " ".join(text.casefold().split()) for text in (memory.key.replace("_", " "), memory.text)
    ]
    return (*words, made_from(memory), memory.author)


def merged(known: Memory, memory: Memory) -> Memory:
    """Return a repeated memory: with the newer time and the higher certainty."""
    return msgspec.structs.replace(memory, weight=max(known.weight, memory.weight))


def made_from(memory: Memory) -> list[int]:
    """Return the numbers of the messages that a memory was made from."""
    found: object = memory.meta.get("messages")
    if not isinstance(found, list | tuple):
        return []
    numbers = (one for one in cast("Sequence[object]", found) if type(one) is int)
    return [one for one in numbers if 0 < one < LARGEST]


def is_visible(connection: Connection, tenant: str, memory: Memory) -> bool:
    """Whether every message that a memory was made from is visible in its conversation."""
    seqs = made_from(memory)
    head = conversations.find(connection, tenant, memory.scope) if seqs and memory.scope else None
    if head is None:
        return True
    rows = connection.rows(HIDDEN, head.number, min(seqs), max(seqs))
    return {seq for (seq,) in rows}.isdisjoint(seqs)


def sound(memory: Memory) -> Memory:
    """Return a memory as it is stored: with the time it was noted, and without a score.

    Raises:
        UsageError: it is not a valid memory.
    """
    if type(memory) is not Memory:
        raise UsageError(f"{shown(memory)} is not a memory", hint="Memory(kind, text, about=…)")
    if memory.kind == "passage":
        hint = "memory, profile, fact or episode"
        raise UsageError("passages are found in conversations, not remembered", hint=hint)
    require(memory.text, str, "the text of a memory")
    if not memory.text.strip():
        raise UsageError("a memory needs text")
    if memory.about is not None:
        require_name(memory.about, "person's id")
    require_name(memory.scope, "conversation's id", empty=True)
    at = memory.at or now_text()
    return msgspec.structs.replace(memory, at=at, score=None)


def page_after(
    tenant: str, number: int, fields: dict[str, Value]
) -> Work[list[tuple[int, StoredMemory | None]]]:
    """Return work that reads the next page of memories; None is one that must not be shown."""

    def work(connection: Connection) -> list[tuple[int, StoredMemory | None]]:
        return [
            (place, stored if is_visible(connection, tenant, stored.memory) else None)
            for place, stored in after(connection, tenant, number, fields)
        ]

    return work
