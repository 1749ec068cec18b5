"""Passages: the parts of a long message, each recalled for itself.

A long turn has paragraphs, lists and code, and a question mostly needs one of them. A passage is as
likely needed as its message, times its share of what the message says about the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from math import exp, log
from typing import TypeAlias

from msgspec import Struct

from contextwright.recall.lines import LONGEST
from contextwright.recall.ranking import RankedMessage
from contextwright.recall.signals import OWN
from contextwright.recall.vectors.chunks import cut_near
from contextwright.text.terms import held_terms, languages_of

__all__ = ["FEWEST_CHARS", "Excerpt", "Span", "is_long", "passage_odds", "passages_of"]

Span: TypeAlias = tuple[int, int]
"""The first character, and the one after the last."""

LONG = 600
"""The most characters of a message that is recalled as a whole."""
FEWEST_CHARS, MOST_CHARS = 300, 800
"""A shorter passage is joined with its neighbour, if that is not too long; a longer one is cut."""
FIRST = 0.5
"""The log-odds that the first passage has more, because it mostly says what a message is about."""
SUREST = 1 - 1e-9
"""The largest probability, so that there are odds."""
GAP = "[…]"
"""The mark of what is left out."""

# A fence opens a block of code, and one of the same kind closes it; a list item or a heading begins
# a passage.
FENCE = re.compile(r"[ \t]*+(`{3,}+(?!.*`)|~{3,}+)")
BEGINNING = re.compile(r"[ \t]*+(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s")


class Excerpt(Struct, frozen=True):
    """Some passages of a long message."""

    passages: tuple[Span, ...]
    """All passages of the message's text, in order."""
    numbers: tuple[int, ...]
    """Those that are here, from 1, in order."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.numbers) == len(self.passages)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The parts of the text that are here; neighbours are one."""
        spans: list[Span] = []
        for number in self.numbers:
            start, end = self.passages[number - 1]
            if spans and spans[-1][1] == start:
                start, _ = spans.pop()
            spans.append((start, end))
        return tuple(spans)

    @property
    def place(self) -> str:
        """The place in the message: `part 2 of 9`."""
        runs: list[list[int]] = []
        for number in self.numbers:
            if runs and runs[-1][-1] == number - 1:
                runs[-1][1:] = [number]
            else:
                runs.append([number])
        shown = " and ".join("-".join(map(str, run)) for run in runs)
        return f"part{'s' * (len(self.numbers) > 1)} {shown} of {len(self.passages)}"

    def of(self, text: str) -> str:
        """Return the passages of the text, with a mark where something is left out."""
        shown = f" {GAP} ".join(text[start:end].strip() for start, end in self.spans)
        before = "" if self.numbers[0] == 1 else f"{GAP} "
        behind = "" if self.numbers[-1] == len(self.passages) else f" {GAP}"
        return f"{before}{shown}{behind}"

    def joined(self, other: Excerpt) -> Excerpt:
        """Return the passages of both."""
        return Excerpt(self.passages, tuple(sorted({*self.numbers, *other.numbers})))


def is_long(size: int) -> bool:
    """Whether a message of that many characters is recalled in passages."""
    return size > LONG


def passages_of(text: str) -> list[Span]:
    """Return the passages of a text: paragraphs, list items and code blocks of a similar size.

    The text beyond what a line can hold is not in any of them.
    """
    found: list[Span] = []
    for block in blocks_of(text[:LONGEST]):
        for start, end in pieces_of(text, block):
            if found and is_short(found[-1]) and end - found[-1][0] <= MOST_CHARS:
                start, _ = found.pop()
            found.append((start, end))
    if len(found) > 1 and is_short(found[-1]) and found[-1][1] - found[-2][0] <= MOST_CHARS:
        _, end = found.pop()
        found[-1] = found[-1][0], end
    return found


def is_short(span: Span) -> bool:
    """Whether a passage is too short to stand alone."""
    return span[1] - span[0] < FEWEST_CHARS


def pieces_of(text: str, block: Span) -> Iterator[Span]:
    """Yield a block in pieces that are not too long, cut where a paragraph, line or word ends."""
    start, end = block
    while end - start > MOST_CHARS:
        cut = cut_near(text, start + MOST_CHARS, MOST_CHARS - FEWEST_CHARS)
        yield start, cut
        start = cut
    yield start, end


def blocks_of(text: str) -> Iterator[Span]:
    """Yield the paragraphs, list items and code blocks of a text."""
    start = position = 0
    is_over = has_words = False
    fence = ""
    for line in text.splitlines(keepends=True):
        words, opening = line.strip(), FENCE.match(line)
        begins = is_over or opening is not None or BEGINNING.match(line) is not None
        if begins and has_words and not fence:
            yield start, position
            start, has_words = position, False
        position += len(line)
        has_words = has_words or bool(words)
        closes = bool(fence) and words.startswith(fence) and not words.strip(fence[0])
        is_over = closes or not words
        if closes:
            fence = ""
        elif opening is not None:
            fence = fence or opening[1]
    if has_words:
        yield start, len(text)


def passage_odds(
    ranked: RankedMessage,
    text: str,
    passages: Sequence[Span],
    words: Mapping[str, float],
    bare: Mapping[str, Set[str]],
) -> list[float]:
    """Return the log-odds that each passage of a message is needed.

    Args:
        words: the share of the question that each of its terms is.
        bare: what a text may have instead of a term.
    """
    languages = languages_of(text[:MOST_CHARS])
    weight = ranked.weights.words + OWN * ranked.weights.beside
    adds = [FIRST, *[0.0] * (len(passages) - 1)]
    for place, (start, end) in enumerate(passages):
        held = held_terms(text[start:end], words.keys(), bare, languages)
        adds[place] += weight * sum(share for term, share in words.items() if term in held)
    whole = sum(map(exp, adds))
    chances = (min(ranked.chance * exp(add) / whole, SUREST) for add in adds)
    return [log(chance / (1 - chance)) for chance in chances]
