"""Terms: the normalised words that search compares, in any script.

Terms are computed here and stored, not by the database, so that all engines find the same. A change
of them needs a migration step that empties the index.
"""

from __future__ import annotations

import pkgutil
import re
import unicodedata
from collections.abc import Mapping, Set
from functools import cache
from typing import NamedTuple

from contextwright.text.languages import (
    COMMON_PHRASES,
    FUNCTION_WORDS,
    cyrillic_language,
    latin_language,
)
from contextwright.text.stems import ACCENT, COMPOUNDING, beginnings, ends, folded, stemmer
from contextwright.text.words.identifiers import identifiers_in, parts_of, without_code
from contextwright.text.words.sounds import is_said_as_name, sounds_alike, sounds_of

__all__ = [
    "VOWELLED",
    "Languages",
    "term_variants",
    "common_words",
    "compound_parts",
    "findable_terms",
    "matching_terms",
    "keywords",
    "languages_of",
    "plain",
    "spelled",
    "telling_terms",
    "terms_of",
    "written_in",
]

# Scripts without spaces between words, or that join endings to names (Thai, Lao, Burmese, Khmer,
# kana, Han, Hangul), and Indian scripts, whose vowels Python's `\w` does not match.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
VOWELLED = "\u0900-\u0963\u0966-\u0dff"
PLAIN_WORD = re.compile(r"\w+")
WORD = re.compile(f"(?:[^\\W{UNSPACED}]|[{VOWELLED}])+")
RUN = re.compile(f"[{UNSPACED}]+")
SPECIAL = f"[{UNSPACED}{VOWELLED}]"
"""A pattern that takes milliseconds to compile, which only text that is not ASCII needs."""

# Marks that are often left out: accents without a letter of their own, Hebrew and Arabic vowels and
# the line that stretches words, the dot below Hindi letters, apostrophes in Ukrainian.
LEFT_OUT = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u093c]+"
    "|(?<=[\u0400-\u04ff])['\u2019\u02bc`](?=[\u0400-\u04ff])"
)
LETTERS_ALIKE = "أإآٱىँ", "اااايं"
"""Letters that people write for each other."""
VIRAMA = "\u094d"
NASAL = re.compile("ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])")
"""An n or m of Hindi that may be written as a dot: हिन्दी, हिंदी."""

SCRIPTS = (
    ("\u0400", "\u052f", "cyrillic"),
    ("\u0370", "\u03ff", "greek"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
"""First and last letter of scripts, and the language whose stems their words get."""


class Written(NamedTuple):
    """The words of a text."""

    simple: str
    """The text as `spelled`."""
    words: set[str]
    marked: set[str]
    """The words that may be names or identifiers, as they are written, but not those in code: they
    have a capital, an underscore or letters without case."""


class Languages(NamedTuple):
    """The languages of a text, in scripts that several share."""

    latin: str
    cyrillic: str = ""
    is_latin: bool = True
    """Whether no other script was seen."""

    def of(self, word: str) -> str:
        """Return the language whose stems a word gets; empty if none is known."""
        letter = word[0]
        if letter < "\u0370":
            return self.latin
        for first, last, language in SCRIPTS:
            if first <= letter <= last:
                return self.cyrillic if language == "cyrillic" else language
        return ""


UNKNOWN = "english"
"""The language that Latin words are read in if they do not show theirs. Cyrillic ones are read as
Russian, but most of their stems are the same in Ukrainian, and others are too short."""


def languages_of(text: str) -> Languages:
    """Return the languages of a text."""
    simple = spelled(text)
    return languages_among(words_in(simple), simple)


def languages_among(words: set[str], simple: str) -> Languages:
    """Return the languages of a text by its words."""
    latin = latin_language(words)
    if simple.isascii():
        return Languages(latin)
    cyrillic = {word for word in words if "\u0400" <= word[0] <= "\u052f"}
    return Languages(latin, cyrillic_language(cyrillic) if cyrillic else "", False)


def terms_of(text: str, languages: Languages | None = None) -> set[str]:
    """Return the terms of a text.

    Words lose accents and, if long, the endings that inflection changes. Identifiers give their
    words too, and scripts without spaces pairs of characters.

    Args:
        languages: those of the text it is taken from.
    """
    simple, words, marked = written_in(text)
    known = languages_among(words, simple) if languages is None else languages
    return stems_of(words | parts_in(marked), known).union(pairs_in(simple))


def findable_terms(text: str, languages: Languages | None = None) -> set[str]:
    """Return the terms that a text is found by: also those of its words alone, and of parts.

    A query of a few words may not show its language, and is then read as English; so every text
    has those terms too. Compounds have what may be their parts, and names how they sound.

    Args:
        languages: those of the text it is taken from.
    """
    simple, words, marked = written_in(text)
    known = languages_among(words, simple) if languages is None else languages
    several = words | parts_in(marked)
    terms = stems_of(several, known) | pairs_in(simple)
    if known.latin != UNKNOWN:
        terms |= stems_of(several, known._replace(latin=UNKNOWN))
    terms.update(*map(sounds_of, names_in(marked, known)))
    if known.latin in COMPOUNDING:
        for word in words:
            language = known.of(word)
            terms.update(beginnings(word, language), ends(word, language))
    return terms


def term_variants(text: str) -> dict[str, set[str]]:
    """Return, for the terms of a query, others that a text may have instead.

    They are those of a text that shows no language, as a message of two words may be, those of
    names in another script, and the whole of an identifier for its words: YouTube is one word to
    some. Terms that are the same are left out.
    """
    simple, words, marked = written_in(text)
    known = languages_among(words, simple)
    variants: dict[str, set[str]] = {}
    names = names_in(marked, known)
    for word in words - common_words(known):
        if sounds := sounds_alike(word, is_name=word in names):
            variants.setdefault(stemmer(known.of(word))(word), set()).update(sounds)
    unknown = known._replace(latin=UNKNOWN)
    for word, joined, parts in identifiers_in(marked):
        whole = terms_of(joined.lower(), known) | terms_of(joined.lower(), unknown)
        for term in terms_of(" ".join((word.lower(), *map(str.lower, parts))), known):
            if others := whole - {term}:
                variants.setdefault(term, set()).update(others)
    if known.latin != UNKNOWN:
        for word in words | parts_in(marked):
            term, other = (stemmer(one.of(word))(word) for one in (known, unknown))
            if term != other:
                variants.setdefault(term, set()).add(other)
    return variants


def matching_terms(
    text: str,
    terms: Set[str],
    variants: Mapping[str, Set[str]],
    languages: Languages | None = None,
) -> set[str]:
    """Return the terms of a query that a text has, given the `bare_terms` of the query.

    Args:
        languages: those of the text it is taken from.
    """
    has = findable_terms(text, languages)
    return {term for term in terms if term in has or not has.isdisjoint(variants.get(term, ()))}


def compound_parts(text: str) -> list[list[str]]:
    """Return what may be the first part, or the last one, of each compound of a question."""
    simple, words, _ = written_in(text)
    known = languages_among(words, simple)
    parts = ([*part(word, known.of(word))] for word in sorted(words) for part in (beginnings, ends))
    return [some for some in parts if some]


def keywords(text: str) -> set[str]:
    """Return the significant terms of a question; all of them if none is significant."""
    return telling_terms(text) or terms_of(text)


def telling_terms(text: str) -> set[str]:
    """Return the significant terms of a text: not its function words."""
    simple, words, marked = written_in(text)
    known = languages_among(words, simple)
    telling = {
        word
        for word in words | parts_in(marked)
        if word not in FUNCTION_WORDS.get(known.of(word), ())
    }
    return stems_of(telling, known) | (pairs_in(simple) - common_pairs())


@cache
def common_words(languages: Languages) -> frozenset[str]:
    """Return the function words of a text's languages, without accents."""
    return plain_words(languages.latin) | plain_words(languages.cyrillic)


@cache
def plain_words(language: str) -> frozenset[str]:
    """Return the function words of a language, without accents."""
    return frozenset(map(plain, FUNCTION_WORDS.get(language, ())))


@cache
def common_pairs() -> frozenset[str]:
    """Return the pairs of characters that say little."""
    return frozenset(pair for phrase in COMMON_PHRASES for pair in pairs_in(spelled(phrase)))


def spelled(text: str) -> str:
    """Return a text in small letters, with one spelling of what is written in several ways."""
    if text.isascii():
        return text.lower()
    # Fold case last: mathematical letters become capitals only after decomposition.
    simple = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    simple = LEFT_OUT.sub("", simple).translate(alike())
    return NASAL.sub("ं", simple) if VIRAMA in simple else simple


@cache
def alike() -> dict[int, int]:
    """Return one of the letters that people write for each other, by the others.

    Traditional Chinese characters become simplified ones; `tests/han.py` writes the file.
    """
    data = pkgutil.get_data("contextwright", "data/han.txt") or b""
    traditional, simplified = data.decode().splitlines()
    return str.maketrans(LETTERS_ALIKE[0] + traditional, LETTERS_ALIKE[1] + simplified)


def words_in(simple: str) -> set[str]:
    """Return the words of a text that is spelled in one way."""
    if simple.isascii() or not re.search(SPECIAL, simple):
        return set(PLAIN_WORD.findall(simple))
    return set(WORD.findall(simple))


def written_in(text: str) -> Written:
    """Return the words of a text."""
    simple, prose = spelled(text), without_code(text)
    if text.isascii() and prose is text:  # the common case: split once
        words = words_in(text)
        small = set(map(str.lower, words))
        joined = {word for word in words if "_" in word} if "_" in text else set[str]()
        return Written(simple, small, (words - small) | joined)
    if not prose.isascii():
        prose = LEFT_OUT.sub("", unicodedata.normalize("NFKC", prose))
    marked = {word for word in words_in(prose) if "_" in word or not word.islower()}
    return Written(simple, words_in(simple), marked)


def parts_in(marked: Set[str]) -> set[str]:
    """Return the words inside identifiers, in small letters."""
    return {spelled(part) for part in parts_of(marked)}


def names_in(marked: Set[str], languages: Languages) -> set[str]:
    """Return the words that may be names, in small letters: no function words."""
    names = {spelled(word) for word in marked if is_said_as_name(word)}
    return names - common_words(languages) - {""}


def pairs_in(simple: str) -> Set[str]:
    """Return the pairs of characters in scripts without spaces."""
    if simple.isascii() or not RUN.search(simple):
        return frozenset()
    return {
        run[place : place + 2]
        for run in RUN.findall(simple)
        for place in range(max(len(run) - 1, 1))
    }


def stems_of(words: set[str], languages: Languages) -> set[str]:
    """Return the stems of words."""
    if languages.is_latin:  # the common case
        return set(map(stemmer(languages.latin), words))
    return {stemmer(languages.of(word))(word) for word in words}


def plain(text: str) -> str:
    """Return a text without case and accents."""
    if text.isascii():
        return text.lower()
    # Fold case last: mathematical letters become capitals only after decomposition.
    simple = ACCENT.sub("", unicodedata.normalize("NFKD", text)).casefold()
    return folded(unicodedata.normalize("NFKD", simple))
