"""Gloss texts: replace words of languages the embedder does not know by words of one it knows.

Ukrainian becomes Russian and Hindi becomes English, word by word. That is no translation, but it
keeps what a text is about, and a sentence embedder needs little more. `data/glosses.txt` has three
thousand frequent words, written for this project. Inflected forms are found by their stem. An
unknown Hindi word is transliterated, because it is mostly a name. Other languages in the script of
Hindi are treated as Hindi, and Belarusian as Ukrainian; that finds less, but more than nothing.
"""

from __future__ import annotations

import pkgutil
import re
import unicodedata
from functools import cache

from contextwright.text.languages import FUNCTION_WORDS
from contextwright.text.stems import stemmer
from contextwright.text.terms import languages_of, spelled

__all__ = ["gloss"]

WORD = re.compile(r"[\u0400-\u04ff]+(?:['\u2019\u02bc][\u0400-\u04ff]+)*")
HINDI_WORD = re.compile("[\u0900-\u0963\u0970-\u097f]+")
CONSONANT = re.compile("[\u0915-\u0939]")
SIGNS = str.maketrans("\u0964०१२३४५६७८९", ".0123456789")
"""The full stop and the digits of Hindi."""


def gloss(text: str) -> str:
    """Return a text with its Ukrainian words in Russian, and its Hindi words in English."""
    if text.isascii():
        return text
    text = HINDI_WORD.sub(in_english, text).translate(SIGNS)
    if WORD.search(text) and languages_of(text).cyrillic == "ukrainian":
        text = WORD.sub(in_russian, text)
    return text


def in_english(found: re.Match[str]) -> str:
    """Return a Hindi word in English, or transliterated."""
    gloss = gloss_of("hindi", found[0])
    return in_latin(found[0]) if gloss is None else gloss


def in_russian(found: re.Match[str]) -> str:
    """Return a Ukrainian word in Russian, or as it is."""
    gloss = gloss_of("ukrainian", found[0])
    return found[0] if gloss is None else gloss


def gloss_of(language: str, word: str) -> str | None:
    """Return the gloss of a word or of another form of it; None if there is none."""
    simple, (words, stems) = spelled(word), table(language)
    return words.get(simple) or stems.get(stemmer(language)(simple))


@cache
def table(language: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the glosses of a language by word and by stem; of several, the first."""
    data = pkgutil.get_data("contextwright", "data/glosses.txt") or b""
    _, _, rest = data.decode().partition(f"[{language}]\n")
    words, stems = dict[str, str](), dict[str, str]()
    for line in rest.partition("[")[0].splitlines():
        gloss, _, several = line.partition(": ")
        for word in several.split():
            words.setdefault(spelled(word), gloss)
            if word not in FUNCTION_WORDS[language]:  # function words have no other forms
                stems.setdefault(stemmer(language)(spelled(word)), gloss)
    return words, stems


def in_latin(word: str) -> str:
    """Return a Hindi word in Latin letters, by the Unicode names of its letters.

    A consonant is followed by an a, unless a vowel sign or a virama follows, or the word ends.
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
