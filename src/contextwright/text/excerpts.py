"""Extractive digest: the most informative sentences of many messages, picked without a model."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from math import log, sqrt

from msgspec import Struct

from contextwright.text.graphemes import cut
from contextwright.text.salience import salience
from contextwright.text.terms import plain, telling_terms, terms_of

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
FEWEST_TERMS = 2
"""Number of telling words of a statement: fewer are a greeting or an interjection."""
RECENT = 3
"""Number of messages before a sentence whose words are not new in it."""
WORD = re.compile(r"\w+")

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
    news: set[str]
    """Its terms that the messages just before it do not have."""


def digest(lines: Sequence[Line], longest: int) -> list[Line]:
    """Return the best sentences within a number of characters, in order; all of them if they fit.

    A sentence is good if it has many new and rare terms for its length, and is salient. All
    stretches of time take turns, and nothing is repeated. The result can be digested again together
    with newer lines, so a digest grows without its sources.
    """
    lines = [line for line in lines if line.text.strip()]
    if sum(line.size for line in lines) <= longest:
        return [in_one_line(line) for line in lines]
    sentences = cut_up(lines)
    weights = weights_of(sentences)
    picked: dict[int, list[Sentence]] = {}
    covered: set[str] = set()
    room = longest
    for sentence in by_turns(lines, sentences, weights):
        line = lines[sentence.line]
        first = sentence.line not in picked
        size = len(sentence.text) + (line.size - len(line.text) if first else len(" … "))
        if size <= room and is_new(sentence, covered, weights):
            picked.setdefault(sentence.line, []).append(sentence)
            covered |= sentence.terms
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
        is_cry = "!" in end[0] or "?" in end[0]  # abbreviations end in other signs
        if is_cry or len(text[start : end.end()].strip()) >= SHORTEST_SENTENCE:
            start = end.end()
            yield start
    if text[start:].strip():
        yield len(text)


def cut_up(lines: Sequence[Line]) -> list[Sentence]:
    """Return the sentences of all lines; very long ones are truncated with a mark."""
    found: list[Sentence] = []
    names = terms_of(" ".join({line.speaker for line in lines}))
    recent: deque[set[str]] = deque(maxlen=RECENT)
    for place, line in enumerate(lines):
        known = set[str]().union(*recent)
        held: set[str] = set()
        for order, text in enumerate(sentences_of(line.text)):
            if len(text) > LONGEST_SENTENCE:
                text = cut(text, LONGEST_SENTENCE - 1) + "…"
            terms = telling_terms(text) - names  # calling somebody tells nothing
            found.append(Sentence(place, order, text, terms, terms - known))
            held |= terms
        recent.append(held)
    return found


def weights_of(sentences: Sequence[Sentence]) -> dict[str, float]:
    """Return the weight of each term: the rarer, the more."""
    found = Counter(term for sentence in sentences for term in sentence.terms)
    count = len(sentences) + 1
    return {term: log(count / number) for term, number in found.items()}


def by_turns(
    lines: Sequence[Line], sentences: Sequence[Sentence], weights: dict[str, float]
) -> list[Sentence]:
    """Return the best sentence of every stretch of time, then the second best, and so on.

    What is worth nothing is left out, unless all of it is.
    """
    first, last = lines[0].number, lines[-1].number
    people = {plain(word) for line in lines for word in WORD.findall(line.speaker)}
    stretches: dict[int, list[tuple[float, int]]] = {}
    for index, sentence in enumerate(sentences):
        line = lines[sentence.line]
        stretch = (line.number - first) * STRETCHES // (last - first + 1)
        entry = (-value(sentence, line, weights, people), index)
        stretches.setdefault(stretch, []).append(entry)
    turns = [
        (turn, *entry)
        for entries in stretches.values()
        for turn, entry in enumerate(sorted(entries))
    ]
    worthy = [one for one in turns if one[1] < 0]
    return [sentences[index] for _, _, index in sorted(worthy or turns)]


def value(sentence: Sentence, line: Line, weights: dict[str, float], people: set[str]) -> float:
    """Return what a sentence tells, for its length; 0 for code and for a single word."""
    if len(sentence.terms) < FEWEST_TERMS:
        return 0.0
    # The root: of two sentences of one length, twice the rare words are not twice the news.
    weight = sqrt(weight_of(sentence.news, weights)) * salience(sentence.text, line.speaker, people)
    return weight / (line.size - len(line.text) + len(sentence.text))


def is_new(sentence: Sentence, covered: set[str], weights: dict[str, float]) -> bool:
    """Whether enough of a sentence is new; one without a weighty word is not."""
    whole = weight_of(sentence.terms, weights)
    return whole > 0 and weight_of(sentence.terms - covered, weights) >= whole * NEW


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
