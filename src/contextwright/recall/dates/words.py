"""The words for time, and the patterns they form; `data/dates.toml` lists them.

Each word of a question has a kind, each kind a letter: the question becomes a row of letters, and a
possible date is one pattern over it. A step of a rule may be optional but never repeated, so
reading takes linear time.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec import Struct

__all__ = ["JOINTS", "Word", "folded", "next_date", "row_of", "words_of"]

JOINTS = ("to", "upto", "until", "and", "-")
"""Words between the two ends of a range."""
RULES = (
    ("figures", "year -|/|. day -|/|. day"),
    ("figures", "day -|/|. day -|/|. year|day"),
    ("named", "WEEKDAY? day -? suffix? JOINT day -? suffix? of? month OF_YEAR?"),
    ("named", "WEEKDAY? month day -? suffix? JOINT day -? suffix? OF_YEAR?"),
    ("named", "WEEKDAY? day|ordinal -? suffix? of? month OF_YEAR?"),
    ("named", "WEEKDAY? month the? day|ordinal -? suffix? OF_YEAR?"),
    ("named", "YEAR? annum? day moon day suffix"),
    ("named", "YEAR? annum? month day|number suffix"),
    ("named", "YEAR? annum? day moon"),
    ("named", "month|season ,|of|in? the? YEAR"),
    ("named", "YEAR unit|annum? of? in? month|season"),
    ("named", "month|season"),
    ("ago", "number? number|few|day|count of? unit|units|annum ago"),
    ("ago", "unit|units ago"),
    ("past", "last number|few|day|count of? unit|units|annum"),
    ("calendar", "last|this unit NOT_OF"),
    ("calendar", "unit before last|relative"),
    ("part", "relative in? the? part"),
    ("part", "last|this part"),
    ("calendar", "relative"),
    ("weekday", "weekday"),
    ("year", "year|years unit|annum?"),
    ("monthday", "in the? day -? suffix"),
    ("monthday", "day -? suffix? dated"),
    ("lately", "the other unit"),
    ("lately", "lately"),
)
"""The readers, and their kinds in order; at each position the first that matches is used."""

FIRST_YEAR, LAST_YEAR = 1900, 2100
"""Four digits outside this range are a number of something."""
MARKS = ",./–—~-"
HAN = "\u3005-\u3007\u3400-\u9fff"
UNSEEN = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069"
"""Invisible characters that join, break or turn text."""


class Word(NamedTuple):
    """A word of a question, and its possible kind."""

    text: str
    kind: str = "other word"
    value: int = 0
    doubtful: int = 0
    """1: also a name ("june"), 2: also a verb ("may"), so a time only next to certain words."""


class Lexicon(Struct, frozen=True):
    """The table of words, and the patterns to split a text by it."""

    words: dict[str, Word]
    letters: dict[str, str]
    pieces: re.Pattern[str]
    rules: re.Pattern[str]


@cache
def lexicon() -> Lexicon:
    """Return the shipped words and the rules over them; read once, at the first question."""
    text = pkgutil.get_data("contextwright", "data/dates.toml") or b""
    table = msgspec.toml.decode(text, type=dict[str, list[str]])
    words = {
        word.lstrip("?"): Word(word.lstrip("?"), kind, value, word.count("?"))
        for kind, rows in table.items()
        for value, row in enumerate(rows)
        for word in row.split()
    }
    kinds = [*table, "day", "count", "year", "other word", *",./-"]
    letters = {kind: chr(ord("\u0100") + place) for place, kind in enumerate(kinds)}
    # A script without spaces is split by the known words, the longest first.
    unspaced = sorted((word for word in words if word > "\u3000"), key=len, reverse=True)
    pieces = rf"\d+|{'|'.join(unspaced)}|[{HAN}]|[^\W\d_{HAN}]+|[{MARKS}]|[^\w\s{UNSEEN}{MARKS}]+"
    rules = "|".join(
        f"(?P<{reader}_{place}>{pattern_of(rule, letters)})"
        for place, (reader, rule) in enumerate(RULES)
    )
    return Lexicon(words, letters, re.compile(pieces), re.compile(rules))


def pattern_of(rule: str, letters: dict[str, str]) -> str:
    """Return a rule as a pattern over letters."""

    def one_of(kinds: Iterable[str]) -> str:
        return f"[{''.join(letters[kind] for kind in kinds)}]"

    year = f"(?:{one_of(('year', 'years'))}|{one_of(('last', 'this'))}{one_of(('unit',))})"
    named = {
        "JOINT": one_of(JOINTS),
        "WEEKDAY": f"(?:{one_of(('weekday',))}{one_of(',')}?)",
        "YEAR": year,
        "OF_YEAR": f"(?:{one_of((',', '-', 'of'))}?{year})",
        "NOT_OF": f"(?!{one_of(('of',))})",
    }
    steps = [(step.removesuffix("?"), "?" * step.endswith("?")) for step in rule.split()]
    return "".join((named.get(step) or one_of(step.split("|"))) + mark for step, mark in steps)


def folded(question: str) -> str:
    """Return a question in the spelling of the table."""
    text = question.casefold()
    for apostrophe in "'’ʼ":  # п'ятниця, дев'ять
        text = text.replace(f"п{apostrophe}я", "пя").replace(f"в{apostrophe}я", "вя")
    return text


def words_of(text: str) -> tuple[list[Word], list[int]]:
    """Return the words, figures and marks of a folded text with their kinds, and their offsets."""
    table = lexicon()
    pieces = [(piece[0], piece.start()) for piece in table.pieces.finditer(text)]
    words = [table.words.get(piece) or figure(piece) for piece, _ in pieces]
    return words, [start for _, start in pieces]


def figure(piece: str) -> Word:
    """Classify a number by its size, a mark as itself, and any other word."""
    if piece in MARKS:
        return Word(piece, piece if piece in ",./-" else "-")
    if not piece.isdecimal() or len(piece) > 4:
        return Word(piece)
    value = int(piece)
    if len(piece) == 4:
        return Word(piece, "year", value) if FIRST_YEAR <= value <= LAST_YEAR else Word(piece)
    kind = "day" if len(piece) < 3 and 1 <= value <= 31 else "count"
    return Word(piece, kind, value)


def row_of(words: list[Word]) -> str:
    """Return the kinds of the words, a letter each."""
    letters = lexicon().letters
    return "".join([letters[word.kind] for word in words])


def next_date(row: str, place: int) -> tuple[str, int, int] | None:
    """Return the next possible date: its reader, where it begins and where it ends."""
    found = lexicon().rules.search(row, place)
    if found is None or found.lastgroup is None:
        return None
    return found.lastgroup.rpartition("_")[0], found.start(), found.end()
