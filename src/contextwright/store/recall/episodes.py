"""Episodes as memories of their conversation: made once, in order, from visible messages.

How far a conversation is divided into episodes is stored in the same transaction as they are, so a
second process finds the work done. Hiding a message removes the episodes made from it, until they
are rebuilt without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from typing import TypeAlias

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError, require
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.recall.episodes.boundaries import (
    Embed,
    EpisodeRules,
    Stretch,
    divide,
    is_talk,
    stretch_of,
)
from contextwright.recall.episodes.episode import Episode, episode_of
from contextwright.recall.episodes.refine import EpisodeWriter, refine, unrefined
from contextwright.recall.memories import Memory, had_part
from contextwright.store.engines.base import Connection, Engine, Row, Value
from contextwright.store.records import StoredMemory, StoredMessage
from contextwright.store.rows import conversations
from contextwright.store.rows import memories as notes
from contextwright.store.rows import messages as reading
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.validation import memory_body
from contextwright.store.state import State

__all__ = ["EpisodeResult", "Maker", "copy", "is_visible", "listed"]

BATCH = 32
"""Episodes stored in one transaction, if no model writes their text."""
PAGE = 500

STATE = """
SELECT h.conversation, coalesce(d.last, 0), coalesce(d.marked, 0), h.marked FROM heads h
LEFT JOIN divided d ON d.conversation = h.conversation WHERE h.conversation = ?"""
DIVIDED = """
INSERT INTO divided (conversation, last, marked) VALUES (?, ?, ?)
ON CONFLICT (conversation) DO UPDATE SET last = excluded.last"""
LOOKED = "UPDATE divided SET marked = ? WHERE conversation = ?"
ALL = """
SELECT c.number, c.tenant, c.id, d.last FROM divided d
JOIN conversations c ON c.number = d.conversation
WHERE c.number > ? ORDER BY c.number LIMIT ?"""
BRING = """
INSERT INTO divided (conversation, last, marked) VALUES (?, ?, 0)
ON CONFLICT (conversation) DO UPDATE SET last = excluded.last WHERE excluded.last > divided.last"""

Entry: TypeAlias = tuple[StoredMemory, str]
"""An episode with the JSON of its memory."""


class EpisodeResult(Struct, frozen=True):
    """The result of making a conversation's episodes."""

    episodes: tuple[StoredMemory, ...] = ()
    """New episodes, and those rebuilt because a message was hidden."""
    removed: int = 0
    """Episodes of which too little was left to see."""
    changes: tuple[Change, ...] = ()
    """Episodes whose text a model should have written and did not."""


class Division(Struct, frozen=True):
    """How far a conversation is divided."""

    number: int
    last: int
    looked: int
    """How many times messages had been marked when hidden ones were last looked for."""
    marked: int
    """How many times they have been marked now."""


# --- reading -------------------------------------------------------------------------------------


def listed(
    state: State, id: str, *, participant: str | None, min_weight: float
) -> list[StoredMemory]:
    """Return the visible episodes of a conversation, in the order in which they were stored."""
    tenant = state.tenant

    def work(connection: Connection) -> list[StoredMemory]:
        head = conversations.seen(connection, tenant, id)
        return [
            stored
            for stored in stored_in(connection, tenant, id)
            if stored.memory.weight >= min_weight
            and (participant is None or had_part(stored.memory, participant))
            and is_visible(connection, head, stored.memory)
        ]

    return state.engine.read(work)


def stored_in(connection: Connection, tenant: str, id: str) -> Iterator[StoredMemory]:
    """Yield all events of a conversation."""
    number = 0
    fields: dict[str, Value] = {"kind": "episode", "scope": id}
    while page := notes.after(connection, tenant, number, fields):
        yield from (stored for _, stored in page)
        number = page[-1][0]


def is_visible(connection: Connection, head: Head | None, memory: Memory) -> bool:
    """Whether all messages of an episode are visible; one added by hand has none."""
    seqs = notes.made_from(memory)
    if not seqs or head is None:
        return True
    rows = connection.rows(notes.HIDDEN, head.number, min(seqs), max(seqs))
    return {seq for (seq,) in rows}.isdisjoint(seqs)


# --- making --------------------------------------------------------------------------------------


class Maker:
    """Makes the episodes that a conversation lacks."""

    def __init__(
        self,
        state: State,
        id: str,
        *,
        writer: EpisodeWriter | None,
        boundaries: EpisodeRules | None,
        now: datetime | None,
        embed: Embed | None,
    ) -> None:
        require(boundaries, EpisodeRules | None, "boundaries", "EpisodeRules(…)")
        require(now, datetime | None, "now", "a datetime")
        self.id, self.writer, self.embed = id, writer, embed
        self.boundaries, self.now = boundaries or EpisodeRules(), now or datetime.now(UTC)
        self.tenant, self.engine = state.tenant, state.engine
        self.made: list[StoredMemory] = []
        self.changes: list[Change] = []
        self.removed = 0

    def make(self) -> EpisodeResult:
        """Make an episode of every finished stretch, and rebuild those with hidden messages."""
        self.make_anew()
        while not self.make_new():
            pass
        return EpisodeResult(tuple(self.made), self.removed, tuple(self.changes))

    def make_new(self) -> bool:
        """Make what is missing; return False if another process was faster."""
        state = self.engine.read(self.state)
        talk = ((stored.seq, stored.message) for stored in self.read(state.last + 1))
        stretches = divide(talk, self.boundaries, now=self.now, embed=self.embed)
        closed = (stretch for stretch in stretches if stretch.closed)
        while batch := list(islice(closed, BATCH if self.writer is None else 1)):
            entries = [
                self.entry(stretch, id_of(self.id, stretch))
                for stretch in batch
                if len(stretch.messages) >= self.boundaries.min_messages
            ]
            if not self.store(state, batch[-1].last, entries):
                return False
            self.made += [stored for stored, _ in entries]
            state = msgspec.structs.replace(state, last=batch[-1].last)
        return True

    def store(self, state: Division, last: int, entries: Sequence[Entry]) -> bool:
        """Store episodes and how far they go, unless another process got further meanwhile."""

        def work(connection: Connection) -> bool:
            if self.locked(connection).last != state.last:
                return False
            for stored, body in entries:
                notes.add(connection, self.tenant, stored.id, stored.memory, body)
            connection.run(DIVIDED, state.number, last, state.marked)
            return True

        return self.engine.write(work, self.id)

    def make_anew(self) -> None:
        """Rebuild the episodes of messages that were hidden since."""
        state = self.engine.read(self.state)
        if state.looked == state.marked or not state.last:
            return
        for old, episode in self.engine.read(self.too_telling):
            stored = self.read(episode.first, episode.last + 1)
            left = [(one.seq, one.message) for one in stored if is_talk(one.message)]
            entry = None
            if len(left) >= self.boundaries.min_messages:
                entry = self.entry(stretch_of(left, self.now), old.id)
                self.made.append(msgspec.structs.replace(old, memory=entry[0].memory))
            self.removed += entry is None
            self.replace(old.id, entry)
        self.engine.write(lambda connection: self.looked(connection, state), self.id)

    def replace(self, id: str, entry: Entry | None) -> None:
        """Change the text of an episode, or remove it."""

        def work(connection: Connection) -> None:
            self.locked(connection)
            if entry is None:
                notes.remove(connection, self.tenant, id)
            else:
                notes.replace(connection, self.tenant, id, entry[1])

        self.engine.write(work, self.id)

    def too_telling(self, connection: Connection) -> list[tuple[StoredMemory, Episode]]:
        """Return the episodes made from messages that are hidden now."""
        head = conversations.require(connection, self.tenant, self.id)
        return [
            (stored, episode)
            for stored in stored_in(connection, self.tenant, self.id)
            if (episode := Episode.of(stored.memory)) is not None
            and not is_visible(connection, head, stored.memory)
        ]

    def read(self, start: int, stop: int | None = None) -> Iterator[StoredMessage]:
        """Read messages of the conversation, page by page."""
        return reading.each(self.engine, self.tenant, self.id, start, stop)

    # --- one episode -------------------------------------------------------------------------

    def entry(self, stretch: Stretch, id: str) -> Entry:
        """Return a stretch as a memory, with better text if a model wrote one."""
        episode = episode_of(stretch)
        if self.writer is not None:
            messages = [message for _, message in stretch.messages]
            refined, body = self.refined(episode, messages, self.writer)
            if body is not None:
                return StoredMemory(id, refined), body
        memory = notes.sound(episode.memory(self.id))
        return StoredMemory(id, memory), memory_body(memory)

    def refined(
        self, episode: Episode, messages: Sequence[Message], writer: EpisodeWriter
    ) -> tuple[Memory, str | None]:
        """Return an episode with better text, and its JSON; None if there is no valid one."""
        better, change = refine(episode, messages, writer)
        memory, body = notes.sound(better.memory(self.id)), None
        if change is None:
            try:
                body = memory_body(memory)
            except UsageError as error:
                change = unrefined(episode, error)
        if change is not None:
            self.changes.append(change)
        return memory, body

    # --- how far it is -----------------------------------------------------------------------

    def state(self, connection: Connection) -> Division:
        """Read how far the conversation is divided."""
        head = conversations.seen(connection, self.tenant, self.id)
        for row in connection.rows(STATE, head.number):
            return Division(*row)
        if head is conversations.NOTHING:
            return Division(head.number, 0, 0, 0)
        raise conversations.unknown(self.id)

    def locked(self, connection: Connection) -> Division:
        """Read how far the conversation is divided, and lock it until the transaction ends."""
        head = conversations.require(connection, self.tenant, self.id)
        conversations.locked_length(connection, head)
        return self.state(connection)

    def looked(self, connection: Connection, state: Division) -> None:
        """Record that hidden messages were looked for."""
        self.locked(connection)
        connection.run(LOOKED, state.marked, state.number)


def id_of(conversation: str, stretch: Stretch) -> str:
    """Return the id of an episode, the same wherever it is made, so that copies do not pile up."""
    place = f"{stretch.messages[0][0]} {conversation}"
    return blake2b(place.encode(), digest_size=8).hexdigest()


# --- into another store --------------------------------------------------------------------------


def copy(source: Engine, target: Engine, tenant: str | None = None) -> None:
    """Copy how far conversations are divided, once they and their memories are copied."""
    number = 0
    while rows := source.read(lambda connection, after=number: connection.rows(ALL, after, PAGE)):
        number = rows[-1][0]
        rows = [row for row in rows if tenant is None or row[1] == tenant]
        target.write_alone(lambda connection, rows=rows: bring(connection, rows))


def bring(connection: Connection, rows: Sequence[Row]) -> None:
    """Set how far conversations of the target are divided."""
    for _, tenant, id, last in rows:
        head = conversations.find(connection, tenant, id)
        if head is not None:
            connection.run(BRING, head.number, last)
