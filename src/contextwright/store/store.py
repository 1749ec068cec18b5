"""`Store`: where conversations and memories live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from msgspec.structs import replace

from contextwright.errors import UsageError, require, shown
from contextwright.messages.times import as_time, read_time
from contextwright.models import Model, as_model
from contextwright.recall.memories import Memory, MemoryKind
from contextwright.recall.packing import RecallResult
from contextwright.recall.vectors.choose import EmbedderChoice, choose_embedder
from contextwright.recall.vectors.embedder import Embedder
from contextwright.store.care import erasure
from contextwright.store.chat import Chat
from contextwright.store.contexts.background import Background
from contextwright.store.contexts.builds import Builds
from contextwright.store.engines.base import Connection, Engine, Outcomes, Sync, Value, Work
from contextwright.store.engines.open import open_engine
from contextwright.store.recall.index import Index
from contextwright.store.recall.indexing import IndexResult, Progress
from contextwright.store.recall.search import search
from contextwright.store.records import (
    ConversationInfo,
    EraseOptions,
    Erasure,
    MemoryChanges,
    Numbers,
    Places,
    SearchResult,
    StoredMemory,
    Tenants,
    Turn,
)
from contextwright.store.requests import RecordedRequest, RequestBodies, Requests
from contextwright.store.rows import conversations, turns
from contextwright.store.rows import memories as notes
from contextwright.store.rows.recorded import bodies, requests
from contextwright.store.rows.validation import (
    memory_body,
    require_name,
    require_number,
    require_text,
)
from contextwright.store.state import State
from contextwright.store.turns import add_work, add_work_or_error, each_turn
from contextwright.tokens.count import Calibration

if TYPE_CHECKING:
    from contextwright.store.recall.options import RecallOptions

__all__ = ["Store"]


class Store:
    """Conversations in an SQLite file, or in Postgres by URL.

    Any number of threads and processes may use the same store. Every call sees one tenant only.

    Args:
        place: a path, or `postgresql://…`.
        tenant: the tenant whose conversations these are; ids are unique within a tenant.
        sync: `full`: stored turns survive a loss of power. `fast`: they survive a crash of the
            process; a loss of power may take the last moments, and never half a turn.
        embedder: makes the vectors of messages for recall: `auto` is `multilingual`, or else
            `wordllama`, if it is installed; None is no embedder. It is loaded when the first
            vector is made.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        tenant: str = "",
        sync: Sync = "full",
        embedder: EmbedderChoice = "auto",
    ) -> None:
        require_name(tenant, "tenant", empty=True)
        chosen = choose_embedder(embedder)
        engine = open_engine(place, sync)
        self.state = State(engine, tenant, Index(engine, chosen), Builds(), Background())
        """State shared with its chats; not for callers."""

    def for_tenant(self, tenant: str) -> Store:
        """Return the same store for another tenant; closing one closes both."""
        other = copy(self)
        other.state = replace(self.state, tenant=require_name(tenant, "tenant", empty=True))
        return other

    @property
    def tenant(self) -> str:
        """The tenant whose conversations these are."""
        return self.state.tenant

    @property
    def engine(self) -> Engine:
        """The database."""
        return self.state.engine

    @property
    def embedder(self) -> Embedder | None:
        """The embedder that makes vectors of messages, if there is one."""
        return self.state.index.embedder

    def conversation(self, id: str) -> Chat:
        """Return a conversation by its id; the first write creates it."""
        return Chat(self.state, require_name(id, "conversation's id"))

    def list(self) -> Iterator[ConversationInfo]:
        """Iterate over all conversations, in the order in which they were created."""
        number = 0
        while page := self.engine.read(details_after(self.tenant, number)):
            yield from (details for _, details in page)
            number = page[-1][0]

    def forget(self, id: str) -> None:
        """Remove a conversation permanently, with the memories of its scope.

        Raises:
            Conflict: others were forked from it.
        """
        require_name(id, "conversation's id")

        def work(connection: Connection) -> int | None:
            return turns.forget(connection, self.tenant, id)

        number = self.engine.write(work, id)
        if number is not None:
            self.state.index.forget(number)

    def rename(self, id: str, new_id: str) -> None:
        """Give a conversation another id; its forks and the memories of its scope follow.

        Raises:
            NotFound: there is no such conversation.
            Conflict: the new id is taken.
        """
        require_name(id, "conversation's id")
        require_name(new_id, "conversation's id")

        def work(connection: Connection) -> None:
            turns.rename(connection, self.tenant, id, new_id)

        self.engine.write(work, min(id, new_id))

    # --- erasing -----------------------------------------------------------------------------

    def tenants(self) -> Tenants:
        """Return all tenants of the store by name, with how much each has."""
        return self.engine.read(conversations.tenants)

    def erase_person(self, id: str, **options: Unpack[EraseOptions]) -> Erasure:
        """Erase all messages of a person in this tenant's conversations, by the author's id.

        Removes the memories about or by them, the episodes they had part in, and their name in
        replies to them too. Text of others about them stays. `Chat.erase` says how.
        """
        require_name(id, "person's id")
        return erasure.erase_person(self.state, id, **options)

    def erase_tenant(self, name: str, **options: Unpack[EraseOptions]) -> Erasure:
        """Remove all conversations and memories of a tenant for good."""
        return erasure.erase_tenant(self.for_tenant(name).state, **options)

    def erase_before(self, time: datetime | str, **options: Unpack[EraseOptions]) -> Erasure:
        """Erase this tenant's messages and memories from before a time; those without one stay.

        A conversation with nothing newer is removed whole, unless it has forks.
        """
        moment = time if isinstance(time, datetime) else read_time(as_time(time) or "")
        if moment is None:
            raise UsageError(f"{shown(time)} is not an ISO 8601 time")
        return erasure.erase_old(self.state, moment, **options)

    def scrub(self) -> Places:
        """Rewrite the database's files without what was removed.

        `forget` and `erase(scrub=False)` leave bytes in free space until it is used again. Returns
        where they may still be: backups, and logs of a server.
        """
        return erasure.scrubbed(self.engine)

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
        made_from: Sequence[int] = (),
    ) -> str:
        """Store a memory, or a text with what it is about, and return its id.

        A fact or memory that says the same of the same person is not stored twice: the one that is
        there gets the newer time. With a `scope`, the id of a conversation, it is used there only
        and removed with it. `at` is the current time by default. `made_from` are messages of that
        conversation: hiding one of them hides the memory, erasing one removes it.
        """
        if isinstance(memory, str):
            memory = Memory(kind, memory, about, key, author, as_time(at), scope)
        require(made_from, Sequence, "made_from", "the numbers of messages")
        if made_from:
            for seq in made_from:
                require_number(seq)
            memory = replace(memory, meta={**memory.meta, "messages": list(made_from)})
        record = notes.sound(memory)
        id, body = notes.new_id(), memory_body(record)

        def work(connection: Connection) -> str:
            known = notes.find_equal(connection, self.tenant, record)
            if known is None:
                notes.add(connection, self.tenant, id, record, body)
            else:
                merged = memory_body(notes.merged(known.memory, record))
                notes.replace(connection, self.tenant, known.id, merged)
            return id if known is None else known.id

        return self.engine.write(work, scope)

    def update_memory(self, id: str, **changes: Unpack[MemoryChanges]) -> Memory:
        """Change a stored memory, and return it: its text, key, weight, or `at`, by default now.

        Raises:
            NotFound: there is no such memory.
        """
        require_name(id, "memory's id")

        def work(connection: Connection) -> Memory:
            old = notes.find(connection, self.tenant, id)
            new = notes.sound(replace(old, **{**changes, "at": as_time(changes.get("at"))}))
            notes.replace(connection, self.tenant, id, memory_body(new))
            return new

        return self.engine.write(work)

    def forget_memory(self, id: str) -> None:
        """Remove a memory permanently; `forget` removes a conversation."""
        require_name(id, "memory's id")
        self.engine.write(lambda connection: notes.remove(connection, self.tenant, id))

    def memories(
        self,
        *,
        about: str | None = None,
        kind: MemoryKind | None = None,
        scope: str | None = None,
    ) -> Iterator[StoredMemory]:
        """Iterate over the memories with these fields, in the order in which they were stored."""
        asked = {"kind": kind, "about": about, "scope": scope}
        fields: dict[str, Value] = {name: text for name, text in asked.items() if text is not None}
        for name, text in asked.items():
            require_text(text, name)
        number = 0
        while page := self.engine.read(notes.page_after(self.tenant, number, fields)):
            yield from (stored for _, stored in page if stored is not None)
            number = page[-1][0]

    # --- search ------------------------------------------------------------------------------

    def search(self, query: str, conversation: str | None = None, limit: int = 20) -> SearchResult:
        """Return the messages that hold most of a query's words, best first, then newest.

        Searches one conversation, with those it was forked from, or all of them. Hidden and
        deleted messages are not found. A query is words; it has no syntax.
        """
        id = None if conversation is None else require_name(conversation, "conversation's id")
        return search(self.state, query, id, limit)

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> RecallResult:
        """Return the messages of all conversations that a question needs, within a token budget.

        The conversations that fit best are searched as `Chat.recall` does, with its options.
        """
        from contextwright.store.recall.options import recall_request
        from contextwright.store.recall.recall import recall_tenant

        return recall_tenant(self.state, recall_request(query, options))

    def index(
        self,
        conversation: str | None = None,
        *,
        few: int | None = None,
        again: bool = False,
        words_only: bool = False,
        progress: Progress | None = None,
    ) -> IndexResult:
        """Bring the index up to date, words and vectors, for one conversation or for all.

        Search and recall do this by themselves. One conversation, with those it was forked from,
        is left as it is while at most `few` of its messages are missing, because a search reads
        those as they are. `again` removes the index first; `words_only` makes no vectors.
        """
        id = None if conversation is None else require_name(conversation, "conversation's id")
        require(few, int | None, "few", "a number of messages")
        done = self.state.index.update(
            self.tenant, id, few=few, again=again, words_only=words_only, progress=progress
        )
        if words_only:
            return done
        return done + self.state.index.update_memories(
            self.tenant, None if id is None else ("", id)
        )

    def drop_unused_vectors(self) -> int:
        """Remove the vectors of all other embedders; return how many messages had some.

        Raises:
            UsageError: the store has no embedder, so nothing tells which vectors are in use.
        """
        return self.state.index.drop_unused_vectors(self.tenant)

    def calibration(self, model: str | Model, format: str | None = None) -> Calibration:
        """Return what the answers of `ask` in this process have shown about our counts.

        `chat.calibration` reads the stored answers of one conversation instead.
        `count(…, calibration=…)` uses it where a count is not exact.
        """
        facts = as_model(model)
        return self.state.builds.calibration(format or facts.format, facts)

    # --- turns -------------------------------------------------------------------------------

    def add_each(self, turns: Iterable[Turn]) -> Outcomes[Numbers]:
        """Store turns with one sync; each is stored whole or not at all, and fails on its own.

        Returns the numbers of each turn's messages, or its error.
        """
        works = [add_work_or_error(self.state, turn) for turn in each_turn(turns)]
        return self.engine.write_each(works)

    def add_all(self, turns: Iterable[Turn]) -> int:
        """Store any number of turns, all of them or none; return the number of messages.

        With keys it may be repeated if a server goes away before it confirms.
        """

        def work(connection: Connection) -> int:
            works = (add_work(self.state, turn)[1] for turn in each_turn(turns))
            return sum(len(work(connection)) for work in works)

        return self.engine.write_alone(work)

    # --- recorded requests -------------------------------------------------------------------

    def requests(
        self, conversation: str | None = None, *, limit: int = 100, before: int | None = None
    ) -> Requests:
        """Return the newest requests that passed through a gateway, newest first.

        Those of one conversation, or of all; `before` is the number of the last one on the page
        before.
        """
        return self.engine.read(
            lambda connection: requests.page(connection, self.tenant, conversation, before, limit)
        )

    def request(self, number: int) -> RecordedRequest:
        """Return a recorded request.

        Raises:
            NotFound: there is no such request.
        """
        return self.engine.read(lambda connection: requests.find(connection, self.tenant, number))

    def request_bodies(self, number: int) -> RequestBodies:
        """Return what was sent and answered, byte for byte, as far as it was kept.

        Raises:
            NotFound: there is no such request.
        """

        def work(connection: Connection) -> RequestBodies:
            requests.find(connection, self.tenant, number)
            return bodies.all_of(connection, number)

        return self.engine.read(work)

    def close(self) -> None:
        """Close all connections, after the work in the background is done.

        A second call does nothing.
        """
        self.state.background.close()
        self.engine.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def details_after(tenant: str, number: int) -> Work[list[tuple[int, ConversationInfo]]]:
    """Return the work of reading the next page of a list."""
    return lambda connection: conversations.details_after(connection, tenant, number)
