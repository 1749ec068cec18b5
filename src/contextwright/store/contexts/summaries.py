"""The summary source of a chat: stored summaries, and how missing ones are made.

A digest depends only on the messages, and is stored so that no message is read twice. A model's
text is stored because it cannot be reproduced. Hiding a message removes the summaries that cover
it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from contextwright.context.recipe_data import RecipeData
from contextwright.errors import StoreFull, SummaryError, UsageError
from contextwright.messages.message import Message
from contextwright.messages.times import now_text
from contextwright.store.engines.base import Connection
from contextwright.store.rows import conversations
from contextwright.store.rows import messages as reading
from contextwright.store.rows import summaries as rows
from contextwright.store.state import State
from contextwright.summaries.digest import Digest
from contextwright.summaries.policy import Summariser, SummaryPolicy
from contextwright.summaries.summary import Summary, SummaryResult
from contextwright.summaries.writer import NO_SUMMARISER, write_summary

__all__ = ["StoreSummarySource", "SummaryProbe", "summary_policy"]

MAX_TRIES = 3
"""Maximum tries. Each may fail because a message is hidden while a summary is made."""
HIDDEN = "messages were hidden while it was made"
UNDONE = "it was undone"
COVERS_KEPT = "the stored summary covers messages that are in the request"


class KnownSummaries(Struct, frozen=True):
    """What is stored about a summary, and the state of its conversation."""

    head: conversations.Head
    marked: int
    """How often its messages had been hidden or pinned."""
    newest: Summary | None
    settled: Summary | None
    """The newest digest that can be continued."""
    is_undone: bool = False
    """Whether the requested one was undone."""
    covers_kept: bool = False
    """Whether a longer one was skipped, because its text covers messages that are kept."""


class SummaryProbe:
    """A summary source without summaries, which records what a summary would cover."""

    def __init__(self) -> None:
        self.last = 0
        self.kept: Collection[int] = ()

    def upto(self, last: int, kept: Collection[int]) -> SummaryResult:
        """Record the last omitted message, and the kept ones before it."""
        self.last, self.kept = last, kept
        return SummaryResult()


class StoreSummarySource:
    """The stored summaries of one chat and policy.

    Digests are made at once, because they need no model. A model is asked only by `ask`, when the
    cut is final; until then a build gets the summaries that exist.
    """

    def __init__(self, state: State, id: str, summarise: SummaryPolicy) -> None:
        self.state, self.id, self.summarise = state, id, summarise
        self._missing = 0
        """The last message of the summary that was missing in the last build; 0 if none was."""
        self._is_asked = False
        self._failure = ""
        """Why it was missing, if known."""
        self._kept: Collection[int] = ()
        """Messages that the request has anyway; a model's summary must not cover them."""
        if summarise.summariser is None:
            self._failure = NO_SUMMARISER
        elif summarise.background:
            self._failure = state.background.failure(self._key) or "it is being written"

    def upto(self, last: int, kept: Collection[int]) -> SummaryResult:
        """Return the summary of all messages up to `last`, or the longest one of fewer."""
        if self.summarise.is_digest:
            return self._digested(last)
        self._kept = kept
        known = self._known(last)
        newest = known.newest
        if newest is not None and newest.last == last:
            self._missing = 0
            return SummaryResult(newest)
        if known.is_undone:
            self._missing = 0
            return SummaryResult(newest, UNDONE)
        refused, reason = self.state.background.refusals.get(self._key, (0, ""))
        is_refused = refused == last and not self._is_asked
        self._missing = 0 if known.covers_kept or is_refused else last
        why = reason if is_refused else self._failure
        return SummaryResult(newest, COVERS_KEPT if known.covers_kept else why)

    def ask(self) -> bool:
        """Write the summary that was missing in the last build; return whether to build again.

        It is tried once. In the background, the next build gets the summary.
        """
        if not self._missing or self._is_asked or self.summarise.summariser is None:
            return False
        self._is_asked, last = True, self._missing
        if self.summarise.background:
            own, kept = StoreSummarySource(self.state, self.id, self.summarise), self._kept
            self.state.background.start(self._key, lambda: own.further(last, kept).failure)
            return False
        self._failure = self._written(self._known(last), last).failure
        return True

    def further(self, last: int, kept: Collection[int]) -> SummaryResult:
        """Return the summary of all messages up to `last`, written step by step.

        If a step fails, it is the longest one there is, with the reason.
        """
        self._kept = kept
        while True:
            if self.summarise.is_digest:
                return self._digested(last)
            known = self._known(last)
            if known.newest is not None and known.newest.last == last:
                return SummaryResult(known.newest)
            if known.covers_kept:
                return SummaryResult(known.newest, COVERS_KEPT)
            result = self._written(known, last)
            if result.failure:
                return result

    def whole(self, last: int, kept: Collection[int]) -> Summary | None:
        """Return the summary of all messages up to `last`. It is made if missing or undone.

        Raises:
            SummaryError: it cannot be made.
        """
        known = self._known(last)
        if known.is_undone and not self.state.engine.is_read_only:
            place = (known.head.number, self.summarise.name, last)
            self.state.engine.write(lambda connection: rows.redo(connection, *place), self.id)
        result = self.further(last, kept)
        if result.failure:
            raise SummaryError(f"no summary of messages 1 to {last}: {result.failure}")
        return result.summary

    @property
    def _key(self) -> tuple[str, str, str]:
        """The key of background work, by which only one summary at a time is written."""
        return self.state.tenant, self.id, self.summarise.name

    def _digested(self, last: int) -> SummaryResult:
        """Return the digest of all messages up to `last`, continued from a settled one."""
        for _ in range(MAX_TRIES):
            known = self._known(last)
            if known.newest is not None and known.newest.last == last:
                return SummaryResult(known.newest)
            if known.is_undone:
                return SummaryResult(known.newest, UNDONE)
            digest = Digest(self.summarise.longest, known.settled)
            settled: Summary | None = None
            for _, message in self._messages(known, digest.last + 1, last):
                digest.add(message)
                if digest.is_settled:
                    settled = digest.summary
            found = [digest.summary] if settled is None else [settled, digest.summary]
            if self._keep(known, found):
                return SummaryResult(digest.summary)
        return SummaryResult(failure=HIDDEN)

    def _written(self, known: KnownSummaries, last: int) -> SummaryResult:
        """Extend the newest summary by as many messages as fit in one request."""
        newest = known.newest
        first = newest.last + 1 if newest else 1
        untold = newest.untold if newest else ()
        earlier = (one for seq in untold for one in self._messages(known, seq, seq))
        messages = chain(earlier, self._messages(known, first, last))
        result = write_summary(self.summarise, newest, messages, self._kept)
        if result.summary is None or result.summary is newest:
            self.state.background.refusals[self._key] = (last, result.failure)
            return result
        self.state.background.refusals.pop(self._key, None)
        kept = self._keep(known, [result.summary])
        return SummaryResult(kept) if kept else SummaryResult(newest, HIDDEN)

    def _known(self, last: int) -> KnownSummaries:
        """Read what is stored for the summary up to `last`, in one transaction."""
        tenant, id, name = self.state.tenant, self.id, self.summarise.name

        def work(connection: Connection) -> KnownSummaries:
            head = conversations.require(connection, tenant, id)
            state = conversations.state_of(connection, head.number)
            if state is None:
                raise conversations.unknown(id)
            settled = rows.first_of(connection.rows(rows.SETTLED, head.number, name, last))
            newest = rows.first_of(connection.rows(rows.NEWEST, head.number, name, last))
            covers_kept = newest is not None and newest.tells_any(self._kept)
            while newest is not None and newest.tells_any(self._kept):
                earlier = connection.rows(rows.NEWEST, head.number, name, newest.last - 1)
                newest = rows.first_of(earlier)
            is_undone = rows.is_undone(connection, head.number, name, last)
            return KnownSummaries(head, state[1], newest, settled, is_undone, covers_kept)

        return self.state.engine.read(work)

    def _messages(
        self, known: KnownSummaries, first: int, last: int
    ) -> Iterator[tuple[int, Message]]:
        """Yield the messages from `first` to `last` with their numbers."""
        for start in range(first, last + 1, reading.PAGE):
            stop = min(start + reading.PAGE - 1, last)
            page = self.state.engine.read(
                lambda connection, start=start, stop=stop: reading.between(
                    connection, known.head, start, stop
                )
            )
            yield from ((stored.seq, stored.message) for stored in page)

    def _keep(self, known: KnownSummaries, found: list[Summary]) -> Summary | None:
        """Store summaries; return the last, or None if messages were hidden meanwhile."""
        if self.state.engine.is_read_only:
            return found[-1]
        name, at = self.summarise.name, now_text()
        try:
            return self.state.engine.write(
                lambda connection: rows.keep(
                    connection, known.head.number, known.marked, name, at, found
                ),
                self.id,
            )
        except StoreFull:
            return found[-1]  # the next write raises the error


def summary_policy(recipe: RecipeData, summariser: Summariser | None = None) -> SummaryPolicy:
    """Return the summary policy of a recipe, with another summariser if one is given.

    Raises:
        UsageError: the recipe has no policy, or a summariser is given for a digest.
    """
    policy = recipe.summary
    if policy is None:
        hint = "Recipe(summary=SummaryPolicy(…)), in a file summary = true"
        raise UsageError("the recipe has no summary policy", hint=hint)
    if summariser is None:
        return policy
    if policy.is_digest:
        hint = "SummaryPolicy(model=…): stored summaries are found by the model that wrote them"
        raise UsageError("the recipe names no model for its summaries", hint=hint)
    return replace(policy, summariser=summariser)
