"""Text to a number of tokens, by the name of a tokenizer or of an estimator.

The only file that knows splintr. A vocabulary is loaded at its first use and stays loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TypeAlias

from contextwright.errors import UsageError, shown

__all__ = ["ESTIMATORS", "Counter", "symbols", "vocabulary", "wide"]

Counter: TypeAlias = Callable[[str], int]

SHORT = 32
"""Texts up to this length (roles, names, punctuation) come back so often that they are kept."""

WARM_UP = "Привіт, 世界! ﷽ 🧑‍🚀"
"""splintr builds its merge table at the first word that is no whole entry of the vocabulary.
Without this, the first Cyrillic message somewhere later would wait 0.1 seconds for it."""


@cache
def vocabulary(name: str) -> Counter:
    """The counter of a vocabulary. Text that spells a special token is plain text."""
    import splintr

    try:
        # Of splintr's many methods only `encode_ordinary` leaves such spellings alone.
        encode = splintr.Tokenizer.from_pretrained(name).encode_ordinary
    except ValueError:
        raise UsageError(f"no vocabulary is called {shown(name)}") from None
    encode(WARM_UP)

    def count(text: str) -> int:
        try:
            return len(encode(text))
        except UnicodeEncodeError:
            return len(encode(mended(text)))

    count_short = lru_cache(4096)(count)
    return lambda text: count_short(text) if len(text) <= SHORT else count(text)


UNPUNCTUATED = dict.fromkeys(map(ord, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"))


def symbols(text: str) -> int:
    """The ASCII punctuation marks in a text."""
    return len(text) - len(text.translate(UNPUNCTUATED))


def wide(text: str) -> int:
    """The characters of a text that are not ASCII."""
    return 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))


def mended(text: str) -> str:
    """Text whose lone surrogate halves are replaced, as providers' own readers do."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# Estimators of other tools. They are not good; they are what those tools' budgets mean.

TOOL_TAG = "<tool>"


def forge(text: str) -> int:
    """A quarter of the bytes, 4 for the role, 10 more around a tool call."""
    return utf8_length(text) // 4 + 4 + (10 if TOOL_TAG in text else 0)


def forge_table(text: str) -> int:
    """As `forge`, but a tool's result costs the 10 that Forge's table of roles gives it."""
    result = utf8_length(text) // 4 + 10 if text.startswith("Tool: ") else 0
    return max(forge(text), result)


def utf8_length(text: str) -> int:
    """Bytes of a text in UTF-8: Go, where Forge comes from, measures strings in them."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def chars4(text: str) -> int:
    """A quarter of the characters, rounded up."""
    return -(-len(text) // 4)


def gryag(text: str) -> int:
    """Characters by script: 5 a token for Cyrillic, 4.5 mixed, 4 Latin, 3.5 with many symbols."""
    letters = sum(map(str.isalpha, text))
    symbols = sum(not (char.isalnum() or char.isspace()) for char in text)
    cyrillic = sum("\u0400" <= char <= "\u04ff" for char in text)
    if symbols > 0.2 * len(text):
        per_token = 3.5
    elif cyrillic > 0.5 * letters:
        per_token = 5.0
    else:
        per_token = 4.5 if cyrillic > 0.1 * letters else 4.0
    return int(len(text) / per_token)


ESTIMATORS: dict[str, Counter] = {
    "chars4": chars4,
    "forge": forge,
    "forge-table": forge_table,
    "gryag": gryag,
}
