"""The words that texts are compared by, in any script: what a search looks for, and what it finds.

A store keeps terms and no database makes its own: so all engines find the same.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["terms_of"]

LONGEST = 40
"""Characters of a term; what is longer is no word, and no index takes it whole."""

# Scripts that are written without blanks, or that join endings to names (Thai, Lao, Burmese,
# Khmer, kana, Han, Hangul), and those whose vowels Python's `\w` does not know (of India).
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
VOWELLED = "\u0900-\u0963\u0966-\u0dff"
PLAIN_WORD = re.compile(r"\w+")
WORD = re.compile(f"(?:[^\\W{UNSPACED}]|[{VOWELLED}])+")
RUN = re.compile(f"[{UNSPACED}]+")
SPECIAL = re.compile(f"[{UNSPACED}{VOWELLED}]")
ACCENT = re.compile("[\u0300-\u036f]+")


def terms_of(text: str) -> set[str]:
    """The terms of a text: words without accents and without the ends that long ones change when
    they are inflected; pairs of characters where a script has no blanks.
    """
    if text.isascii():
        return {stem(word) for word in set(PLAIN_WORD.findall(text.lower()))}
    plain = ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold()))
    plain = unicodedata.normalize("NFC", plain)
    if not SPECIAL.search(plain):
        return {stem(word) for word in set(PLAIN_WORD.findall(plain))}
    terms = {stem(word) for word in set(WORD.findall(plain))}
    for run in RUN.findall(plain):
        terms.update(run[place : place + 2] for place in range(max(len(run) - 1, 1)))
    return terms


def stem(word: str) -> str:
    """A word without its end, if it is long enough to have one; numbers have none."""
    length = len(word)
    if length <= 3 or length > LONGEST or not word.isalpha():
        return word[:LONGEST]
    return word[: -1 - (length > 6)]
