"""Memories as plain records, and those of them that fit a query."""

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
from contextwright.recall.from_memories import MemoryMatch, text_of
from contextwright.recall.memories import Memory, MemoryQuery, had_part
from contextwright.recall.vectors.chunks import chunks_of
from contextwright.recall.vectors.embedder import Embedder
from contextwright.text.terms import bare_terms, held_terms, keywords, terms_of

if TYPE_CHECKING:
    from contextwright.recall.vectors.embedder import Vectors

__all__ = ["MemoryList", "asks_meaning", "embedded", "fitting"]

HALF_LIFE = 7.0
"""Days after which a passage counts half as recent."""
LEAST_SHARE = 0.2
"""The share of a question's words below which an event matches by chance."""


class MemoryList:
    """Memories as plain records, searched by the words they share with a question.

    Those that come with a score, from a search of your own, keep it.
    With a `scope`, only the memories of that chat, and those of all chats, are found. With an
    `embedder`, memories are found by their meaning too; an `EmbedderError` of it is raised.
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
        """The vectors of texts, made when they are first compared."""

    def recall(self, wanted: MemoryQuery) -> Sequence[Memory]:
        """Return the memories of that kind: the best for a query, or the newest."""
        found = [memory for memory in self.memories if self.fits(memory, wanted)]
        return fitting(found, wanted, self._meanings(found, wanted), self.half_life)

    def fits(self, memory: Memory, wanted: MemoryQuery) -> bool:
        """Whether a memory has the wanted kind, person and chat."""
        seen = self.scope is None or memory.scope in ("", self.scope)
        about = wanted.about is None or memory.about == wanted.about
        fits = seen and about and memory.kind == wanted.kind and memory.weight >= wanted.min_weight
        return fits and (memory.kind != "episode" or had_part(memory, wanted.asker))

    def recency(self, memory: Memory, now: datetime | None) -> float:
        """Return 1 for now, halved for every half-life that has passed."""
        return recency_of(memory, now, self.half_life)

    def _meanings(self, found: Sequence[Memory], wanted: MemoryQuery) -> list[float] | None:
        """Return how near each memory is to the query; None without an embedder."""
        if self.embedder is None or not asks_meaning(found, wanted):
            return None
        from contextwright.recall.vectors.matrix import cosines_of

        texts = [text_of(memory) for memory in found]
        new = [*{*texts}.difference(self._vectors)]
        self._vectors.update(zip(new, embedded(new, self.embedder), strict=True))
        query = self.embedder.one(wanted.query or wanted.prefer)
        return cosines_of(query, [self._vectors[text] for text in texts]) if query.any() else None


def embedded(texts: Sequence[str], embedder: Embedder) -> list[Vectors]:
    """Return the vectors of the pieces of each text; a text without words has none."""
    pieces = [chunks_of(text) for text in texts]
    vectors = embedder([piece for some in pieces for piece in some])
    ends = accumulate(map(len, pieces), initial=0)
    return [vectors[start:end] for start, end in pairwise(ends)]


def asks_meaning(found: Sequence[Memory], wanted: MemoryQuery) -> bool:
    """Whether the meaning of memories decides which of them are chosen."""
    if wanted.query:
        return bool(found and terms_of(wanted.query))
    return len(found) > wanted.limit > 0 and bool(keywords(wanted.prefer))


def fitting(
    memories: Sequence[Memory],
    wanted: MemoryQuery,
    meanings: Sequence[float] | None = None,
    half_life: float = HALF_LIFE,
) -> list[Memory]:
    """Return the best memories for a query, or the newest; at most its limit.

    Args:
        memories: those of the wanted kind and person, oldest first.
        meanings: how near the meaning of each is to the query; None uses words only.
    """
    most = max(wanted.limit, 0)
    near: Sequence[float | None] = meanings or [None] * len(memories)
    if not wanted.query:
        return chosen(memories, wanted.prefer, near, most)
    if wanted.kind == "episode":
        scores = event_scores(memories, wanted.query, near)
    else:
        asked, bare = terms_of(wanted.query), bare_terms(wanted.query)
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
    memory: Memory, asked: set[str], bare: Mapping[str, set[str]], meaning: float | None
) -> float:
    """Return how well a memory fits: the share of the question's words it has, and its meaning."""
    share = len(held_terms(text_of(memory), asked, bare)) / max(len(asked), 1)
    match = MemoryMatch(share, meaning)
    return match.fit if share or match.is_near else 0.0


def recency_of(memory: Memory, now: datetime | None, half_life: float) -> float:
    """Return 1 for now, halved for every half-life that has passed."""
    at = read_time(memory.at) if memory.at else None
    if now is None or at is None:
        return 1.0
    days = max(0.0, (with_zone(now) - at).total_seconds() / 86_400)
    return 0.5 ** (days / half_life)


def event_scores(
    events: Sequence[Memory], query: str, meanings: Sequence[float | None]
) -> list[float]:
    """Return how well each event matches a question: fit, tags and weight count 6 to 3 to 1.

    The fit is the share of the question's words that the event has, where rare ones count more, and
    how near its meaning is; tags are the overlap, relative to the smaller set. An event with hardly
    a word of the question and another meaning does not match, whatever its weight.
    """
    asked, bare = keywords(query), bare_terms(query)
    held = [held_terms(text_of(event), asked, bare) for event in events]
    counts = Counter(term for terms in held for term in terms)
    weights = {term: log(1 + len(events) / max(counts[term], 1)) for term in asked}
    whole = sum(sorted(weights.values()))
    scores: list[float] = []
    for event, terms, meaning in zip(events, held, meanings, strict=True):
        tags = terms_of(" ".join(tags_of(event)))
        overlap = len(tags & asked) / max(min(len(tags), len(asked)), 1)
        share = sum(sorted(weights[term] for term in terms)) / whole if terms else 0.0
        match = MemoryMatch(share, meaning)
        weight = min(max(event.weight, 0.0), 1.0)
        fits = match.is_near or share >= LEAST_SHARE or overlap >= LEAST_SHARE
        scores.append(0.6 * match.fit + 0.3 * overlap + 0.1 * weight if fits else 0.0)
    return scores


def tags_of(event: Memory) -> list[str]:
    """Return the tags of an event."""
    tags: object = event.meta.get("tags", ())
    listed = cast("Sequence[object]", tags) if isinstance(tags, list | tuple) else ()
    return [tag for tag in listed if isinstance(tag, str)]


def chosen(
    memories: Sequence[Memory], words: str, meanings: Sequence[float | None], most: int
) -> list[Memory]:
    """Return at most `most` memories: those that fit a question, then the newest."""
    if len(memories) <= most:
        return list(memories)
    asked, bare = keywords(words), bare_terms(words)
    fits = [
        score_of(memory, asked, bare, meaning)
        for memory, meaning in zip(memories, meanings, strict=True)
    ]
    best = sorted(range(len(memories)), key=lambda place: (-fits[place], -place))[:most]
    return [memories[place] for place in sorted(best)]
