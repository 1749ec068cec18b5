"""Divide long messages into passages, which are recalled one by one.

A long message has paragraphs, lists and code, and a question mostly needs one of them. The
probability of a message is distributed among its passages by the terms they contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from math import exp, log
from typing import TypeAlias

from msgspec import Struct

from contextwright.recall.lines import MAX_TEXT_CHARS
from contextwright.recall.ranking import RankedMessage
from contextwright.recall.signals import OWN_WEIGHT
from contextwright.recall.vectors.chunks import break_before
from contextwright.text.terms import languages_of, matching_terms

__all__ = ["MIN_CHARS", "Excerpt", "Span", "is_long", "passage_log_odds", "passages_of"]

Span: TypeAlias = tuple[int, int]
"""The index of the first character, and of the one after the last."""

MAX_WHOLE_CHARS = 600
"""Maximum characters of a message that is recalled as a whole."""
MIN_CHARS, MAX_CHARS = 300, 800
"""A shorter passage is joined with its neighbour if both fit in one; a longer one is cut."""
FIRST_PASSAGE_LOG_ODDS = 0.5
"""A bonus for the first passage, because it mostly says what a message is about."""
MAX_PROBABILITY = 1 - 1e-9
"""The largest probability of a passage, because 1 has no odds."""
GAP = "[…]"
"""Stands for text that is left out."""

# A block of code ends with a fence of the kind that opened it. A list item or a heading begins a
# new block.
FENCE = re.compile(r"[ \t]*+(`{3,}+(?!.*`)|~{3,}+)")
BEGINNING = re.compile(r"[ \t]*+(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s")


class Excerpt(Struct, frozen=True):
    """Some passages of a long message."""

    passages: tuple[Span, ...]
    """All passages of the message's text, in order."""
    numbers: tuple[int, ...]
    """The numbers of the recalled ones, from 1, in order."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.numbers) == len(self.passages)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The recalled parts of the text; adjacent passages are one part."""
        spans: list[Span] = []
        for number in self.numbers:
            start, end = self.passages[number - 1]
            if spans and spans[-1][1] == start:
                start, _ = spans.pop()
            spans.append((start, end))
        return tuple(spans)

    @property
    def place(self) -> str:
        """Which parts of the message these are: `part 2 of 9`."""
        runs: list[list[int]] = []
        for number in self.numbers:
            if runs and runs[-1][-1] == number - 1:
                runs[-1][1:] = [number]
            else:
                runs.append([number])
        shown = " and ".join("-".join(map(str, run)) for run in runs)
        return f"part{'s' * (len(self.numbers) > 1)} {shown} of {len(self.passages)}"

    def of(self, text: str) -> str:
        """Return the recalled passages of the text, with a mark where text is left out."""
        shown = f" {GAP} ".join(text[start:end].strip() for start, end in self.spans)
        before = "" if self.numbers[0] == 1 else f"{GAP} "
        behind = "" if self.numbers[-1] == len(self.passages) else f" {GAP}"
        return f"{before}{shown}{behind}"

    def joined(self, other: Excerpt) -> Excerpt:
        """Return the passages of both."""
        return Excerpt(self.passages, tuple(sorted({*self.numbers, *other.numbers})))


def is_long(size: int) -> bool:
    """Whether a message of that many characters is recalled in passages."""
    return size > MAX_WHOLE_CHARS


def passages_of(text: str) -> list[Span]:
    """Return the passages of a text: its paragraphs, list items and code blocks.

    Short neighbours are joined, and long ones are cut. Text after `MAX_TEXT_CHARS` is left out.
    """
    found: list[Span] = []
    for block in blocks_of(text[:MAX_TEXT_CHARS]):
        for start, end in pieces_of(text, block):
            if found and is_short(found[-1]) and end - found[-1][0] <= MAX_CHARS:
                start, _ = found.pop()
            found.append((start, end))
    if len(found) > 1 and is_short(found[-1]) and found[-1][1] - found[-2][0] <= MAX_CHARS:
        _, end = found.pop()
        found[-1] = found[-1][0], end
    return found


def is_short(span: Span) -> bool:
    """Whether a passage is so short that it is joined with its neighbour."""
    return span[1] - span[0] < MIN_CHARS


def pieces_of(text: str, block: Span) -> Iterator[Span]:
    """Yield a block in pieces of limited length, cut at the end of a paragraph, line or word."""
    start, end = block
    while end - start > MAX_CHARS:
        cut = break_before(text, start + MAX_CHARS, MAX_CHARS - MIN_CHARS)
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


def passage_log_odds(
    ranked: RankedMessage,
    text: str,
    passages: Sequence[Span],
    term_shares: Mapping[str, float],
    variants: Mapping[str, Set[str]],
) -> list[float]:
    """Return the log-odds that each passage of a message is needed.

    Args:
        term_shares: the weight of each term of the question, as a share of all.
        variants: terms that a text may contain instead.
    """
    languages = languages_of(text[:MAX_CHARS])
    weight = ranked.weights.words + OWN_WEIGHT * ranked.weights.beside
    log_odds = [FIRST_PASSAGE_LOG_ODDS, *[0.0] * (len(passages) - 1)]
    for index, (start, end) in enumerate(passages):
        matched = matching_terms(text[start:end], term_shares.keys(), variants, languages)
        log_odds[index] += weight * sum(
            share for term, share in term_shares.items() if term in matched
        )
    total = sum(map(exp, log_odds))
    probabilities = (min(ranked.fit * exp(add) / total, MAX_PROBABILITY) for add in log_odds)
    return [log(chance / (1 - chance)) for chance in probabilities]
