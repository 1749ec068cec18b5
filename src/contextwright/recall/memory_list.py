"""A memory source over plain records, and the choice of the memories that fit a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, pairwise
from math import log
from typing import TYPE_CHECKING, cast

import msgspec

from contextwright.errors import require
from contextwright.messages.times import read_time, with_zone
from contextwright.recall.memories import Memory, MemoryQuery, took_part
from contextwright.recall.memory_ranking import MemoryMatch, memory_text
from contextwright.recall.vectors.chunks import chunks_of
from contextwright.recall.vectors.embedder import Embedder
from contextwright.text.terms import keywords, matching_terms, term_variants, terms_of

if TYPE_CHECKING:
    from contextwright.recall.vectors.embedder import Vectors

__all__ = ["MemoryList", "needs_vectors", "embed_texts", "select_memories"]

HALF_LIFE = 7.0
"""Days after which a passage counts half as recent."""
MIN_SHARE = 0.2
"""The share of a question's terms below which an event matches by chance."""


class MemoryList:
    """Memories as plain records, searched by the words they share with a question.

    Memories that come with a score, from a search of your own, keep it. With a `scope`, only the
    memories of that chat, and those of all chats, are found. With an `embedder`, memories are found
    by their meaning too; its `EmbedderError` is raised.
    """

    def __init__(
        self,
        memories: Iterable[Memory] = (),
        *,
        scope: str | None = None,
        half_life: float = HALF_LIFE,
        embedder: Embedder | None = None,
    ) -> None:
        require(memories, Iterable, "memories")
        self.memories = tuple(memories)
        for memory in self.memories:
            require(memory, Memory, "a memory", "Memory(kind, text)")
        self.scope = scope
        self.half_life = half_life
        """Days after which a passage counts half as recent."""
        self.embedder = embedder
        self._vectors: dict[str, Vectors] = {}
        """The vectors of texts, made on first use."""

    def recall(self, wanted: MemoryQuery) -> Sequence[Memory]:
        """Return the memories of that kind: the best for a query, or the newest."""
        found = [memory for memory in self.memories if self.fits(memory, wanted)]
        return select_memories(found, wanted, self._cosines(found, wanted), self.half_life)

    def fits(self, memory: Memory, wanted: MemoryQuery) -> bool:
        """Whether a memory has the kind, person, chat and weight of a query."""
        seen = self.scope is None or memory.scope in ("", self.scope)
        about = wanted.about is None or memory.about == wanted.about
        fits = seen and about and memory.kind == wanted.kind and memory.weight >= wanted.min_weight
        return fits and (memory.kind != "episode" or took_part(memory, wanted.asker))

    def recency(self, memory: Memory, now: datetime | None) -> float:
        """Return 1 for now, halved for every half-life that has passed."""
        return recency_of(memory, now, self.half_life)

    def _cosines(self, found: Sequence[Memory], wanted: MemoryQuery) -> list[float] | None:
        """Return the cosine of each memory and the query; None if terms decide alone."""
        if self.embedder is None or not needs_vectors(found, wanted):
            return None
        from contextwright.recall.vectors.matrix import text_cosines

        texts = [memory_text(memory) for memory in found]
        new = [*{*texts}.difference(self._vectors)]
        self._vectors.update(zip(new, embed_texts(new, self.embedder), strict=True))
        query = self.embedder.one(wanted.query or wanted.prefer)
        return text_cosines(query, [self._vectors[text] for text in texts]) if query.any() else None


def embed_texts(texts: Sequence[str], embedder: Embedder) -> list[Vectors]:
    """Return the vectors of the chunks of each text; a text without words has none."""
    pieces = [chunks_of(text) for text in texts]
    vectors = embedder([piece for some in pieces for piece in some])
    ends = accumulate(map(len, pieces), initial=0)
    return [vectors[start:end] for start, end in pairwise(ends)]


def needs_vectors(found: Sequence[Memory], wanted: MemoryQuery) -> bool:
    """Whether embeddings have an influence on which memories are chosen."""
    if wanted.query:
        return bool(found and terms_of(wanted.query))
    return len(found) > wanted.limit > 0 and bool(keywords(wanted.prefer))


def select_memories(
    memories: Sequence[Memory],
    wanted: MemoryQuery,
    cosines: Sequence[float] | None = None,
    half_life: float = HALF_LIFE,
) -> list[Memory]:
    """Return the best memories for a query, or the newest; at most its limit.

    Args:
        memories: those of the wanted kind and person, oldest first.
        cosines: that of each memory and the query; None compares terms only.
    """
    most = max(wanted.limit, 0)
    near: Sequence[float | None] = cosines or [None] * len(memories)
    if not wanted.query:
        return preferred_memories(memories, wanted.prefer, near, most)
    if wanted.kind == "episode":
        scores = event_scores(memories, wanted.query, near)
    else:
        asked, bare = terms_of(wanted.query), term_variants(wanted.query)
        scores = [
            score_of(memory, asked, bare, meaning) * recent * memory.weight
            for memory, meaning in zip(memories, near, strict=True)
            for recent in (0.8 + 0.2 * recency_of(memory, wanted.now, half_life),)
        ]
    scored = [
        memory if memory.score else msgspec.structs.replace(memory, score=score)
        for memory, score in zip(memories, scores, strict=True)
        if memory.score or (score and memory.score is None)
    ]
    return sorted(scored, key=lambda memory: -(memory.score or 0))[:most]


def score_of(
    memory: Memory, asked: set[str], variants: Mapping[str, set[str]], cosine: float | None
) -> float:
    """Return how well a memory fits a query, from its terms and its cosine."""
    share = len(matching_terms(memory_text(memory), asked, variants)) / max(len(asked), 1)
    match = MemoryMatch(share, cosine)
    return match.fit if share or match.is_near else 0.0


def recency_of(memory: Memory, now: datetime | None, half_life: float) -> float:
    """Return 1 for now, halved for every half-life that has passed."""
    at = read_time(memory.at) if memory.at else None
    if now is None or at is None:
        return 1.0
    days = max(0.0, (with_zone(now) - at).total_seconds() / 86_400)
    return 0.5 ** (days / half_life)


def event_scores(
    events: Sequence[Memory], query: str, cosines: Sequence[float | None]
) -> list[float]:
    """Return the score of each event: 0.6 for its fit, 0.3 for its tags, 0.1 for its weight.

    The fit is the share of the question's terms that the event contains, weighted by rarity, with
    the cosine. The tags count by their overlap with the question, relative to the smaller set. An
    event that fits by none of them has a score of 0, whatever its weight.
    """
    asked, variants = keywords(query), term_variants(query)
    matched = [matching_terms(memory_text(event), asked, variants) for event in events]
    document_frequency = Counter(term for terms in matched for term in terms)
    weights = {term: log(1 + len(events) / max(document_frequency[term], 1)) for term in asked}
    total_weight = sum(sorted(weights.values()))
    scores: list[float] = []
    for event, terms, meaning in zip(events, matched, cosines, strict=True):
        tags = terms_of(" ".join(tags_of(event)))
        overlap = len(tags & asked) / max(min(len(tags), len(asked)), 1)
        share = sum(sorted(weights[term] for term in terms)) / total_weight if terms else 0.0
        match = MemoryMatch(share, meaning)
        weight = min(max(event.weight, 0.0), 1.0)
        fits = match.is_near or share >= MIN_SHARE or overlap >= MIN_SHARE
        scores.append(0.6 * match.fit + 0.3 * overlap + 0.1 * weight if fits else 0.0)
    return scores


def tags_of(event: Memory) -> list[str]:
    """Return the tags of an event."""
    tags: object = event.meta.get("tags", ())
    listed = cast("Sequence[object]", tags) if isinstance(tags, list | tuple) else ()
    return [tag for tag in listed if isinstance(tag, str)]


def preferred_memories(
    memories: Sequence[Memory], words: str, cosines: Sequence[float | None], most: int
) -> list[Memory]:
    """Return the memories that fit a text best, then the newest, in their order."""
    if len(memories) <= most:
        return list(memories)
    asked, bare = keywords(words), term_variants(words)
    fits = [
        score_of(memory, asked, bare, meaning)
        for memory, meaning in zip(memories, cosines, strict=True)
    ]
    best = sorted(range(len(memories)), key=lambda place: (-fits[place], -place))[:most]
    return [memories[place] for place in sorted(best)]
