"""`Store`: where conversations and memories live."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from contextwright.errors import ContextwrightError, UsageError, shown
from contextwright.memories import Memory, MemoryKind
from contextwright.messages import Message, as_time
from contextwright.models import Model
from contextwright.prices import Priced
from contextwright.recall.embedding import Given, embedder_of
from contextwright.recall.packing import Recall
from contextwright.store import conversations, notes, search, turns, vectors
from contextwright.store.background import Background
from contextwright.store.chat import Chat
from contextwright.store.engine import Connection, Engine, Outcomes, Sync, Value, Work, open_engine
from contextwright.store.hygiene import (
    bodies_of,
    memory_body,
    require_name,
    require_text,
)
from contextwright.store.indexing import Indexed, Indexing, Progress
from contextwright.store.nearest import Space
from contextwright.store.outlines import Outlines
from contextwright.store.records import Details, Hit, StoredMemory, Turn
from contextwright.store.totals import Counted

if TYPE_CHECKING:
    from contextwright.metering import Meter
    from contextwright.store.contexts import Remembered
    from contextwright.store.wishes import RecallOptions

__all__ = ["Hits", "Numbers", "Store"]

Numbers: TypeAlias = list[int]
"""The numbers of a turn's messages."""
Hits: TypeAlias = list[Hit]
"""What a search found."""

MOST_USED = 10_000
"""So many conversations are remembered with the meter they were last measured by."""


class Store:
    """Conversations in an SQLite file, or in Postgres by URL.

    Any number of threads and processes may use the same store. Every call sees one tenant only.

    Args:
        place: a path, or `postgresql://…`.
        tenant: whose conversations these are; a name is looked up among this tenant's alone.
        sync: `full`: what is stored survives a loss of power. `fast`: it survives a crash of the
            process; a loss of power may take the last moments, and never half a turn.
        embedder: what makes vectors of messages for recall: `auto` is wordllama if it is installed
            and none else, None is none. It is loaded when the first vector is made.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        tenant: str = "",
        sync: Sync = "full",
        embedder: Given = "auto",
    ) -> None:
        self.tenant = require_name(tenant, "tenant", empty=True)
        chosen = embedder_of(embedder)
        self.space = None if chosen is None else Space(chosen)
        """The vectors; None: texts alone."""
        self.outlines = Outlines()
        self.engine: Engine = open_engine(place, sync)
        self.remembered: dict[tuple[str, str], Remembered] = {}
        """Conversations as their last builds read them."""
        self._told: dict[tuple[str, str], list[str]] = {}
        """The events that the last context of a conversation told: its next turn counts them."""
        self.background = Background()
        """Summaries that are being written."""
        self._meters: dict[str, Meter] = {}
        self._used: dict[tuple[str, str], Meter] = {}
        """The meter that last measured a conversation: what is added to it is priced at once."""

    def for_tenant(self, tenant: str) -> Store:
        """The same store for another tenant; it shares the connections, and the end of them."""
        other = object.__new__(Store)
        other.tenant = require_name(tenant, "tenant", empty=True)
        other.engine = self.engine
        other._meters, other._used = self._meters, self._used
        other.remembered, other._told = self.remembered, self._told
        other.space, other.outlines = self.space, self.outlines
        other.background = self.background
        return other

    def meter(self, id: str, format: str, model: Model) -> Meter:
        """The meter for a conversation; it remembers every text it ever counted here."""
        from contextwright.metering import Meter

        made = Meter(format, model)
        meter = self._meters.setdefault(made.name, made)
        if len(self._used) >= MOST_USED:
            self._used.clear()  # whoever is missed is counted by its next build
        self._used[self.tenant, id] = meter
        return meter

    def note_told(self, id: str, events: Collection[str]) -> None:
        """Remember which events a context told, until a turn shows that it was sent.

        So nobody waits for the count, and looking at a context counts nothing.
        """
        self._told.pop((self.tenant, id), None)
        if len(self._told) >= MOST_USED:
            self._told.clear()
        if events:
            self._told[self.tenant, id] = sorted(events)

    def conversation(self, id: str) -> Chat:
        """A conversation by its name; it comes into being when something is written to it."""
        return Chat(self, require_name(id, "conversation's id"))

    def list(self) -> Iterator[Details]:
        """All conversations, in the order in which they were made."""
        number = 0
        while page := self.engine.read(details_after(self.tenant, number)):
            yield from (details for _, details in page)
            number = page[-1][0]

    def forget(self, id: str) -> None:
        """Remove a conversation for good, with everything in it and the memories of its scope.

        Raises:
            Conflict: others were forked from it.
        """
        require_name(id, "conversation's id")

        def work(connection: Connection) -> int | None:
            return turns.forget(connection, self.tenant, id)

        number = self.engine.write(work, id)
        if number is not None:
            self._let_go(number)

    # --- memories ----------------------------------------------------------------------------

    def remember(
        self,
        memory: Memory | str,
        *,
        about: str | None = None,
        kind: MemoryKind = "memory",
        key: str = "",
        scope: str = "",
        author: str | None = None,
        at: datetime | str | None = None,
    ) -> str:
        """Store a memory, or words with what they are about, and give its id.

        A `scope` is a conversation's id: the memory is told there alone, and forgotten with it.
        Without a time, it is noted now.
        """
        if isinstance(memory, str):
            memory = Memory(kind, memory, about, key, author, as_time(at), scope)
        record = notes.sound(memory)
        id, body = notes.new_id(), memory_body(record)
        self.engine.write(
            lambda connection: notes.add(connection, self.tenant, id, record, body), scope
        )
        return id

    def forget_memory(self, id: str) -> None:
        """Remove a memory for good; `forget` removes a conversation."""
        require_name(id, "memory's id")
        self.engine.write(lambda connection: notes.remove(connection, self.tenant, id))

    def memories(
        self,
        *,
        about: str | None = None,
        kind: MemoryKind | None = None,
        scope: str | None = None,
    ) -> Iterator[StoredMemory]:
        """All memories, or those that fit, in the order in which they were stored."""
        asked = {"kind": kind, "about": about, "scope": scope}
        fields: dict[str, Value] = {name: text for name, text in asked.items() if text is not None}
        for name, text in asked.items():
            require_text(text, name)
        number = 0
        while page := self.engine.read(notes.page_after(self.tenant, number, fields)):
            yield from (stored for _, stored in page)
            number = page[-1][0]

    # --- search ------------------------------------------------------------------------------

    def search(self, query: str, conversation: str | None = None, most: int = 20) -> Hits:
        """The messages that hold most of a query's words, the best first, of two alike the newer.

        Looks through one conversation, with those it was forked from, or through all of them. What
        is hidden or deleted there is not found. A query is words, whatever signs it has.

        Raises:
            NotFound: there is no such conversation.
        """
        id = None if conversation is None else require_name(conversation, "conversation's id")
        if type(query) is not str or type(most) is not int:
            raise UsageError(f"cannot search for {shown(query)}", hint="words, and a number")

        def work(connection: Connection) -> Hits:
            if id is None:
                hits = search.in_tenant(connection, self.tenant, query)
            else:
                hits = search.in_conversation(connection, self.tenant, id, query)
            return [*islice(hits, max(most, 0))]

        self.index_words(id)
        return self.engine.read(work)

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """The messages of all conversations that a question needs, within a budget of tokens.

        The conversations that fit best are searched as `Chat.recall` does, with its options.
        """
        from contextwright.store.recalling import recall_everywhere
        from contextwright.store.wishes import wish_of

        return recall_everywhere(self, wish_of(query, options))

    def index(
        self,
        conversation: str | None = None,
        *,
        few: int | None = None,
        again: bool = False,
        progress: Progress | None = None,
    ) -> Indexed:
        """Bring the index up to date, words and vectors, for one conversation or for all.

        One conversation, with those it was forked from, is left as it is while only a `few` of its
        messages are missing: a search reads those as they are, and a window shows them. Nobody has
        to call this; who searches or recalls does. `again` throws the index away first.
        """
        id = None if conversation is None else require_name(conversation, "conversation's id")
        allowed = 0 if again else search.FEW if few is None else few
        indexing = Indexing(self.engine, self.tenant, id, allowed)
        embedder = self.space and self.space.embedder
        if again:
            for number in indexing.clear(embedder):
                self._let_go(number)
        return indexing.run(embedder, progress)

    def index_words(
        self, conversation: str | None = None, *, progress: Progress | None = None
    ) -> None:
        """Bring the index of words alone up to date: all that a search for words needs."""
        id = None if conversation is None else require_name(conversation, "conversation's id")
        Indexing(self.engine, self.tenant, id, search.FEW).run(None, progress)

    def drop_unused_vectors(self) -> int:
        """Remove the vectors of all embedders but the store's own; gives how many messages' it was.

        They were made before the embedder was another, and nobody asks for them.

        Raises:
            UsageError: the store has no embedder, so nothing says which ones are in use.
        """
        if self.space is None:
            raise UsageError(
                "a store without an embedder has no vectors in use",
                hint="open it with the embedder whose vectors are to stay",
            )
        name = self.space.embedder.name
        return self.engine.write_alone(
            lambda connection: vectors.remove_others(connection, self.tenant, name)
        )

    def _let_go(self, number: int) -> None:
        """Have nothing of a conversation in memory any more."""
        self.outlines.forget(number)
        if self.space is not None:
            self.space.forget(number)

    # --- turns -------------------------------------------------------------------------------

    def add_each(self, turns: Iterable[Turn]) -> Outcomes[Numbers]:
        """Store turns with one sync; each is whole or not at all, and fails on its own.

        Gives the numbers of each turn's messages, or its error.
        """
        return self.engine.write_each([self._adding_or_failing(turn) for turn in turns])

    def add_all(self, turns: Iterable[Turn]) -> int:
        """Store any number of turns, all of them or none; gives the number of messages.

        With keys it may be repeated, should a server go away before it says whether it is done.
        """

        def work(connection: Connection) -> int:
            return sum(len(self.adding(turn)[1](connection)) for turn in turns)

        return self.engine.write_alone(work)

    def close(self) -> None:
        """Close all connections, once what is being written in the background is there."""
        self.background.close()
        self.engine.close()

    def adding(self, turn: Turn) -> tuple[str, Work[Numbers]]:
        """The order and the work of storing a turn, once it is known to be sound.

        Raises:
            UsageError: it is not.
        """
        id = require_name(turn.conversation, "conversation's id")
        key = turn.key if turn.key is None else require_name(turn.key, "key")
        messages = tuple(turn.messages)
        if not messages:
            raise UsageError("a turn has at least one message")
        if key is None and self.engine.names_turns:
            key = turns.new_name()
        writing = (id, messages, bodies_of(messages), key)
        counted = self._counted(id, messages)
        told = self._told.pop((self.tenant, id), ())
        return id, lambda connection: turns.add(connection, self.tenant, writing, counted, told)

    def _counted(self, id: str, messages: Sequence[Message]) -> Counted | None:
        """The prices of new messages, where a build has asked for prices before."""
        meter = self._used.get((self.tenant, id))
        if meter is None:
            return None
        return Counted(meter.name, [Priced.of(message, meter.cost) for message in messages])

    def _adding_or_failing(self, turn: Turn) -> tuple[str, Work[Numbers]]:
        """The work of storing a turn; if it is not sound, to say so."""
        try:
            return self.adding(turn)
        except ContextwrightError as error:
            return "", failing(error)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def failing(error: ContextwrightError) -> Work[Any]:
    """Work that fails."""

    def work(connection: Connection) -> Any:
        raise error

    return work


def details_after(tenant: str, number: int) -> Work[list[tuple[int, Details]]]:
    """The work of reading the next page of a list."""
    return lambda connection: conversations.details_after(connection, tenant, number)
