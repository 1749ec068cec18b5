"""How a context is made: the only file that knows the whole way from messages to a payload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from contextwright.api import as_conversation, as_model, render
from contextwright.caching import mark_cache
from contextwright.changes import Change
from contextwright.context import Context, Ledger, is_marked, units_of
from contextwright.errors import BudgetError
from contextwright.formats.base import Conversation, Rendered
from contextwright.history import Fading, History
from contextwright.messages import Message, Opaque, Part, Text, Thinking, Tool
from contextwright.metering import Meter
from contextwright.models import Model
from contextwright.sections import Instructions, Moment, Section
from contextwright.shortening import cut_to, longest_text, shortened
from contextwright.tokens import Count
from contextwright.windows import Decisions, Stepped, Window

__all__ = ["Note", "Recipe"]

replace = msgspec.structs.replace


class Note(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is said where messages were left out."""

    text: str = "[{omitted} earlier messages are left out here]"
    role: Literal["user", "assistant"] = "user"
    beyond: int = 0
    """Say it only when more than so many are left out."""


class Recipe(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sections, a window, a budget: plain data, and `build` to make a context of it."""

    name: str = "default"
    title: str = ""
    system: Sequence[Section | str] = ()
    window: Window = Stepped()
    fading: Fading = Fading()
    budget: int | None = None
    """Tokens of the whole request; None: all the model takes, less the answer."""
    answer: int = 1_024
    """Tokens kept free for the answer."""
    note: Note | None = Note()
    placement: Literal["volatility", "system"] = "volatility"
    """Where what changes every turn goes: beside the newest question, or in the system text."""
    oversize: Literal["refuse", "cut"] = "refuse"
    """What to do when the least that must be sent does not fit: say so, or cut its longest text."""
    cache: bool = True
    """Set cache marks where the provider has them."""
    stored_system: Literal["keep", "skip"] = "keep"
    """What becomes of system messages in the history."""
    reply_tools: dict[str, str | None] = {}
    options: dict[str, Any] = {}
    """Options of rendering, by name."""

    def build(
        self,
        conversation: Conversation | Message | Iterable[Message] | History,
        *,
        model: str | Model,
        format: str | None = None,
        tools: Sequence[Tool | Opaque] | None = None,
        now: datetime | None = None,
        budget: int | None = None,
    ) -> Context:
        """The best valid request within the budget, with its receipt.

        Raises:
            BudgetError: what has to be sent does not fit; it names the smallest budget that works.
        """
        facts = as_model(model)
        return Build(
            self, conversation, facts, format or facts.format, tools, now, budget
        ).context()

    def history(
        self, messages: Iterable[Message] = (), *, model: str | Model, format: str | None = None
    ) -> History:
        """A history priced for this recipe: keep it, add to it, and no build counts it again."""
        facts = as_model(model)
        meter = Meter(format or facts.format, facts)
        return PricedHistory(messages, meter, self)


class PricedHistory(History):
    """A history that remembers which meter priced it."""

    def __init__(self, messages: Iterable[Message], meter: Meter, recipe: Recipe) -> None:
        self.meter = meter
        skip = recipe.stored_system == "skip"
        fading = capped(recipe.fading, meter.model)
        super().__init__(messages, price=meter.cost, fading=fading, skip_system=skip)

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


class Written(Struct, frozen=True):
    """What one section had to say."""

    name: str
    text: str
    place: Literal["system", "question"]
    order: int
    """Static sections first, then those that change now and then."""
    priority: int


class Build:
    """One building of one context; every step reads what the ones before it left."""

    def __init__(
        self,
        recipe: Recipe,
        given: Conversation | Message | Iterable[Message] | History,
        model: Model,
        format: str,
        tools: Sequence[Tool | Opaque] | None,
        now: datetime | None,
        budget: int | None,
    ) -> None:
        self.recipe = recipe
        self.model = model
        self.format = format
        self.frame = Conversation(())
        if isinstance(given, PricedHistory) and given.fits(format, model, recipe):
            self.history, self.meter = given, given.meter
        else:
            if isinstance(given, History):
                given = given.messages
            conversation = as_conversation(given)
            self.frame = replace(conversation, messages=(), changes=(), source=None, extra={})
            self.meter = Meter(format, model)
            self.history = PricedHistory(conversation.messages, self.meter, recipe)
        self.budget = budget or recipe.budget or model.max_input - recipe.answer
        self.tools = tuple(tools) if tools is not None else self.frame.tools
        self.changes: list[Change] = []
        self.sections = self.written(now)
        self.fixed = 0
        """Tokens of all but messages and what changes every turn."""
        self.longest: int | None = None
        """Texts of the newest turn are cut to so many characters; None: not at all."""

    def context(self) -> Context:
        """The context; less important sections go, and long texts are cut, before it is refused."""
        while True:
            context = self.attempt()
            if isinstance(context, Context):
                return context
            if not self.give_way(context):
                raise BudgetError(self.budget, context.most, context.places)

    def attempt(self) -> Context | Count:
        """Window, render, count; ask the window for less until the payload fits."""
        limit = self.history_limit()
        while True:
            decisions = self.decisions(limit)
            rendered = self.rendered(self.messages(decisions))
            count = self.meter.count(rendered.payload)
            if count.most <= self.budget:
                return self.finished(decisions, rendered, count)
            if limit <= 0 or self.decisions(0).staying == decisions.staying:
                return count
            limit = max(0, limit - max(count.most - self.budget, self.budget // 64, 1))

    def give_way(self, count: Count) -> bool:
        """Leave out the least important section, or cut the longest text; False: nothing left."""
        optional = [section for section in self.sections if section.priority < REQUIRED]
        if optional:
            least = min(optional, key=lambda section: section.priority)
            self.sections.remove(least)
            self.changes.append(Change("loss.section", least.name, "no room in the budget"))
            return True
        if self.recipe.oversize == "refuse" or self.longest == SHORTEST:
            return False
        if self.longest is None:
            least = self.messages(self.decisions(0))
            self.longest = max(map(longest_text, least), default=0)
        # Down to the shortest, so that the budget an error names is one that works.
        shorter = int(self.longest * min(0.9, self.budget / max(count.most, 1)))
        self.longest = max(shorter, SHORTEST)
        return True

    # --- the fixed part ----------------------------------------------------------------------

    def written(self, now: datetime | None) -> list[Written]:
        """What the sections say, in the recipe's order."""
        place = self.history.question
        moment = Moment(now, self.history.messages[place] if place is not None else None)
        written: list[Written] = []
        for index, section in enumerate(self.recipe.system):
            section = Instructions(section) if isinstance(section, str) else section
            text = section.write(moment)
            if not text:
                continue
            if section.budget is not None:
                text = self.fitted(text, section.budget)
            beside = self.recipe.placement == "volatility" and section.volatility == "turn"
            order = 0 if section.volatility == "static" or self.recipe.placement == "system" else 1
            name = f"{type(section).__name__}[{index}]"
            written.append(
                Written(name, text, "question" if beside else "system", order, section.priority)
            )
        return written

    def fitted(self, text: str, budget: int) -> str:
        """A section's text within its own budget."""
        tokens = self.meter.text(text)
        while tokens > budget and text:
            text = shortened(text, int(len(text) * min(0.9, budget / tokens)))
            tokens = self.meter.text(text)
        return text

    def history_limit(self) -> int:
        """What the fixed part leaves for messages.

        Rounded, so that a clock that grows by a token does not move the cut.
        """
        frame = (self.steady, self.tools, self.recipe.reply_tools, self.recipe.options, self.frame)
        self.fixed = self.meter.fixed(frame, lambda: self.rendered([]).payload)
        fixed = self.fixed + self.meter.text(self.volatile)
        coarse = max(1, self.budget // 64)
        return max(0, self.budget - -(-fixed // coarse) * coarse)

    def grid(self, step: float) -> int:
        """The width of a stepped window's grid: a share of the room for what a window may drop.

        Were it a share of the budget, a long system text would make one step as wide as the whole
        window. What changes every turn does not count and the rest is rounded, so that the grid
        stays put.
        """
        room = self.budget - self.fixed - self.history.always_before(len(self.history))
        coarse = max(1, self.budget // 16)
        return max(1, int(max(coarse, room // coarse * coarse) * step))

    @property
    def volatile(self) -> str:
        """The text that goes beside the newest question."""
        return "\n\n".join(section.text for section in self.sections if section.place == "question")

    # --- the messages ------------------------------------------------------------------------

    def decisions(self, limit: int) -> Decisions:
        """What the window keeps within a limit; its grid follows what never changes."""
        window = self.recipe.window
        if isinstance(window, Stepped) and window.grid is None:
            window = replace(window, grid=self.grid(window.step))
        return window.decide(self.history, limit)

    def messages(self, decisions: Decisions) -> list[Message]:
        """What is kept, with the note on what is not, and the volatile text beside the question."""
        kept: list[Message] = []
        changed = decisions.changed
        gap = decisions.gap
        for place in decisions.places():
            message = self.history.at(place)
            if changed:
                message = self.without_thinking(message, place)
            if place == gap:
                kept.extend(self.note(decisions.told))
            if place == self.history.question and self.volatile:
                message = message.with_parts((*message.parts, Text(self.volatile)))
            kept.append(message if self.longest is None else cut_to(message, self.longest))
        return kept

    def note(self, omitted: int) -> list[Message]:
        """The message that says how many are left out."""
        note = self.recipe.note
        if note is None or omitted <= note.beyond:
            return []
        text = note.text.replace("{omitted}", str(omitted))
        return [Message(note.role, (Text(text),), kind="note")]

    def without_thinking(self, message: Message, place: int) -> Message:
        """A message of a changed history: its signed thinking is bound to what is no longer there.

        An open tool loop keeps its thinking on the models whose API demands it.
        """
        if message.role != "assistant":
            return message
        if self.model.legacy_thinking and place >= self.history.tail():
            return message
        parts = [part for part in message.parts if not is_bound(part)]
        return message if len(parts) == len(message.parts) else message.with_parts(parts)

    # --- the request -------------------------------------------------------------------------

    @property
    def steady(self) -> list[str]:
        """The texts of the system message, what never changes first."""
        steady = [section for section in self.sections if section.place == "system"]
        return [section.text for section in sorted(steady, key=lambda section: section.order)]

    def rendered(self, messages: list[Message]) -> Rendered:
        """The request with these messages."""
        texts = self.steady
        system = [Message("system", tuple(map(Text, texts)))] if texts else []
        conversation = replace(
            self.frame,
            messages=(*system, *messages),
            tools=self.tools,
            settings=replace(self.frame.settings, max_tokens=self.recipe.answer),
            reply_tools={**self.frame.reply_tools, **self.recipe.reply_tools},
        )
        return render(conversation, self.format, model=self.model, **self.recipe.options)

    def finished(self, decisions: Decisions, rendered: Rendered, count: Count) -> Context:
        """The context, with cache marks and its ledger."""
        payload = rendered.payload
        # Before our own marks are set: a prompt without any is hashed as it stands.
        units = units_of(payload, count.places, marked=is_marked(rendered.json))
        if self.recipe.cache:
            volatile = bool(self.volatile) and self.history.question == len(self.history) - 1
            mark_cache(payload, self.format, self.model, volatile=volatile, key=self.frame.id)
        if self.longest is not None:
            reason = f"texts of the newest turn are cut to {self.longest:,} characters"
            self.changes.append(Change("loss.cut", "messages", reason))
        return Context(
            payload,
            self.format,
            self.model,
            decisions,
            (*self.changes, *rendered.changes),
            ledger_of(count, self.budget, payload),
            units,
            {section.name: section.text for section in self.sections},
        )


REQUIRED = 100
"""Sections of this priority and above are never left out."""
SHORTEST = 200
"""Texts are never cut to less than so many characters."""


def is_bound(part: Part) -> bool:
    """Whether a part is thinking that its provider ties to the exact words before it."""
    return isinstance(part, Thinking) and part.signature is not None and part.origin == "anthropic"


def ledger_of(count: Count, budget: int, payload: dict[str, Any]) -> Ledger:
    """The tokens by what they are for."""
    system = ["system", "instructions", *leading_system(payload)]
    sections = sum(count.places.get(place, 0) for place in system)
    tools = count.places.get("tools", 0)
    wrappers = count.places.get("request", 0)
    history = count.tokens - sections - tools - wrappers
    return Ledger(
        count.tokens,
        count.exact,
        count.bound,
        budget,
        sections,
        tools,
        history,
        wrappers,
        count.places,
    )


def leading_system(payload: dict[str, Any]) -> list[str]:
    """The places of system messages before anyone speaks, in formats without a field for them."""
    places: list[str] = []
    for index, message in enumerate(payload.get("messages") or ()):
        if message.get("role") not in ("system", "developer"):
            break
        places.append(f"messages[{index}]")
    return places
