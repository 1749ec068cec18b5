"""Make the episodes of a conversation, and store them as memories.

Each is made once, in order, from visible messages. Up to which message a conversation is segmented
is stored in the same transaction, so a second process does not do the work again. When a message is
hidden, episodes made from it are not shown until they are rebuilt without it.
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
    Segment,
    is_dialogue,
    segment,
    segment_of,
)
from contextwright.recall.episodes.episode import Episode, episode_of
from contextwright.recall.episodes.refine import EpisodeWriter, refine, refinement_failure
from contextwright.recall.memories import Memory, took_part
from contextwright.store.engines.base import Connection, Engine, Row, Value
from contextwright.store.records import StoredMemory, StoredMessage
from contextwright.store.rows import conversations
from contextwright.store.rows import memories as notes
from contextwright.store.rows import messages as reading
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.validation import memory_body
from contextwright.store.state import State

__all__ = ["EpisodeResult", "EpisodeMaker", "copy_progress", "is_visible", "visible_episodes"]

BATCH_EPISODES = 32
"""Episodes that are stored in one transaction if no model writes their text."""
PAGE_ROWS = 500

PROGRESS = """
SELECT h.conversation, coalesce(d.last, 0), coalesce(d.marked, 0), h.marked FROM heads h
LEFT JOIN divided d ON d.conversation = h.conversation WHERE h.conversation = ?"""
SET_PROGRESS = """
INSERT INTO divided (conversation, last, marked) VALUES (?, ?, ?)
ON CONFLICT (conversation) DO UPDATE SET last = excluded.last"""
CHECKED = "UPDATE divided SET marked = ? WHERE conversation = ?"
ALL = """
SELECT c.number, c.tenant, c.id, d.last FROM divided d
JOIN conversations c ON c.number = d.conversation
WHERE c.number > ? ORDER BY c.number LIMIT ?"""
ADVANCE = """
INSERT INTO divided (conversation, last, marked) VALUES (?, ?, 0)
ON CONFLICT (conversation) DO UPDATE SET last = excluded.last WHERE excluded.last > divided.last"""

Entry: TypeAlias = tuple[StoredMemory, str]
"""An episode with the JSON of its memory."""


class EpisodeResult(Struct, frozen=True):
    """What was made, rebuilt and removed."""

    episodes: tuple[StoredMemory, ...] = ()
    """New episodes, and those rebuilt because a message was hidden."""
    removed: int = 0
    """Episodes that were removed, because too few of their messages are still visible."""
    changes: tuple[Change, ...] = ()
    """Changes for episodes whose text the writer failed to write."""


class Progress(Struct, frozen=True):
    """Up to which message a conversation is segmented."""

    number: int
    last: int
    looked: int
    """How often messages had been marked when episodes were last checked for hidden messages."""
    marked: int
    """How often they have been marked until now."""


# --- reading -------------------------------------------------------------------------------------


def visible_episodes(
    state: State, id: str, *, participant: str | None, min_weight: float
) -> list[StoredMemory]:
    """Return the visible episodes of a conversation, in the order they were stored."""
    tenant = state.tenant

    def work(connection: Connection) -> list[StoredMemory]:
        head = conversations.seen(connection, tenant, id)
        return [
            stored
            for stored in stored_episodes(connection, tenant, id)
            if stored.memory.weight >= min_weight
            and (participant is None or took_part(stored.memory, participant))
            and is_visible(connection, head, stored.memory)
        ]

    return state.engine.read(work)


def stored_episodes(connection: Connection, tenant: str, id: str) -> Iterator[StoredMemory]:
    """Yield all episodes of a conversation, also events added by hand."""
    number = 0
    fields: dict[str, Value] = {"kind": "episode", "scope": id}
    while page := notes.after(connection, tenant, number, fields):
        yield from (stored for _, stored in page)
        number = page[-1][0]


def is_visible(connection: Connection, head: Head | None, memory: Memory) -> bool:
    """Whether all messages of an episode are visible; an event added by hand has none."""
    seqs = notes.made_from(memory)
    if not seqs or head is None:
        return True
    rows = connection.rows(notes.HIDDEN, head.number, min(seqs), max(seqs))
    return {seq for (seq,) in rows}.isdisjoint(seqs)


# --- making --------------------------------------------------------------------------------------


class EpisodeMaker:
    """Makes the missing episodes of a conversation."""

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
        self.rules, self.now = boundaries or EpisodeRules(), now or datetime.now(UTC)
        self.tenant, self.engine = state.tenant, state.engine
        self.made: list[StoredMemory] = []
        self.changes: list[Change] = []
        self.removed = 0

    def make(self) -> EpisodeResult:
        """Make an episode of every closed segment, and rebuild those with hidden messages."""
        self.make_anew()
        while not self.make_new():
            pass
        return EpisodeResult(tuple(self.made), self.removed, tuple(self.changes))

    def make_new(self) -> bool:
        """Make the missing episodes; return False if another process was faster."""
        state = self.engine.read(self.state)
        talk = ((stored.seq, stored.message) for stored in self.read(state.last + 1))
        stretches = segment(talk, self.rules, now=self.now, embed=self.embed)
        closed = (stretch for stretch in stretches if stretch.closed)
        while batch := list(islice(closed, BATCH_EPISODES if self.writer is None else 1)):
            entries = [
                self.entry(stretch, episode_id(self.id, stretch))
                for stretch in batch
                if len(stretch.messages) >= self.rules.min_messages
            ]
            if not self.store(state, batch[-1].last, entries):
                return False
            self.made += [stored for stored, _ in entries]
            state = msgspec.structs.replace(state, last=batch[-1].last)
        return True

    def store(self, state: Progress, last: int, entries: Sequence[Entry]) -> bool:
        """Store episodes with the progress; return False if another process was faster."""

        def work(connection: Connection) -> bool:
            if self.locked(connection).last != state.last:
                return False
            for stored, body in entries:
                notes.add(connection, self.tenant, stored.id, stored.memory, body)
            connection.run(SET_PROGRESS, state.number, last, state.marked)
            return True

        return self.engine.write(work, self.id)

    def make_anew(self) -> None:
        """Rebuild the episodes with messages that were hidden since they were made."""
        state = self.engine.read(self.state)
        if state.looked == state.marked or not state.last:
            return
        for old, episode in self.engine.read(self.too_telling):
            stored = self.read(episode.first, episode.last + 1)
            left = [(one.seq, one.message) for one in stored if is_dialogue(one.message)]
            entry = None
            if len(left) >= self.rules.min_messages:
                entry = self.entry(segment_of(left, self.now), old.id)
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
        """Return the episodes with hidden messages."""
        head = conversations.require(connection, self.tenant, self.id)
        return [
            (stored, episode)
            for stored in stored_episodes(connection, self.tenant, self.id)
            if (episode := Episode.of(stored.memory)) is not None
            and not is_visible(connection, head, stored.memory)
        ]

    def read(self, start: int, stop: int | None = None) -> Iterator[StoredMessage]:
        """Yield messages of the conversation from `start` to before `stop`."""
        return reading.each(self.engine, self.tenant, self.id, start, stop)

    # --- one episode -------------------------------------------------------------------------

    def entry(self, stretch: Segment, id: str) -> Entry:
        """Return the memory of a segment's episode, with the writer's text if there is one."""
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
        """Return the memory of an episode with the writer's text, and its JSON.

        The JSON is None if the writer failed or its text is not valid.
        """
        better, change = refine(episode, messages, writer)
        memory, body = notes.sound(better.memory(self.id)), None
        if change is None:
            try:
                body = memory_body(memory)
            except UsageError as error:
                change = refinement_failure(episode, error)
        if change is not None:
            self.changes.append(change)
        return memory, body

    # --- how far it is -----------------------------------------------------------------------

    def state(self, connection: Connection) -> Progress:
        """Read up to which message the conversation is segmented."""
        head = conversations.seen(connection, self.tenant, self.id)
        for row in connection.rows(PROGRESS, head.number):
            return Progress(*row)
        if head is conversations.NOTHING:
            return Progress(head.number, 0, 0, 0)
        raise conversations.unknown(self.id)

    def locked(self, connection: Connection) -> Progress:
        """Lock the conversation until the transaction ends, and read its progress."""
        head = conversations.require(connection, self.tenant, self.id)
        conversations.locked_length(connection, head)
        return self.state(connection)

    def looked(self, connection: Connection, state: Progress) -> None:
        """Record that episodes were checked for hidden messages."""
        self.locked(connection)
        connection.run(CHECKED, state.marked, state.number)


def episode_id(conversation: str, stretch: Segment) -> str:
    """Return the id of an episode.

    It is the same in every store, so that copying an episode again adds no second one.
    """
    place = f"{stretch.messages[0][0]} {conversation}"
    return blake2b(place.encode(), digest_size=8).hexdigest()


# --- into another store --------------------------------------------------------------------------


def copy_progress(source: Engine, target: Engine, tenant: str | None = None) -> None:
    """Copy the progress of conversations. They and their memories must be copied before."""
    number = 0
    while rows := source.read(
        lambda connection, after=number: connection.rows(ALL, after, PAGE_ROWS)
    ):
        number = rows[-1][0]
        rows = [row for row in rows if tenant is None or row[1] == tenant]
        target.write_alone(lambda connection, rows=rows: set_progress(connection, rows))


def set_progress(connection: Connection, rows: Sequence[Row]) -> None:
    """Set the progress of conversations in the target."""
    for _, tenant, id, last in rows:
        head = conversations.find(connection, tenant, id)
        if head is not None:
            connection.run(ADVANCE, head.number, last)
