"""The target of a rendering: facts about format and model, and the caller's options."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct

from contextwright.formats.base import Options
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Media, MediaKind, Opaque, Part, Thinking
from contextwright.models import Model

__all__ = ["Speller", "Spelling", "Target", "Traits", "respelled"]


class Spelling:
    """The rules for an id or a tool name.

    `allowed` and `first` are characters as inside the brackets of a regular expression; `first` is
    for names whose first character is more restricted. `exact` requires exactly `longest`
    characters.
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
        """Matches a name that needs no change."""
        self.longest = longest
        self.exact = exact
        self._refused = re.compile(f"[^{allowed}]")
        self._first = re.compile(f"[{first or allowed}]").match

    def fitted(self, name: str, *, otherwise: str) -> str:
        """Return the nearest allowed spelling, or `otherwise` if nothing of the name is left."""
        if self.exact:  # shortening could make two ids equal, so use a digest
            return sha256(name.encode(errors="surrogatepass")).hexdigest()[: self.longest]
        kept = self._refused.sub("_", name).strip("_") or otherwise
        return (kept if self._first(kept) else f"_{kept}")[: self.longest]

    def numbered(self, name: str, number: int) -> str:
        """Return another allowed spelling of the same name."""
        suffix = f"_{number}"
        if self.exact:
            return self.fitted(f"{name}{suffix}", otherwise=name)
        return name[: self.longest - len(suffix)] + suffix


class Traits(Struct, frozen=True, kw_only=True):
    """The abilities of a provider's messages; one value for each format."""

    format: str
    """Whose blocks and extra fields it carries."""
    title: str = ""
    """The name of a format that carries another's blocks; empty if `format` is its name."""
    ids: Spelling | None = Spelling()
    """How call ids are spelled; None if they are optional and free."""
    reuses_ids: bool = True
    """Whether a later turn may reuse a call id."""
    tool_names: Spelling = Spelling(longest=64)
    call_names: Spelling | None = None
    """How calls in the history name a tool that is not defined; None: as definitions do."""
    system: Literal["anywhere", "top"] = "anywhere"
    """`top`: system text must come first, unless the model allows it elsewhere."""
    names: bool = False
    """Whether a message has a field for its speaker's name."""
    continues: Callable[[Opaque], bool] = lambda block: False
    """Whether the provider continues a turn that ends in this block by itself."""
    pairs_hosted: bool = False
    """Whether the provider's own blocks come in pairs, which a rule of its format checks."""
    error_flag: bool = False
    """Whether a result has an error flag."""
    merges: bool = False
    """Whether adjacent messages of one role must be one turn."""
    pairs_by_turn: bool = False
    """Whether the API merges adjacent messages of one role before it pairs calls and results."""
    user_first: bool = False
    """Whether the first turn must be the user's."""
    needs_user: bool = False
    """Whether a conversation of system text alone is refused."""
    blank_text: bool = True
    """Whether empty text is accepted."""
    blank_errors: bool = True
    """Whether an error result may be empty."""
    final_space: bool = True
    """Whether the last assistant text may end in white space."""
    result_media: bool = True
    """Whether tool results may hold media."""
    media_roles: Collection[Role] = ("user",)
    """The roles whose messages may hold media."""
    named_media: Collection[MediaKind] = ("document",)
    """The kinds of media that have a field for the name of their file."""
    supports_media: Callable[[Media, Model], bool] = lambda media, model: True
    """Whether these media, from this source, can be sent at all."""
    supports_thinking: Callable[[Thinking, Model], bool] = lambda thinking, model: False
    """Whether the provider accepts this thinking back."""
    block_types: Callable[[Role], Any] = lambda role: Any
    """The type of a block of the format's own in a message of a role."""
    accepts_piece: Callable[[Opaque], bool] = lambda block: True
    """Whether a block of the format's own may be a piece of a tool result."""
    accepts_extra: Callable[[Part | Message, Role, Model], bool] = lambda holder, role, model: True
    """Whether the leftover fields of a part or message are valid in a message of that role. They
    may come from anyone.
    """


class Target(Struct, frozen=True):
    """One rendering: the format's traits, the model, the caller's options."""

    traits: Traits
    model: Model
    options: Options = Options()
    same_format: bool = False
    """Whether the conversation came from this format: then keep what its API accepts."""
    reply_tools: dict[str, str | None] = {}
    tool_names: dict[str, str] = {}
    """Tool names that must be spelled differently, in definitions, calls and results."""

    @property
    def sent_names(self) -> dict[str, str]:
        """The names sent → the tools' own names."""
        return {sent: own for own, sent in self.tool_names.items()}

    @property
    def format(self) -> str:
        """The format whose blocks and extra fields are kept."""
        return self.traits.format

    @property
    def title(self) -> str:
        """The format's name, for the reasons of changes."""
        return self.traits.title or self.traits.format


class Speller:
    """Spells names so that they are allowed, unique and deterministic.

    Names are taken in order: a later name never changes an earlier one.
    """

    def __init__(self, spelling: Spelling, *, otherwise: str) -> None:
        self.spelling = spelling
        self.otherwise = otherwise
        self.fits = spelling.fits
        self.taken: set[str] = set()
        self.numbers: dict[str, int] = {}

    def spell(self, name: str | None) -> str:
        """Return an allowed spelling that was not returned before."""
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
    """Return new spellings for tool names that need one; names that fit are unchanged."""
    distinct = dict.fromkeys(names)
    speller = Speller(spelling, otherwise="tool")
    speller.taken.update(filter(spelling.fits, distinct))
    return {name: speller.spell(name) for name in distinct if not spelling.fits(name)}
