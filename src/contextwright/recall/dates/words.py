"""Split questions into words of known kinds, and find possible dates by rules over the kinds.

`data/dates.toml` lists the words. Each kind has a letter, so a question becomes a row of letters,
and the rules one regular expression over it. A step of a rule may be optional but is never
repeated, so matching takes linear time.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.text.languages import FUNCTION_WORDS, LATIN
from contextwright.text.terms import VOWELLED, languages_of, spelled

__all__ = [
    "ENGLISH",
    "JOINTS",
    "UNSPACED",
    "Word",
    "folded",
    "languages_in",
    "next_date",
    "row_of",
    "words_of",
]

JOINTS = ("to", "upto", "until", "and", "-")
"""Words between the two ends of a range."""
RULES = (
    ("figures", "year -|/|. day -|/|. day"),
    ("figures", "day -|/|. day -|/|. year|day"),
    ("figures_of_month", "year - day"),
    ("figures_of_month", "day / year"),
    ("named", "WEEKDAY? day -? suffix? JOINT day -? suffix? of? month OF_YEAR?"),
    ("named", "WEEKDAY? month day -? suffix? JOINT day -? suffix? OF_YEAR?"),
    ("named", "WEEKDAY? day|ordinal -? suffix? of? month OF_YEAR?"),
    ("named", "WEEKDAY? month the? day|ordinal -? suffix? OF_YEAR?"),
    ("named", "YEAR? annum? day moon day suffix"),
    ("named", "YEAR? annum? month day|number suffix"),
    ("named", "YEAR? annum? day moon"),
    ("named", "month|season gone"),
    ("named", "gone month|season"),
    ("named", "month|season ,|of|in? the? YEAR"),
    ("named", "YEAR unit|annum? of|whose|at? in? month|season"),
    ("named", "month|season"),
    ("ago", "number? number|few|day|count of? unit|units|annum ago"),
    ("ago", "unit|units|half|pair ago"),
    ("ago", "number|few|day|count suffix ago"),
    ("back", "BACK number? number|few|day|count of? unit|units"),
    ("back", "BACK unit|pair|half"),
    ("past", "last number|few|day|count of? unit|units|annum"),
    ("past", "number|few|day|count LAST unit|units"),
    ("past", "number|few|day|count unit|units gone"),
    ("within", "WEEK of|whose|in? weekday"),
    ("within", "weekday of|in? the? WEEK"),
    ("calendar", "last|this unit NOT_OF"),
    ("calendar", "unit gone"),
    ("calendar", "gone unit"),
    ("calendar", "penultimate unit"),
    ("calendar", "unit penultimate"),
    ("calendar", "unit before_or_ago gone"),
    ("calendar", "current|previous|older"),
    ("calendar", "unit before last|relative"),
    ("part", "relative in|of|whose? the? part"),
    ("part", "last|this part"),
    ("part", "part gone"),
    ("part", "overnight"),
    ("calendar", "relative"),
    ("weekday", "weekday"),
    ("weekend", "weekend"),
    ("year", "year|years unit|annum?"),
    ("monthday", "in the? day -? suffix"),
    ("monthday", "day -? suffix? dated"),
    ("lately", "the other unit"),
    ("lately", "lately"),
)
"""For each rule its reader, and the kinds of its words. At each word the first match is used."""

FIRST_YEAR, LAST_YEAR = 1900, 2100
"""Four digits outside this range are not a year."""
PUNCTUATION = ",./–—~-"
HAN = "\u3005-\u3007\u3041-\u30ff\u3400-\u9fff"
"""Scripts without spaces: Han and kana."""
UNSPACED = "\u3000"
"""Words in these scripts compare greater than this character."""
DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
HAN_YEAR = "[〇零一二三四五六七八九]{4}(?=年)"
"""A year in Chinese digits: 二〇二三年."""
ENGLISH = "english"
INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069"
"""Invisible characters that join, break or change the direction of text."""


SHARED = ("russian", "arabic", "hindi")
"""Languages of other scripts whose function words are known, besides those of the table."""
ONE_WORD = re.compile(f"(?:\\w|[{VOWELLED}])+")
ENGLISH_ONLY = FUNCTION_WORDS[ENGLISH].difference(
    *(words for name, words in FUNCTION_WORDS.items() if name != ENGLISH)
)
"""Function words of English that no other language has."""


class Word(NamedTuple):
    """A word of a question with its kind."""

    text: str
    kind: str = "other word"
    value: int = 0
    doubtful: int = 0
    """1 if it is also a name ("june"), 2 if also a verb ("may"). Then it is a date only next to
    certain words."""


Table: TypeAlias = dict[str, list[str]]
"""For each kind, its words, a string for each value."""


class Tables(NamedTuple):
    """The words of the package: those of English and of scripts that show their language, and those
    of other languages."""

    shared: Table
    languages: dict[str, Table]


class Grammar(Struct, frozen=True):
    """A letter for each kind of word, and the rules over them as one regular expression."""

    letters: dict[str, str]
    rules: re.Pattern[str]


@cache
def tables() -> Tables:
    """Return the words of the package."""
    text = pkgutil.get_data("contextwright", "data/dates.toml") or b""
    found = msgspec.toml.decode(text, type=dict[str, list[str] | dict[str, list[str]]])
    shared = {kind: rows for kind, rows in found.items() if isinstance(rows, list)}
    return Tables(shared, {key: one for key, one in found.items() if isinstance(one, dict)})


@cache
def grammar() -> Grammar:
    """Return the letters of kinds, and the compiled rules."""
    kinds = [*tables().shared, "day", "count", "year", "other word", *",./-"]
    letters = {kind: chr(ord("\u0100") + place) for place, kind in enumerate(kinds)}
    rules = "|".join(
        f"(?P<{reader}_{place}>{pattern_of(rule, letters)})"
        for place, (reader, rule) in enumerate(RULES)
    )
    return Grammar(letters, re.compile(rules))


@cache
def lexicon(language: str = ENGLISH) -> dict[str, Word]:
    """Return the words of a language, with those of all other scripts, but without English."""
    words, small = shared_words()
    if language == ENGLISH:
        return small | words
    foreign = {word: known for word, known in words.items() if word > "\u024f"}
    own = words_of_table(tables().languages[language])
    return small | plain_words(language) | foreign | own


@cache
def shared_words() -> tuple[dict[str, Word], dict[str, Word]]:
    """Return the words of English and of other scripts, and function words of other scripts."""
    small: dict[str, Word] = {}
    for name in SHARED:
        small |= plain_words(name)
    return words_of_table(tables().shared), small


def plain_words(language: str) -> dict[str, Word]:
    """Return the function words of a language."""
    return {word: Word(word, "plain") for word in map(folded, FUNCTION_WORDS[language])}


@cache
def splitter(language: str, is_unspaced: bool) -> re.Pattern[str]:
    """Return the pattern that splits a text into words, numbers and punctuation.

    Phrases, and text in a script without spaces, are split by known words, the longest first.

    Args:
        is_unspaced: whether the text has such a script. The pattern is smaller without, because
            its words take milliseconds to compile.
    """
    longest = sorted(lexicon(language), key=len, reverse=True)
    known = [phrase_pattern(word) for word in longest if not ONE_WORD.fullmatch(word)]
    letters = r"[^\W\d_]"
    if is_unspaced:
        known += [HAN_YEAR, *(word for word in longest if word > UNSPACED), f"[{HAN}]"]
        letters = rf"[^\W\d_{HAN}]"
    known += [r"\d+", rf"(?:{letters}|[{VOWELLED}])+", rf"[{PUNCTUATION}]"]
    return re.compile("|".join([*known, rf"[^\w\s{INVISIBLE}{PUNCTUATION}]+"]))


def words_of_table(table: Table) -> dict[str, Word]:
    """Return the words of a table, folded, by their text."""
    return {
        (text := folded(word.lstrip("?").replace("_", " "))): Word(
            text, kind, value, word.count("?")
        )
        for kind, rows in table.items()
        for value, row in enumerate(rows)
        for word in row.split()
    }


def phrase_pattern(phrase: str) -> str:
    """Return the pattern of a phrase, or of a word with punctuation in it."""
    words = r"\s+".join(map(re.escape, phrase.split(" ")))
    before = r"(?<!\w)" if ONE_WORD.match(phrase) else ""
    after = rf"(?![\w{VOWELLED}])" if ONE_WORD.match(phrase[-1]) else ""
    return before + words + after


def pattern_of(rule: str, letters: dict[str, str]) -> str:
    """Return a rule as a pattern over letters."""

    def one_of(kinds: Iterable[str]) -> str:
        return f"[{''.join(letters[kind] for kind in kinds)}]"

    unit = one_of(("unit",))
    relative = (
        f"{one_of(('last', 'this', 'penultimate'))}{unit}|{unit}{one_of(('gone', 'penultimate'))}"
    )
    year = f"(?:{one_of(('year', 'years'))}|{relative})"
    named = {
        "BACK": one_of(("back", "before_or_ago", "since_or_ago")),
        "LAST": one_of(("last", "gone")),
        "WEEK": f"(?:{one_of(('current', 'previous', 'older'))}|{relative})",
        "JOINT": one_of(JOINTS),
        "WEEKDAY": f"(?:{one_of(('weekday',))}{one_of(',')}?)",
        "YEAR": year,
        "OF_YEAR": f"(?:{one_of((',', '-', 'of'))}?{year})",
        "NOT_OF": f"(?!{one_of(('of',))})",
    }
    steps = [(step.removesuffix("?"), "?" * step.endswith("?")) for step in rule.split()]
    return "".join((named.get(step) or one_of(step.split("|"))) + mark for step, mark in steps)


def folded(question: str) -> str:
    """Return a question spelled like the table: like terms, with the ASCII apostrophe."""
    return spelled(question).replace("\u2019", "'")


def languages_in(question: str) -> Sequence[str]:
    """Return the languages that a question may be in, likeliest first.

    A few words may not show their language, so the first in which they name a date is used.
    """
    others = tables().languages
    words = set(re.findall(r"\w+", question.lower()))
    detected = languages_of(question).latin
    if detected == ENGLISH and not ENGLISH_ONLY.isdisjoint(words):
        return (ENGLISH,)
    counts = {
        name: 2 * len(words & FUNCTION_WORDS[name]) + len(words & time_words(name))
        for name in LATIN
        if name != ENGLISH
    }
    most = max(counts.values())
    likely = [name for name in others if counts[name] == most]
    if most <= 2:
        likely = likely if most and likely else [*others]
    return (ENGLISH, *likely) if detected == ENGLISH else (*likely, ENGLISH)


@cache
def time_words(language: str) -> frozenset[str]:
    """Return the words of a language that speak of time and are not function words."""
    table = words_of_table(tables().languages.get(language, {}))
    times = {text for text, word in table.items() if not word.doubtful}
    return frozenset(times - FUNCTION_WORDS[language])


def words_of(text: str, language: str = ENGLISH) -> tuple[list[Word], list[int]]:
    """Return the words, numbers and punctuation of a folded text, and their offsets."""
    table = lexicon(language)
    pieces = splitter(language, max(text, default="") > UNSPACED)
    found = [(piece[0], piece.start()) for piece in pieces.finditer(text)]
    words = [
        (table.get(piece) or table.get(" ".join(piece.split())) or figure(piece))
        for piece, _ in found
    ]
    return [known._replace(text=text) for known, (text, _) in zip(words, found, strict=True)], [
        start for _, start in found
    ]


def figure(piece: str) -> Word:
    """Return a number, punctuation or an unknown word with its kind."""
    if piece in PUNCTUATION:
        return Word(piece, piece if piece in ",./-" else "-")
    digits = piece.translate(DIGITS)
    if not digits.isdecimal() or len(piece) > 4:
        return Word(piece)
    value = int(digits)
    if len(piece) == 4:
        return Word(piece, "year", value) if FIRST_YEAR <= value <= LAST_YEAR else Word(piece)
    kind = "day" if len(piece) < 3 and 1 <= value <= 31 else "count"
    return Word(piece, kind, value)


def row_of(words: list[Word]) -> str:
    """Return the kinds of words as letters, one for each."""
    letters = grammar().letters
    return "".join([letters[word.kind] for word in words])


def next_date(row: str, place: int) -> tuple[str, int, int] | None:
    """Return the next possible date from an index: its reader, its start and its end."""
    found = grammar().rules.search(row, place)
    if found is None or found.lastgroup is None:
        return None
    return found.lastgroup.rpartition("_")[0], found.start(), found.end()
