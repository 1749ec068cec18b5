"""Sentences: the words of a question, and what its words say about their neighbours."""

from __future__ import annotations

from datetime import datetime

from contextwright.recall.dates.spans import SAID, DateMention, Span, unit_start
from contextwright.recall.dates.words import ENGLISH, JOINTS, Word, words_of

__all__ = ["BEHIND", "DAYS", "MONTHS", "WEEKS", "YEARS", "Sentence", "unit_of"]

DAYS, WEEKS, MONTHS, YEARS = 0, 1, 2, 3
"""The units, as the table of words numbers them."""
COMPANY = (
    *("in", "of", "between", "from", "since", "before", "after", "until", "upto", "last"),
    *("gone", "before_or_ago", "since_or_ago"),
)
"""After one of these, a doubtful word is a time."""
BEHIND = ("at", "gone", "earlier", "later", "onward")
"""Before one of these, a word is a time."""
BETWEEN = ("of", "whose", "in", "the")
"""Words between "every year" and the date that it repeats."""


class Sentence:
    """The words of a question, the day it is asked, and the dates found so far."""

    def __init__(self, text: str, today: datetime | None, language: str = ENGLISH) -> None:
        self.text = text
        """The question, folded."""
        self.words, self.starts = words_of(text, language)
        self.today = today
        self.found: list[DateMention] = []

    def kind(self, place: int) -> str:
        """Return the kind of a word; empty beyond the ends."""
        return self.words[place].kind if 0 <= place < len(self.words) else ""

    def quote(self, first: int, after: int) -> str:
        """Return the words from one index to another, as they were written."""
        end = self.starts[after - 1] + len(self.words[after - 1].text)
        return " ".join(self.text[self.starts[first] : end].split())

    def company(self, place: int) -> bool:
        """Whether the words before make this a time: "in may", "in june and may"."""
        place -= self.kind(place - 1) == "the"
        kind = self.kind(place - 1)
        listed = bool(self.found) and self.found[-1].after == place - 1
        return kind in COMPANY or (listed and kind in JOINTS)

    def led(self, first: int, after: int) -> bool:
        """Whether the words around a date make it one: "in", a word behind it, "month of"."""
        before = self.words[first - 1] if first else Word("")
        around = before.kind == "this" or self.kind(after) in BEHIND
        return around or before.kind == "unit" or self.company(first)

    def repeated(self, first: int, unit: int) -> bool:
        """Whether a date comes again: "every Monday", 毎週月曜日, "every year in May".

        It comes again in each unit, or in each longer one: "every day in May" is in one May.
        """
        while self.kind(first - 1) in BETWEEN:
            first -= 1
        before = self.words[first - 1] if first else Word("")
        if before.kind in ("unit", "units", "annum") and unit_of(before) >= unit:
            first -= 1
        return self.kind(first - 1) == "every"

    def closed(self, place: int) -> bool:
        """Whether no noun follows: "the 7th" may be a floor, "in 2000" a number of words."""
        return self.kind(place) != "other word" or not self.words[place].text.isalpha()

    def counted(
        self, unit: int, most: int, least: int, certainty: float = SAID
    ) -> DateMention | None:
        """Return the span between two numbers of units ago; None without a today."""
        if self.today is None:
            return None
        start, end = (unit_start(unit, self.today, back) for back in (most, least - 1))
        return DateMention(span=Span(start, end, certainty))


def unit_of(word: Word) -> int:
    """Return days, weeks, months or years; 日 is a day as well as an ending."""
    return YEARS if word.kind == "annum" else word.value  # of an ending it is 0
