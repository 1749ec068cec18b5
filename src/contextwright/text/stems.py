"""Stems: what the forms of a word have in common.

Snowball's algorithms do most of it. What is here is what they leave: Ukrainian, which they lack,
vowels and consonants that change with the ending, broken plurals, and the parts of compounds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from typing import Any, cast

import Stemmer  # pyright: ignore[reportMissingTypeStubs]

__all__ = ["ACCENT", "COMPOUNDING", "beginnings", "ends", "folded", "stemmer"]

LONGEST = 40
"""Maximum characters of a term."""

ACCENT = re.compile("[\u0300-\u036f]+")
WITHOUT_STROKES = str.maketrans(
    dict(zip("łøđðħŧıþæœ", "l o d d h t i th ae oe".split(), strict=True))
)
"""Letters whose stroke or tie is no accent of its own, as people write them without it: zolw for
żółw, gudrun for guðrún.
"""

# English suffixes, the longest first, and what replaces each. Snowball's English is not better.
ENDINGS = (
    ("ings", ""),
    ("edly", ""),
    ("ing", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ed", ""),
    ("es", "e"),
    ("s", ""),
)
DOUBLING = frozenset(("ings", "ing", "edly", "ed"))
"""Suffixes that double the consonant before them: `run`, `running`."""
VOWELS = frozenset("aeiouy")
NUMBER = re.compile(r"[\d_]")

# Endings that nouns may end in themselves need the vowel of their verb or case: `-ати` and `-ами`
# are endings, but the last letters of "тексти", "системи", "школа" and "область" are not.
UKRAINIAN = re.compile(
    r"""(?<=..)(?:
    [ую](?:ва)?(?:є(?:ш|мо|те|ть)?|ють|ю|й|йте)
    |(?:[ую]ва|[аяиіїу]|ну)(?:ти(?:м(?:у|еш|е|емо|ете|уть))?|в|ла|ло|ли)
    |[ую]ван(?:ь|н(?:я|ю|ям|і|ями|ях))
    |[уюаяиіїеє]ть|[еиєї](?:ш|мо|те)|[аяиїі]?йте
    |ого|ому|ої|ою|ею|єю|ий|ій|им|их|ими|ім|іх|іми
    |[аяі]ми|ьми|[аяі][хм]|[оє]м|(?<=[жчшщцрлн])ем|[оеє]ві|і?[їя]|і[юй]|їв|ів|ей
    |[аеєиіїоуюяьй])$""",
    re.VERBOSE,
)
REFLEXIVE = re.compile("(?<=...)с[яь]$")
# Vowels that come and go with the ending (кіт, кота; цукор, цукру), and consonants (рука, руці).
FLEETING = re.compile("(?<=..)[іеёо](?=(?:ст|[бвгґджзйклмнпрстфхцчшщ])$)")
DOUBLE = re.compile(r"(?<=..)([нлтдчшжзс])\1$")  # рішення, рішень
SHORT_VOWEL = re.compile("[іеё](?=.$)")
ALTERNATION = str.maketrans("цчзжсш", "ккггхх")

SPANISH_DIPHTHONG = re.compile("ie|(?<![qg])ue")
GERMAN_PARTICIPLE = re.compile("^ge(?=.{3,}(?:t|en)$)")
GERMAN_PERSON = re.compile("(?<=...)(?:et|(?<![aeiou])(?<!ch)t)$")
# "and", "for", "with", "as", each of which is one letter of the next word, and the article.
ARABIC_PARTICLE = re.compile("^[وف]?(?:[بك]?ال|لل)(?=..)|^[ولبكف](?=....)")
ARABIC_VOWELS = re.compile("[اأإآٱويىءئؤة]")
# Letters of persons: "we celebrate", "she celebrates"; "she celebrated", "my grandmother".
ARABIC_PERSON_BEFORE = re.compile("^[تن](?=...)")
ARABIC_PERSON_BEHIND = re.compile("(?<=..)ت$")

COMPOUNDING = frozenset(("german", "dutch", "swedish"))
"""Languages that write compounds as one word."""
LONG, SHORTEST_PART, SHORTEST_REST = 8, 4, 3
"""Letters of a compound, of a part that is looked for, and of what is left of the compound."""


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """Return the function from the words of a language to their stems, which remembers some.

    `language` is one of Snowball's, or `ukrainian`; if it is empty, letters are cut off.
    """
    # People mostly use the same words. With one argument a lookup takes half the time.
    return lru_cache(32_768)(partial(stem, language=language))


def stem(word: str, language: str) -> str:
    """Return a word, in small letters, without its ending and accents; numbers have none."""
    if len(word) <= 2 or len(word) > LONGEST or NUMBER.search(word):
        return folded(word)[:LONGEST]
    match language:
        case "english":
            return english_stem(folded(word))
        case "ukrainian":
            return cyrillic_stem(UKRAINIAN.sub("", REFLEXIVE.sub("", word)))
        case "russian":
            return cyrillic_stem(snowball(language)(word))
        case "german":
            bare = snowball(language)(GERMAN_PARTICIPLE.sub("", word))
            return folded(GERMAN_PERSON.sub("", bare))
        case "spanish":
            bare = folded(snowball(language)(word))
            return SPANISH_DIPHTHONG.sub(lambda found: "eo"[found[0] == "ue"], bare)
        case "arabic":
            return arabic_stem(word)
        case "":
            return folded(word if len(word) <= 3 else word[: -1 - (len(word) > 6)])
        case _:
            return folded(snowball(language)(word))


@cache
def snowball(language: str) -> Callable[[str], str]:
    """Return the stemmer of a language, without its own memory: `stemmer` remembers."""
    return cast("Any", Stemmer).Stemmer(language, 0).stemWord


def folded(word: str) -> str:
    """Return a word in small letters without accents."""
    if word.isascii():
        return word
    bare = ACCENT.sub("", unicodedata.normalize("NFD", word)).translate(WITHOUT_STROKES)
    return unicodedata.normalize("NFC", bare)


def english_stem(word: str) -> str:
    """Return a word without English suffixes: `paintings`, `painted` and `paint` are one."""
    if len(word) <= 3 or not word.isalpha():
        return word
    longest_doubled = 4  # a word of its own: Webb
    for ending, instead in ENDINGS:
        if word.endswith(ending):
            if ending == "s" and word.endswith(("ss", "us", "is")):
                break
            base = word[: -len(ending)] + instead
            if len(base) >= 3 and has_vowel(base):
                word = base
                longest_doubled = 3 if ending in DOUBLING else 4
                break
    if len(word) > longest_doubled and word[-1] == word[-2] and word[-1] not in "flsz":
        word = word[:-1]
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1] + ("i" if word[-1] == "y" else "")
    return word


def cyrillic_stem(bare: str) -> str:
    """Return a stem without what changes at its end."""
    bare = bare[:2] + bare[2:].rstrip("аеиіоуыюяьй").replace("ь", "")
    bare = DOUBLE.sub(r"\1", bare)
    bare = FLEETING.sub("", bare) if len(bare) > 3 else SHORT_VOWEL.sub("о", bare)
    return folded(bare[:-1] + bare[-1:].translate(ALTERNATION))


def arabic_stem(word: str) -> str:
    """Return the consonants of a word without particles, the article, persons and endings.

    Broken plurals change the vowels inside: `kitāb`, `kutub`.
    """
    bare = ARABIC_PARTICLE.sub("", word)
    if len(bare) > 4:  # of shorter ones Snowball takes letters that belong to them
        bare = snowball("arabic")(bare)
    skeleton = without_persons(ARABIC_VOWELS.sub("", bare))
    if len(skeleton) > 2 or (len(skeleton) == 2 and len(bare) <= 4):
        return skeleton
    return without_persons(bare)  # two consonants of a longer word are those of many


def without_persons(bare: str) -> str:
    """Return an Arabic word without the letters of persons, as far as three others are left."""
    return ARABIC_PERSON_BEFORE.sub("", ARABIC_PERSON_BEHIND.sub("", bare))


def beginnings(word: str, language: str) -> Iterator[str]:
    """Yield what may be the first word of a compound, in languages that write it as one.

    There is no dictionary: a part counts where a question has it, or a message. Both the part and
    the rest have a vowel, as all words do.
    """
    whole = compound_stem(word, language)
    for place in range(SHORTEST_PART, len(whole) - SHORTEST_REST + 1):
        if has_vowel(whole[:place]) and has_vowel(whole[place:]):
            yield whole[:place]


def ends(word: str, language: str) -> Iterator[str]:
    """Yield what may be the last word of a compound."""
    whole = compound_stem(word, language)
    for place in range(len(whole) - SHORTEST_PART, SHORTEST_REST - 1, -1):
        if has_vowel(whole[:place]) and has_vowel(whole[place:]):
            yield whole[place:]


def has_vowel(letters: str) -> bool:
    """Whether letters without accents have a vowel."""
    return not VOWELS.isdisjoint(letters)


def compound_stem(word: str, language: str) -> str:
    """Return the stem of a word that may be a compound; empty for all others."""
    is_long = LONG <= len(word) <= LONGEST and language in COMPOUNDING
    return stemmer(language)(word) if is_long else ""
