"""Counters of text, by the name of a tokenizer or of an estimator.

A vocabulary is loaded at its first use and stays loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from contextwright.errors import UsageError, shown
from contextwright.text.utf8 import utf8_length
from contextwright.tokens import byte_pairs
from contextwright.tokens.byte_pairs import BytePairs

__all__ = ["ESTIMATORS", "Counter", "chunks", "is_cut", "symbols", "vocabulary", "wide"]

Counter: TypeAlias = Callable[[str], int]

SHORT = 32
"""Texts up to this length (roles, names, punctuation) are so frequent that they are cached."""

WARM_UP = "Привіт, 世界! ﷽ 🧑‍🚀"
"""splintr builds its merge table at the first word that is not in the vocabulary as a whole.
Without this, a later message would wait 0.1 seconds for it."""


FIRST_CHARS = 65_536
"""Characters that are counted without splintr, where a vocabulary has a table for that: about as
many as take a fifth of the time that it needs to get ready."""


@cache
def vocabulary(name: str) -> Counter:
    """Return the counter of a vocabulary. Text that spells a special token is plain text."""
    first = BytePairs(FIRST_CHARS) if name == byte_pairs.NAME else None
    if first is None:
        encoder(name)

    def tokens_of(text: str) -> int:
        nonlocal first
        exact = first  # another thread may take it away
        tokens = exact(text) if exact else None
        if tokens is None:
            first = None
            return len(encoder(name)(text))
        return tokens

    def count_chunk(text: str) -> int:
        try:
            return tokens_of(text)
        except UnicodeEncodeError:
            return tokens_of(mended(text))

    count_short = lru_cache(4096)(count_chunk)

    def count(text: str) -> int:
        length = len(text)
        if length <= SHORT:
            return count_short(text)
        return count_chunk(text) if length <= 2 * CHUNK else sum(map(count_chunk, chunks(text)))

    return count


@cache
def encoder(name: str) -> Callable[[str], Sequence[int]]:
    """Return the function from a text to the tokens of a vocabulary.

    Raises:
        UsageError: there is no vocabulary with that name.
    """
    import splintr

    try:
        # Only `encode_ordinary` of splintr's methods treats such spellings as text.
        encode = splintr.Tokenizer.from_pretrained(name).encode_ordinary
    except ValueError:
        raise UsageError(f"unknown vocabulary {shown(name)}") from None
    encode(WARM_UP)
    return encode


CHUNK = 32_768
"""Long texts are counted in chunks of this many characters up to twice as many: a tokenizer takes
80 bytes of memory for each character, in tokens, merges and Python's integers."""

BORDER = re.compile(
    "[A-Za-z](?= [A-Za-z])|\n(?=[A-Za-z])|[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])"
    "|[\u3041-\u30ff\u4e00-\u9fff](?=[\u3001\u3002\uff0c])"
)
"""Places where every vocabulary begins a new token, whatever surrounds them."""


def chunks(text: str) -> Iterator[str]:
    """Yield a text in chunks that have as many tokens as the whole, if it has any `BORDER`."""
    start, chunk = 0, CHUNK
    while len(text) - start > 2 * chunk:
        border = BORDER.search(text, start + chunk, start + 2 * chunk)
        end = border.end() if border else start + 2 * chunk
        yield text[start:end]
        start = end
    yield text[start:]


def is_cut(text: str) -> bool:
    """Whether a text is counted in chunks that may split a token: it has too few borders."""
    if len(text) <= 2 * CHUNK:
        return False
    return any(len(chunk) == 2 * CHUNK for chunk in chunks(text))


SYMBOLS = b'"#$%&()*+/:;<=>@[\\]^_`{|}~'


def symbols(text: str) -> int:
    """Count the ASCII punctuation marks that are typical of code."""
    data = text.encode("utf-8", "surrogatepass")  # deleting from bytes is ten times faster
    return len(data) - len(data.translate(None, SYMBOLS))


def wide(text: str) -> int:
    """Count the non-ASCII characters."""
    return 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))


def mended(text: str) -> str:
    """Return text with lone surrogates replaced, as providers' own readers do."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# Estimators of other tools: rough, but their budgets are written for them.

TOOL_TAG = "<tool>"


def forge(text: str) -> int:
    """Return a quarter of the bytes, plus 4 for the role, plus 10 for a tool call."""
    return utf8_length(text) // 4 + 4 + (10 if TOOL_TAG in text else 0)


def forge_table(text: str) -> int:
    """Return the same, with 10 for the role of a tool result, as Forge's table of roles has it."""
    result = utf8_length(text) // 4 + 10 if text.startswith("Tool: ") else 0
    return max(forge(text), result)


def chars4(text: str) -> int:
    """Return a quarter of the characters, rounded up."""
    return -(-len(text) // 4)


def gryag(text: str) -> int:
    """Return the characters divided by 5 for Cyrillic, 4.5 mixed, 4 Latin, 3.5 many symbols."""
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
