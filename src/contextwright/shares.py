"""What the sections of a recipe say, each within its share of the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from contextwright.changes import Change
from contextwright.sections import Instructions, Moment, Section, Share, Volatility
from contextwright.shortening import shortened

__all__ = ["REQUIRED", "Said", "Written", "costs", "said_by", "within_shares"]

Price: TypeAlias = Callable[[str], int]
"""What a text costs."""
Placement: TypeAlias = Literal["volatility", "system"]

REQUIRED = 100
"""Sections of this priority and above are never left out."""
STEADINESS: dict[Volatility, int] = {"static": 0, "rare": 1, "turn": 2}


class Said(Struct, frozen=True):
    """What a section has to say, whatever room there is."""

    name: str
    text: str
    volatility: Volatility
    priority: int
    share: Share


class Written(Struct, frozen=True):
    """What a section says in one request."""

    name: str
    text: str
    priority: int
    static: bool
    beside: bool
    """It stands beside the newest question, not in the system text."""


def said_by(sections: Iterable[Section | str], moment: Moment) -> list[Said]:
    """What each section has to say, in the recipe's order; one without words keeps its share."""
    said: list[Said] = []
    for index, section in enumerate(sections):
        section = Instructions(section) if isinstance(section, str) else section
        name = f"{type(section).__name__}[{index}]"
        text = section.write(moment) or ""
        said.append(Said(name, text, section.volatility, section.priority, section.budget))
    return said


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
            text = fitted(text, room, price)
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


def fitted(text: str, room: int, price: Price) -> str:
    """A text without as much of its middle as there is no room for; nothing where none fits."""
    tokens = price(text)
    while tokens > room:
        shorter = shortened(text, int(len(text) * min(0.9, room / tokens)))
        if len(shorter) >= len(text):
            return ""
        text, tokens = shorter, price(shorter)
    return text


def costs(sections: Iterable[Written], room: int, price: Price) -> dict[str, int]:
    """What each section costs by itself, all of them no more than there is."""
    found: dict[str, int] = {}
    for section in sections:
        found[section.name] = min(price(section.text), room)
        room -= found[section.name]
    return found
