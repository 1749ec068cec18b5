"""`Store` and `Chat`: where conversations live, and one of them to add to and read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import UNSET, UnsetType

from contextwright.errors import ContextwrightError, UsageError, shown
from contextwright.formats.base import Conversation
from contextwright.memories import Memory, MemoryKind, Recollection
from contextwright.messages import Message, Opaque, Tool, Visibility, as_time
from contextwright.models import Model
from contextwright.prices import Priced
from contextwright.store import conversations, notes, reading, search, turns
from contextwright.store.engine import Connection, Engine, Outcomes, Sync, Value, Work, open_engine
from contextwright.store.hygiene import (
    bodies_of,
    memory_body,
    require_name,
    require_text,
    settings_text,
)
from contextwright.store.records import Details, Hit, Stored, StoredMemory, Turn
from contextwright.store.totals import Counted

if TYPE_CHECKING:
    from contextwright.context import Context
    from contextwright.memories import Recollection
    from contextwright.metering import Meter
    from contextwright.recipe import Recipe
    from contextwright.store.contexts import Remembered

__all__ = ["Chat", "Said", "Store"]

Said: TypeAlias = Message | Conversation | Iterable[Message]
"""What can be added to a conversation as one turn."""
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
    """

    def __init__(self, place: str | Path, *, tenant: str = "", sync: Sync = "full") -> None:
        self.tenant = require_name(tenant, "tenant", empty=True)
        self.engine: Engine = open_engine(place, sync)
        self.remembered: dict[tuple[str, str], Remembered] = {}
        """Conversations as their last builds read them."""
        self._meters: dict[str, Meter] = {}
        self._used: dict[tuple[str, str], Meter] = {}
        """The meter that last measured a conversation: what is added to it is priced at once."""

    def for_tenant(self, tenant: str) -> Store:
        """The same store for another tenant; it shares the connections, and the end of them."""
        other = object.__new__(Store)
        other.tenant = require_name(tenant, "tenant", empty=True)
        other.engine = self.engine
        other._meters, other._used = self._meters, self._used
        other.remembered = self.remembered
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
        self.engine.write(lambda connection: turns.forget(connection, self.tenant, id), id)

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

        def work(connection: Connection) -> Hits:
            if id is None:
                hits = search.in_tenant(connection, self.tenant, query)
            else:
                hits = search.in_conversation(connection, self.tenant, id, query)
            return [*islice(hits, max(most, 0))]

        self.index(id)
        return self.engine.read(work)

    def index(self, conversation: str | None = None) -> None:
        """Bring the index of words up to date, for one conversation or for all; a search does so.

        For one, only when it lacks more messages than a search reads as they are.
        """

        def lacking(connection: Connection) -> Numbers:
            if conversation is None:
                return [gap.conversation for gap in search.gaps_of(connection, self.tenant)]
            head = conversations.find(connection, self.tenant, conversation)
            gaps = search.gaps_of(connection, self.tenant, head) if head else []
            missing = sum(gap.last - gap.indexed for gap in gaps)
            return [gap.conversation for gap in gaps] if missing > search.FEW else []

        for number in self.engine.read(lacking):
            while self.engine.write(search.catch_up(self.tenant, number)):
                pass

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
        """Close all connections."""
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
        return id, lambda connection: turns.add(connection, self.tenant, writing, counted)

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


class Chat:
    """One conversation of a store. Messages are numbered from 1, without holes."""

    def __init__(self, store: Store, id: str) -> None:
        self.store, self.id = store, id

    # --- writing -----------------------------------------------------------------------------

    def add(self, turn: Said, key: str | None = None) -> list[int]:
        """Store a message, or several as one turn, and give their numbers once they are durable.

        The same key again stores nothing and gives the same numbers. What `parse_reply` gives can
        be added as it is.

        Raises:
            Conflict: the key was used for other messages.
        """
        id, work = self.store.adding(Turn(self.id, messages_of(turn), key))
        return self.store.engine.write(work, id)

    def hide(self, seq: int) -> None:
        """Keep a message out of every context; `show` brings it back."""
        self._mark_visibility(seq, "hidden")

    def show(self, seq: int) -> None:
        """Let a message into contexts again, whether it was hidden or deleted."""
        self._mark_visibility(seq, "public")

    def delete(self, seq: int) -> None:
        """Keep a message out of every context, for readers to see as deleted; it is not lost."""
        self._mark_visibility(seq, "deleted")

    def pin(self, seq: int) -> None:
        """Let no window drop a message."""
        self._mark(seq, {"pinned": 1})

    def unpin(self, seq: int) -> None:
        """Let windows drop a message again."""
        self._mark(seq, {"pinned": 0})

    def update(
        self,
        *,
        title: str | None | UnsetType = UNSET,
        agent: str | None | UnsetType = UNSET,
        settings: dict[str, Any] | UnsetType = UNSET,
    ) -> None:
        """Set what is said about the conversation; what is left out stays."""
        fields: dict[str, Value] = {}
        if title is not UNSET:
            fields["title"] = require_text(title, "title")
        if agent is not UNSET:
            fields["agent"] = require_text(agent, "agent")
        if settings is not UNSET:
            fields["settings"] = settings_text(settings)

        def work(connection: Connection) -> None:
            head = conversations.ensure(connection, self.store.tenant, self.id)
            if fields:
                conversations.change(connection, head, fields)

        self.store.engine.write(work, self.id)

    def fork(self, new_id: str, at: int | None = None) -> Chat:
        """A new conversation that goes on after one of the messages; nothing is copied.

        The numbers go on as well. The same fork again is the same conversation. At the end it costs
        nothing; further back, what comes before is read once for calls without results.

        Raises:
            Conflict: the new name is taken.
            NotFound: there is no such message.
        """
        child = self.store.conversation(new_id)
        if at is not None:
            require_number(at)
        waiting = None if at is None else self.store.engine.read(self._open_calls(at))

        def work(connection: Connection) -> None:
            turns.fork(connection, self.store.tenant, self.id, new_id, at, waiting)

        self.store.engine.write(work, min(self.id, new_id))
        return child

    # --- reading -----------------------------------------------------------------------------

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[Stored]:
        """Messages from one number up to, and without, another, in order, as they are asked for.

        What is hidden or deleted is there too, and says so. What others add meanwhile is not.

        Raises:
            NotFound: there is no such conversation.
        """
        head, length = self.store.engine.read(self._head)
        last = length if stop is None else min(stop - 1, length)
        for first in range(max(start, 1), last + 1, reading.PAGE):
            page = range(first, min(first + reading.PAGE, last + 1))
            yield from self.store.engine.read(
                lambda connection, page=page: reading.between(connection, head, page[0], page[-1])
            )

    def tail(self, count: int) -> list[Stored]:
        """The last messages, in order."""

        def work(connection: Connection) -> list[Stored]:
            head, length = self._head(connection)
            first = max(length - count + 1, 1)
            return reading.between(connection, head, first, length) if first <= length else []

        return self.store.engine.read(work)

    def length(self) -> int:
        """How many messages there are, hidden and deleted ones included."""
        return self.store.engine.read(self._head)[1]

    def __len__(self) -> int:
        return self.length()

    def __bool__(self) -> bool:
        return True

    def details(self) -> Details:
        """What is known about the conversation besides its messages."""
        return self.store.engine.read(
            lambda connection: conversations.details_of(connection, self.store.tenant, self.id)
        )

    def context(
        self,
        recipe: Recipe,
        *,
        model: str | Model,
        format: str | None = None,
        tools: Sequence[Tool | Opaque] | None = None,
        now: datetime | None = None,
        budget: int | None = None,
        memories: Recollection | None = None,
        at: int | None = None,
    ) -> Context:
        """The best valid request within the budget, with its receipt.

        Reads the end of the conversation and what must stay, however long it is. Without `now`,
        clocks tell the time of this call. With `at` it is the request after that message, with what
        is hidden or pinned today. Sections recall from the store, or from `memories` instead.

        Raises:
            BudgetError: what has to be sent does not fit; it names the smallest budget that works.
            NotFound: there is no such conversation, or no such message in it.
        """
        from contextwright.store.contexts import build

        if at is not None:
            require_number(at)
        return build(
            self,
            recipe,
            model=model,
            format=format,
            tools=tools,
            now=now or datetime.now(UTC),
            budget=budget,
            memories=memories,
            at=at,
        )

    # --- inside ------------------------------------------------------------------------------

    def _head(self, connection: Connection) -> tuple[conversations.Head, int]:
        """Where the conversation stands."""
        head = conversations.require(connection, self.store.tenant, self.id)
        return head, conversations.length_of(connection, head, self.id)

    def _mark_visibility(self, seq: int, visibility: Visibility) -> None:
        self._mark(seq, {"visibility": visibility})

    def _mark(self, seq: int, change: dict[str, Value]) -> None:
        require_number(seq)
        tenant, id = self.store.tenant, self.id
        self.store.engine.write(
            lambda connection: turns.mark(connection, tenant, id, seq, change), id
        )

    def _open_calls(self, at: int) -> Work[Any]:
        """Look before the fork, so that nobody has to wait for it."""

        def work(connection: Connection) -> Any:
            head, length = self._head(connection)
            return turns.open_calls_at(connection, head, at) if at < length else None

        return work


def require_number(seq: object) -> None:
    """Refuse what is no message's number."""
    if type(seq) is not int:
        raise UsageError(f"{shown(seq)} is no message's number", hint="add gives the numbers")


def messages_of(said: Said) -> tuple[Message, ...]:
    """The messages of whatever holds some."""
    if isinstance(said, Message):
        return (said,)
    messages = tuple(said.messages if isinstance(said, Conversation) else said)
    for index, message in enumerate(messages):
        if not isinstance(message, Message):  # pyright: ignore[reportUnnecessaryIsInstance]
            hint = "user(), assistant() … make messages, parse() and parse_reply() read them"
            raise UsageError(f"messages[{index}] is {shown(message)}, not a Message", hint=hint)
    return messages


def failing(error: ContextwrightError) -> Work[Any]:
    """Work that fails."""

    def work(connection: Connection) -> Any:
        raise error

    return work


def details_after(tenant: str, number: int) -> Work[list[tuple[int, Details]]]:
    """The work of reading the next page of a list."""
    return lambda connection: conversations.details_after(connection, tenant, number)
