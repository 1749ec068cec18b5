"""From messages to a context: all that goes into it, and the budget that is enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from contextwright.api import as_conversation
from contextwright.attempts import Attempt
from contextwright.changes import Change
from contextwright.context import Context
from contextwright.errors import BudgetError
from contextwright.formats.base import Conversation, foreign_settings
from contextwright.history import Fading, History
from contextwright.messages import Message, Opaque, Part, Tool
from contextwright.metering import Meter
from contextwright.models import Model
from contextwright.sections import Moment, reply_media
from contextwright.shares import said_by
from contextwright.summaries import Digest, Summaries, Summarise, Summary, Told, made
from contextwright.tokens import Count

if TYPE_CHECKING:
    from contextwright.recipe import Recipe

__all__ = ["Build", "PricedHistory"]

replace = msgspec.structs.replace


class PricedHistory(History):
    """A history that remembers which meter priced it."""

    def __init__(self, messages: Iterable[Message], meter: Meter, recipe: Recipe) -> None:
        self.meter = meter
        self.frame = Conversation(())
        """What belongs to the conversation besides its messages."""
        self.digest: Digest | None = None
        self.summary: Summary | None = None
        """What earlier builds told of its beginning."""
        self._told: tuple[tuple[Summary, int], Message | None] | None = None
        skip = recipe.stored_system == "skip"
        fading = capped(recipe.fading, meter.model)
        super().__init__(messages, price=meter.cost, fading=fading, skip_system=skip)

    def telling(self, summary: Summary, tokens: int) -> Message | None:
        """The message that tells a summary within so many tokens; the last one is remembered."""
        if self._told is None or self._told[0] != (summary, tokens):
            self._told = (summary, tokens), summary.message(tokens, self.meter.cost)
        return self._told[1]

    def fits(self, format: str, model: Model, recipe: Recipe) -> bool:
        """Whether its prices are those of this format, model and recipe."""
        meter = self.meter
        wanted = (format, model.id, capped(recipe.fading, model), recipe.stored_system == "skip")
        return (meter.format, meter.model.id, self.fading, self.skip_system) == wanted


def capped(fading: Fading, model: Model) -> Fading:
    """The recipe's fading, with the provider's limit on media where it sets none of its own."""
    if fading.most_media is None and model.max_media is not None:
        return replace(fading, most_media=model.max_media)
    return fading


class OwnSummaries:
    """Summaries of a history that is all there; it remembers what was told, and goes on from it."""

    def __init__(self, summarise: Summarise, history: PricedHistory) -> None:
        self.summarise, self.history = summarise, history

    def upto(self, last: int) -> Told:
        """The summary of all messages up to one; whoever writes them is asked for what is missing.

        A build asks once: when its cut is final.
        """
        if self.summarise.is_digest:
            return Told(self._digest(last).summary)
        known = self.history.summary
        if known is not None and (known.last > last or known.method != self.summarise.method):
            known = None
        if known is not None and known.last == last:
            return Told(known)
        first = known.last if known else 0
        messages = enumerate(self.history.messages[first:last], first + 1)
        told = made(self.summarise, known, messages)
        self.history.summary = told.summary
        return told

    def _digest(self, last: int) -> Digest:
        """The digest of all messages up to one, gone on with where it can be."""
        known, longest = self.history.digest, self.summarise.longest
        if known is None or known.longest != longest or known.last > last:
            known = Digest(longest)
        for message in self.history.messages[known.last : last]:
            known.add(message)
        self.history.digest = known
        return known


class Build:
    """What goes into one context, whatever its budget."""

    def __init__(
        self,
        recipe: Recipe,
        given: Conversation | Message | Iterable[Message] | History,
        model: Model,
        format: str,
        tools: Sequence[Tool | Opaque] | None,
        moment: Moment,
        summaries: Summaries | None = None,
    ) -> None:
        self.recipe = recipe
        self.model = model
        self.format = format
        self.lost: list[Change] = []
        """What the conversation said beyond messages, tools and settings."""
        if isinstance(given, PricedHistory) and given.fits(format, model, recipe):
            self.history, self.meter, self.frame = given, given.meter, given.frame
        else:
            if isinstance(given, History):
                given = given.messages
            conversation = as_conversation(given)
            self.frame = replace(conversation, messages=(), changes=(), source=None, extra={})
            self.lost = foreign_settings(conversation, "") if conversation.extra else []
            self.meter = Meter(format, model)
            self.history = PricedHistory(conversation.messages, self.meter, recipe)
        self.summaries = summaries
        if recipe.summary is not None and summaries is None:
            self.summaries = OwnSummaries(recipe.summary, self.history)
        self.tools = tuple(tools) if tools is not None else self.frame.tools
        place = self.history.question
        messages = self.history.messages
        question = messages[place] if place is not None else None
        moment = replace(moment, question=question, messages=messages)
        self.said, failed = said_by(recipe.system, moment)
        self.lost.extend(failed)
        self.company: list[Part] = []
        """Media that go along with the newest question."""
        if question is not None and recipe.reply_media:
            self.company.extend(reply_media(messages, question))

    def context(self, budget: int) -> Context:
        """The context within a budget."""
        made = Attempt(self, budget).made()
        if isinstance(made, Context):
            return made
        raise BudgetError(budget, self.least_beyond(budget, made), made.places)

    def least_beyond(self, budget: int, count: Count) -> int:
        """The smallest budget that works, beyond one that does not, found by trying.

        The least that can be sent under one budget is a good guess, no more: a larger one may give
        sections a larger share, and what is left out may cost less than the words that say so.
        """
        least = count.most
        while isinstance(found := Attempt(self, least).found(), Count):
            least = max(found.most, least + 1)
        while least - 1 > budget and not isinstance(Attempt(self, least - 1).found(), Count):
            least -= 1
        return least
