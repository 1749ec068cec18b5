"""Rates of tokenizers and APIs: the rows of `data/rates.toml`, and the counters they name."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError, shown
from contextwright.text.json import convert
from contextwright.tokens.tokenizers import (
    CHUNK,
    ESTIMATORS,
    Counter,
    is_cut,
    symbols,
    vocabulary,
    wide,
)

__all__ = [
    "Rates",
    "TextCounter",
    "Tokenizer",
    "counter",
    "rates_of",
    "tables",
    "text_counter",
    "tokenizer_facts",
]


class Tokenizer(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `[tokenizers]`."""

    vocabulary: str | None = None
    estimator: str | None = None
    factor: float = 1.0
    symbol: float = 0.0
    """Additional tokens for each punctuation mark of code, which costs more than prose."""
    wide: float = 0.0
    """Additional tokens for each non-ASCII character."""
    bound: float = 0.0
    unheard: float = 0.0
    """Additional doubt about non-ASCII text, of which nothing was recorded."""
    rates: str | None = None
    """The rates that come with an estimator, instead of the model's own."""


class Sealed(Struct, frozen=True, forbid_unknown_fields=True):
    """Encrypted text: tokens per character, after the first `free` ones, which are wrapping."""

    each: float = 0.0
    free: int = 0


class Rates(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `[rates]`: what an API adds to the text of a request."""

    like: str = ""
    """Another row, whose values this one takes over where it has none."""
    fixed: dict[str, float] = {}
    scale: dict[str, float] = {}
    certain: tuple[str, ...] = ()
    """Kinds whose price agrees to the token with every recorded request."""
    doubt: float = 0.3
    doubts: dict[str, float] = {}
    """Doubts about single kinds, instead of `doubt`."""
    slack: float = 0.0
    """Tokens a whole request may be off, whatever its size."""
    tools: Literal["typescript", "json", "python", "gemma", "words"] = "json"
    """The spelling of tools; the last three also of calls and results."""
    opening: str = ""
    """The text before the first tool: a break that its first token may merge with."""
    namespace: str = ""
    """The text before a called tool's name, if the name is written a second time."""
    sealed: Sealed = Sealed()
    compaction: Sealed = Sealed()
    drops_reasoning: bool = False
    """Reasoning from before the newest question is not shown to the model again."""
    cheaper: str = ""
    """Another row that may apply instead, at lower prices: the lower bound reaches down to it."""


class Tables(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of `data/rates.toml`."""

    tokenizers: dict[str, Tokenizer]
    rates: dict[str, Rates]


def inherited(rows: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Return a row with what it takes over from the row it is like; tables are merged."""
    row = rows[name]
    if "like" not in row:
        return row
    merged = dict(inherited(rows, row["like"]))
    for key, value in row.items():
        merged[key] = {**merged.get(key, {}), **value} if isinstance(value, dict) else value
    return merged


@cache
def tables() -> Tables:
    """Return the shipped constants; reads the file at the first call."""
    text = pkgutil.get_data("contextwright", "data/rates.toml") or b""
    shipped = msgspec.toml.decode(text)
    rows = shipped["rates"]
    shipped["rates"] = {name: inherited(rows, name) for name in rows}
    return convert(shipped, Tables)


def tokenizer_facts(name: str) -> Tokenizer:
    """Return the facts about a tokenizer."""
    known = tables().tokenizers
    if name not in known:
        hint = f"known: {', '.join(sorted(known))}"
        raise UsageError(f"unknown tokenizer {shown(name)}", hint=hint)
    return known[name]


def counter(name: str) -> Counter:
    """Return the function that counts the tokens of a text, without any factor."""
    facts = tokenizer_facts(name)
    if facts.estimator is not None:
        return ESTIMATORS[facts.estimator]
    return vocabulary(facts.vocabulary or name)


class TextCounter(Struct, frozen=True):
    """Counts or estimates the tokens of bare text, and states how far it may be off."""

    count: Callable[[str], float]
    bound: float
    unheard: float

    def doubt_beyond(self, text: str) -> float:
        """Return the additional doubt about a text: non-ASCII, or too long to be counted whole."""
        cut = CUT if len(text) > CHUNK and is_cut(text) else 0.0
        if not self.unheard or text.isascii():
            return cut
        return cut + self.unheard * wide(text) / len(text)


CUT = 0.001
"""Relative error of a text that is cut where a token may be."""


@lru_cache(64)
def text_counter(tokenizer: str) -> TextCounter:
    """Return the text counter of a tokenizer or estimator."""
    facts, count = tokenizer_facts(tokenizer), counter(tokenizer)
    if facts.factor == 1 and not facts.symbol:
        return TextCounter(count, facts.bound, facts.unheard)

    def estimate(text: str) -> float:
        extra = symbols(text) * facts.symbol + wide(text) * facts.wide
        return count(text) * facts.factor + extra

    return TextCounter(estimate, facts.bound, facts.unheard)


@lru_cache(256)
def rates_of(name: str, format: str, tokenizer: str) -> Rates:
    """Return the rates of a model asked through an API; the generic ones for an unknown name."""
    known = tables().rates
    name = tokenizer_facts(tokenizer).rates or name
    return known.get(f"{name}/{format}") or known.get(name) or known["generic"]
