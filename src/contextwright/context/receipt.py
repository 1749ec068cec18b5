"""The receipt of a request: its tokens by purpose, and its prefix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any, cast

from msgspec import Struct

from contextwright.messages.changes import Change
from contextwright.models import Model
from contextwright.text.json import encode_json
from contextwright.tokens.pieces import numbered
from contextwright.windows.decisions import Decisions
from contextwright.wire.values import is_object

__all__ = [
    "CACHE_MARKS",
    "Comparison",
    "Figures",
    "HashChain",
    "Ledger",
    "PROMPT",
    "Receipt",
    "TURNS",
    "Unit",
    "apportioned",
    "beside_prompt",
    "body_of",
    "encoded_steps",
    "extends_turn",
    "is_marked",
    "steps_of",
    "unbroken_cause",
    "units_of",
]


class Unit(Struct, frozen=True, gc=False):
    """A step of the prompt in the order the provider reads it, and the hash of all up to it."""

    place: str
    chain: str
    tokens: int
    size: int
    """Bytes of its JSON, without cache marks."""
    seq: int | None = None
    """The number of the message it begins with; None if it begins with none of the history."""


class Ledger(Struct, frozen=True, kw_only=True):
    """The tokens by purpose: sections, tools, history, notes and wrappers add up to `tokens`."""

    tokens: int
    exact: bool
    bound: float
    most: int
    """The most the request can cost, which is compared with the budget."""
    budget: int
    sections: dict[str, int]
    """The text of each section, by name."""
    tools: int
    history: int
    """Messages of the history with their wrappers: the sum of the decisions' tokens."""
    notes: int
    """The summary and the note that replace omitted messages."""
    wrappers: int
    """The frame of the request and the system text, and separators between sections."""
    places: dict[str, int]
    at_least: bool = False
    """Whether the provider adds tokens that cannot be counted; `Recipe.unseen` reserves some."""
    unseen: tuple[str, ...] = ()
    """Where it adds them."""


class Comparison(Struct, frozen=True):
    """How much of the previous request the provider can read from its cache."""

    shared: int
    """Tokens of the common prefix."""
    tokens: int
    """Tokens of this request."""
    first_difference: str | None
    """The first difference; None if this request only adds to the other."""
    byte: int | None
    cause: str
    cost: float | None
    """Dollars for the tokens after the common prefix, none of which come from the cache; 0 if this
    request only adds to the other.
    """

    @property
    def fresh(self) -> int:
        """Tokens of this request after the common prefix: `tokens` less `shared`."""
        return self.tokens - self.shared

    @property
    def share(self) -> float:
        """The share of this request that is in the common prefix."""
        return self.shared / self.tokens if self.tokens else 1.0


class Figures:
    """The figures of a request, each computed when it is first asked for; most are not.

    `count` returns the ledger, and the tokens of each message of the history by its index.
    """

    def __init__(
        self,
        count: Callable[[], tuple[Ledger, dict[int, int]]],
        prefix: Callable[[], tuple[Unit, ...]],
    ) -> None:
        self._count, self._prefix = count, prefix

    @cached_property
    def counted(self) -> tuple[Ledger, dict[int, int]]:
        """The ledger, and the tokens of each message."""
        return self._count()

    @cached_property
    def prefix(self) -> tuple[Unit, ...]:
        """The prompt as a chain of hashes."""
        return self._prefix()

    def tokens(self) -> Mapping[int, int]:
        """Return the tokens of each message of the history, by its index."""
        return self.counted[1]


class Receipt(Struct, frozen=True, kw_only=True):
    """Everything about a request except the request itself."""

    model: Model
    """The model that the request is for."""
    format: str
    """The format of the payload."""
    decisions: Decisions
    """One decision for each message, in their order: what became of it, why, and its tokens."""
    changes: tuple[Change, ...]
    """Every repair, loss and invention."""
    figures: Figures
    """What `ledger` and `prefix` are computed from."""
    sections: dict[str, str]
    """The text each section wrote, by its name."""
    absent: dict[str, str] = {}
    """Why each absent section has no text, by name."""

    @property
    def ledger(self) -> Ledger:
        """The tokens by purpose."""
        return self.figures.counted[0]

    @property
    def prefix(self) -> tuple[Unit, ...]:
        """The steps of the prompt in the order the provider reads them, without cache marks."""
        return self.figures.prefix


def apportioned(total: int, weights: Sequence[float]) -> list[int]:
    """Return integers in proportion to the weights that add up to `total`."""
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    ends = [round(total * reached / whole) for reached in accumulate(weights, initial=0.0)]
    return [end - start for start, end in pairwise(ends)]


PROMPT = (
    ("tools", "tools"),
    ("system", "system"),
    ("instructions", "instructions"),
    ("systemInstruction", "system"),
    ("system_instruction", "system"),
)
"""Fields before the messages, in the order providers read them: field → place in a count."""
PROMPT_FIELDS = frozenset(field for field, _ in PROMPT)
FIRST_PLACES = {place: number for number, (_, place) in enumerate(PROMPT)}
"""The places before all turns, in the order of a prompt."""


TURNS = {"messages": "messages", "input": "input", "contents": "contents", "history": "contents"}
"""Fields of the turns: field → place in a count."""


def parting(mine: Sequence[Unit], theirs: Sequence[Unit], shared: int) -> str:
    """Return the place where two prompts differ after `shared` steps.

    Where only one of them has tools or a system text, that is the place.
    """
    places = [units[shared].place for units in (theirs, mine) if shared < len(units)]
    return min(places, key=lambda place: FIRST_PLACES.get(place, len(PROMPT)))


def link_of(chain: str, body: bytes) -> str:
    """Return the hash of a step and of all before it."""
    return sha256(chain.encode() + body).hexdigest()[:16]


class HashChain:
    """Hashes the steps of prompts, each with all before it.

    A prefix that the last prompt had too is not hashed again.
    """

    def __init__(self) -> None:
        self._last: tuple[list[bytes], list[str]] = [], []

    def of(self, bodies: list[bytes]) -> list[str]:
        """Return the hash of each step."""
        hashes: list[str] = []
        # Read once, because a context may be asked for its prefix while another one is built.
        last = self._last
        for body, earlier, hash in zip(bodies, *last, strict=False):
            if body != earlier:
                break
            hashes.append(hash)
        chain = hashes[-1] if hashes else ""
        for body in bodies[len(hashes) :]:
            chain = link_of(chain, body)
            hashes.append(chain)
        self._last = bodies, hashes
        return hashes


def encoded_steps(payload: dict[str, Any] | list[Any]) -> list[tuple[str, bytes]]:
    """Return the JSON of each step of a prompt without cache marks, with its place, in order."""
    return [(place, body_of(step)) for place, step in steps_of(payload)]


def units_of(
    steps: Sequence[tuple[str, bytes]],
    places: Mapping[str, int],
    *,
    chain: HashChain | None = None,
    origins: Sequence[int | None] = (),
) -> tuple[Unit, ...]:
    """Return the prompt as a chain of hashes, in the provider's order.

    Pass the `chain` of an earlier request to continue from it. `origins` has the number of the
    message that each turn begins with.
    """
    if not steps or not steps[-1][0].endswith("]"):
        origins = ()  # a bare string stands for the turns
    numbers = [*[None] * (len(steps) - len(origins)), *origins]
    hashes = (chain or HashChain()).of([body for _, body in steps])
    return tuple(
        [
            Unit(place, hash, places.get(place, 0), len(body), number)
            for (place, body), hash, number in zip(steps, hashes, numbers, strict=True)
        ]
    )


def steps_of(payload: dict[str, Any] | list[Any]) -> list[tuple[str, Any]]:
    """Return the steps of a prompt with their places, in the order the provider reads them."""
    body = payload if isinstance(payload, dict) else bare(payload)
    steps = [(place, body[field]) for field, place in PROMPT if body.get(field) is not None]
    for field, place in TURNS.items():
        turns = body.get(field)
        if isinstance(turns, list):
            each = cast("list[Any]", turns)
            steps += zip(numbered(place, len(each)), each, strict=False)
    return steps


def unbroken_cause(is_longer: bool) -> str:
    """Return the cause for a request that has all of the one before it as its prefix."""
    return "nothing changed, only added" if is_longer else "nothing changed"


def extends_turn(turn: Any, previous: Any) -> bool:
    """Whether a turn is an earlier one with more behind it: what followed was merged into it."""
    if not is_object(turn) or not is_object(previous):
        return False
    field = "parts" if "parts" in previous else "content"
    others = [{**one, field: None} for one in (turn, previous)]
    if others[0] != others[1]:
        return False
    mine, theirs = turn.get(field), previous.get(field)
    if isinstance(mine, str) and isinstance(theirs, str):
        return mine.startswith(theirs)
    pieces, earlier = pieces_of(mine), pieces_of(theirs)
    return pieces[: len(earlier)] == earlier and len(earlier) < len(pieces)


def pieces_of(content: Any) -> list[Any]:
    """Return the pieces of a turn without cache marks; a string is one text."""
    if isinstance(content, list):
        return unmarked(content)
    return [{"type": "text", "text": content}]


def beside_prompt(payload: Any) -> Any:
    """Return what is in a request besides the steps of its prompt."""
    if not is_object(payload):
        return {} if isinstance(payload, list) else payload
    return {
        field: value
        for field, value in payload.items()
        if field not in PROMPT_FIELDS and not (field in TURNS and isinstance(value, list))
    }


def body_of(step: Any) -> bytes:
    """Return the JSON of a step without cache marks."""
    body = encode_json(step)
    return encode_json(unmarked(step)) if is_marked(body) else body


def bare(turns: list[Any]) -> dict[str, Any]:
    """Wrap a request that is only a list of turns, under the name of their place."""
    entry = turns[0] if turns else None
    return {"contents" if is_object(entry) and "parts" in entry else "messages": turns}


def unmarked(value: Any) -> Any:
    """Return a value without its cache marks, which choose what is cached, not what is read."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value).items()
        return {key: unmarked(item) for key, item in entries if key not in CACHE_MARKS}
    if isinstance(value, list):
        return [unmarked(item) for item in cast("list[Any]", value)]
    return value


CACHE_MARKS = ("cache_control", "prompt_cache_breakpoint")


ONE_MARK, OTHER_MARK = (f'"{mark}"'.encode() for mark in CACHE_MARKS)


def is_marked(body: bytes) -> bool:
    """Whether JSON may hold cache marks."""
    return ONE_MARK in body or OTHER_MARK in body
