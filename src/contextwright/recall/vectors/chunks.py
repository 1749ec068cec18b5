"""Long texts in chunks, each with its own vector, because the mean of a whole page says little."""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = ["chunks_of"]

CHUNK = 1_200
"""Characters of a chunk: about 200 words."""

MOST = 16
"""Maximum chunks of a text. A longer text has longer chunks; none of it is dropped."""

WORD = re.compile(r"\w")
ENDS = ("\n\n", "\n", ". ", "? ", "! ", "。", "？", "！", "… ", "; ", ", ", " ")
"""Preferred ends of a chunk, best first."""


def chunks_of(text: str) -> list[str]:
    """Return the chunks of a text in order, without those that have no word."""
    if not WORD.search(text):
        return []
    count = min(-(-len(text) // CHUNK), MOST)
    step = len(text) / count
    ends = [cut_near(text, int(step * place), int(step / 4)) for place in range(1, count)]
    cuts = pairwise([0, *ends, len(text)])
    return [text[start:end] for start, end in cuts if WORD.search(text, start, end)]


def cut_near(text: str, end: int, reach: int) -> int:
    """Return the end of a line, sentence or word shortly before `end`; else `end`."""
    for sign in ENDS:
        found = text.rfind(sign, end - reach, end)
        if found >= 0:
            return found + len(sign)
    return end
