"""The texts of a recipe's sections, each within its share of the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError, in_one_line, shown
from contextwright.messages.changes import Change
from contextwright.sections import Instructions, Section, SectionInput, Volatility
from contextwright.sections.base import Share
from contextwright.text.fields import Checked
from contextwright.text.quoting import one_line

__all__ = [
    "REQUIRED",
    "FittedSection",
    "FittedSections",
    "SectionText",
    "SectionWriter",
    "as_section",
    "costs",
    "require_attributes",
]

replace = msgspec.structs.replace

Price: TypeAlias = Callable[[str], int]
"""The price of a text."""
Placement: TypeAlias = Literal["volatility", "system"]

REQUIRED = 100
"""Sections of this priority and above are never dropped."""
STEADINESS: dict[Volatility, int] = {"static": 0, "rare": 1, "turn": 2}


FILLING = 0.85
"""The share that a section which fills a request has kept free for it, unless it names one."""


class SectionText(Struct, frozen=True):
    """The text of a section, before it is cut."""

    heading: str = ""
    """The line above the words, with its line break; empty: none."""
    words: str = ""
    absence: str = ""
    """Why there are no words, if the section has none and did not fail."""
    failure: str = ""
    """Why it failed or was cut, in one line; empty if neither."""

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
    share: int = 0
    """Tokens kept free for a section that is asked last."""


class FittedSections(Struct, frozen=True):
    """The sections of one request in the order in which they are read."""

    sections: tuple[FittedSection, ...]
    changes: tuple[Change, ...]
    """A change for each section that was cut or failed."""
    absent: dict[str, str]
    """Why sections have no words, by name."""


class SectionWriter:
    """The sections of a recipe at one moment, by name; each is asked once for the same room."""

    def __init__(self, sections: Iterable[Section | str], moment: SectionInput) -> None:
        self.moment = moment
        self.sections: dict[str, Section] = {}
        for index, given in enumerate(sections):
            section = as_section(given, index)
            self.sections[f"{type(section).__name__}[{index}]"] = section
        self._texts: dict[tuple[str, int | None, frozenset[int] | None], SectionText] = {}

    def write(
        self, name: str, tokens: int | None = None, kept: frozenset[int] | None = None
    ) -> SectionText:
        """Return the text of a section for a room in tokens, which its heading is part of.

        A section that fails has no text, unless it is required: then its error is raised.
        """
        key = (name, tokens, kept)
        if key not in self._texts:
            self._texts[key] = self._written(self.sections[name], tokens, kept)
        return self._texts[key]

    def _written(
        self, section: Section, tokens: int | None, kept: frozenset[int] | None
    ) -> SectionText:
        """Ask a section."""
        try:
            title = text_of(section.title(self.moment))
            heading = f"{title}\n" if title else ""
            room = None if tokens is None else max(tokens - self.moment.price(heading), 0)
            moment = replace(self.moment, tokens=room, kept=kept)
            words = text_of(section.write(moment))
            absence = "" if words else one_line(text_of(section.absence(moment)))
            return SectionText(heading, words, absence)
        except Exception as error:  # whatever a database or a service of others may raise
            if section.priority >= REQUIRED:
                raise
            return SectionText(failure=f"it failed: {in_one_line(error)}")

    def fit(self, budget: int, placement: Placement) -> FittedSections:
        """Ask all sections but those that fill what is left, each within its share.

        What a section leaves of its share flows on to the next one that has a share, from what
        never changes to what changes every turn, so that no text moves because of a more volatile
        one. What is left in the end is room for messages.
        """
        texts: dict[str, str] = {}
        changes: list[Change] = []
        absent: dict[str, str] = {}
        left = 0
        for name, section in sorted(self.sections.items(), key=steadiness):
            if section.fills:
                if not kept_free(section, budget):
                    changes.append(Change("loss.section", name, cut_reason("", 0)))
                continue
            share = section.budget
            room = None if share is None else left + tokens_of(share, budget)
            written = self.write(name, room)
            texts[name] = text = written.text
            if room is not None:
                texts[name] = text = self._cut(section, written, room)
                left = room - self.moment.price(text)
            reason = written.failure or (cut_reason(text, room) if text != written.text else "")
            if reason:
                changes.append(Change("loss.section", name, reason))
            if written.absence:
                absent[name] = written.absence
        beside = placement == "volatility"
        order = sorted(self.sections.items(), key=steadiness) if beside else self.sections.items()
        fitted = (
            FittedSection(
                name,
                texts.get(name, ""),
                section.priority,
                section.volatility == "static",
                beside and section.volatility == "turn",
                kept_free(section, budget),
            )
            for name, section in order
        )
        kept = (section for section in fitted if section.text or section.share)
        return FittedSections(tuple(kept), tuple(changes), absent)

    def _cut(self, section: Section, written: SectionText, room: int) -> str:
        """Return a section's text cut to its room; empty if nothing fits."""
        words, text, price = written.words, written.text, self.moment.price
        tokens = price(text)
        while tokens > room:
            shorter = section.shorten(words, int(len(words) * min(0.9, room / tokens)))
            if not shorter or len(shorter) >= len(words):
                return ""
            words, text = shorter, written.heading + shorter
            tokens = price(text)
        return text

    def fill(self, name: str, room: int, kept: frozenset[int]) -> SectionText:
        """Ask a section that fills what is left, with what the window keeps."""
        written = self.write(name, room, kept)
        words = self._cut(self.sections[name], written, room)[len(written.heading) :]
        if words == written.words:
            return written
        return replace(written, words=words, failure=cut_reason(words, room))


def kept_free(section: Section, budget: int) -> int:
    """Return the tokens kept free for a section that is asked last; 0 for others."""
    if not section.fills:
        return 0
    return tokens_of(FILLING if section.budget is None else section.budget, budget)


def cut_reason(text: str, room: int | None) -> str:
    """Return how a text was cut to its room."""
    return f"cut to its share of {room:,} tokens" if text else "its share is too small"


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


class Attributes(Checked, frozen=True):
    """The attributes that every section has."""

    heading: str
    volatility: Volatility
    priority: int
    budget: Share


def require_attributes(section: Section, index: int) -> None:
    """Raise for a section that has an attribute of the wrong type."""
    try:
        Attributes(section.heading, section.volatility, section.priority, section.budget)
    except UsageError as error:
        raise UsageError(f"system[{index}]: {error}") from error


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


def steadiness(named: tuple[str, Section]) -> int:
    """Order sections by how rarely they change."""
    return STEADINESS[named[1].volatility]


def tokens_of(share: int | float, budget: int) -> int:
    """Return a share in tokens."""
    return int(share * budget) if isinstance(share, float) else share


def costs(sections: Iterable[FittedSection], room: int, price: Price) -> dict[str, int]:
    """Return the price of each section alone, in total at most the room there is."""
    found: dict[str, int] = {}
    for section in sections:
        if not section.text:
            continue
        found[section.name] = min(price(section.text), room)
        room -= found[section.name]
    return found
