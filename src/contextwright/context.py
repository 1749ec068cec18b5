"""The finished value: a payload, and the receipt for everything in it and everything left out."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, cast

import msgspec
from msgspec import Struct

from contextwright.api import DEFAULT_MODELS, render
from contextwright.changes import Change
from contextwright.explaining import explained
from contextwright.formats.base import Conversation, Rendered
from contextwright.messages import encode_json
from contextwright.models import Model, find
from contextwright.windows import Decisions

__all__ = ["Comparison", "Context", "Ledger", "Unit"]


class Unit(Struct, frozen=True):
    """A step of the prompt in the order the provider reads it, and the hash of all up to here."""

    place: str
    chain: str
    tokens: int
    size: int
    """Bytes of its JSON, cache marks left out."""


class Ledger(Struct, frozen=True, kw_only=True):
    """Where the tokens are; `sections`, `tools`, `history` and `wrappers` add up to `tokens`."""

    tokens: int
    exact: bool
    bound: float
    most: int
    """The most the request can cost: what was held against the budget."""
    budget: int
    sections: dict[str, int]
    """The words of each section, by its name."""
    tools: int
    history: int
    """Messages, and what stands around each."""
    wrappers: int
    """What stands around the whole request and the system text, and joins the sections."""
    places: dict[str, int]


class Comparison(Struct, frozen=True):
    """How much of the previous request the provider can take from its cache."""

    shared: int
    """Tokens of the common prefix."""
    tokens: int
    """Tokens of this request."""
    first_difference: str | None
    """Where the requests part; None when this one only adds to the other."""
    byte: int | None
    cause: str
    cost: float | None
    """Dollars for the tokens of the previous request that have to be read again."""

    @property
    def share(self) -> float:
        """The share of this request that lies in the common prefix."""
        return self.shared / self.tokens if self.tokens else 1.0


class Context(Struct, frozen=True):
    """What the model sees, and why."""

    payload: dict[str, Any]
    format: str
    model: Model
    decisions: Decisions
    changes: tuple[Change, ...]
    ledger: Ledger
    prefix: tuple[Unit, ...]
    sections: dict[str, str]
    """The text each section wrote, by its name."""
    conversation: Conversation
    """What was rendered: the system text, the messages that stay as they are sent, the tools."""

    def render(self, format: str, *, model: str | Model | None = None, **options: Any) -> Rendered:
        """The same context in another shape; for its own model, unless that is another provider's.

        `options` are those of rendering. Nothing is counted or left out anew.
        """
        default = DEFAULT_MODELS.get(format)
        if model is None and (default is None or find(default).provider == self.model.provider):
            model = self.model
        return render(self.conversation, format, model=model, **options)

    def compared_with(self, previous: Context) -> Comparison:
        """What of the previous request is a prefix of this one, and what broke it where."""
        shared = 0
        byte = 0
        for mine, theirs in zip(self.prefix, previous.prefix, strict=False):
            if mine.chain != theirs.chain:
                break
            shared += 1
            byte += mine.size
        tokens = sum(unit.tokens for unit in self.prefix[:shared])
        if shared == len(previous.prefix):
            return Comparison(
                tokens, self.ledger.tokens, None, None, "nothing changed, only added", 0.0
            )
        place = previous.prefix[shared].place
        again = sum(unit.tokens for unit in previous.prefix[shared:])
        price = self.model.prices.input
        return Comparison(
            tokens,
            self.ledger.tokens,
            place,
            byte,
            cause_of(place, self, previous),
            None if price is None else again * price / 1_000_000,
        )

    def explain(self) -> str:
        """The receipt as a table: what stayed, what went, why, and what it costs."""
        return "\n".join(text for _, text in explained(self))

    def receipt(self) -> dict[str, Any]:
        """The receipt as JSON."""
        return {
            "model": self.model.id,
            "format": self.format,
            "ledger": msgspec.to_builtins(self.ledger),
            "decisions": [msgspec.to_builtins(decision) for decision in self.decisions],
            "changes": [msgspec.to_builtins(change) for change in self.changes],
            "prefix": [msgspec.to_builtins(unit) for unit in self.prefix],
        }


def cause_of(place: str, context: Context, previous: Context) -> str:
    """Why two requests part where they do, in words."""
    if place == "tools":
        return "the tool list changed"
    if place.startswith(("system", "instructions")) or is_system(place, previous.payload):
        changed = [
            name for name, text in context.sections.items() if previous.sections.get(name) != text
        ]
        return (
            f"the system text changed: {', '.join(changed)}"
            if changed
            else "the system text changed"
        )
    if context.decisions.omitted != previous.decisions.omitted:
        return "the window moved"
    if context.decisions.summarised != previous.decisions.summarised:
        return "the summary goes further"
    changed = [
        name for name, text in context.sections.items() if previous.sections.get(name) != text
    ]
    if changed:
        return f"volatile sections changed: {', '.join(changed)}"
    return "an earlier message changed"


def is_system(place: str, payload: dict[str, Any]) -> bool:
    """Whether a place of a payload is a system message, in formats without a field for them."""
    field, _, index = place.partition("[")
    turns = payload.get(field)
    if not isinstance(turns, list) or not index:
        return False
    turn = cast("list[Any]", turns)[int(index[:-1])]
    return isinstance(turn, dict) and turn.get("role") in ("system", "developer")  # pyright: ignore


PROMPT = (
    ("tools", "tools"),
    ("system", "system"),
    ("instructions", "instructions"),
    ("systemInstruction", "system"),
)
"""What stands before the messages, in the order providers read it: field → place in a count."""
TURNS = ("messages", "input", "contents")


def units_of(
    payload: dict[str, Any], places: dict[str, int], *, marked: bool = True
) -> tuple[Unit, ...]:
    """The prompt as a chain of hashes, in the order the provider reads it, without cache marks.

    Not `marked`: there are none to be left out.
    """
    steps = [(place, payload[field]) for field, place in PROMPT if payload.get(field) is not None]
    for field in TURNS:
        turns = payload.get(field)
        if isinstance(turns, list):
            steps.extend(
                (f"{field}[{index}]", turn) for index, turn in enumerate(cast("list[Any]", turns))
            )
    units: list[Unit] = []
    chain = ""
    for place, step in steps:
        body = encode_json(unmarked(step) if marked else step)
        chain = sha256(chain.encode() + body).hexdigest()[:16]
        units.append(Unit(place, chain, places.get(place, 0), len(body)))
    return tuple(units)


def unmarked(value: Any) -> Any:
    """A value without its cache marks: they choose what is cached, not what is read."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value).items()
        return {key: unmarked(item) for key, item in entries if key not in CACHE_MARKS}
    if isinstance(value, list):
        return [unmarked(item) for item in cast("list[Any]", value)]
    return value


CACHE_MARKS = ("cache_control", "prompt_cache_breakpoint")


def is_marked(body: bytes) -> bool:
    """Whether JSON may hold cache marks."""
    return any(f'"{mark}"'.encode() in body for mark in CACHE_MARKS)
