"""A request as a provider's cache sees it: steps of the prompt, and what two requests share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count as numbers
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from contextwright.context.receipt import (
    CACHE_MARKS,
    PROMPT,
    TURNS,
    Comparison,
    Unit,
    body_of,
    extends_turn,
    link_of,
    parting,
    steps_of,
    unbroken_cause,
)
from contextwright.lru import LruCache
from contextwright.models import Model
from contextwright.text.json import encode_json
from contextwright.tokens.pieces.request import outline
from contextwright.tokens.pricer import Pricer
from contextwright.wire.values import is_list, is_object

__all__ = ["Difference", "Pricers", "Prompt", "difference_of", "prompt_of", "with_plain_strings"]

MAX_PRICERS = 16
"""Models and APIs whose prices are remembered."""
MAX_PRICED_CHARS = 500_000
"""Characters of texts whose tokens are remembered for each: tools and the beginnings of sessions
come again.
"""
AROUND_BYTES = 160
"""Bytes that are shown on each side of a difference."""
PLAIN_TURNS = ("messages", "input")
"""Fields of turns whose lone text may be a string or a block."""
PLAIN_BLOCKS = ("text", "input_text")
OUTPUTS = ("function_call_output", "custom_tool_call_output")
"""Items of Responses that have an output instead of a content."""
STORED = "previous_response_id"
"""The answer that a request continues, with all messages before it."""
TEXT: frozenset[type] = frozenset((str,))
SYSTEM_ROLES = ("system", "developer")
TOKENS, SIZE = attrgetter("tokens"), attrgetter("size")


class Prompt(Struct, frozen=True):
    """The steps of a request that another program made, with our count of the tokens of each."""

    model: Model
    units: tuple[Unit, ...]
    steps: tuple[Any, ...] = ()
    """The steps as they stand in the request."""
    is_whole: bool = True
    """Whether that is all the model reads; a client of Responses may name what OpenAI stores."""

    @property
    def tokens(self) -> int:
        """The tokens of all steps."""
        return sum(map(TOKENS, self.units))

    @property
    def size(self) -> int:
        """The bytes of all steps."""
        return sum(map(SIZE, self.units))

    def compared_with(self, previous: Prompt) -> Comparison:
        """Return how much of the previous request is a prefix of this one, and why not more."""
        shared = shared_units(self.units, previous.units)
        if self.model.id != previous.model.id:
            shared = 0
        tokens, total = sum(map(TOKENS, self.units[:shared])), self.tokens
        if shared == len(previous.units):
            cause = unbroken_cause(shared < len(self.units))
            return Comparison(tokens, total, None, None, cause, 0.0)
        prices = self.model.prices
        price = prices.input if prices.cache_write is None else prices.cache_write
        return Comparison(
            tokens,
            total,
            parting(self.units, previous.units, shared),
            sum(map(SIZE, self.units[:shared])),
            self.cause(previous, shared),
            None if price is None else (total - tokens) * price / 1_000_000,
        )

    def cause(self, previous: Prompt, shared: int) -> str:
        """Return why two requests differ after a number of steps."""
        place = parting(self.units, previous.units, shared)
        if self.model.id != previous.model.id:
            return "another model is asked"
        if shared == len(self.units):
            return "the client went back to an earlier message"
        if place == "tools":
            return "the tool list changed"
        steps = (previous.steps[shared], self.steps[shared])
        if place in ("system", "instructions") or any(map(is_system, steps)):
            return "the system text changed"
        if shared == len(previous.steps) - 1 and extends_turn(
            self.steps[shared], previous.steps[shared]
        ):
            return "the last turn went on"
        return f"{place} changed"


class Pricers:
    """Prices of requests to some models, with what each remembers; for use by one thread."""

    def __init__(self) -> None:
        self._known = LruCache[tuple[str, str], Pricer](MAX_PRICERS)

    def of(self, model: Model, format: str) -> Pricer:
        """Return the prices of a model asked through an API."""
        key = (model.id, format)
        known = self._known.get(key)
        if known is None or known.model is not model:
            known = Pricer(model, format, model.tokenizer, max_chars=MAX_PRICED_CHARS)
            self._known.put(key, known)
        return known


def prompt_of(
    payload: dict[str, Any],
    format: str,
    model: Model,
    previous: Prompt | None = None,
    pricers: Pricers | None = None,
) -> Prompt:
    """Return the steps of a request; those that the previous one had too are not counted again.

    The first ones that are also spelt the same are not even hashed.
    """
    payload = in_turns(payload)
    steps = steps_of(payload)
    earlier = previous if previous is not None and previous.model == model else Prompt(model, ())
    same = 0
    for (place, step), unit, known in zip(steps, earlier.units, earlier.steps, strict=False):
        if (step is not known and not is_same_json(step, known)) or place != unit.place:
            break
        same += 1
    chain = earlier.units[same - 1].chain if same else ""
    rest = units_after(chain, steps[same:])
    known = same + shared_units(earlier.units[same:], rest)
    fresh = with_tokens(rest[known - same :], payload, (pricers or Pricers()).of(model, format))
    units = (*earlier.units[:known], *fresh)
    return Prompt(model, units, tuple([step for _, step in steps]), not payload.get(STORED))


def units_after(chain: str, steps: Sequence[tuple[str, Any]]) -> list[Unit]:
    """Return the steps that follow others, without their tokens."""
    units: list[Unit] = []
    for place, step in steps:
        plain = with_plain_text(step) if place.partition("[")[0] in PLAIN_TURNS else step
        body = body_of(plain)
        chain = link_of(chain, body)
        units.append(Unit(place, chain, 0, len(body)))
    return units


class Difference(Struct, frozen=True):
    """The first byte at which two prompts differ, and the JSON around it in each."""

    byte: int
    before: str
    """The steps that both have before it."""
    this: str
    other: str


def difference_of(payload: dict[str, Any], other: dict[str, Any]) -> Difference | None:
    """Return where a request departs from another one; None if it only adds to it."""
    mine, theirs = prompt_bytes(payload), prompt_bytes(other)
    if mine.startswith(theirs):
        return None
    low, high = 0, min(len(mine), len(theirs))
    while low < high:  # by halving, because comparing slices is fast
        middle = (low + high + 1) // 2
        low, high = (middle, high) if mine[:middle] == theirs[:middle] else (low, middle - 1)
    texts = (
        mine[max(low - AROUND_BYTES, 0) : low],
        *(one[low : low + AROUND_BYTES] for one in (mine, theirs)),
    )
    return Difference(low, *(text.decode("utf-8", "ignore") for text in texts))


def prompt_bytes(payload: dict[str, Any]) -> bytes:
    """Return the JSON of a request's prompt as the provider reads it, without cache marks."""
    return b"".join(body_of(step) for _, step in steps_of(payload))


def with_plain_strings(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the request with a lone text in each turn as a string: both spellings are one prompt.

    Claude Code writes a turn as a block while a cache mark stands on it, and as a string after;
    LiteLLM does so with the result of a tool.
    """
    payload = in_turns(payload)
    turns = {field: payload[field] for field in PLAIN_TURNS if is_list(payload.get(field))}
    return {**payload, **{field: list(map(with_plain_text, turns[field])) for field in turns}}


def in_turns(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the request with its turns in a list: Responses takes a lone question as a string."""
    question = payload.get("input")
    if not isinstance(question, str):
        return payload
    return {**payload, "input": [{"role": "user", "content": question}]}


def with_plain_text(turn: Any) -> Any:
    """Return a turn with its content, or its output, as a string, if that is all it is."""
    if not is_object(turn):
        return turn
    if turn.get("type") == "message":  # of an item, and the default
        turn = {name: value for name, value in turn.items() if name != "type"}
    field = "output" if turn.get("type") in OUTPUTS else "content"
    blocks = turn.get(field)
    if is_list(blocks) and any(map(is_result, blocks)):
        whole = [with_plain_text(block) if is_result(block) else block for block in blocks]
        return {**turn, "content": whole}
    if not is_list(blocks) or len(blocks) != 1 or not is_object(blocks[0]):
        return turn
    block = blocks[0]
    if block.get("type") not in PLAIN_BLOCKS or block.keys() - {"type", "text", *CACHE_MARKS}:
        return turn
    return {**turn, field: block.get("text")}


def is_result(block: Any) -> bool:
    """Whether a block is the result of a tool, in formats that have them in turns."""
    return is_object(block) and block.get("type") == "tool_result"


def shared_units(units: Sequence[Unit], others: Sequence[Unit]) -> int:
    """Return how many steps at the beginning the other request has too.

    By halving, because a step's hash is that of all steps before it too.
    """
    low, high = 0, min(len(units), len(others))
    while low < high:
        middle = (low + high) // 2
        if units[middle].chain == others[middle].chain:
            low = middle + 1
        else:
            high = middle
    return low


def is_same_json(step: Any, other: Any) -> bool:
    """Whether two steps are the same JSON; `==` would take 1 for true, and any order of fields."""
    if step is other:
        return True
    if step != other:
        return False
    if is_object(step) and TEXT.issuperset(map(type, step.values())):  # most turns
        return list(step) == list(other)
    return encode_json(step) == encode_json(other)


def with_tokens(units: Sequence[Unit], payload: dict[str, Any], pricer: Pricer) -> list[Unit]:
    """Return the last steps of a request, with their tokens; those before them are not counted."""
    if not units:
        return []
    places = [unit.place.partition("[")[0] for unit in units]
    rest: dict[str, Any] = {
        field: payload[field] for field, place in PROMPT if place in places and field in payload
    }
    for field, place in TURNS.items():
        turns = payload.get(field)
        if is_list(turns):
            rest[field] = turns[len(turns) - places.count(place) :]
    rest = with_plain_strings(rest)
    found = pricer.count(outline(rest, pricer.format)).places
    index = numbers()
    return [replace(unit, tokens=found.get(renumbered(unit.place, index), 0)) for unit in units]


def renumbered(place: str, index: numbers[int]) -> str:
    """Return a place among turns of which the first are left out."""
    field, bracket, _ = place.partition("[")
    return f"{field}[{next(index)}]" if bracket else place


def is_system(step: Any) -> bool:
    """Whether a turn is a system message, in formats that have them among the turns."""
    return is_object(step) and step.get("role") in SYSTEM_ROLES
