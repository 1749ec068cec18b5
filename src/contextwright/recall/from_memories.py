"""Memories that match a question by their words, scored like messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from contextwright.messages.message import Author, Message
from contextwright.messages.parts import Text
from contextwright.recall.memories import Memory
from contextwright.recall.packing import RecallHit
from contextwright.recall.questions import Question
from contextwright.recall.ranking import WORDS_ALONE, Part, bias_of, parts_of, probability
from contextwright.recall.signals import OWN, Signals
from contextwright.text.terms import terms_with_parts

__all__ = ["items_of"]

LEAST = 0.15
"""The share of a question's words below which a match is by chance."""
MOST = 10
FEW = 20
"""Below this number of memories, the frequency of a word says little."""


def items_of(memories: Sequence[Memory], question: Question) -> list[RecallHit]:
    """Return the memories that share enough words with a question, best first."""
    asked = set(question.terms)
    held = [terms_with_parts(f"{memory.key} {memory.text}") & asked for memory in memories]
    counts = Counter(term for terms in held for term in terms)
    weights = {
        term: log(1 + (len(memories) + FEW) / (counts[term] + 0.5)) for term in sorted(asked)
    }
    whole = sum(weights.values()) or 1.0
    shares = [sum(weights[term] for term in sorted(terms)) / whole for terms in held]
    best = sorted(range(len(memories)), key=lambda place: (-shares[place], -place))[:MOST]
    total = len(memories)
    return [item_of(memories[one], shares[one], total) for one in best if shares[one] >= LEAST]


def item_of(memory: Memory, share: float, total: int) -> RecallHit:
    """Return a memory as a hit."""
    signals = Signals(words=share, beside=OWN * share, around=share, session=share)
    base = Part("base", bias_of(WORDS_ALONE, total))
    parts = (base, *parts_of(signals, WORDS_ALONE.signals))
    odds = sum(part.adds for part in parts)
    author = Author(name=memory.author) if memory.author else None
    message = Message("user", (Text(memory.text),), author=author, sent_at=memory.at)
    return RecallHit(memory.scope, 0, message, probability(odds), parts, 0, memory)
