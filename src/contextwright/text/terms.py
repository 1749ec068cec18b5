"""Terms: the normalised words that search compares, in any script.

Terms are computed here and stored, not by the database, so that all engines find the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["keywords", "plain", "terms_of"]

LONGEST = 40
"""Maximum characters of a term."""

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
SPECIAL = re.compile(f"[{UNSPACED}{VOWELLED}]")
ACCENT = re.compile("[\u0300-\u036f]+")

# English suffixes, the longest first, and what replaces each.
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
VOWELS = frozenset("aeiouy")

# Function words: nobody searches for them, and every message has some.
COMMON_WORDS = """
a about after again all am an and any are aren as at be because been before being but by can could d
did didn do does doesn doing don done for from had has have having he her here hers him his how i if
in into is isn it its just ll m may me might mine more most must my no not of on only or other our
ours over own re s same shall she should so some such t than that the their theirs them then there
these they this those to too us ve very was wasn we were what when where which who whom whose why
will with won would yes you your yours
а аби або адже але б без би бо був була були було бути в вам вас ваш вже ви від він вона вони воно
все всі де для до є же з за зі й його її їх і із їй їм коли кого кому ким куди ми мене мені мій моя
моє мої на навіщо нам нас наш не ні під по про при та так такий там те ти тим то тобі той тому тут
у хто це цей ці чи чий чия чого чому що щоб я як яка який які якого яку
"""


def terms_of(text: str) -> set[str]:
    """Return the terms of a text.

    Words lose accents and, if long, the endings that inflection changes. Scripts without spaces
    give pairs of characters.
    """
    if text.isascii():
        return {stem(word) for word in set(PLAIN_WORD.findall(text.lower()))}
    simple = plain(text)
    if not SPECIAL.search(simple):
        return {stem(word) for word in set(PLAIN_WORD.findall(simple))}
    terms = {stem(word) for word in set(WORD.findall(simple))}
    for run in RUN.findall(simple):
        terms.update(run[place : place + 2] for place in range(max(len(run) - 1, 1)))
    return terms


def plain(text: str) -> str:
    """Return a text without case and accents."""
    # Fold case last: mathematical letters become capitals only after decomposition.
    simple = ACCENT.sub("", unicodedata.normalize("NFKD", text)).casefold()
    return unicodedata.normalize("NFC", ACCENT.sub("", unicodedata.normalize("NFKD", simple)))


@lru_cache(32_768)  # people mostly use the same words
def stem(word: str) -> str:
    """Return a word without its ending, if it is long enough; numbers have none."""
    length = len(word)
    if length <= 3 or length > LONGEST or not word.isalpha():
        return word[:LONGEST]
    if word.isascii():
        return english_stem(word)
    return word[: -1 - (length > 6)]


def english_stem(word: str) -> str:
    """Return a word without English suffixes: `paintings`, `painted` and `paint` are one."""
    for ending, instead in ENDINGS:
        if word.endswith(ending):
            if ending == "s" and word.endswith(("ss", "us", "is")):
                break
            base = word[: -len(ending)] + instead
            if len(base) >= 3 and not VOWELS.isdisjoint(base):
                word = base
                break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1] + ("i" if word[-1] == "y" else "")
    return word


COMMON = frozenset(term for word in COMMON_WORDS.split() for term in terms_of(word))


def keywords(text: str) -> set[str]:
    """Return the significant terms of a question; all of them if none is significant."""
    terms = terms_of(text)
    return terms - COMMON or terms
