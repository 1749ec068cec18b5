"""Texts as pieces of words, by the vocabulary of the multilingual embedder.

The vocabulary is a file of sentencepiece (unigram): 128,000 pieces with their log-probabilities,
and a table that normalises characters. It is read in a tenth of a second, because numpy finds the
pieces; words are kept with their pieces, because most words come again.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from functools import lru_cache
from itertools import count

import numpy

__all__ = ["Pieces", "is_readable"]

UNKNOWN, BEGIN, END = 0, 1, 2
"""Ids of what is not in the vocabulary, and of both ends of a text."""
SPACE = "\u2581"
"""Begins every word."""
WORD = re.compile(f"{SPACE}?[^{SPACE}]*")
LESS_LIKELY = 10.0
"""By how much an unknown character is less likely than any piece, as a logarithm."""
LONGEST = 16
"""Characters of the longest piece."""
KNOWN_WORDS, LONGEST_WORD = 32_768, 48
"""Number of words whose pieces are kept, and the most characters of one."""
SCORE = 5
"""Bytes of a score behind its piece, with its tag."""
LETTER = re.compile(r"[^\W\d_]")
KNOWN_LETTER = re.compile(
    "[A-Za-z\u00c0-\u024f\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u1e00-\u1eff"
    "\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Letters of the scripts it was made for: Latin, Cyrillic, Arabic, Thai, kana, Han, Hangul."""


class Pieces:
    """The vocabulary of a sentencepiece model.

    Args:
        model: the bytes of its file.
    """

    def __init__(self, model: bytes) -> None:
        pieces, self._scores, end = read_pieces(model)
        self._ids = dict(zip(pieces, count()))
        self._unknown = min(self._scores) - LESS_LIKELY
        rest = dict(fields_of(model[end:]))
        self._characters = CharacterMap(dict(fields_of(rest[3]))[2])
        self._kept = lru_cache(KNOWN_WORDS)(self._pieces_of)

    def __call__(self, text: str) -> list[int]:
        """Return the ids of a text's pieces, between those of its begin and its end."""
        ids = [BEGIN]
        for word in text.split(" "):
            ids += self._kept(word) if len(word) <= LONGEST_WORD else self._pieces_of(word)
        if len(ids) == 1:
            ids.append(UNKNOWN)
        ids.append(END)
        return ids

    def _pieces_of(self, word: str) -> list[int]:
        """Return the pieces of a word, which may be several once its characters are normal."""
        words = filter(None, self._characters.normal(word).split(" "))
        found = [part for one in words for part in WORD.findall(SPACE + one) if part]
        return [id for part in found for id in self._likeliest(part)]

    def _likeliest(self, word: str) -> list[int]:
        """Return the likeliest pieces that a word is made of."""
        ids, scores = self._ids, self._scores
        length = len(word)
        best = [0.0, *[-numpy.inf] * length]
        before: list[tuple[int, int]] = [(0, UNKNOWN)] * (length + 1)
        for start in range(length):
            stops = range(start + 1, min(start + LONGEST, length) + 1)
            found = [(stop, id) for stop in stops if (id := ids.get(word[start:stop])) is not None]
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
    """Whether at least half of its letters are of scripts that have pieces."""
    return text.isascii() or 2 * len(KNOWN_LETTER.findall(text)) >= len(LETTER.findall(text))


def read_pieces(model: bytes) -> tuple[list[str], array[float], int]:
    """Return the pieces of a model in order, their scores, and where they end.

    A piece is a field of a protocol buffer: its tag and size, the tag and length of its text, the
    text, the tag of its score, the score, and perhaps two bytes for its kind.
    """
    data = numpy.frombuffer(model, numpy.uint8)
    tags = numpy.flatnonzero(data[:-3] == 0x0A)
    tags = tags[data[tags + 2] == 0x0A]
    lengths = data[tags + 3].astype(numpy.intp)
    sizes = data[tags + 1].astype(numpy.intp)
    is_piece = numpy.isin(sizes - lengths, (2 + SCORE, 4 + SCORE))
    tags, lengths, sizes = tags[is_piece], lengths[is_piece], sizes[is_piece]
    starts, ends = tags + 4, tags + 4 + lengths
    edges = numpy.zeros(len(data) + 1, numpy.int8)
    edges[starts], edges[ends + 1] = 1, -1  # with the byte behind it, which divides pieces
    text = data.copy()
    text[ends] = 0
    texts = text[numpy.cumsum(edges[:-1], dtype=numpy.int8).astype(numpy.bool_)].tobytes()
    scores = data[(ends + 1)[:, None] + numpy.arange(4)].tobytes()
    return texts.decode().split("\0")[:-1], array("f", scores), int(tags[-1] + 2 + sizes[-1])


def fields_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a protocol buffer that have a length, by their numbers."""
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
    """The normal forms of characters, as NFKC has them, without control characters.

    The table is a trie in one array of units (a double array), followed by the normal forms.
    """

    def __init__(self, table: bytes) -> None:
        size = int.from_bytes(table[:4], "little")
        self._units = array("I", table[4 : 4 + size])
        self._forms = table[4 + size :]

    def normal(self, text: str) -> str:
        """Return a text in normal characters."""
        if text.isascii() and text.isprintable():
            return text
        data, place, result = text.encode(), 0, bytearray()
        while place < len(data):
            length, form = self._longest_match(data, place)
            result += form
            place += length
        return result.decode()

    def _longest_match(self, data: bytes, start: int) -> tuple[int, bytes]:
        """Return how many bytes have a normal form, and that; a character as it is if none has."""
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
    """Return where the children of a unit are."""
    return (unit >> 10) << ((unit & 0x200) >> 6)
