"""Past messages that help with the newest question: excerpts, and whole messages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import ClassVar

from contextwright.messages.message import Message
from contextwright.recall.lines import day_of, dedup_key, format_line, grouped_by_day
from contextwright.recall.memories import MIN_CONFIDENCE, Memory, Ranking
from contextwright.recall.outline import seconds_of
from contextwright.sections.base import Section, SectionInput, Share, Volatility, best_entries
from contextwright.sections.memory import different
from contextwright.sections.queries import RECENT, asked_for, unfound
from contextwright.text.fields import Checked, Fraction, Natural
from contextwright.text.quoting import quoted

__all__ = ["PastExcerpts", "PastMessages"]

ALIKE = 0.85
"""The share of common words from which two excerpts of a speaker say nearly the same."""
ENOUGH = 0.9
"""The share of its tokens from which on a section is full."""


class PastExcerpts(
    Section,
    Checked,
    frozen=True,
    tag="past-excerpts",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """Excerpts of past messages that match the newest question."""

    most: Natural = 5
    least: Fraction = 0.01
    """Minimum probability that it is needed, from 0 to 1. `benchmarks/excerpts.py` shows
    the effect of other values."""
    longest: Natural = 200
    """Maximum characters of one passage."""
    ranking: Ranking = Ranking()
    """Other reasons that count, such as recency."""
    volatility: Volatility = "turn"
    priority: int = 30
    budget: Share = None
    heading: str = "## Relevant Past Context"

    def write(self, moment: SectionInput) -> str | None:
        """Write the best first, each with its score; of those nearly alike the newest."""
        found = past_passages(moment, self.most * 2, self.least, ranking=self.ranking)
        kept = best_first(newest_of_alike(found))[: self.most]
        lines = [
            f"- [Relevance: {passage.score or 0:.2f}] {attributed(passage, self.longest)}"
            for passage in kept
        ]
        return "\n".join(lines) or None

    def absence(self, moment: SectionInput) -> str:
        """Say that nothing matches the question."""
        return unfound(moment, "past message")

    def shorten(self, text: str, longest: int) -> str:
        """Keep the best excerpts that fit."""
        return best_entries(text, longest)

    def reach(self) -> int:
        """Return the number of newest messages that are not recalled."""
        return RECENT


class PastMessages(
    Section,
    Checked,
    frozen=True,
    tag="past-messages",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """Past messages that the newest question needs, in order; of long ones the passages."""

    tokens: Natural | None = None
    """Maximum tokens; None: all that its share and the window leave."""
    most: Natural = 1_000
    least: Fraction = 0.0
    """Minimum probability that a message is needed, from 0 to 1."""
    confidence: Fraction = MIN_CONFIDENCE
    """Minimum probability that any message answers the question, from 0 to 1; below it nothing is
    recalled."""
    ranking: Ranking = Ranking()
    """Other reasons that count, such as recency."""
    volatility: Volatility = "turn"
    priority: int = 30
    budget: Share = 0.85
    heading: str = "## Recalled From Earlier"
    fills: ClassVar[bool] = True

    def write(self, moment: SectionInput) -> str | None:
        """Write a line for each message, with its speaker, below its day."""
        limits = [one for one in (self.tokens, moment.tokens) if one is not None]
        tokens = min(limits, default=None)
        best = self.best(moment, tokens)
        if tokens is None or not best:
            return as_lines(best) or None
        alone, together = prices_of(best, moment)
        if alone > together and alone > ENOUGH * tokens:
            # The count is a bound, and each line alone has more of a margin than all together.
            best = self.best(moment, tokens * alone // together)
        return as_lines(best[: number_within(tokens, best, moment)]) or None

    def best(self, moment: SectionInput, tokens: int | None) -> list[Memory]:
        """Return the passages to choose from, best first."""
        found = past_passages(
            moment,
            self.most,
            self.least,
            confidence=self.confidence,
            tokens=tokens,
            ranking=self.ranking,
        )
        return different(best_first(found))

    def absence(self, moment: SectionInput) -> str:
        """Say that nothing matches the question."""
        return unfound(moment, "past message")

    def reach(self) -> int:
        """Return the number of newest messages that are not recalled."""
        return RECENT


def best_first(passages: Iterable[Memory]) -> list[Memory]:
    """Return passages by their scores, the highest first."""
    return sorted(passages, key=lambda passage: -(passage.score or 0))


def newest_of_alike(passages: Iterable[Memory]) -> list[Memory]:
    """Return passages, of those in nearly the same words by the same speaker only the newest.

    There is room for a few excerpts, and the newest says what has changed.
    """
    kept: list[tuple[Memory, set[str]]] = []
    for passage in sorted(passages, key=age_of, reverse=True):
        words = set(dedup_key(passage.text).split())
        if not any(
            newer.author == passage.author and likeness(words, others) >= ALIKE
            for newer, others in kept
        ):
            kept.append((passage, words))
    return [passage for passage, _ in kept]


def age_of(passage: Memory) -> tuple[int, tuple[str, int], float]:
    """Return the order of a passage by time, else by its number, else by its score."""
    return seconds_of(passage.at) or 0, place_of(passage), passage.score or 0.0


def likeness(first: set[str], second: set[str]) -> float:
    """Return the share of all their words that both have."""
    return len(first & second) / max(len(first | second), 1)


def number_within(tokens: int, passages: Sequence[Memory], moment: SectionInput) -> int:
    """Return how many passages fit; the source may count in another way, or not at all."""

    def price(number: int) -> int:
        return moment.price(as_lines(passages[:number]))

    if price(len(passages)) <= tokens:
        return len(passages)
    return bisect_right(range(1, len(passages)), tokens, key=price)


def prices_of(passages: Iterable[Memory], moment: SectionInput) -> tuple[int, int]:
    """Return the tokens of passages, each line for itself and all together."""
    text = as_lines(passages)
    return sum(moment.price(f"{line}\n") for line in text.split("\n")), moment.price(text)


def as_lines(passages: Iterable[Memory]) -> str:
    """Return passages in their order, each with its speaker, below their days."""
    return grouped_by_day((day_of(one.at), as_line(one)) for one in sorted(passages, key=place_of))


def as_line(passage: Memory) -> str:
    """Return a passage on one line: conversation, speaker and place, as far as known, and words."""
    return format_line(
        None,
        passage.author or "unknown",
        passage.text,
        chat=where_said(passage),
        place=str(passage.meta.get("place", "")),
    )


def place_of(passage: Memory) -> tuple[str, int]:
    """Return the order of a passage: by its number, those without one as they came."""
    number = passage.meta.get("seq")
    return (passage.scope, number) if isinstance(number, int) else ("", 0)


def where_said(passage: Memory) -> str:
    """Return the title of the conversation of a passage; a store's own chat needs no id."""
    title = passage.meta.get("title")
    return str(title or "") if "seq" in passage.meta else passage.scope


def attributed(memory: Memory, longest: int) -> str:
    """Return a passage on one line: day, speaker, text; only the text if the speaker is unknown."""
    if not memory.author:
        return quoted(memory.text, longest)
    return format_line(memory.at, memory.author, memory.text, max_chars=longest)


def past_passages(
    moment: SectionInput,
    limit: int,
    least: float,
    *,
    confidence: float = 0.0,
    tokens: int | None = None,
    ranking: Ranking,
) -> list[Memory]:
    """Return passages with at least this score that the newest messages do not contain."""
    asked = asked_for(
        moment, "passage", limit, confidence=confidence, tokens=tokens, ranking=ranking
    )
    found = (passage for passage in asked if (passage.score or 0) >= least)
    return not_recent(found, moment.messages)


def not_recent(passages: Iterable[Memory], messages: Sequence[Message]) -> list[Memory]:
    """Return passages that the newest messages do not contain.

    Passages with a number come from a store, which already left those out.
    """
    said = {" ".join(message.text.split()) for message in messages[-RECENT:]}
    return [
        passage
        for passage in passages
        if "seq" in passage.meta or " ".join(passage.text.split()) not in said
    ]
