"""How a context is made, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from contextwright.api import as_model
from contextwright.building import Build, PricedHistory
from contextwright.context import Context
from contextwright.errors import UsageError
from contextwright.formats.base import Conversation
from contextwright.history import Fading, History
from contextwright.memories import Recollection
from contextwright.messages import Message, Opaque, Text, Tool
from contextwright.metering import Meter
from contextwright.models import Model
from contextwright.sections import Moment, Section
from contextwright.summaries import Summaries, Summarise
from contextwright.windows import Stepped, Window

__all__ = ["Note", "Recipe"]


class Note(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is said where messages were left out."""

    text: str = "[{omitted} earlier messages are left out here]"
    role: Literal["user", "assistant"] = "user"
    beyond: int = 0
    """Say it only when more than so many are left out."""

    def message(self, omitted: int) -> Message | None:
        """The message that says how many are left out; None where nothing need be said."""
        if omitted <= self.beyond:
            return None
        text = self.text.replace("{omitted}", str(omitted))
        return Message(self.role, (Text(text),), kind="note")


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
    summary: Summarise | None = None
    """Tell what is left out in few words; None: only say how many there are."""
    placement: Literal["volatility", "system"] = "volatility"
    """Where what changes every turn goes: beside the newest question, or in the system text."""
    oversize: Literal["refuse", "cut"] = "refuse"
    """What to do when the least that must be sent does not fit: say so, or cut its longest text."""
    cache: bool = True
    """Set cache marks where the provider has them."""
    stored_system: Literal["keep", "skip"] = "keep"
    """What becomes of system messages in the history."""
    reply_media: bool = False
    """Send the media of the message that the newest question answers along with the question."""
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
        memories: Recollection | None = None,
        summaries: Summaries | None = None,
    ) -> Context:
        """The best valid request within the budget, with its receipt.

        Clock and memories are what the sections may look at; none of them asks for more. Where
        summaries are not made here, `summaries` has them.

        Raises:
            BudgetError: what has to be sent does not fit; it names the smallest budget that works.
        """
        facts = as_model(model)
        moment = Moment(now, memories=memories)
        made = Build(self, conversation, facts, format or facts.format, tools, moment, summaries)
        return made.context(self.tokens(facts, budget))

    def tokens(self, model: Model, budget: int | None = None) -> int:
        """The budget of a request in tokens: the one asked for, the recipe's, or the model's."""
        for given in (budget, self.budget):
            if given is not None:
                if given < 1:
                    raise UsageError(f"a budget of {given:,} tokens", hint="at least 1")
                return given
        if self.answer >= model.max_input:
            raise UsageError(
                f"answer {self.answer:,} leaves nothing of the {model.max_input:,} tokens "
                f"that {model.id} takes",
                hint="a smaller answer, or a budget of its own",
            )
        return model.max_input - self.answer

    @property
    def reach(self) -> int:
        """How many of the newest messages its sections look at, whatever the window keeps."""
        sections = [section for section in self.system if not isinstance(section, str)]
        return max((section.reach() for section in sections), default=0)

    def history(
        self,
        messages: Iterable[Message] = (),
        *,
        model: str | Model,
        format: str | None = None,
        meter: Meter | None = None,
    ) -> PricedHistory:
        """A history priced for this recipe: keep it, add to it, and no build counts it again.

        A `meter` that was used before remembers what it counted.
        """
        facts = as_model(model)
        return PricedHistory(messages, meter or Meter(format or facts.format, facts), self)
