"""Memories that fit a question by their words or their meaning, scored like messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log
from operator import mul

from msgspec import Struct

from contextwright.messages.message import Author, Message
from contextwright.messages.parts import Text
from contextwright.recall.memories import Memory
from contextwright.recall.packing import RecallHit
from contextwright.recall.questions import Question
from contextwright.recall.ranking import (
    WITH_MEANING,
    WORDS_ALONE,
    Part,
    Weights,
    bias_of,
    parts_of,
    probability,
)
from contextwright.recall.signals import OWN, Signals
from contextwright.text.terms import held_terms

__all__ = ["MemoryMatch", "items_of", "text_of"]

LEAST = 0.15
"""The share of a question's words below which a match is by chance."""
NEAR = 0.2
"""The cosine from which a memory fits without a common word (docs/memories.md has the figures)."""
MOST = 10
FEW = 20
"""Below this number of memories, the frequency of a word says little."""


class MemoryMatch(Struct, frozen=True, gc=False):
    """How well a memory fits a question."""

    share: float
    """The share of the question's words it has."""
    meaning: float | None = None
    """How near its meaning is; None if only words are compared."""

    @property
    def is_near(self) -> bool:
        """Whether it fits by its meaning alone."""
        return self.meaning is not None and self.meaning >= NEAR

    @property
    def weights(self) -> Weights:
        """The weights of its signals, which are those of messages."""
        return WORDS_ALONE if self.meaning is None else WITH_MEANING

    @property
    def signals(self) -> Signals:
        """The signals of a message that has no neighbours."""
        share, near = self.share, max(self.meaning or 0.0, 0.0)
        return Signals(
            words=share,
            beside=OWN * share,
            around=share,
            session=share,
            meaning=near,
            meaning_beside=near,
            meaning_session=near,
        )

    @property
    def fit(self) -> float:
        """The part of its signals in its log-odds, as a share of their maximum, 0 to 1."""
        if self.meaning is None:
            return self.share
        adds, most = (
            sum(map(mul, match.signals, self.weights.signals))
            for match in (self, MemoryMatch(1.0, 1.0))
        )
        return adds / most


def text_of(memory: Memory) -> str:
    """Return the words of a memory, with its label."""
    return f"{memory.key} {memory.text}" if memory.key else memory.text


def items_of(
    memories: Sequence[Memory], question: Question, meanings: Sequence[float] | None = None
) -> list[RecallHit]:
    """Return the memories that share enough words with a question, or are near it, best first.

    Args:
        meanings: how near the meaning of each is; None uses words only.
    """
    asked = set(question.terms)
    held = [held_terms(text_of(memory), asked, question.bare) for memory in memories]
    counts = Counter(term for terms in held for term in terms)
    weights = {
        term: log(1 + (len(memories) + FEW) / (counts[term] + 0.5)) for term in sorted(asked)
    }
    whole = sum(weights.values()) or 1.0
    shares = (sum(weights[term] for term in sorted(terms)) / whole for terms in held)
    near: Sequence[float | None] = meanings or [None] * len(memories)
    matches = [MemoryMatch(*pair) for pair in zip(shares, near, strict=True)]
    best = sorted(range(len(memories)), key=lambda place: (-matches[place].fit, -place))
    fitting = (one for one in best if matches[one].share >= LEAST or matches[one].is_near)
    return [item_of(memories[one], matches[one], len(memories)) for one in [*fitting][:MOST]]


def item_of(memory: Memory, match: MemoryMatch, total: int) -> RecallHit:
    """Return a memory as a hit."""
    base = Part("base", bias_of(match.weights, total))
    parts = (base, *parts_of(match.signals, match.weights.signals))
    odds = sum(part.adds for part in parts)
    author = Author(name=memory.author) if memory.author else None
    message = Message("user", (Text(memory.text),), author=author, sent_at=memory.at)
    return RecallHit(memory.scope, 0, message, probability(odds), parts, 0, memory)
