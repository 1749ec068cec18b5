"""Divide long texts into chunks, each with its own vector, because that of a page says little."""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = ["chunks_of"]

CHUNK_CHARS = 1_200
"""Characters of a chunk: about 200 words."""

MAX_CHUNKS = 16
"""Maximum chunks of a text. A longer text has longer chunks; none of it is dropped."""

WORD = re.compile(r"\w")
SEPARATORS = ("\n\n", "\n", ". ", "? ", "! ", "。", "？", "！", "… ", "; ", ", ", " ")
"""Where a chunk may end, best first."""


def chunks_of(text: str) -> list[str]:
    """Return the chunks of a text in order; chunks without a word are left out."""
    if not WORD.search(text):
        return []
    count = min(-(-len(text) // CHUNK_CHARS), MAX_CHUNKS)
    step = len(text) / count
    ends = [break_before(text, int(step * place), int(step / 4)) for place in range(1, count)]
    cuts = pairwise([0, *ends, len(text)])
    return [text[start:end] for start, end in cuts if WORD.search(text, start, end)]


def break_before(text: str, end: int, reach: int) -> int:
    """Return where a paragraph, sentence or word ends, at most `reach` before `end`; else `end`."""
    for sign in SEPARATORS:
        found = text.rfind(sign, end - reach, end)
        if found >= 0:
            return found + len(sign)
    return end
