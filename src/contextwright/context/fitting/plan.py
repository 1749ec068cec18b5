"""`Plan`: the content of a request before its budget applies: history, sections, tools."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from contextwright.context.fitting.meter import Counted, TokenMeter, meter_of
from contextwright.context.fitting.priced_history import OwnSummaries, PricedHistory
from contextwright.context.recipe_data import RecipeData
from contextwright.formats import find
from contextwright.formats.api import written
from contextwright.formats.base import Rendered, as_options, foreign_settings
from contextwright.formats.given import Given as GivenMessages
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, require_messages
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Opaque, Part, Text
from contextwright.messages.quotes import without_quotes
from contextwright.models import Model
from contextwright.sections import SectionInput, reply_media
from contextwright.sections.budget import SectionWriter
from contextwright.summaries.summary import SummarySource

__all__ = ["Given", "Messages", "Plan", "plan"]

replace = msgspec.structs.replace

Given = GivenMessages | PricedHistory
Messages = Conversation | PricedHistory | Sequence[Message]
"""The given conversation, read into our messages."""


class Plan(Struct, frozen=True):
    """The content of a request; `fit` decides how much of it fits."""

    recipe: RecipeData
    model: Model
    format: str
    history: PricedHistory
    frame: Conversation
    """The conversation without its messages."""
    tools: tuple[Tool | Opaque, ...]
    sections: SectionWriter
    """The sections, asked when it is known how much room each has."""
    attachments: Sequence[Part]
    """Media to send with the newest question."""
    summaries: SummarySource | None
    changes: Sequence[Change]
    """Fields of the conversation that no request carries."""

    @property
    def meter(self) -> TokenMeter:
        """The counter for the format and model of this request."""
        return self.history.meter

    def conversation(self, system: Sequence[str], messages: Sequence[Message]) -> Conversation:
        """Return the conversation of the system text and some messages, with tools and settings."""
        settings = self.frame.settings
        head = [Message("system", tuple(map(Text, system)))] if system else []
        return replace(
            self.frame,
            messages=(*head, *messages),
            tools=self.tools,
            settings=replace(settings, max_tokens=self.recipe.output_limit(settings.max_tokens)),
            reply_tools={**self.frame.reply_tools, **self.recipe.reply_tools},
        )

    def render(self, conversation: Conversation) -> tuple[Rendered, Counted]:
        """Render a conversation, and count its tokens."""
        options = as_options(self.recipe.options)
        return written(conversation, find(self.format), self.model, options, self.meter.count)


SESSION = "created_at updated_at last_activity state command_generated metadata".split()
"""Fields of a session file that no request needs."""


def unsent(conversation: Conversation, recipe: RecipeData) -> list[Change]:
    """Return a change for each field of the conversation's own format that no request has.

    An agent's name is not reported if the recipe has its instructions.
    """
    known = [*SESSION, "agent"] if recipe.system else SESSION
    return foreign_settings(conversation, "", {"port42": known})


def other_limit(recipe: RecipeData, own: int | None) -> list[Change]:
    """Return the change for an output limit of the conversation that the recipe replaces."""
    limit = recipe.output_limit(own)
    if own is None or own == limit:
        return []
    reason = f"the recipe's answer of {limit:,} instead of {own:,}"
    return [Change("repair.setting", "max_tokens", reason)]


def plan(
    recipe: RecipeData,
    given: Messages,
    known: PricedHistory | None,
    model: Model,
    format: str,
    tools: Sequence[Tool | Opaque] | None,
    input: SectionInput,
    summaries: SummarySource | None = None,
) -> Plan:
    """Price what is not `known` of the history from an earlier build; prepare the sections."""
    if known is not None and given is known:
        history, frame = known, known.frame
    else:
        history, frame = priced(given, known, format, model, recipe)
    changes = other_limit(recipe, frame.settings.max_tokens)
    if isinstance(given, Conversation) and given.extra:
        changes += unsent(given, recipe)
    if recipe.summary is not None and summaries is None:
        summaries = OwnSummaries(recipe.summary, history)
    log = history.log
    question = log[log.questions[-1]] if log.questions else None
    price = history.meter.text
    input = replace(input, question=question, messages=history.messages, price=price)
    attachments = reply_media(history.messages, question) if question and recipe.reply_media else []
    return Plan(
        recipe,
        model,
        format,
        history,
        frame,
        tuple(tools) if tools is not None else frame.tools,
        SectionWriter(recipe.system, input),
        attachments,
        summaries,
        changes,
    )


def priced(
    given: Messages, known: PricedHistory | None, format: str, model: Model, recipe: RecipeData
) -> tuple[PricedHistory, Conversation]:
    """Return the history of the input, and the conversation without its messages."""
    frame = Conversation(())
    if isinstance(given, PricedHistory):
        messages, frame = given.messages, given.frame
    elif isinstance(given, Conversation):
        messages = given.messages
        if known is None:
            require_messages(messages)
        frame = replace(given, messages=(), changes=(), source=None, extra={})
    else:
        messages = given
    if known is None:
        known = PricedHistory((), meter_of(format, model), recipe)
    known.read(messages, recipe.window)
    sent = without_quotes(messages) if known.log.hidden else messages
    if sent is messages:
        return known, frame
    history = PricedHistory((), meter_of(format, model), recipe)
    history.read(sent, recipe.window)
    return history, frame
