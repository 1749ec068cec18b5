"""Rank memories for a question by their terms and embeddings, with the weights of messages."""

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
    probability,
    weighted_parts,
)
from contextwright.recall.signals import OWN_WEIGHT, Signals
from contextwright.text.terms import matching_terms

__all__ = ["MemoryMatch", "rank_memories", "memory_text"]

MIN_SHARE = 0.15
"""The share of a question's terms below which a match is by chance."""
MIN_COSINE = 0.2
"""The cosine from which a memory fits without a common term (docs/memories.md has the figures)."""
MAX_HITS = 10
SMOOTHING = 20
"""Added to the number of memories, because document frequencies among a few say little."""


class MemoryMatch(Struct, frozen=True, gc=False):
    """How well the terms and the embedding of a memory fit a question."""

    share: float
    """The share of the question's terms it contains."""
    cosine: float | None = None
    """The cosine of the embeddings; None if only terms are compared."""

    @property
    def is_near(self) -> bool:
        """Whether it fits by its embedding alone."""
        return self.cosine is not None and self.cosine >= MIN_COSINE

    @property
    def weights(self) -> Weights:
        """The weights of its signals; messages have the same."""
        return WORDS_ALONE if self.cosine is None else WITH_MEANING

    @property
    def signals(self) -> Signals:
        """The signals of a message that has no neighbours."""
        share, near = self.share, max(self.cosine or 0.0, 0.0)
        return Signals(
            words=share,
            beside=OWN_WEIGHT * share,
            around=share,
            session=share,
            meaning=near,
            meaning_beside=near,
            meaning_session=near,
        )

    @property
    def fit(self) -> float:
        """What its signals add to its log-odds, as a share of the maximum, from 0 to 1."""
        if self.cosine is None:
            return self.share
        adds, most = (
            sum(map(mul, match.signals, self.weights.signals))
            for match in (self, MemoryMatch(1.0, 1.0))
        )
        return adds / most


def memory_text(memory: Memory) -> str:
    """Return the text of a memory, with its label."""
    return f"{memory.key} {memory.text}" if memory.key else memory.text


def rank_memories(
    memories: Sequence[Memory], question: Question, cosines: Sequence[float] | None = None
) -> list[RecallHit]:
    """Return the best memories that share enough terms with a question or are near it, as hits.

    Args:
        cosines: that of each memory; None compares terms only.
    """
    asked = set(question.terms)
    matched = [matching_terms(memory_text(memory), asked, question.variants) for memory in memories]
    document_frequency = Counter(term for terms in matched for term in terms)
    weights = {
        term: log(1 + (len(memories) + SMOOTHING) / (document_frequency[term] + 0.5))
        for term in sorted(asked)
    }
    total_weight = sum(weights.values()) or 1.0
    shares = (sum(weights[term] for term in sorted(terms)) / total_weight for terms in matched)
    near: Sequence[float | None] = cosines or [None] * len(memories)
    matches = [MemoryMatch(*pair) for pair in zip(shares, near, strict=True)]
    best = sorted(range(len(memories)), key=lambda place: (-matches[place].fit, -place))
    fitting = (one for one in best if matches[one].share >= MIN_SHARE or matches[one].is_near)
    return [hit_of(memories[one], matches[one], len(memories)) for one in [*fitting][:MAX_HITS]]


def hit_of(memory: Memory, match: MemoryMatch, total: int) -> RecallHit:
    """Return a memory as a hit."""
    base = Part("base", bias_of(match.weights, total))
    parts = (base, *weighted_parts(match.signals, match.weights.signals))
    odds = sum(part.adds for part in parts)
    author = Author(name=memory.author) if memory.author else None
    message = Message("user", (Text(memory.text),), author=author, sent_at=memory.at)
    return RecallHit(memory.scope, 0, message, probability(odds), parts, 0, memory)
