"""The tokenizer of the multilingual embedder: divides texts into subword pieces.

It reads a file of sentencepiece's unigram model: 128,000 pieces with their log-probabilities, and
a table that normalises characters. It is ready in 20 ms, because the first pieces are looked up in
the file itself. The pieces of words are cached, because most words recur.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

__all__ = ["UnigramTokenizer", "is_readable"]

UNKNOWN, BEGIN, END = 0, 1, 2
"""Ids of an unknown character, and of the beginning and the end of a text."""
SPACE = "\u2581"
"""Marks the beginning of a word."""
WORD = re.compile(f"{SPACE}?[^{SPACE}]*")
UNKNOWN_PENALTY = 10.0
"""How much less likely an unknown character is than the rarest piece, as a logarithm."""
MAX_PIECE_CHARS = 16
"""Characters of the longest piece."""
CACHED_WORDS, MAX_CACHED_CHARS = 32_768, 48
"""Maximum number of words in the cache, and maximum characters of a cached word."""
LOOKUPS_BEFORE_TABLE = 512
"""Number of words after which building a table of all pieces is worth its time."""
SCORE_BYTES = 5
"""Bytes of the score after each piece, with its tag."""
FIRST_FACTOR, LAST_FACTOR, HASH_MASK = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, (1 << 64) - 1
"""The factors of a piece's hash, which spread all bits to the upper ones, and the mask of 64 bits.
"""
HASH_BITS = 16
"""Bits of a hash that are used."""
LETTER = re.compile(r"[^\W\d_]")
KNOWN_LETTER = re.compile(
    "[A-Za-z\u00c0-\u024f\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u1e00-\u1eff"
    "\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Letters of the known scripts: Latin, Cyrillic, Arabic, Thai, kana, Han, Hangul."""

Offsets: TypeAlias = NDArray[numpy.intp]


class UnigramTokenizer:
    """A tokenizer with a sentencepiece unigram vocabulary.

    Args:
        model: the bytes of the vocabulary's file.
    """

    def __init__(self, model: bytes) -> None:
        starts, lengths, end = piece_offsets(model)
        self._finder = PieceIndex(model, starts, lengths)
        self._find: Callable[[str], int | None] = self._finder
        scores = unaligned(model, "<f4")[starts + lengths + 1]
        self._scores = array("f", scores.tobytes())
        self._unknown = float(scores.min()) - UNKNOWN_PENALTY
        rest = dict(fields_of(model[end:]))
        self._characters = CharacterMap(dict(fields_of(rest[3]))[2])
        self._cached = lru_cache(CACHED_WORDS)(self._pieces_of)

    def __call__(self, text: str) -> list[int]:
        """Return the ids of a text's pieces, between those of beginning and end."""
        ids = [BEGIN]
        for word in text.split(" "):
            ids += self._cached(word) if len(word) <= MAX_CACHED_CHARS else self._pieces_of(word)
        if len(ids) == 1:
            ids.append(UNKNOWN)
        ids.append(END)
        return ids

    def _pieces_of(self, word: str) -> list[int]:
        """Return the pieces of a word. Normalising its characters may divide it into several."""
        if self._find is self._finder and self._cached.cache_info().misses > LOOKUPS_BEFORE_TABLE:
            self._find = self._finder.ids().get
        words = filter(None, self._characters.normal(word).split(" "))
        found = [part for one in words for part in WORD.findall(SPACE + one) if part]
        return [id for part in found for id in self._segment(part)]

    def _segment(self, word: str) -> list[int]:
        """Return the likeliest segmentation of a word into pieces (the Viterbi algorithm)."""
        find, scores = self._find, self._scores
        length = len(word)
        best = [0.0, *[-numpy.inf] * length]
        before: list[tuple[int, int]] = [(0, UNKNOWN)] * (length + 1)
        for start in range(length):
            stops = range(start + 1, min(start + MAX_PIECE_CHARS, length) + 1)
            found = [(stop, id) for stop in stops if (id := find(word[start:stop])) is not None]
            steps = [(stop, id, scores[id]) for stop, id in found]
            if not found or found[0][0] > start + 1:
                steps.append((start + 1, UNKNOWN, self._unknown))
            for stop, id, score in steps:
                if best[start] + score > best[stop]:
                    best[stop], before[stop] = best[start] + score, (start, id)
        result: list[int] = []
        while length:
            length, id = before[length]
            result.append(id)
        return result[::-1]


def is_readable(text: str) -> bool:
    """Whether at least half of the letters are of known scripts."""
    return text.isascii() or 2 * len(KNOWN_LETTER.findall(text)) >= len(LETTER.findall(text))


def piece_offsets(model: bytes) -> tuple[Offsets, Offsets, int]:
    """Return the offset of each piece, its length in bytes, and the offset after the last.

    A piece is a field of a protocol buffer: tag and size, tag and length of its text, the text, the
    tag of its score, the score, and perhaps two bytes for its kind.
    """
    data = numpy.frombuffer(model, numpy.uint8)
    tags = numpy.flatnonzero(data[:-3] == 0x0A)
    tags = tags[data[tags + 2] == 0x0A]
    lengths = data[tags + 3].astype(numpy.intp)
    sizes = data[tags + 1].astype(numpy.intp)
    rest = sizes - lengths
    is_piece = (rest == 2 + SCORE_BYTES) | (rest == 4 + SCORE_BYTES)
    tags, lengths, sizes = tags[is_piece], lengths[is_piece], sizes[is_piece]
    return tags + 4, lengths, int(tags[-1] + 2 + sizes[-1])


class PieceIndex:
    """A hash table from pieces to their ids, by their first and last eight bytes.

    Args:
        model: the bytes of the file.
        starts: the offset of each piece.
        lengths: the bytes of each piece.
    """

    def __init__(self, model: bytes, starts: Offsets, lengths: Offsets) -> None:
        eights, unused = unaligned(model, "<u8"), (8 * numpy.maximum(8 - lengths, 0)).astype("u8")
        first = eights[starts] << unused >> unused
        last = eights[starts + lengths - 8] >> unused
        hashes = ((first * FIRST_FACTOR + last * LAST_FACTOR) >> (64 - HASH_BITS)).astype(
            numpy.uint16
        )
        buckets = numpy.bincount(hashes, minlength=1 << HASH_BITS)
        self._buckets = numpy.concatenate([[0], numpy.cumsum(buckets)]).data
        self._ids = numpy.argsort(hashes, kind="stable").data
        self._model, self._starts, self._lengths = model, starts.data, lengths.data

    def __call__(self, piece: str) -> int | None:
        """Return the id of a piece; None if it is unknown."""
        data = piece.encode()
        first, last = int.from_bytes(data[:8], "little"), int.from_bytes(data[-8:], "little")
        bucket = ((first * FIRST_FACTOR + last * LAST_FACTOR) & HASH_MASK) >> (64 - HASH_BITS)
        for place in range(self._buckets[bucket], self._buckets[bucket + 1]):
            id = self._ids[place]
            start = self._starts[id]
            if self._model[start : start + self._lengths[id]] == data:
                return id
        return None

    def ids(self) -> dict[str, int]:
        """Return a dict of all pieces, which is faster if there are many lookups."""
        places = zip(self._starts, self._lengths, strict=True)
        texts = (self._model[start : start + length] for start, length in places)
        return {text.decode(): id for id, text in enumerate(texts)}


def unaligned(data: bytes, kind: str) -> NDArray[Any]:
    """Return the number that begins at each byte of the data, without copying it."""
    size = numpy.dtype(kind).itemsize
    return numpy.ndarray(len(data) - size + 1, kind, data, strides=1)


def fields_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each field of a protocol buffer that has a length."""
    place = 0

    def number() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(data):
        field, kind = divmod(number(), 8)
        if kind == 0:
            number()
        elif kind == 2:
            size = number()
            yield field, data[place : place + size]
            place += size
        else:
            place += 4 if kind == 5 else 8


class CharacterMap:
    """The normal forms of characters: those of NFKC, without control characters.

    The table is a double-array trie, followed by the normal forms.
    """

    def __init__(self, table: bytes) -> None:
        size = int.from_bytes(table[:4], "little")
        self._units = array("I", table[4 : 4 + size])
        self._forms = table[4 + size :]

    def normal(self, text: str) -> str:
        """Return a text with its characters in their normal forms."""
        if text.isascii() and text.isprintable():
            return text
        data, place, result = text.encode(), 0, bytearray()
        while place < len(data):
            length, form = self._longest_match(data, place)
            result += form
            place += length
        return result.decode()

    def _longest_match(self, data: bytes, start: int) -> tuple[int, bytes]:
        """Return the length of the longest match in bytes, and its normal form.

        Without a match, it is the next character as it is.
        """
        units, form, length = self._units, -1, 1
        place = offset_of(units[0])
        for stop in range(start, len(data)):
            place ^= data[stop]
            unit = units[place]
            if unit & 0x800000FF != data[stop]:
                break
            place ^= offset_of(unit)
            if unit & 0x100:
                form, length = units[place] & 0x7FFFFFFF, stop + 1 - start
        if form >= 0:
            return length, self._forms[form : self._forms.index(0, form)]
        while start + length < len(data) and data[start + length] & 0xC0 == 0x80:
            length += 1
        return length, data[start : start + length]


def offset_of(unit: int) -> int:
    """Return the offset of the children of a unit."""
    return (unit >> 10) << ((unit & 0x200) >> 6)
