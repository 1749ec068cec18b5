"""Exact counts of the first texts of a process, from a table that needs no loading.

splintr counts 50 times as fast, but needs 0.3 seconds to get ready: more than a short-lived process
takes for everything else. This counts the same tokens in Python, about a microsecond a character,
from a file in which a token is found where it lies.
"""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from typing import Any
from zlib import crc32

__all__ = ["NAME", "BytePairs", "bucket_of"]

NAME = "o200k_base"
"""The vocabulary that has a table: that of recall, and of OpenAI's models."""
BUCKETS = 17
"""Bits of a token's checksum that say in which bucket it is."""
PLACE, LENGTH, RANK = 4, 1, 3
"""Bytes of a bucket's place, of a token's length and of its rank."""
NONE = 1 << 8 * RANK
"""The rank of what is not a token."""
LONGEST_WORD = 256
"""Characters of the longest word that is counted here: the time grows with their square."""
WORDS = 4_096
"""Words whose counts are kept."""


class BytePairs:
    """Counts tokens, as many characters as it is worth.

    Args:
        left: characters, after which the other tokenizer is worth its loading.
    """

    def __init__(self, left: int) -> None:
        self.left = left
        self._data = b""
        self._words: Any = None
        self._count = lru_cache(WORDS)(self._tokens_of)

    def __call__(self, text: str) -> int | None:
        """Return the tokens of a text; None if the other tokenizer should count it, and all others.

        Raises:
            UnicodeEncodeError: it has lone surrogates.
        """
        self.left -= len(text)
        if self.left < 0:
            return None
        words = self._split(text)
        if len(max(words, key=len, default="")) > LONGEST_WORD:
            self.left = 0
            return None
        return sum(map(self._count, words))

    def _split(self, text: str) -> list[str]:
        """Return the words of a text, none of which shares a token with another."""
        if self._words is None:
            import regex
            import splintr

            self._data = pkgutil.get_data("contextwright", f"data/{NAME}.bin") or b""
            self._words = regex.compile(splintr.O200K_BASE_PATTERN)
        return self._words.findall(text)

    def _tokens_of(self, text: str) -> int:
        """Return the tokens of a word: the pair of the lowest rank is joined until none is one."""
        word = text.encode()
        if self._rank_of(word) < NONE:
            return 1
        cuts = [*range(len(word) + 1)]
        ranks = [self._rank_of(word[start : start + 2]) for start in cuts[:-2]]
        while ranks and (lowest := min(ranks)) < NONE:
            place = ranks.index(lowest)
            del ranks[place], cuts[place + 1]
            for pair in range(max(place - 1, 0), min(place + 1, len(ranks))):
                ranks[pair] = self._rank_of(word[cuts[pair] : cuts[pair + 2]])
        return len(cuts) - 1

    def _rank_of(self, token: bytes) -> int:
        """Return the rank of a token, `NONE` if it is none.

        The file has the places of all buckets, then the buckets: the length, the rank and the bytes
        of each token.
        """
        data, bucket = self._data, bucket_of(token) * PLACE
        place = int.from_bytes(data[bucket : bucket + PLACE], "little")
        end = int.from_bytes(data[bucket + PLACE : bucket + 2 * PLACE], "little")
        while place < end:
            start = place + LENGTH + RANK
            place = start + data[place]
            if data[start:place] == token:
                return int.from_bytes(data[start - RANK : start], "little")
        return NONE


def bucket_of(token: bytes) -> int:
    """Return the number of the bucket that a token is in."""
    return crc32(token) >> (32 - BUCKETS)
