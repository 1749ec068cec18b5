"""The texts of a recipe's sections, each within its share of the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from contextwright.errors import UsageError, in_one_line, shown
from contextwright.messages.changes import Change
from contextwright.sections import Instructions, Section, SectionInput, Share, Volatility
from contextwright.text.quoting import one_line

__all__ = ["REQUIRED", "FittedSection", "SectionText", "as_section", "costs", "fit", "write"]

Price: TypeAlias = Callable[[str], int]
"""The price of a text."""
Shorten: TypeAlias = Callable[[str, int], str]
"""Shortens the text of a section."""
Placement: TypeAlias = Literal["volatility", "system"]

REQUIRED = 100
"""Sections of this priority and above are never dropped."""
STEADINESS: dict[Volatility, int] = {"static": 0, "rare": 1, "turn": 2}


class SectionText(Struct, frozen=True):
    """The full text of a section."""

    name: str
    heading: str
    """The line above the text, with its line break; may be empty."""
    words: str
    volatility: Volatility
    priority: int
    share: Share
    shorten: Shorten
    absence: str = ""
    """Why there is no text, if the section has none and did not fail."""

    @property
    def text(self) -> str:
        """Heading and text; empty without text."""
        return self.heading + self.words if self.words else ""


class FittedSection(Struct, frozen=True):
    """The text of a section in one request."""

    name: str
    text: str
    priority: int
    static: bool
    beside: bool
    """Whether it goes next to the newest question, not into the system prompt."""


def write(
    sections: Iterable[Section | str], moment: SectionInput
) -> tuple[list[SectionText], list[Change]]:
    """Write all sections, in the recipe's order; return their texts and the failures.

    An empty section keeps its share. A failed one has none, unless it is required.
    """
    said: list[SectionText] = []
    changes: list[Change] = []
    for index, section in enumerate(sections):
        section = as_section(section, index)
        name = f"{type(section).__name__}[{index}]"
        heading = words = absence = ""
        try:
            words = text_of(section.write(moment))
            heading = text_of(section.title(moment)) if words else ""
            absence = "" if words else one_line(text_of(section.absence(moment)))
        except Exception as error:  # a database or service may raise anything
            if section.priority >= REQUIRED:
                raise
            words = ""
            changes.append(Change("loss.section", name, f"it failed: {in_one_line(error)}"))
        above = f"{heading}\n" if heading else ""
        priority, share = section.priority, section.budget
        volatility, shorten = section.volatility, section.shorten
        said.append(SectionText(name, above, words, volatility, priority, share, shorten, absence))
    return said, changes


def as_section(given: object, index: int) -> Section:
    """Return a section of a recipe: text is instructions, any object with `write` a section.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(given, str):
        return Instructions(given)
    if isinstance(given, Section):
        return given
    if isinstance(given, type) or not callable(getattr(given, "write", None)):
        hint = "text, or an object with a method write(moment)"
        raise UsageError(f"system[{index}] is {shown(given)}, not a section", hint=hint)
    return adopted(given)


def adopted(given: object) -> Section:
    """Return an object with `write` as a section; missing attributes come from `Section`."""
    section = type(type(given).__name__, (Section,), {})()
    for name in vars(Section):
        if not name.startswith("_") and hasattr(given, name):
            setattr(section, name, getattr(given, name))
    return section


def text_of(written: object) -> str:
    """Return the text that a section wrote; empty for None.

    Raises:
        UsageError: it is neither text nor None.
    """
    if written is None or isinstance(written, str):
        return written or ""
    raise UsageError(f"a section must write text, not {shown(written)}", hint="return str or None")


def fit(
    said: Sequence[SectionText], budget: int, placement: Placement, price: Price
) -> tuple[list[FittedSection], list[Change]]:
    """Return the sections in reading order, each within its share, and the changes.

    Unused tokens of a share go to the next section with a share, from static to volatile ones, so
    that no text changes because of a more volatile one. What is left in the end is room for
    messages.
    """
    texts: dict[str, str] = {}
    changes: list[Change] = []
    left = 0
    for section in sorted(said, key=steadiness):
        text = section.text
        if section.share is not None:
            room = left + tokens_of(section.share, budget)
            text = fitted(section, room, price)
            left = room - price(text)
            if text != section.text:
                reason = (
                    f"cut to its share of {room:,} tokens" if text else "its share is too small"
                )
                changes.append(Change("loss.section", section.name, reason))
        texts[section.name] = text
    beside = placement == "volatility"
    order = sorted(said, key=steadiness) if beside else said
    written = [
        FittedSection(
            section.name,
            texts[section.name],
            section.priority,
            section.volatility == "static",
            beside and section.volatility == "turn",
        )
        for section in order
        if texts[section.name]
    ]
    return written, changes


def steadiness(section: SectionText) -> int:
    """Order sections by how rarely they change."""
    return STEADINESS[section.volatility]


def tokens_of(share: int | float, budget: int) -> int:
    """Return a share in tokens."""
    return int(share * budget) if isinstance(share, float) else share


def fitted(section: SectionText, room: int, price: Price) -> str:
    """Return a section's text cut to its room; empty if nothing fits."""
    words, text = section.words, section.text
    tokens = price(text)
    while tokens > room:
        shorter = section.shorten(words, int(len(words) * min(0.9, room / tokens)))
        if not shorter or len(shorter) >= len(words):
            return ""
        words, text = shorter, section.heading + shorter
        tokens = price(text)
    return text


def costs(sections: Iterable[FittedSection], room: int, price: Price) -> dict[str, int]:
    """Return the price of each section alone, in total at most what there is."""
    found: dict[str, int] = {}
    for section in sections:
        found[section.name] = min(price(section.text), room)
        room -= found[section.name]
    return found
