"""The words of a question, and what they tell about the words next to them."""

from __future__ import annotations

from datetime import datetime

from contextwright.recall.dates.spans import CERTAIN, DateMention, Span, unit_start
from contextwright.recall.dates.words import ENGLISH, JOINTS, Word, words_of

__all__ = ["TIME_WORDS_AFTER", "DAYS", "MONTHS", "WEEKS", "YEARS", "Sentence", "unit_of"]

DAYS, WEEKS, MONTHS, YEARS = 0, 1, 2, 3
"""The units, as `data/dates.toml` numbers them."""
TIME_WORDS_BEFORE = (
    *("in", "of", "between", "from", "since", "before", "after", "until", "upto", "last"),
    *("gone", "penultimate", "before_or_ago", "since_or_ago"),
)
"""Kinds of words after which a doubtful word is a date."""
TIME_WORDS_AFTER = ("at", "gone", "earlier", "later", "onward")
"""Kinds of words before which a word is a date."""
RECURRENCE_LINKS = ("of", "whose", "in", "the")
"""Kinds of words that may stand between "every year" and a date."""


class Sentence:
    """The words of a question, the day it is asked, and the dates found so far."""

    def __init__(self, text: str, today: datetime | None, language: str = ENGLISH) -> None:
        self.text = text
        """The question, folded; see `words.folded`."""
        self.words, self.starts = words_of(text, language)
        self.today = today
        self.mentions: list[DateMention] = []

    def kind(self, place: int) -> str:
        """Return the kind of the word at an index; empty outside the sentence."""
        return self.words[place].kind if 0 <= place < len(self.words) else ""

    def quote(self, first: int, after: int) -> str:
        """Return the words from one index to another, as they were written."""
        end = self.starts[after - 1] + len(self.words[after - 1].text)
        return " ".join(self.text[self.starts[first] : end].split())

    def follows_time_word(self, place: int) -> bool:
        """Whether the words before a word show that it is a date: "in may", "in june and may"."""
        place -= self.kind(place - 1) == "the"
        kind = self.kind(place - 1)
        listed = bool(self.mentions) and self.mentions[-1].after == place - 1
        return kind in TIME_WORDS_BEFORE or (listed and kind in JOINTS)

    def has_time_context(self, first: int, after: int) -> bool:
        """Whether the words around a date confirm it: "in", "month of", or a word after it."""
        before = self.words[first - 1] if first else Word("")
        around = before.kind == "this" or self.kind(after) in TIME_WORDS_AFTER
        return around or before.kind == "unit" or self.follows_time_word(first)

    def is_recurring(self, first: int, unit: int) -> bool:
        """Whether a date recurs: "every Monday", 毎週月曜日, "every year in May".

        Args:
            unit: the unit of the date. "Every" has to be of this unit or a longer one: "every day
                in May" is about one May.
        """
        while self.kind(first - 1) in RECURRENCE_LINKS:
            first -= 1
        before = self.words[first - 1] if first else Word("")
        if before.kind in ("unit", "units", "annum") and unit_of(before) >= unit:
            first -= 1
        return self.kind(first - 1) == "every"

    def has_no_noun_at(self, place: int) -> bool:
        """Whether there is no noun at an index, such as in "the 7th floor" or "in 2000 words"."""
        return self.kind(place) != "other word" or not self.words[place].text.isalpha()

    def units_ago(
        self, unit: int, most: int, least: int, certainty: float = CERTAIN
    ) -> DateMention | None:
        """Return the span from `most` to `least` units ago; None if today is unknown."""
        if self.today is None:
            return None
        start, end = (unit_start(unit, self.today, back) for back in (most, least - 1))
        return DateMention(span=Span(start, end, certainty))


def unit_of(word: Word) -> int:
    """Return the unit of a word. Endings such as 日 have the value 0, which is days."""
    return YEARS if word.kind == "annum" else word.value
