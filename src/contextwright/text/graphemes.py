"""Cutting text where a reader would: never through the middle of what they see as one letter."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["cut", "end_from"]

LOOK_BACK = 128
"""Maximum characters before the cut in which a safe start is looked for."""

FLAG = r"[\U0001F1E6-\U0001F1FF]{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*"
"""A flag: two regional indicators. `\\X` alone would count back to the first of the row at each."""


def cut(text: str, longest: int) -> str:
    """The beginning of a text, at most `longest` code points, ending between two graphemes."""
    if len(text) <= longest:
        return text
    start = safe_start(text, longest)
    end = start
    for grapheme in graphemes().finditer(text, start):
        if grapheme.end() > longest:
            break
        end = grapheme.end()
    return text[:end]


def end_from(text: str, place: int) -> str:
    """The end of a text from the first grapheme on that begins at or behind a place."""
    start = safe_start(text, min(place, len(text) - 1))
    for grapheme in graphemes().finditer(text, start):
        if grapheme.start() >= place:
            return text[grapheme.start() :]
    return ""


@cache
def graphemes() -> Any:
    """The pattern of one grapheme; `regex` is loaded by the first text that needs cutting."""
    import regex

    return regex.compile(rf"(?P<flag>{FLAG})|\X")


def safe_start(text: str, before: int) -> int:
    """A place near the cut where a grapheme surely begins: an ASCII sign behind another."""
    for place in range(before, max(before - LOOK_BACK, 0), -1):
        pair = text[place - 1 : place + 1]
        if pair.isascii() and pair != "\r\n":
            return place
    return 0
