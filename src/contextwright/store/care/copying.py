"""Copy a whole store into another: every tenant, each conversation whole or not at all.

Rows are copied unchanged, so messages stay the same byte for byte. Rows that the target already has
are compared and not written again: an interrupted copy continues where it stopped, and a later one
adds what is new. Memories and recorded requests are copied too; the first search rebuilds the index
of words and vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Struct

from contextwright.errors import Conflict, StoreError, shown
from contextwright.store.care import requests
from contextwright.store.care.entries import (
    ANSWERS,
    CALLS,
    MARKS,
    MESSAGES,
    TURNS,
    Entry,
    content_of,
    entries_of,
    entry_of,
    named,
    pages,
    whole_of,
)
from contextwright.store.engines.base import Connection, Engine, Row, Work
from contextwright.store.recall import episodes
from contextwright.store.rows import conversations, summaries
from contextwright.store.rows import memories as notes
from contextwright.store.rows.damage import STAND_IN, damage_of, read_message
from contextwright.store.rows.pairing import pair_again
from contextwright.store.rows.recorded import places

__all__ = ["CopyResult", "copy"]

Progress: TypeAlias = Callable[[int, int], None]

GROUP = 2_000
"""Messages of small conversations that are written in one transaction."""

CREATE = """
INSERT INTO conversations (tenant, id, title, agent, settings, parent, fork_at, created)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number"""
VERSIONS = "SELECT seq, number, replaced, body FROM versions WHERE conversation = ?"
PLACES = "SELECT seq, digest FROM places WHERE conversation = ?"
INTO = "INSERT INTO {table} ({columns}) VALUES ({places})"


class CopyResult(Struct):
    """The result of a copy."""

    conversations: int = 0
    messages: int = 0
    known: int = 0
    """Messages that the target already had."""
    memories: int = 0
    requests: int = 0
    """Recorded requests that the target did not have."""
    damaged: list[str] = []
    """Messages of the source that cannot be read; the target has placeholders for them."""
    digest: str = ""
    """Digest of everything in the source, equal to that of the target."""


def copy(
    source: Engine,
    target: Engine,
    progress: Progress | None = None,
    *,
    tenant: str | None = None,
    dry_run: bool = False,
) -> CopyResult:
    """Copy everything, or one tenant, and compare both stores at the end.

    With `dry_run`, only compare and count what would be copied.

    The target may be empty, or hold the beginning of the source. Messages and memories must agree;
    titles, settings, marks and episodes become those of the source. Other conversations of the
    target are not changed.

    Raises:
        Conflict: a conversation or a memory of the target differs; nothing was written.
        StoreError: the two differ at the end.
    """
    entries = [
        entry for entry in source.read(entries_of) if tenant is None or entry.tenant == tenant
    ]
    there = {(entry.tenant, entry.id): entry for entry in target.read(entries_of)}
    done = CopyResult(len(entries))
    for entry in entries:
        known = there.get((entry.tenant, entry.id))
        if known is not None:
            require_beginning(source, target, entry, known)
            done.known += known.own
    notes.require_agreement(source, target, tenant)
    if dry_run:
        done.messages = sum(entry.own for entry in entries) - done.known
        done.memories = notes.count(source, tenant)
        done.requests = requests.count(source, tenant)
        return done
    total, moved = 2 * sum(entry.own for entry in entries), 0

    def advance(messages: int) -> None:
        nonlocal moved
        moved += messages
        if progress is not None:
            progress(min(moved, total), total)

    brought: list[Entry] = []
    for group in groups_of(entries):
        works = [copy_work(source, entry, there.get((entry.tenant, entry.id))) for entry in group]
        written = target.write_alone(combined(works))
        brought += [entry for entry in written if entry is not None]
        advance(sum(entry.own for entry in group))
    done.messages = sum(entry.own for entry in brought) - done.known
    compare(source, target, brought, done, advance)
    done.memories = notes.copy(source, target, tenant)
    episodes.copy_progress(source, target, tenant)
    done.requests = requests.copy(source, target, tenant)
    return done


def compare(
    source: Engine,
    target: Engine,
    brought: Sequence[Entry],
    done: CopyResult,
    advance: Callable[[int], None],
) -> None:
    """Compare what was copied with its source; pair calls and results again where there is damage.

    Raises:
        StoreError: the two differ.
    """
    whole, ill = blake2b(digest_size=16), set[tuple[str, str | None]]()
    for entry in brought:
        whole.update(require_same(source, target, entry))
        damaged = damaged_in(target, entry)
        if damaged or (entry.tenant, entry.parent) in ill:
            ill.add((entry.tenant, entry.id))
            target.write_alone(pairing(entry))
        done.damaged += damaged
        advance(entry.own)
    done.digest = whole.hexdigest()


def pairing(entry: Entry) -> Work[None]:
    """Return work that pairs the calls and results of a copy again, without damaged ones."""

    def work(connection: Connection) -> None:
        head = conversations.require(connection, entry.tenant, entry.id)
        last = conversations.locked_length(connection, head)
        pair_again(connection, head, last or 0)

    return work


def copy_work(source: Engine, entry: Entry, seen: Entry | None) -> Work[Entry | None]:
    """Return work that copies one conversation."""
    return lambda connection: copy_conversation(connection, source, entry, seen)


def combined(works: Sequence[Work[Entry | None]]) -> Work[list[Entry | None]]:
    """Combine several works into one."""
    return lambda connection: [work(connection) for work in works]


def groups_of(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield groups of conversations that are written together."""
    group: list[Entry] = []
    size = 0
    for entry in entries:
        group.append(entry)
        size += entry.own + 1
        if size >= GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


# --- writing -------------------------------------------------------------------------------------


def copy_conversation(
    connection: Connection, source: Engine, old: Entry, seen: Entry | None
) -> Entry | None:
    """Write what the target lacks of a conversation; return it as copied.

    `seen` is what the target held when it was compared. Returns None if it was removed meanwhile.
    """
    entry, marks, calls, answers = source.read(lambda one: state_of(one, old))
    if entry is None:
        return None
    known = locked(connection, entry)
    if (known and (known.number, known.last)) != (seen and (seen.number, seen.last)):
        hint = "stop other writers during a copy"
        raise Conflict(f"{named(entry)} of the target was changed meanwhile", hint=hint)
    if known is None:
        number, after = created(connection, entry), entry.before
    elif is_same_state(connection, entry, marks, known):
        copy_summaries(connection, source, entry, known.number)
        copy_places(connection, source, entry, known.number)
        return entry
    else:
        number, after = known.number, known.last
        make_room(connection, entry, number)
    for rows in pages(source, MESSAGES, entry.number, after, entry.last):
        insert(connection, "messages", "seq, joins, kind, body, length, digest", number, rows)
    for rows in pages(source, TURNS, entry.number, after, entry.last):
        insert(connection, "turns", "first, count, key, stored", number, rows)
    insert(connection, "marks", "seq, visibility, pinned, origin", number, marks)
    insert(connection, "open_calls", "seq, part, id, name", number, calls)
    insert(connection, "answers", "seq, joins", number, answers)
    versions = source.read(lambda one: one.rows(VERSIONS, entry.number))
    insert(connection, "versions", "seq, number, replaced, body", number, versions)
    copy_summaries(connection, source, entry, number)
    copy_places(connection, source, entry, number)
    return entry


def locked(connection: Connection, entry: Entry) -> Entry | None:
    """Lock a conversation of the target until the transaction ends."""
    known = entry_of(connection, entry.tenant, entry.id)
    if known is None:
        return None
    lock = f"SELECT last FROM heads WHERE conversation = ?{connection.for_update}"
    connection.rows(lock, known.number)
    return entry_of(connection, entry.tenant, entry.id)


def is_same_state(connection: Connection, entry: Entry, marks: Sequence[Row], known: Entry) -> bool:
    """Whether the target has all of it already."""
    about = (known.last, known.title, known.agent, known.settings)
    if about != (entry.last, entry.title, entry.agent, entry.settings):
        return False
    return connection.rows(MARKS, known.number) == marks


def state_of(
    connection: Connection, old: Entry
) -> tuple[Entry | None, list[Row], list[Row], list[Row]]:
    """Return a conversation with its marks, open calls and answers, all of one moment."""
    entry = entry_of(connection, old.tenant, old.id)
    if entry is None or entry.number != old.number:
        return None, [], [], []
    marks, calls, answers = (connection.rows(sql, old.number) for sql in (MARKS, CALLS, ANSWERS))
    return entry, marks, calls, answers


def created(connection: Connection, entry: Entry) -> int:
    """Create a conversation; return its number here."""
    parent = None
    if entry.parent is not None:
        above = entry_of(connection, entry.tenant, entry.parent)
        parent = None if above is None else above.number
    about = (entry.title, entry.agent, entry.settings, parent, entry.fork_at, entry.created)
    ((number,),) = connection.rows(CREATE, entry.tenant, entry.id, *about)
    head = "INSERT INTO heads (conversation, last, marked, length) VALUES (?, ?, ?, ?)"
    connection.run(head, number, entry.last, entry.marked, entry.length)
    return number


def make_room(connection: Connection, entry: Entry, number: int) -> None:
    """Remove what changes over time, before writing the source's."""
    connection.run(
        "UPDATE conversations SET title = ?, agent = ?, settings = ? WHERE number = ?",
        *(entry.title, entry.agent, entry.settings, number),
    )
    head = "UPDATE heads SET last = ?, length = ?, marked = marked + 1 WHERE conversation = ?"
    connection.run(head, entry.last, entry.length, number)
    for table in ("marks", "open_calls", "answers", "summaries", "versions"):
        connection.run(f"DELETE FROM {table} WHERE conversation = ?", number)


def copy_summaries(connection: Connection, source: Engine, entry: Entry, number: int) -> None:
    """Copy the summaries of what is copied, because a model's cannot be reproduced."""
    every = source.read(
        lambda one: [row for row in one.rows(summaries.ROWS, entry.number) if row[1] <= entry.last]
    )
    connection.run_many(summaries.INSERT, [(number, *row) for row in every])


def copy_places(connection: Connection, source: Engine, entry: Entry, number: int) -> None:
    """Copy the places by which the next request of a client finds its conversation."""
    every = source.read(
        lambda one: [row for row in one.rows(PLACES, entry.number) if row[0] <= entry.last]
    )
    connection.run_many(places.INSERT, [(number, *row) for row in every])


def insert(
    connection: Connection, table: str, columns: str, number: int, rows: Iterable[Row]
) -> None:
    """Add rows to a conversation; the table and column names are ours."""
    places = ", ".join("?" * (columns.count(",") + 2))
    sql = INTO.format(table=table, columns=f"conversation, {columns}", places=places)
    connection.run_many(sql, [(number, *row) for row in rows])


# --- comparing -----------------------------------------------------------------------------------


def require_beginning(source: Engine, target: Engine, entry: Entry, known: Entry) -> None:
    """Raise if the target has a different conversation with this id."""
    fork = (entry.parent, entry.fork_at)
    if fork != (known.parent, known.fork_at):
        raise conflict(entry, "was forked at another place, or not forked")
    if known.last > entry.last:
        raise conflict(entry, f"has {known.last:,} messages, the source {entry.last:,}")
    if content_of(source, entry, known.last) != content_of(target, known, known.last):
        raise conflict(entry, difference(source, target, entry, known))


def difference(source: Engine, target: Engine, entry: Entry, known: Entry) -> str:
    """Return where the target differs from the source: often at a later edit or erasure."""
    ours = pages(source, MESSAGES, entry.number, entry.before, known.last)
    theirs = pages(target, MESSAGES, known.number, known.before, known.last)
    for page, other in zip(ours, theirs, strict=False):
        for (seq, _, _, body, _, digest), row in zip(page, other, strict=False):
            if body != row[3]:
                message = read_message(body, digest)
                if message.visibility == "erased" or "edited" in message.meta:
                    return f"has message {seq} as it was before it was edited or erased"
                return f"holds another message {seq}"
    return "holds other messages"


def damaged_in(target: Engine, entry: Entry) -> list[str]:
    """Name the messages of a copied conversation that are placeholders for damaged ones."""
    there = target.read(lambda connection: entry_of(connection, entry.tenant, entry.id))
    if there is None:
        return []
    return [
        f"{named(entry)}: {damage}"
        for rows in pages(target, MESSAGES, there.number, there.before, entry.last)
        for seq, _, _, body, _, digest in rows
        if STAND_IN in body and (damage := damage_of(read_message(body, digest), seq))
    ]


def conflict(entry: Entry, reason: str) -> Conflict:
    """Return the error for a target that differs from the source."""
    hint = f"copy into another store, or remove it there (cw rm {shown(entry.id)}) and copy again"
    return Conflict(f"{named(entry)} of the target {reason}", hint=hint)


def require_same(source: Engine, target: Engine, entry: Entry) -> bytes:
    """Return the digest of a conversation; raise if the two stores differ."""
    there = target.read(lambda connection: entry_of(connection, entry.tenant, entry.id))
    here = source.read(lambda connection: entry_of(connection, entry.tenant, entry.id))
    if here is not None and there is not None:
        digest = whole_of(source, here, entry.last)
        if digest == whole_of(target, there, entry.last):
            return digest
    hint = "it was changed while it was copied? run cw copy again"
    raise StoreError(f"{named(entry)} differs between the two stores", hint=hint)
