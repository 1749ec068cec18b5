"""Long texts in pieces, each with its own vector, because the mean of a whole page says nothing."""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = ["chunks_of"]

CHUNK = 1_200
"""Characters of a piece: about 200 words."""

MOST = 16
"""Pieces of a text. A longer one has longer pieces, never fewer of its words."""

WORD = re.compile(r"\w")
ENDS = ("\n\n", "\n", ". ", "? ", "! ", "。", "？", "！", "… ", "; ", ", ", " ")
"""Preferred ends of a piece, best first."""


def chunks_of(text: str) -> list[str]:
    """The pieces of a text, in order: all of it but for pieces without a single word."""
    if not WORD.search(text):
        return []
    count = min(-(-len(text) // CHUNK), MOST)
    step = len(text) / count
    ends = [cut_near(text, int(step * place), int(step / 4)) for place in range(1, count)]
    cuts = pairwise([0, *ends, len(text)])
    return [text[start:end] for start, end in cuts if WORD.search(text, start, end)]


def cut_near(text: str, end: int, reach: int) -> int:
    """The end of a line, a sentence or a word shortly before a place; else the place itself."""
    for sign in ENDS:
        found = text.rfind(sign, end - reach, end)
        if found >= 0:
            return found + len(sign)
    return end
