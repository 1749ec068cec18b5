"""`Section`, and the input that a section gets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct

from contextwright.messages.message import Message
from contextwright.recall.memories import MemorySource
from contextwright.text.graphemes import cut

__all__ = ["SectionInput", "Section", "Share", "Volatility"]

Volatility: TypeAlias = Literal["static", "rare", "turn"]
"""How often the text changes: never, rarely, every turn."""


Share: TypeAlias = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(gt=0, le=1)] | None
"""Tokens a section may use: a number, or a fraction of the request's budget; None: any number."""


def estimated(text: str) -> int:
    """Return a rough number of tokens, for sections that are asked outside of a request."""
    return -(-len(text) // 4)


class SectionInput(Struct, frozen=True):
    """The input of a section. Sections read no clock and no store."""

    now: datetime | None = None
    question: Message | None = None
    """The newest message of a user."""
    messages: Sequence[Message] = ()
    """The history including the question, before a window decides."""
    memories: MemorySource | None = None
    tokens: int | None = None
    """The most tokens that its text may have, without the heading; None: any number."""
    price: Callable[[str], int] = estimated
    """The tokens of a text in this request."""
    kept: Collection[int] | None = None
    """Indexes of the messages that the window keeps, for a section that `fills`; None for others,
    which are asked before a window decides."""


class Section:
    """One piece of the system prompt. Your own is a class with `write`.

        class Weather(Section):
            def write(self, moment):
                return "It is sunny in Kyiv."

    Text from people is data: pass it through `quoted` or `one_line`.
    """

    heading: str = ""
    """The heading above its text; empty for none."""
    volatility: Volatility = "turn"
    priority: int = 50
    """Sections below 100 may be dropped if they do not fit or fail, the lowest first."""
    budget: Share = None
    """Its share of the tokens. Unused tokens go to other sections; longer text is cut."""
    fills: ClassVar[bool] = False
    """Whether it is asked last, for all tokens that the window leaves. Its share is kept free from
    the window, which gets back what is not used of it."""

    def write(self, moment: SectionInput) -> str | None:
        """Return its text; None for nothing, not even a heading."""
        raise NotImplementedError

    def absence(self, moment: SectionInput) -> str:
        """Return why it has no text, for the receipt; called only if it has none."""
        return "it has no text"

    def title(self, moment: SectionInput) -> str:
        """Return the heading, filled in."""
        return self.heading

    def reach(self) -> int:
        """Return the number of newest messages that it reads."""
        return 0

    def shorten(self, text: str, longest: int) -> str:
        """Shorten its text to `longest` characters, by whole entries while several are left."""
        return first_entries(text, longest)


def first_entries(text: str, longest: int) -> str:
    """Return the first entries that fit: paragraphs where there are any, else lines."""
    return entries_of(text, longest, lambda entry, room: len(entry) > room)


def best_entries(text: str, longest: int) -> str:
    """Return the entries that fit, the first taken first; only those too long are left out."""
    return entries_of(text, longest, lambda entry, room: False)


def entries_of(text: str, longest: int, is_end: Callable[[str, int], bool]) -> str:
    """Return the entries that fit, up to a last one; of one too long, its first line."""
    between = "\n\n" if "\n\n" in text else "\n"
    kept: list[str] = []
    room = longest
    for entry in text.split(between):
        if is_end(entry, room):
            break
        if len(entry) <= room:
            room -= len(entry) + len(between)
            kept.append(entry)
    return between.join(kept) if kept else cut(text, longest).split("\n")[0]


def last_entries(text: str, longest: int) -> str:
    """Return the lines that fit, the last taken first; one that is too long is left out alone."""
    lines = text.split("\n")
    backwards = best_entries("\n".join(reversed(lines)), longest)
    return "\n".join(reversed(backwards.split("\n")))
