"""Cutting text where a reader would: never through the middle of what they see as one letter."""

from __future__ import annotations

__all__ = ["cut", "end_from"]

LOOK_BACK = 128
"""How far before the cut a safe place to start reading is looked for."""


def cut(text: str, longest: int) -> str:
    """The beginning of a text, at most `longest` code points, ending between two graphemes."""
    if len(text) <= longest:
        return text
    import regex  # loaded by the first text that needs cutting

    start = safe_start(text, longest)
    end = start
    for grapheme in regex.compile(r"\X").finditer(text, start):
        if grapheme.end() > longest:
            break
        end = grapheme.end()
    return text[:end]


def end_from(text: str, place: int) -> str:
    """The end of a text from the first grapheme on that begins at or behind a place."""
    import regex

    for grapheme in regex.compile(r"\X").finditer(
        text, safe_start(text, min(place, len(text) - 1))
    ):
        if grapheme.start() >= place:
            return text[grapheme.start() :]
    return ""


def safe_start(text: str, before: int) -> int:
    """A place near the cut where a grapheme surely begins: an ASCII sign behind another."""
    for place in range(before, max(before - LOOK_BACK, 0), -1):
        pair = text[place - 1 : place + 1]
        if pair.isascii() and pair != "\r\n":
            return place
    return 0
