"""The words inside identifiers: `getThreadHistory`, `get_thread_history`, `HTTPServer`.

Kebab-case and paths need nothing: their marks are not letters, so that their words stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["identifiers_in", "parts_of", "without_code"]

LONGEST = 100
"""Maximum characters of an identifier; longer ones are data."""
LETTERS = 3
"""Minimum letters of a part, on average: ids and base64 change case more often."""

BOUNDARY = re.compile("_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
"""Between two words; what follows capitals has three letters, because UNESCOs is one word."""
CODE = re.compile(r"^ {0,3}```.*?(?:^ {0,3}```|\Z)", re.DOTALL | re.MULTILINE)
"""A block of code. Its names have words such as key and user that say little about the message, so
that only whole names count there.
"""
PART = re.compile(r"[^\W\d_]{2,}\d*")


class Identifier(NamedTuple):
    """An identifier of several words."""

    word: str
    """As it is written."""
    joined: str
    """Without underscores, which is the same for all its spellings."""
    parts: tuple[str, ...]
    """Its words."""


def parts_of(words: Iterable[str]) -> set[str]:
    """Return the words inside identifiers, and each identifier without underscores.

    So `getThreadHistory` and `get_thread_history` have all words in common. Parts that are not
    letters, or one letter, are left out.
    """
    return {part for one in identifiers_in(words) for part in (one.joined, *one.parts)}


def identifiers_in(words: Iterable[str]) -> list[Identifier]:
    """Return those of a text's words, as they are written, that are identifiers of several."""
    found: list[Identifier] = []
    for word in words:
        if word[1:].islower() and "_" not in word:  # the common case
            continue
        pieces = [piece for piece in BOUNDARY.split(word) if piece] if len(word) <= LONGEST else ()
        letters = [sum(map(str.isalpha, piece)) for piece in pieces if not piece.isdigit()]
        if len(pieces) > 1 and sum(letters) >= LETTERS * len(letters):
            parts = tuple(filter(PART.fullmatch, pieces))
            found.append(Identifier(word, "".join(pieces), parts))
    return found


def without_code(text: str) -> str:
    """Return a text without its blocks of code."""
    return CODE.sub("\n", text) if "```" in text else text
