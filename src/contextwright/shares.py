"""What the sections of a recipe say, each within its share of the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from contextwright.changes import Change
from contextwright.errors import in_one_line
from contextwright.sections import Instructions, Moment, Section, Share, Volatility

__all__ = ["REQUIRED", "Said", "Written", "costs", "said_by", "within_shares"]

Price: TypeAlias = Callable[[str], int]
"""What a text costs."""
Shorten: TypeAlias = Callable[[str, int], str]
"""What a section says in fewer characters."""
Placement: TypeAlias = Literal["volatility", "system"]

REQUIRED = 100
"""Sections of this priority and above are never left out."""
STEADINESS: dict[Volatility, int] = {"static": 0, "rare": 1, "turn": 2}


class Said(Struct, frozen=True):
    """What a section has to say, whatever room there is."""

    name: str
    heading: str
    """The line above the words, with its line break; empty: none."""
    words: str
    volatility: Volatility
    priority: int
    share: Share
    shorten: Shorten

    @property
    def text(self) -> str:
        """Heading and words; nothing without words."""
        return self.heading + self.words if self.words else ""


class Written(Struct, frozen=True):
    """What a section says in one request."""

    name: str
    text: str
    priority: int
    static: bool
    beside: bool
    """It stands beside the newest question, not in the system text."""


def said_by(sections: Iterable[Section | str], moment: Moment) -> tuple[list[Said], list[Change]]:
    """What each section has to say, in the recipe's order, and which of them failed.

    One without words keeps its share. One that fails has none, unless it is required.
    """
    said: list[Said] = []
    changes: list[Change] = []
    for index, section in enumerate(sections):
        section = Instructions(section) if isinstance(section, str) else section
        name = f"{type(section).__name__}[{index}]"
        heading = words = ""
        try:
            words = section.write(moment) or ""
            heading = section.title(moment) if words else ""
        except Exception as error:  # whatever a database or a service of others may raise
            if section.priority >= REQUIRED:
                raise
            words = ""
            changes.append(Change("loss.section", name, f"it failed: {in_one_line(error)}"))
        above = f"{heading}\n" if heading else ""
        priority, share = section.priority, section.budget
        said.append(Said(name, above, words, section.volatility, priority, share, section.shorten))
    return said, changes


def within_shares(
    said: Sequence[Said], budget: int, placement: Placement, price: Price
) -> tuple[list[Written], list[Change]]:
    """The sections in the order they are read in, each within its share, and what was cut.

    What a section leaves of its share flows on to the next one that has a share, from what never
    changes to what changes every turn, so that no text moves because of a more volatile one. What
    is left in the end is room for messages.
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
        Written(
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


def steadiness(section: Said) -> int:
    """What changes least comes first."""
    return STEADINESS[section.volatility]


def tokens_of(share: int | float, budget: int) -> int:
    """A share in tokens."""
    return int(share * budget) if isinstance(share, float) else share


def fitted(section: Said, room: int, price: Price) -> str:
    """A section's text without as much of its words as there is no room for; nothing if none is."""
    words, text = section.words, section.text
    tokens = price(text)
    while tokens > room:
        shorter = section.shorten(words, int(len(words) * min(0.9, room / tokens)))
        if not shorter or len(shorter) >= len(words):
            return ""
        words, text = shorter, section.heading + shorter
        tokens = price(text)
    return text


def costs(sections: Iterable[Written], room: int, price: Price) -> dict[str, int]:
    """What each section costs by itself, all of them no more than there is."""
    found: dict[str, int] = {}
    for section in sections:
        found[section.name] = min(price(section.text), room)
        room -= found[section.name]
    return found
