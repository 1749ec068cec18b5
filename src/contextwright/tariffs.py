"""What tokenizers and APIs charge: the rows of `data/tariffs.toml`, and the counters they name."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Literal

import msgspec
from msgspec import Struct

from contextwright.counters import ESTIMATORS, Counter, symbols, vocabulary, wide
from contextwright.errors import UsageError, shown

__all__ = ["Rates", "Tariff", "Tokenizer", "counter", "rates_of", "tables", "tokenizer_facts"]


class Tokenizer(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `[tokenizers]`."""

    vocabulary: str | None = None
    estimator: str | None = None
    factor: float = 1.0
    symbol: float = 0.0
    """Tokens more for each punctuation mark: what makes code dearer than prose."""
    wide: float = 0.0
    """Tokens more for each character beyond ASCII."""
    bound: float = 0.0
    unheard: float = 0.0
    """How much further off text beyond ASCII may be, of which nothing was recorded."""
    tariff: str | None = None


class Sealed(Struct, frozen=True, forbid_unknown_fields=True):
    """Encrypted text: tokens for each character beyond the first few, which are wrapping."""

    each: float = 0.0
    free: int = 0


class Tariff(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `[tariffs]`."""

    fixed: dict[str, float] = {}
    scale: dict[str, float] = {}
    certain: tuple[str, ...] = ()
    """Kinds whose price agrees to the token with every recorded request."""
    doubt: float = 0.3
    slack: float = 0.0
    """Tokens a whole request may be off by whatever its size."""
    tools: Literal["typescript", "json"] = "json"
    opening: str = ""
    """What stands right before the first tool: a break that its first token may grow into."""
    namespace: str = ""
    """What stands before a called tool's name, where that is written a second time."""
    sealed: Sealed = Sealed()


class Tables(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of `data/tariffs.toml`."""

    tokenizers: dict[str, Tokenizer]
    tariffs: dict[str, Tariff]


@cache
def tables() -> Tables:
    """The shipped constants; read once, at the first count."""
    text = pkgutil.get_data("contextwright", "data/tariffs.toml") or b""
    return msgspec.toml.decode(text, type=Tables)


def tokenizer_facts(name: str) -> Tokenizer:
    """The facts about a tokenizer."""
    known = tables().tokenizers
    if name not in known:
        hint = f"known: {', '.join(sorted(known))}"
        raise UsageError(f"unknown tokenizer {shown(name)}", hint=hint)
    return known[name]


def counter(name: str) -> Counter:
    """The function that counts the tokens of a text, without any factor; loads at first use."""
    facts = tokenizer_facts(name)
    if facts.estimator is not None:
        return ESTIMATORS[facts.estimator]
    return vocabulary(facts.vocabulary or name)


def words_counter(name: str) -> Callable[[str], float]:
    """The function that estimates the tokens of a text as the tokenizer's row says."""
    facts, count = tokenizer_facts(name), counter(name)
    if facts.factor == 1:
        return count

    def estimate(text: str) -> float:
        extra = symbols(text) * facts.symbol + wide(text) * facts.wide
        return count(text) * facts.factor + extra

    return estimate


class Rates(Struct, frozen=True):
    """What pricing needs to know, looked up together."""

    tariff: Tariff
    count_text: Callable[[str], float]
    bound: float
    unheard: float

    def doubt_beyond(self, text: str) -> float:
        """The further doubt about a text, by how much of it is beyond ASCII."""
        if not self.unheard or text.isascii():
            return 0.0
        return self.unheard * wide(text) / len(text)


@lru_cache(256)
def rates_of(tokenizer: str, tariff: str, format: str) -> Rates:
    """The constants for a model asked through an API; of an unknown tariff, the generic ones."""
    facts, known = tokenizer_facts(tokenizer), tables().tariffs
    name = facts.tariff or tariff
    found = known.get(f"{name}/{format}") or known.get(name) or known["generic"]
    return Rates(found, words_counter(tokenizer), facts.bound, facts.unheard)
