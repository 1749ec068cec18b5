"""Erasing messages, people, tenants and old data, and editing; the files are rewritten."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import TypeVar, Unpack

import msgspec

from contextwright.errors import ContextwrightError, NotFound, shown
from contextwright.messages.message import Message
from contextwright.messages.times import read_time, require_time
from contextwright.store.engines.base import Connection, Engine, Work
from contextwright.store.records import EraseOptions, Erasure
from contextwright.store.rows import conversations, editing
from contextwright.store.rows import memories as notes
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.erasing import (
    Erased,
    erase_messages,
    forget_person,
    messages_like,
    spoken_by,
)
from contextwright.store.rows.recorded import requests
from contextwright.store.rows.turns import remove_number
from contextwright.store.state import State

__all__ = ["edit", "erase", "erase_old", "erase_person", "erase_tenant", "scrubbed"]

NUMBERS = "SELECT number, id FROM conversations WHERE tenant = ? ORDER BY number DESC"
MESSAGES = "SELECT count(*) FROM messages WHERE conversation = ?"
MEMORIES = "SELECT id, about, body FROM memories WHERE tenant = ?"
BACKUPS = "SELECT file FROM backups ORDER BY file"
ANY = "%"
UNSCRUBBED = "free space of the database: store.scrub() rewrites it"

Result = TypeVar("Result")


class RehearsedError(ContextwrightError):
    """Ends a transaction that is only a dry run.

    One of our errors, because at others an engine looks for damage in the whole file.
    """


def erase(state: State, id: str, seqs: Collection[int], **options: Unpack[EraseOptions]) -> Erasure:
    """Erase messages of one conversation."""

    def work(connection: Connection) -> Erased:
        head = conversations.require(connection, state.tenant, id)
        last = conversations.length_of(connection, head, id)
        for seq in seqs:
            if not 1 <= seq <= last:
                raise NotFound(f"there is no message {seq} in {shown(id)}")
        return erase_messages(connection, head, seqs)

    return done(state, work, **options)


def edit(state: State, id: str, seq: int, message: Message | str, *, keep: bool) -> None:
    """Replace a message or its text; without `keep` the old one is erased."""

    def work(connection: Connection) -> int:
        return editing.edit(connection, state.tenant, id, seq, message, keep=keep)

    state.index.forget(state.engine.write(work, id))
    if not keep:
        state.builds.forget()
        state.engine.scrub()


def erase_person(state: State, person: str, **options: Unpack[EraseOptions]) -> Erasure:
    """Erase what a person said in a tenant's conversations, and the memories about or by them."""

    def work(connection: Connection) -> Erased:
        erased = Erased()
        for number, _, head in heads_of(connection, state.tenant):
            said, answers = spoken_by(connection, number, person)
            erased.quotes += forget_person(connection, number, person, answers)
            erased += erase_messages(connection, head, said)
        for id, about, body in connection.rows(MEMORIES, state.tenant):
            memory = notes.decoded(body)
            if memory is None:  # an unreadable memory may still hold the text
                named = person.encode() in (body.encode() if isinstance(body, str) else body)
            else:
                named = person == memory.author or person in memory.meta.get("participants", ())
            if named or person == about:
                notes.remove(connection, state.tenant, id)
                erased.memories += 1
        return erased

    return done(state, work, **options)


def erase_tenant(state: State, **options: Unpack[EraseOptions]) -> Erasure:
    """Remove all conversations and memories of a tenant."""

    def work(connection: Connection) -> Erased:
        erased = Erased()
        rows = connection.rows("SELECT count(*) FROM memories WHERE tenant = ?", state.tenant)
        erased.memories = rows[0][0]
        for table in ("memories", "requests"):
            connection.run(f"DELETE FROM {table} WHERE tenant = ?", state.tenant)
        # Forks follow the conversations they were forked from, so the last one has none.
        for number, _ in connection.rows(NUMBERS, state.tenant):
            ((messages,),) = connection.rows(MESSAGES, number)
            erased.messages += messages
            remove_number(connection, number)
            erased.conversations += 1
        return erased

    return done(state, work, **options)


def erase_old(state: State, before: datetime, **options: Unpack[EraseOptions]) -> Erasure:
    """Erase a tenant's messages and memories from before a time; those without a time stay.

    A conversation with nothing else in it is removed, unless another was forked from it.
    """
    limit = require_time(before)

    def is_old(at: str | None) -> bool:
        time = read_time(at) if at else None
        return time is not None and time < limit

    def work(connection: Connection) -> Erased:
        erased = Erased()
        forks = "SELECT 1 FROM conversations WHERE parent = ? LIMIT 1"
        for number, id, head in heads_of(connection, state.tenant):
            own = list(messages_like(connection, number, ANY))
            old = [seq for seq, one in own if is_old(one.sent_at)]
            gone = sum(one.visibility == "erased" for _, one in own)
            if old and len(old) + gone == len(own) and not connection.rows(forks, number):
                remove_number(connection, number)
                notes.remove_scope(connection, state.tenant, id)
                erased += Erased(messages=len(old), conversations=1)
            elif old:
                erased += erase_messages(connection, head, old)
        for id, _, body in connection.rows(MEMORIES, state.tenant):
            if is_old((notes.decoded(body) or notes.DAMAGED).at):
                notes.remove(connection, state.tenant, id)
                erased.memories += 1
        requests.remove_before(connection, state.tenant, limit)
        return erased

    return done(state, work, **options)


def heads_of(connection: Connection, tenant: str) -> Iterator[tuple[int, str, Head]]:
    """Yield all conversations of a tenant, forks before the ones they were forked from."""
    for number, id in connection.rows(NUMBERS, tenant):
        yield number, id, conversations.require(connection, tenant, id)


# --- how it is done ------------------------------------------------------------------------------


def done(state: State, work: Work[Erased], *, scrub: bool = True, dry_run: bool = False) -> Erasure:
    """Run the work, rewrite the files if wanted, and report what is out of reach."""
    engine = state.engine
    if dry_run:
        erased, remains = rehearsed(engine, work), list[str]()
    else:
        erased = engine.write_alone(work)
        state.index.forget()
        state.builds.forget()
        remains = engine.scrub() if scrub else [UNSCRUBBED]
    counts = msgspec.structs.asdict(erased)
    return Erasure(**counts, remains=(*remains, *backups_of(engine)))


def scrubbed(engine: Engine) -> list[str]:
    """Rewrite the files; return where removed text may still be."""
    return [*engine.scrub(), *backups_of(engine)]


def rehearsed(engine: Engine, work: Work[Result]) -> Result:
    """Return the result of work, and roll it back."""
    found: list[Result] = []

    def attempt(connection: Connection) -> None:
        found.append(work(connection))
        raise RehearsedError("a dry run")

    try:
        engine.write_alone(attempt)
    except RehearsedError:
        pass
    return found[0]


def backups_of(engine: Engine) -> list[str]:
    """Return the backups of a store that still exist."""
    noted = [file for (file,) in engine.read(lambda connection: connection.rows(BACKUPS))]
    files = sorted({*engine.backups(), *filter(os.path.exists, noted)})
    return [f"the backup {file}" for file in files]
