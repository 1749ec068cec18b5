"""Where the messages go: facts about the format and the model, and the caller's options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from contextwright.formats.base import Options
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Media, Part, Thinking
from contextwright.models import Model

__all__ = ["Speller", "Spelling", "Target", "Traits", "respelled"]


class Spelling:
    """The rules for an id or a tool name.

    `allowed` and `first` are characters as they stand inside the brackets of a regular
    expression; `first` is for those that are stricter about how a name begins. `exact` asks for
    names of exactly `longest` characters.
    """

    def __init__(
        self,
        allowed: str = "a-zA-Z0-9_-",
        *,
        first: str = "",
        longest: int = 1_000_000,
        exact: bool = False,
    ):
        head = f"(?=[{first}])" if first else ""
        shortest = longest if exact else 1
        self.fits = re.compile(f"{head}[{allowed}]{{{shortest},{longest}}}").fullmatch
        """Matches what needs no change."""
        self.longest = longest
        self.exact = exact
        self._refused = re.compile(f"[^{allowed}]")
        self._first = re.compile(f"[{first or allowed}]").match

    def fitted(self, name: str, *, otherwise: str) -> str:
        """The nearest allowed spelling; `otherwise` where nothing of the name is left."""
        if self.exact:  # no part of a name would be unique: a digest is
            return sha256(name.encode(errors="surrogatepass")).hexdigest()[: self.longest]
        kept = self._refused.sub("_", name).strip("_") or otherwise
        return (kept if self._first(kept) else f"_{kept}")[: self.longest]

    def numbered(self, name: str, number: int) -> str:
        """Another allowed spelling of the same name."""
        suffix = f"_{number}"
        if self.exact:
            return self.fitted(f"{name}{suffix}", otherwise=name)
        return name[: self.longest - len(suffix)] + suffix


class Traits(Struct, frozen=True, kw_only=True):
    """What a provider's messages can carry; one value per format."""

    format: str
    ids: Spelling | None = Spelling()
    """How call ids are spelled; None where they are optional and free."""
    reuses_ids: bool = True
    """A later turn may use a call id again."""
    tool_names: Spelling = Spelling(longest=64)
    system: Literal["anywhere", "top"] = "anywhere"
    """`top`: only leading system text has a place of its own, unless the model says otherwise."""
    names: bool = False
    """A message has a field for its speaker's name."""
    pairs_hosted: bool = False
    """The provider's own blocks come in pairs, which a rule of its format looks at."""
    error_flag: bool = False
    """A result can say that it is an error."""
    merges: bool = False
    """Neighbours of one role belong in one turn."""
    pairs_by_turn: bool = False
    """The API joins neighbours of one role before it looks for the results of calls."""
    user_first: bool = False
    """The first turn is the user's."""
    needs_user: bool = False
    """A conversation of system text alone is refused."""
    blank_text: bool = True
    """Empty text is accepted."""
    blank_errors: bool = True
    """A result may be an error and say nothing."""
    final_space: bool = True
    """The last assistant text may end in white space."""
    result_media: bool = True
    """Media may stand inside tool results."""
    assistant_media: bool = False
    """Media may stand in assistant messages."""
    supports_media: Callable[[Media, Model], bool] = lambda media, model: True
    """Whether this kind of media, from this source, can be sent at all."""
    supports_thinking: Callable[[Thinking, Model], bool] = lambda thinking, model: False
    """Whether the provider takes this thinking back."""
    accepts_extra: Callable[[Part | Message, Role, Model], bool] = lambda holder, role, model: True
    """Whether what a part or message holds for this format alone really fits there, in a message
    of that role: it may come from anyone."""


class Target(Struct, frozen=True):
    """One rendering: the format's traits, the model, the caller's options."""

    traits: Traits
    model: Model
    options: Options = Options()
    same_format: bool = False
    """The conversation came from this very format: leave alone what its API accepts."""
    reply_tools: dict[str, str | None] = {}
    tool_names: dict[str, str] = {}
    """Tool names that must be spelled differently, for definitions, calls and results alike."""

    @property
    def sent_names(self) -> dict[str, str]:
        """The names that are sent instead of tools' own, with those."""
        return {sent: own for own, sent in self.tool_names.items()}

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
        name = self.otherwise if name is None else name
        if not self.fits(name):
            name = self.spelling.fitted(name, otherwise=self.otherwise)
        spelled, number = name, self.numbers.get(name, 1)
        while spelled in self.taken:
            number += 1
            spelled = self.spelling.numbered(name, number)
        self.numbers[name] = number
        self.taken.add(spelled)
        return spelled


def respelled(names: Iterable[str], spelling: Spelling) -> dict[str, str]:
    """New spellings for those tool names that need one; names that fit are never touched."""
    distinct = dict.fromkeys(names)
    speller = Speller(spelling, otherwise="tool")
    speller.taken.update(filter(spelling.fits, distinct))
    return {name: speller.spell(name) for name in distinct if not spelling.fits(name)}
