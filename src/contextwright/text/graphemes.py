"""Cutting text between graphemes: never in the middle of what readers see as one letter."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["cut", "end_from"]

LOOK_BACK = 128
"""Maximum characters before the cut in which to look for a safe start."""

FLAG = r"[\U0001F1E6-\U0001F1FF]{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*"
r"""A flag: two regional indicators. `\X` alone would rescan the whole row for each of them."""


def cut(text: str, longest: int) -> str:
    """Return the start of a text, at most `longest` code points, ending between two graphemes."""
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
    """Return the end of a text from the first grapheme that begins at or after `place`."""
    start = safe_start(text, min(place, len(text) - 1))
    for grapheme in graphemes().finditer(text, start):
        if grapheme.start() >= place:
            return text[grapheme.start() :]
    return ""


@cache
def graphemes() -> Any:
    """Return the pattern of one grapheme; imports `regex` on first use."""
    import regex

    return regex.compile(rf"(?P<flag>{FLAG})|\X")


def safe_start(text: str, before: int) -> int:
    """Return a position near the cut where a grapheme certainly begins: between two ASCII signs."""
    for place in range(before, max(before - LOOK_BACK, 0), -1):
        pair = text[place - 1 : place + 1]
        if pair.isascii() and pair != "\r\n":
            return place
    return 0
