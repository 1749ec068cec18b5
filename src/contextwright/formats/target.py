"""What the rules know about where the messages go: facts about the format, the model, the wish."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from contextwright.formats.base import Options
from contextwright.messages import Media, Message, Part, Role, Thinking
from contextwright.models import Model

__all__ = ["Speller", "Spelling", "Target", "Traits", "respelled"]


class Spelling:
    """What an id or a tool name may look like.

    `allowed` and `first` are characters as they stand inside the brackets of a regular
    expression; `first` is for those that are stricter about how a name begins.
    """

    def __init__(self, allowed: str = "a-zA-Z0-9_-", *, first: str = "", longest: int = 1_000_000):
        head = f"(?=[{first}])" if first else ""
        self.fits = re.compile(f"{head}[{allowed}]{{1,{longest}}}").fullmatch
        """Matches what needs no change."""
        self.longest = longest
        self._refused = re.compile(f"[^{allowed}]")
        self._first = re.compile(f"[{first or allowed}]").match

    def fitted(self, name: str, *, otherwise: str) -> str:
        """The nearest allowed spelling; `otherwise` where nothing of the name is left."""
        kept = self._refused.sub("_", name).strip("_") or otherwise
        return (kept if self._first(kept) else f"_{kept}")[: self.longest]


class Traits(Struct, frozen=True, kw_only=True):
    """What a provider's messages can carry; one value per format."""

    format: str
    ids: Spelling | None = Spelling()
    """How call ids are spelled; None where they are optional and free."""
    reuses_ids: bool = True
    """A later turn may use a call id again."""
    tool_names: Spelling = Spelling(longest=64)
    results_adjacent: bool = True
    """Results stand directly behind their calls; otherwise anywhere later."""
    system: Literal["anywhere", "top"] = "anywhere"
    """`top`: only leading system text has a place of its own, unless the model says otherwise."""
    names: bool = False
    """A message has a field for its speaker's name."""
    error_flag: bool = False
    """A result can say that it is an error."""
    merges: bool = False
    """Neighbours of one role belong in one turn."""
    user_first: bool = False
    """The first turn is the user's."""
    needs_user: bool = False
    """A conversation of system text alone is refused."""
    blank_text: bool = True
    """Empty text is accepted."""
    final_space: bool = True
    """The last assistant text may end in white space."""
    result_media: bool = True
    """Media may stand inside tool results."""
    assistant_media: bool = False
    """Media may stand in assistant messages."""
    carries_media: Callable[[Media, Model], bool] = lambda media, model: True
    """Whether this kind of media, from this source, can be sent at all."""
    carries_thinking: Callable[[Thinking, Model], bool] = lambda thinking, model: False
    """Whether the provider takes this thinking back."""
    takes_extra: Callable[[Part | Message, Role, Model], bool] = lambda holder, role, model: True
    """Whether what a part or message holds for this format alone really fits there, in a message
    of that role: it may come from anyone."""


class Target(Struct, frozen=True):
    """One rendering: the format's traits, the model, the caller's options."""

    traits: Traits
    model: Model
    options: Options = Options()
    faithful: bool = False
    """The conversation came from this very format: leave alone what its API accepts."""
    reply_tools: dict[str, str | None] = {}
    tool_names: dict[str, str] = {}
    """Tool names that must be spelled differently, for definitions, calls and results alike."""

    @property
    def format(self) -> str:
        """The format's name."""
        return self.traits.format


class Speller:
    """Spells names so that they are allowed and no two alike, always the same way.

    Names are taken in order: a name that comes later never changes an earlier one.
    """

    def __init__(self, spelling: Spelling, *, otherwise: str) -> None:
        self.spelling = spelling
        self.otherwise = otherwise
        self.fits = spelling.fits
        self.taken: set[str] = set()
        self.numbers: dict[str, int] = {}

    def spell(self, name: str | None) -> str:
        """An allowed spelling that was never given out before."""
        if name is None:
            name = self.otherwise
        elif not self.fits(name):
            name = self.spelling.fitted(name, otherwise=self.otherwise)
        spelled, number = name, self.numbers.get(name, 1)
        while spelled in self.taken:
            number += 1
            suffix = f"_{number}"
            spelled = name[: self.spelling.longest - len(suffix)] + suffix
        self.numbers[name] = number
        self.taken.add(spelled)
        return spelled


def respelled(names: Iterable[str], spelling: Spelling) -> dict[str, str]:
    """New spellings for those tool names that need one."""
    speller = Speller(spelling, otherwise="tool")
    spelled = {name: speller.spell(name) for name in dict.fromkeys(names)}
    return {name: new for name, new in spelled.items() if new != name}
