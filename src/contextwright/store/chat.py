"""`Chat`: one conversation of a store, to add to, to read and to build contexts from."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Unpack

import msgspec
from msgspec import UNSET, UnsetType

from contextwright.errors import require
from contextwright.formats.given import Given
from contextwright.messages.make import Content
from contextwright.messages.message import Message
from contextwright.models import Model, as_model
from contextwright.recall.packing import RecallResult
from contextwright.store.contexts.summaries import (
    StoreSummarySource,
    SummaryProbe,
    summary_policy,
)
from contextwright.store.corrections import Corrections
from contextwright.store.engines.base import Connection, Value, Work
from contextwright.store.recall.search import search
from contextwright.store.records import (
    ConversationInfo,
    SearchResult,
    StoredMemory,
    StoredMessage,
    StoredSummary,
    Turn,
)
from contextwright.store.rows import conversations, summaries, turns
from contextwright.store.rows import messages as reading
from contextwright.store.rows.validation import (
    require_name,
    require_number,
    require_text,
    settings_text,
)
from contextwright.store.turns import add_work, messages_of
from contextwright.summaries.policy import Summariser
from contextwright.summaries.summary import Summary

if TYPE_CHECKING:
    from contextwright.ask.events import Answer, AskEvent
    from contextwright.ask.question import AskOptions
    from contextwright.context.context import Context
    from contextwright.context.options import BuildOptions
    from contextwright.context.recipe import Recipe
    from contextwright.recall.episodes.boundaries import Embed, EpisodeRules
    from contextwright.recall.episodes.refine import EpisodeWriter
    from contextwright.store.recall.episodes import EpisodeResult
    from contextwright.store.recall.options import RecallOptions
    from contextwright.tokens.count import Calibration

__all__ = ["Chat"]

MAX_CALIBRATION_MESSAGES = 200


class Chat(Corrections):
    """One conversation of a store. Messages are numbered from 1, without gaps."""

    # --- writing -----------------------------------------------------------------------------

    def add(self, turn: Given, key: str | None = None) -> list[int]:
        """Store a message, or several as one turn; return their numbers once they are durable.

        The same key again stores nothing and returns the same numbers. Messages may be those of a
        provider, as dicts or objects of its SDK, and whole replies.

        Raises:
            Conflict: the key was used for other messages.
            UsageError: a provider's message would have to be repaired; `parse` does that, and says
                so.
        """
        id, work = add_work(self.state, Turn(self.id, messages_of(turn), key))
        return self.state.engine.write(work, id)

    def update(
        self,
        *,
        title: str | None | UnsetType = UNSET,
        agent: str | None | UnsetType = UNSET,
        settings: dict[str, Any] | UnsetType = UNSET,
    ) -> None:
        """Set the title, agent or settings of the conversation; fields left out stay."""
        fields: dict[str, Value] = {}
        if title is not UNSET:
            fields["title"] = require_text(title, "title")
        if agent is not UNSET:
            fields["agent"] = require_text(agent, "agent")
        if settings is not UNSET:
            fields["settings"] = settings_text(settings)

        def work(connection: Connection) -> None:
            head = conversations.ensure(connection, self.state.tenant, self.id)
            if fields:
                conversations.change(connection, head, fields)

        self.state.engine.write(work, self.id)

    def fork(self, new_id: str, at: int | None = None) -> Chat:
        """Create a conversation that continues after one of the messages; nothing is copied.

        Its numbers continue as well. The same fork again returns the same conversation. A fork
        before the end reads the messages before it once, for calls without results.

        Raises:
            Conflict: the new name is taken.
            NotFound: there is no such message.
        """
        child = Chat(self.state, require_name(new_id, "conversation's id"))
        if at is not None:
            require_number(at)
        waiting = None if at is None else self.state.engine.read(self._open_calls(at))

        def work(connection: Connection) -> None:
            turns.fork(connection, self.state.tenant, self.id, new_id, at, waiting)

        self.state.engine.write(work, min(self.id, new_id))
        return child

    # --- reading -----------------------------------------------------------------------------

    def read(
        self, start: int = 0, stop: int | None = None, *, hidden: bool = False
    ) -> Iterator[StoredMessage]:
        """Iterate over the messages from one number up to, but not including, another, in order.

        Hidden and deleted messages have only author, time and state; with `hidden` also their text.
        Messages added meanwhile are not included.
        """
        require(start, int, "start", "the number of a message")
        require(stop, int | None, "stop", "the number of a message")
        state = self.state
        return reading.each(state.engine, state.tenant, self.id, start, stop, hidden=hidden)

    def tail(self, count: int) -> list[StoredMessage]:
        """Return the last messages, in order, as `read` does."""
        require(count, int, "a count")

        def work(connection: Connection) -> list[StoredMessage]:
            head, length = self._head(connection)
            first = max(length - count + 1, 1)
            found = reading.between(connection, head, first, length) if first <= length else []
            return [reading.without_gone_text(one) for one in found]

        return self.state.engine.read(work)

    def length(self) -> int:
        """Return the number of messages, including hidden and deleted ones."""
        return self.state.engine.read(self._head)[1]

    def __len__(self) -> int:
        return self.length()

    def __bool__(self) -> bool:
        return True

    def details(self) -> ConversationInfo:
        """Return the title, settings and origin of the conversation."""
        return self.state.engine.read(
            lambda connection: conversations.details_of(connection, self.state.tenant, self.id)
        )

    def search(self, query: str, limit: int = 20) -> SearchResult:
        """Return the messages that hold most of a query's words, best first, then newest.

        Searches the conversation with those it was forked from. Hidden and deleted messages are
        not found. A query is words; it has no syntax.
        """
        return search(self.state, query, self.id, limit)

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> RecallResult:
        """Return the messages that a question needs, within a token budget, in their order.

        Searches the whole conversation, whatever a window would show: by words, by meaning if the
        store has an embedder, by speaker and time. Hidden messages are not recalled.

        Args:
            query: a question, or just words; it has no syntax.
            budget: tokens of all lines of `text`; 2,000 by default.
            about: only what this person said, by id or name.
            now: the time that "last summer" is relative to.
            limit: maximum number of messages.
            min_score: minimum score, the probability that a message is needed, from 0 to 1.
            min_confidence: minimum confidence that there is an answer, from 0 to 1.
            model: the model whose tokens are counted; by default a count that fits most models.
            price: what a message costs, instead of the tokens of its line.
            excerpts: whether long messages are recalled in passages.
            ranking: what else counts, such as recency.
        """
        from contextwright.store.recall.options import recall_request
        from contextwright.store.recall.recall import recall_conversation

        return recall_conversation(self.state, self.id, recall_request(query, options))

    def context(
        self,
        recipe: Recipe | str = "default",
        *,
        at: int | None = None,
        **options: Unpack[BuildOptions],
    ) -> Context:
        """Build the best valid request within the budget, with its receipt.

        `recipe` may be the name of one, or the path of a file. Reads only the end of the
        conversation and the messages that must stay. `now` is the time of this call by default.
        With `at` it is the request after that message, with the marks of today. Sections recall
        from the store, or from `memories` instead.

        Raises:
            BudgetError: what has to be sent does not fit; it names the smallest budget that works.
            NotFound: there is no such message in it.
        """
        from contextwright.store.contexts.build import build

        if at is not None:
            require_number(at)
        return build(self.state, self.id, recipe, at=at, **timed(options))

    # --- asking ------------------------------------------------------------------------------

    def ask(
        self,
        content: Content | Message | None,
        *,
        model: str | Model,
        **options: Unpack[AskOptions],
    ) -> Answer:
        """Ask a model until it answers, and return the answer; every step is stored as a turn.

        Functions among the tools are run, and the model is asked again with their results. With
        None instead of a question, the conversation continues as it is. The options are those of
        `contextwright.ask.AskOptions`; the model `echo` answers offline.

        Raises:
            BudgetError: the question does not fit the budget.
            ProviderError: the provider refused a request; the steps before it are stored.
        """
        from contextwright.store.asking import ask

        return ask(self.state, self.id, content, model, options)

    def ask_stream(
        self,
        content: Content | Message | None,
        *,
        model: str | Model,
        **options: Unpack[AskOptions],
    ) -> Iterator[AskEvent]:
        """Ask as `ask` does, and yield every event as it happens; the last is the `Answer`.

        Closing the iterator stops the model; what arrived is stored as interrupted.
        """
        from contextwright.store.asking import ask_stream

        return ask_stream(self.state, self.id, content, model, options)

    def calibration(self, model: str | Model, format: str | None = None) -> Calibration:
        """Return what the newest stored answers of a model show about our counts.

        `count(…, calibration=…)` uses it where a count is not exact.
        """
        from contextwright.ask.record import calibration_of

        facts = as_model(model)
        messages = [stored.message for stored in self.tail(MAX_CALIBRATION_MESSAGES)]
        return calibration_of(messages, facts, format or facts.format)

    # --- episodes ----------------------------------------------------------------------------

    def episodes(
        self, *, participant: str | None = None, min_weight: float = 0.0
    ) -> list[StoredMemory]:
        """Return the episodes of this conversation, in the order in which they were stored.

        Only those with this participant, and with at least this weight (0 to 1). Episodes that
        contain a hidden message are not among them.
        """
        from contextwright.store.recall.episodes import visible_episodes

        return visible_episodes(self.state, self.id, participant=participant, min_weight=min_weight)

    def make_episodes(
        self,
        writer: EpisodeWriter | None = None,
        *,
        boundaries: EpisodeRules | None = None,
        now: datetime | None = None,
        embed: Embed | None = None,
    ) -> EpisodeResult:
        """Make episodes of the messages since the last time, each once.

        A session that may still continue is left for later; `now` is the time of this call by
        default. `writer` may improve the text (see `EpisodeDetails`): if it fails, the extracted
        text stays and a change reports the failure.
        """
        from contextwright.store.recall.episodes import EpisodeMaker

        maker = EpisodeMaker(
            self.state, self.id, writer=writer, boundaries=boundaries, now=now, embed=embed
        )
        return maker.make()

    # --- summaries ---------------------------------------------------------------------------

    def summarise(
        self,
        recipe: Recipe | str,
        *,
        summariser: Summariser | None = None,
        **options: Unpack[BuildOptions],
    ) -> Summary | None:
        """Write the summary that the next context of this recipe would lack, and store it.

        Returns None if the window leaves nothing out. `model` is the one contexts are built for;
        the recipe names the model that writes summaries, and `summariser` calls it. It is given
        only the messages since the last summary, in as many steps as needed, each stored at once.

        Raises:
            SummaryError: the summary could not be written.
        """
        from contextwright.context.recipe_files import as_recipe
        from contextwright.store.contexts.build import build

        found = as_recipe(recipe)
        policy = summary_policy(found, summariser)
        probe = SummaryProbe()
        found = msgspec.structs.replace(found, summary=policy)
        build(self.state, self.id, found, summaries=probe, **timed(options))
        if not probe.last:
            return None
        return StoreSummarySource(self.state, self.id, policy).whole(probe.last, probe.kept)

    def summaries(self) -> list[StoredSummary]:
        """Return the stored summaries, ordered by how they were made and the last message."""
        return self.state.engine.read(
            lambda connection: summaries.every(connection, self._head(connection)[0].number)
        )

    def undo_summary(self, recipe: Recipe | str) -> Summary | None:
        """Set aside and return the newest summary of this recipe; the one before it is used again.

        It is not made again by a request; `summarise` makes it. When the window's cut moves, the
        recipe makes the next one.
        """
        from contextwright.context.recipe_files import as_recipe

        name = summary_policy(as_recipe(recipe)).name

        def work(connection: Connection) -> Summary | None:
            return summaries.undo(connection, self._head(connection)[0].number, name)

        return self.state.engine.write(work, self.id)

    # --- inside ------------------------------------------------------------------------------

    def _head(self, connection: Connection) -> tuple[conversations.Head, int]:
        """Return the conversation and the number of its last message."""
        head = conversations.seen(connection, self.state.tenant, self.id)
        return head, conversations.length_of(connection, head, self.id)

    def _open_calls(self, at: int) -> Work[turns.KnownCalls | None]:
        """Return work that reads the open calls before the fork, so that no writer waits for it."""

        def work(connection: Connection) -> turns.KnownCalls | None:
            head, length = self._head(connection)
            return turns.open_calls_at(connection, head, at) if at < length else None

        return work


def timed(options: BuildOptions) -> BuildOptions:
    """Return options in which `now` is the time of this call, unless it was given."""
    return {**options, "now": options.get("now") or datetime.now(UTC)}
