"""One conversation of a store, to add to, to read and to build contexts of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import msgspec
from msgspec import UNSET, UnsetType

from contextwright.errors import UsageError, shown
from contextwright.formats.base import Conversation
from contextwright.memories import Recollection
from contextwright.messages import Message, Opaque, Tool, Visibility
from contextwright.models import Model
from contextwright.recall.packing import Recall
from contextwright.store import conversations, reading, summaries, turns
from contextwright.store.engine import Connection, Value, Work
from contextwright.store.hygiene import require_text, settings_text
from contextwright.store.records import Details, Stored, StoredMemory, StoredSummary, Turn
from contextwright.summaries import Summarise, Summary, Using

if TYPE_CHECKING:
    from contextwright.context import Context
    from contextwright.recall.boundaries import Boundaries, Embed
    from contextwright.recall.refining import Refiner
    from contextwright.recipe import Recipe
    from contextwright.store.base import Store
    from contextwright.store.episodes import Made
    from contextwright.store.wishes import RecallOptions

__all__ = ["Chat", "Said"]

Said: TypeAlias = Message | Conversation | Iterable[Message]
"""What can be added to a conversation as one turn."""


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

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """The messages that a question needs, within a budget of tokens, in their order.

        Looks through all of the conversation, whatever a window would show: by words, by meaning
        where the store has an embedder, by who spoke and when. What is hidden is not recalled.

        Args:
            query: a question, or just words; it has no syntax.
            budget: tokens of all lines of `text`, 2,000 if nothing is said.
            about: only what this person said, by id or name.
            now: what "last summer" is told from.
            most: at most so many messages.
            least: only what is at least so likely to be needed, from 0 to 1.
            model: whose tokens are counted; without it, a count that holds for most.
            price: what a message costs, instead of the tokens of its line.
            ranking: what else counts, such as recency.

        Raises:
            NotFound: there is no such conversation.
        """
        from contextwright.store.recalling import recall_in
        from contextwright.store.wishes import wish_of

        return recall_in(self.store, self.id, wish_of(query, options))

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

    # --- episodes ----------------------------------------------------------------------------

    def episodes(self, *, participant: str | None = None, least: float = 0.0) -> list[StoredMemory]:
        """The events remembered of this conversation, in the order in which they were stored.

        Only those somebody had part in, or that weigh at least so much. Events that were made of a
        message which is hidden by now are not among them.

        Raises:
            NotFound: there is no such conversation.
        """
        from contextwright.store.episodes import listed

        return listed(self, participant=participant, least=least)

    def make_episodes(
        self,
        using: Refiner | None = None,
        *,
        boundaries: Boundaries | None = None,
        now: datetime | None = None,
        embed: Embed | None = None,
    ) -> Made:
        """Make memories of what was talked about since the last time, each once.

        A talk that may still go on is none yet; without `now`, it is over when it has been silent
        for long enough by the time of this call. `using` is asked for better words (see `Refined`):
        if it fails, the words of a program stay, and a change says so.

        Raises:
            NotFound: there is no such conversation.
        """
        from contextwright.store.episodes import Maker

        return Maker(self, using=using, boundaries=boundaries, now=now, embed=embed).make()

    # --- summaries ---------------------------------------------------------------------------

    def summarise(
        self,
        recipe: Recipe,
        *,
        model: str | Model,
        using: Using | None = None,
        format: str | None = None,
        tools: Sequence[Tool | Opaque] | None = None,
        now: datetime | None = None,
        budget: int | None = None,
        memories: Recollection | None = None,
    ) -> Summary | None:
        """Write the summary that the next context of this recipe would lack, and store it.

        `model` is the one contexts are made for; the one that writes summaries is named in the
        recipe, and asked by `using`. None: nothing is left out. Only what came since the last
        summary is told to it, in as many steps as it takes, each stored when it is there.

        Raises:
            SummaryError: whoever was asked did not write one.
        """
        from contextwright.store.contexts import build

        summarise = summary_of(recipe)
        if using is not None:
            if summarise.is_digest:
                hint = "Summarise(model=…): a summary is known by who wrote it"
                raise UsageError("the recipe names no model for its summaries", hint=hint)
            summarise = msgspec.structs.replace(summarise, using=using)
        looking = summaries.Looking()
        build(
            self,
            msgspec.structs.replace(recipe, summary=summarise),
            model=model,
            format=format,
            tools=tools,
            now=now or datetime.now(UTC),
            budget=budget,
            memories=memories,
            summaries=looking,
        )
        if not looking.last:
            return None
        return summaries.StoreSummaries(self, summarise).whole(looking.last)

    def summaries(self) -> list[StoredSummary]:
        """The summaries that are stored, those made one way together, in order."""
        return self.store.engine.read(
            lambda connection: summaries.every(connection, self._head(connection)[0].number)
        )

    def undo_summary(self, recipe: Recipe) -> Summary | None:
        """Remove the newest summary that this recipe tells; the one before it stands again.

        Gives what it removed. A recipe that makes its summaries by itself makes it anew: leave
        `summary` out of it instead.
        """
        name = summary_of(recipe).name

        def work(connection: Connection) -> Summary | None:
            return summaries.undo(connection, self._head(connection)[0].number, name)

        return self.store.engine.write(work, self.id)

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


def summary_of(recipe: Recipe) -> Summarise:
    """How a recipe tells what is left out.

    Raises:
        UsageError: it does not.
    """
    if recipe.summary is None:
        hint = "Recipe(summary=Summarise(…)), in a file summary = true"
        raise UsageError("the recipe tells no summaries", hint=hint)
    return recipe.summary


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
