"""The provider's prompt cache: what it keeps of a request, what it finds, what it charges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct

from contextwright.context.cache_marks import LOOKBACK
from contextwright.context.context import Context
from contextwright.models import Model
from contextwright.wire.openai_chat.dialects import takes_cache_control

__all__ = ["Charge", "PromptCache", "dollars", "marks_of", "price_of"]


class Charge(Struct, frozen=True):
    """How a provider charges the tokens of one request; the three add up to all of them."""

    read: int
    """Taken from the cache."""
    written: int
    """Processed, and written to the cache for the next request."""
    plain: int
    """Processed, and not cached."""


def dollars(charge: Charge, model: Model) -> float | None:
    """Return the price of a request's input in dollars.

    Tokens read from the cache cost `cache_read`. Tokens written to it cost `cache_write` if the
    provider charges for that (Anthropic, newer OpenAI models), else the price of input. All others
    cost `input`. None if the price of input is unknown.
    """
    prices = model.prices
    if prices.input is None:
        return None
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    return (charge.read * read + charge.written * write + charge.plain * prices.input) / 1_000_000


def price_of(again: int, model: Model) -> float | None:
    """Return what tokens cost that are written to the cache instead of read from it, in dollars."""
    written, read = dollars(Charge(0, again, 0), model), dollars(Charge(again, 0, 0), model)
    return None if written is None or read is None else written - read


class PromptCache:
    """The prompt cache of a provider.

    Anthropic keeps prefixes that end at a cache mark, and finds them at a mark or up to 20 blocks
    before one; the others keep every prefix. Prefixes shorter than the model's `cache_minimum` are
    never kept. A mark before volatile text counts as the end of the previous message, which is
    slightly less than what is kept.
    """

    def __init__(self, format: str, model: Model) -> None:
        self.marked = takes_cache_control(format, model)
        self.caches = model.prices.cache_read is not None
        self.minimum = model.cache_minimum or 0
        self.kept: set[str] = set()

    def charge(self, context: Context) -> Charge:
        """Charge a request, and keep its prefixes."""
        reached = [0]
        for unit in context.prefix:
            reached.append(reached[-1] + unit.tokens)
        ends = list(marks_of(context)) if self.marked else list(range(1, len(reached)))
        ends = [end for end in ends if self.caches and reached[end] >= self.minimum]
        found = max((self.found(context, end) for end in ends), default=0)
        last = max(ends, default=0)
        self.kept.update(context.prefix[end - 1].chain for end in ends)
        # Tokens outside all units, such as the frame of the request, are never cached.
        written = max(reached[last] - reached[found], 0)
        tokens = context.ledger.tokens
        return Charge(reached[found], written, tokens - reached[found] - written)

    def why_unread(self, shared: int, charge: Charge) -> str:
        """Return why a prefix shared with the previous request was not read whole; empty if so."""
        if shared <= charge.read:
            return ""
        if not self.caches:
            return "this model has no prompt cache"
        if shared < self.minimum:
            return f"a prefix of fewer than {self.minimum:,} tokens is not cached"
        return "no cache mark is within reach of its end" if self.marked else ""

    def found(self, context: Context, end: int) -> int:
        """Return the longest kept prefix that can be found from one mark, as a number of units."""
        room = LOOKBACK if self.marked else 1
        while end and room > 0:
            unit = context.prefix[end - 1]
            if unit.chain in self.kept:
                return end
            room -= blocks_of(context.payload, unit.place)
            end -= 1
        return 0


def marks_of(context: Context) -> Iterator[int]:
    """Return the cache marks: numbers of units, each the end of a prefix."""
    for index, unit in enumerate(context.prefix):
        blocks = content_of(context.payload, unit.place)
        for block in blocks:
            if isinstance(block, dict) and "cache_control" in block:
                end = index + 1 if block is blocks[-1] else index
                if end:
                    yield end


def blocks_of(payload: dict[str, Any], place: str) -> int:
    """Return the number of blocks of a unit."""
    return max(len(content_of(payload, place)), 1)


def content_of(payload: dict[str, Any], place: str) -> list[Any]:
    """Return the blocks of a unit of a request to Claude."""
    content: Any = payload.get(place)
    if place.startswith("messages["):
        content = payload["messages"][int(place[9:-1])]["content"]
    return cast("list[Any]", content) if isinstance(content, list) else []
