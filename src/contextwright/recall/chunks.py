"""Long texts in pieces, each with a vector of its own: the mean of a whole page says nothing."""

from __future__ import annotations

import re

__all__ = ["chunks_of"]

CHUNK = 1_200
"""Characters of a piece: about 200 words."""

MOST = 16
"""Pieces of a text. A longer one has longer pieces, never fewer of its words."""

WORD = re.compile(r"\w")
ENDS = ("\n\n", "\n", ". ", "? ", "! ", "。", "？", "！", "… ", "; ", ", ", " ")
"""Where a piece had better end, the best first."""


def chunks_of(text: str) -> list[str]:
    """The pieces of a text, in order, which together are the text; none if it holds no word."""
    if not WORD.search(text):
        return []
    count = min(-(-len(text) // CHUNK), MOST)
    chunks: list[str] = []
    start = 0
    for left in range(count, 1, -1):
        end = start + -(-(len(text) - start) // left)  # what is left, evenly
        end = cut_near(text, end, (end - start) // 4)
        chunks.append(text[start:end])
        start = end
    chunks.append(text[start:])
    return [chunk for chunk in chunks if WORD.search(chunk)]


def cut_near(text: str, end: int, reach: int) -> int:
    """The end of a line, a sentence or a word shortly before a place; else the place itself."""
    for sign in ENDS:
        found = text.rfind(sign, end - reach, end)
        if found >= 0:
            return found + len(sign)
    return end
