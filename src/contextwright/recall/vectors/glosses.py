"""Glosses: the words of a language that an embedder was not trained on, in one that it knows.

Ukrainian becomes Russian, word by word, and Hindi English. That is no translation, but it keeps
what a text is about: an embedder of whole sentences needs little more. `data/glosses.txt` has
three thousand frequent words of everyday life, written for this project; another form of a word is
known by its stem. An unknown word of Hindi is spelled in Latin letters: it is mostly a name.
Other languages in the script of Hindi are read as Hindi, and Belarusian as Ukrainian: the little
that they have in common is better than nothing.
"""

from __future__ import annotations

import pkgutil
import re
import unicodedata
from functools import cache

from contextwright.text.languages import FUNCTION_WORDS
from contextwright.text.stems import stemmer
from contextwright.text.terms import languages_of, spelled

__all__ = ["glossed"]

WORD = re.compile(r"[\u0400-\u04ff]+(?:['\u2019\u02bc][\u0400-\u04ff]+)*")
HINDI_WORD = re.compile("[\u0900-\u0963\u0970-\u097f]+")
CONSONANT = re.compile("[\u0915-\u0939]")
SIGNS = str.maketrans("\u0964०१२३४५६७८९", ".0123456789")
"""The full stop and the figures of Hindi."""


def glossed(text: str) -> str:
    """Return a text with the words of Ukrainian and Hindi in Russian and English."""
    if text.isascii():
        return text
    text = HINDI_WORD.sub(in_english, text).translate(SIGNS)
    if WORD.search(text) and languages_of(text).cyrillic == "ukrainian":
        text = WORD.sub(in_russian, text)
    return text


def in_english(found: re.Match[str]) -> str:
    """Return a word of Hindi in English, or in Latin letters."""
    gloss = gloss_of("hindi", found[0])
    return in_latin(found[0]) if gloss is None else gloss


def in_russian(found: re.Match[str]) -> str:
    """Return a word of Ukrainian in Russian, or as it is."""
    gloss = gloss_of("ukrainian", found[0])
    return found[0] if gloss is None else gloss


def gloss_of(language: str, word: str) -> str | None:
    """Return what a word means, if it or another form of it is known."""
    simple, (words, stems) = spelled(word), table(language)
    return words.get(simple) or stems.get(stemmer(language)(simple))


@cache
def table(language: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the glosses of a language, by words and by stems; the first one counts."""
    data = pkgutil.get_data("contextwright", "data/glosses.txt") or b""
    _, _, rest = data.decode().partition(f"[{language}]\n")
    words, stems = dict[str, str](), dict[str, str]()
    for line in rest.partition("[")[0].splitlines():
        gloss, _, several = line.partition(": ")
        for word in several.split():
            words.setdefault(spelled(word), gloss)
            if word not in FUNCTION_WORDS[language]:  # a small word has no other forms
                stems.setdefault(stemmer(language)(spelled(word)), gloss)
    return words, stems


def in_latin(word: str) -> str:
    """Return a word of Hindi in Latin letters, by the names of its own.

    A consonant has an a behind it, unless a vowel or a mark takes its place, or the word ends.
    """
    spelling = ""
    for letter in unicodedata.normalize("NFC", word):
        *kinds, sound = unicodedata.name(letter).lower().split()
        if kinds[1:] == ["vowel", "sign"]:
            spelling = spelling.removesuffix("a") + sound
        elif sound == "virama":
            spelling = spelling.removesuffix("a")
        elif sound in ("anusvara", "candrabindu"):
            spelling += "n"
        elif "letter" in kinds:
            spelling += sound
    return spelling.removesuffix("a") if CONSONANT.match(word[-1]) else spelling
