"""Extractive digest: the most informative sentences of many messages, picked without a model."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from msgspec import Struct

from contextwright.text.graphemes import cut
from contextwright.text.terms import terms_of

__all__ = ["Line", "digest", "ends_of", "sentences_of"]

HEAD = 16
"""Characters counted for the number, date and marks around a line."""
LONGEST_SENTENCE = 240
SHORTEST_SENTENCE = 12
"""A shorter sentence is joined to the next: an abbreviation, a number, a yes."""
STRETCHES = 8
"""Number of stretches of time that take turns, so that no stretch fills the digest."""
NEW = 0.5
"""Minimum share of a sentence, by weight, that has to be new."""
FIRST = 1.2
"""Bonus of a message's first sentence, because it usually says what it is about."""

SIGNS = 0.15
"""A sentence with a larger share of signs is code or data, and comes last."""

WITHOUT_SIGNS = str.maketrans("", "", string.punctuation)
# The pattern reads a run of signs once, from its start, so a text of only dots takes linear time.
END = re.compile(
    r"(?<![.!?…।॥۔؟])[.!?…।॥۔؟]++[\"'”’»)\]]*+(?=\s|$)"
    r"|[。！？｡]++[」』”’）]*+"
    r"|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]++"
)


class Line(Struct, frozen=True, omit_defaults=True):
    """The text of one message, or sentences picked from it, with speaker and number."""

    number: int
    speaker: str
    text: str
    at: str = ""
    """The time, as it will be printed."""

    @property
    def size(self) -> int:
        """The length in characters."""
        return HEAD + len(self.speaker) + len(self.at) + len(self.text)


class Sentence(Struct, frozen=True):
    """A sentence of a line, and the terms it is judged by."""

    line: int
    order: int
    text: str
    terms: set[str]


def digest(lines: Sequence[Line], longest: int) -> list[Line]:
    """Return the best sentences within a number of characters, in order; all of them if they fit.

    A sentence is good if it has many rare terms for its length, and is not code. All stretches of
    time take turns, and nothing is repeated. The result can be digested again together with newer
    lines, so a digest grows without its sources.
    """
    lines = [line for line in lines if not line.text.isspace() and line.text]
    if sum(line.size for line in lines) <= longest:
        return [in_one_line(line) for line in lines]
    sentences = [sentence for place, line in enumerate(lines) for sentence in cut_up(place, line)]
    weights = weights_of(sentences)
    picked: dict[int, list[Sentence]] = {}
    told: set[str] = set()
    room = longest
    for sentence in by_turns(lines, sentences, weights):
        line = lines[sentence.line]
        first = sentence.line not in picked
        size = len(sentence.text) + (line.size - len(line.text) if first else len(" … "))
        if size <= room and is_new(sentence, told, weights):
            picked.setdefault(sentence.line, []).append(sentence)
            told |= sentence.terms
            room -= size
    return [put_together(lines[place], picked[place]) for place in sorted(picked)]


def in_one_line(line: Line) -> Line:
    """Return a line without line breaks."""
    text = " ".join(line.text.split())
    return line if text == line.text else Line(line.number, line.speaker, text, line.at)


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a text in any script, each on one line; skip blank ones."""
    start = 0
    for end in ends_of(text):
        yield " ".join(text[start:end].split())
        start = end


def ends_of(text: str) -> Iterator[int]:
    """Return the ends of the sentences of a text."""
    start = 0
    for end in END.finditer(text):
        if len(text[start : end.end()].strip()) >= SHORTEST_SENTENCE:
            start = end.end()
            yield start
    if text[start:].strip():
        yield len(text)


def cut_up(place: int, line: Line) -> Iterator[Sentence]:
    """Yield the sentences of a line; very long ones are truncated with a mark."""
    for order, text in enumerate(sentences_of(line.text)):
        if len(text) > LONGEST_SENTENCE:
            text = cut(text, LONGEST_SENTENCE - 1) + "…"
        yield Sentence(place, order, text, terms_of(text))


def weights_of(sentences: Sequence[Sentence]) -> dict[str, float]:
    """Return the weight of each term: the rarer, the more."""
    found = Counter(term for sentence in sentences for term in sentence.terms)
    count = len(sentences) + 1
    return {term: log(count / number) for term, number in found.items()}


def by_turns(
    lines: Sequence[Line], sentences: Sequence[Sentence], weights: dict[str, float]
) -> list[Sentence]:
    """Return the best sentence of every stretch of time, then the second best, and so on."""
    first, last = lines[0].number, lines[-1].number
    stretches: dict[int, list[tuple[float, int]]] = {}
    for index, sentence in enumerate(sentences):
        number = lines[sentence.line].number
        stretch = (number - first) * STRETCHES // (last - first + 1)
        stretches.setdefault(stretch, []).append((-value(sentence, weights), index))
    turns = [
        (turn, *entry)
        for entries in stretches.values()
        for turn, entry in enumerate(sorted(entries))
    ]
    return [sentences[index] for _, _, index in sorted(turns)]


def value(sentence: Sentence, weights: dict[str, float]) -> float:
    """Return the weight of a sentence for its length."""
    text = sentence.text
    if len(text) - len(text.translate(WITHOUT_SIGNS)) > SIGNS * len(text):
        return 0
    said = weight_of(sentence.terms, weights)
    return said * (1 if sentence.order else FIRST) / (HEAD + len(text))


def is_new(sentence: Sentence, told: set[str], weights: dict[str, float]) -> bool:
    """Whether enough of a sentence is new; one without a weighty word is not."""
    said = weight_of(sentence.terms, weights)
    return said > 0 and weight_of(sentence.terms - told, weights) >= said * NEW


def weight_of(terms: set[str], weights: dict[str, float]) -> float:
    """Return the total weight of terms, added in one order, so that every machine gets the same."""
    return sum(sorted(weights[term] for term in terms))


def put_together(line: Line, picked: Sequence[Sentence]) -> Line:
    """Return a line of the picked sentences, with a mark where others were left out."""
    ordered = sorted(picked, key=lambda sentence: sentence.order)
    text = ordered[0].text
    for before, sentence in zip(ordered, ordered[1:], strict=False):
        text += (" " if sentence.order == before.order + 1 else " … ") + sentence.text
    return Line(line.number, line.speaker, text, line.at)
