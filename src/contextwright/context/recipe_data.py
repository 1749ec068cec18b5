"""The fields of a recipe, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from contextwright.context.omission import OmissionNote
from contextwright.errors import UsageError, require, shown
from contextwright.models import Model
from contextwright.sections import Section
from contextwright.sections.budget import as_section, require_attributes
from contextwright.sections.replies import REPLY_REACH
from contextwright.summaries.policy import SummaryPolicy
from contextwright.text.fields import LARGEST
from contextwright.tokens.count import Count
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import Stepped, Window

__all__ = ["RecipeData"]


ANSWER = 1_024
"""The output limit where neither recipe nor conversation has one."""
SYSTEM = "text, a section such as CurrentTime(), or a list of them"
FIELDS: dict[str, tuple[Any, str]] = {
    "name": (str, "text"),
    "title": (str, "text"),
    "window": (Window, "a window such as KeepRecent(20)"),
    "clearing": (Clearing, "Clearing(results=20)"),
    "budget": (int | None, "a number of tokens"),
    "answer": (int | None, "a number of tokens"),
    "unseen": (int, "a number of tokens"),
    "note": (OmissionNote | None, "OmissionNote(text)"),
    "summary": (SummaryPolicy | None, "SummaryPolicy()"),
    "cache": (bool, "True or False"),
    "reply_media": (bool, "True or False"),
    "reply_tools": (dict, "names of tools, and the argument that is the answer"),
    "options": (dict, "fields of Options by name"),
}
"""The expected type of each field, also in words."""
LEAST = {"budget": 1, "answer": 1, "unseen": 0}
"""The smallest numbers of tokens; the largest of each is `LARGEST`."""
CHOICES = {
    "placement": ("volatility", "system"),
    "oversize": ("refuse", "cut"),
    "stored_system": ("keep", "skip"),
}
"""The values of fields that have only some."""


class RecipeData(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sections, a window and a budget."""

    name: str = "default"
    """The name that `simulate` and receipts show."""
    title: str = ""
    """One line for people."""
    system: Sequence[Section | str] = ()
    """Sections of the system prompt, in order; a string is `Instructions`."""
    window: Window = Stepped()
    """Which messages of the history stay."""
    clearing: Clearing = Clearing()
    """How old tool results and media are replaced before messages are dropped; not at all by
    default.
    """
    budget: int | None = None
    """Tokens of the whole request; None: the model's input limit, less the answer."""
    answer: int | None = None
    """The most tokens of the answer, which are kept free for it; None: the conversation's own
    limit, or 1,024.
    """
    unseen: int = 0
    """Tokens kept free for what the provider adds to a request and no count includes: the prompts
    and results of its own tools, files by id, stored turns. Only requests with such parts lose
    them.
    """
    note: OmissionNote | None = OmissionNote()
    """The note that says how many messages are left out; None for none."""
    summary: SummaryPolicy | None = None
    """How omitted messages are summarised; None for only a note with their number."""
    placement: Literal["volatility", "system"] = "volatility"
    """The place of volatile text: next to the newest question, or in the system text."""
    oversize: Literal["refuse", "cut"] = "refuse"
    """If the required messages do not fit: refuse, or cut their longest text."""
    cache: bool = True
    """Whether to set cache breakpoints where the provider has them."""
    stored_system: Literal["keep", "skip"] = "keep"
    """Whether system messages of the history stay in the request."""
    reply_media: bool = False
    """Whether to send the media of the message that the newest question replies to."""
    reply_tools: dict[str, str | None] = {}
    """Tools whose calls are speech: name → the argument with the text; None if it has none."""
    options: dict[str, Any] = {}
    """Options of rendering, by name."""

    def __post_init__(self) -> None:
        if isinstance(self.system, str | Section):
            msgspec.structs.force_setattr(self, "system", (self.system,))
        if isinstance(self.system, bytes) or not isinstance(self.system, Sequence):  # pyright: ignore
            raise UsageError(f"system cannot be {shown(self.system)}", hint=SYSTEM)
        for index, section in enumerate(self.system):
            require_attributes(as_section(section, index), index)
        for name, (type, hint) in FIELDS.items():
            require(getattr(self, name), type, name, hint)
        for name, least in LEAST.items():
            tokens: int | None = getattr(self, name)
            if tokens is not None and not least <= tokens <= LARGEST:
                hint = f"{least} to {LARGEST:,} tokens"
                raise UsageError(f"{name} cannot be {shown(tokens)}", hint=hint)
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                hint = f"one of: {', '.join(choices)}"
                raise UsageError(f"{name} cannot be {shown(value)}", hint=hint)

    def output_limit(self, own: int | None) -> int:
        """Return the most tokens of the answer, if the conversation's own limit is `own`."""
        usual = ANSWER if own is None else own
        return usual if self.answer is None else self.answer

    def tokens(self, model: Model, budget: int | None = None, own: int | None = None) -> int:
        """Return the budget of a request in tokens: the given one, the recipe's, or the model's."""
        for given in (budget, self.budget):
            if given is not None:
                if not 1 <= given <= LARGEST:
                    hint = f"1 to {LARGEST:,}"
                    raise UsageError(f"budget cannot be {shown(given)} tokens", hint=hint)
                return given
        answer = self.output_limit(own)
        if self.answer is None:
            # Clients set the highest limit there is, and mean no answer of that length.
            answer = max(min(answer, model.max_output or answer, model.max_input // 2), 0)
        if answer >= model.max_input:
            raise UsageError(
                f"answer {answer:,} leaves nothing of the {model.max_input:,} tokens "
                f"that {model.id} takes",
                hint="a smaller answer, or a budget of its own",
            )
        return model.max_input - answer

    def reserve(self, count: Count) -> int:
        """Return the tokens kept free next to a request with this count."""
        return self.unseen if count.at_least else 0

    @property
    def reach(self) -> int:
        """Return the number of newest messages that its sections read, in any window."""
        sections = (
            as_section(section, index)
            for index, section in enumerate(self.system)
            if not isinstance(section, str)
        )
        return max([REPLY_REACH * self.reply_media, *(section.reach() for section in sections)])
