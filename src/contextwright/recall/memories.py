"""Memories: records about people, facts, events and past messages.

A memory reaches a model only through a section. A section asks a `MemorySource`, which is one
method, wherever memories are stored. `MemoryList` holds plain records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from math import isfinite, log
from typing import Any, Literal, Protocol, TypeAlias, cast

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError
from contextwright.messages.times import read_time, with_zone
from contextwright.text.terms import keywords, terms_of, terms_with_parts

__all__ = [
    "Memory",
    "MemoryKind",
    "MemoryList",
    "MemoryQuery",
    "MemorySource",
    "Ranking",
    "current_facts",
]

MemoryKind: TypeAlias = Literal["memory", "profile", "fact", "episode", "passage"]
"""A note about a person, a profile, a labelled fact, an event, a past passage."""


class Memory(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One record: its text, its subject, its author and its time."""

    kind: MemoryKind
    text: str
    about: str | None = None
    """The id of the person it is about. A name is not an id, because anyone can take it."""
    key: str = ""
    """The label of a fact (`Location`), or the topic of an event."""
    author: str | None = None
    at: str | None = None
    """The time it was noted, as it was written."""
    scope: str = ""
    """The chat it belongs to; empty for all chats."""
    weight: float = 1.0
    """Certainty or importance, from 0 to 1."""
    score: float | None = None
    """How well it fits the query, from 0 to 1; only for search results."""
    meta: dict[str, Any] = {}
    """Yours: never sent to a model."""


class Ranking(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What counts besides the question; by default, nothing."""

    recency: float = 0.0
    """Weight of recency: the exponent of the decay by half-life."""
    half_life: float = 7.0
    """Days after which a message counts half as recent."""
    senders: float = 0.0
    """Weight of frequent speakers: the exponent of 1 to 2, by their share."""
    addressed: float = 0.0
    """Weight of what was said to the model: the exponent of 1.5 for messages it answered next."""

    def __post_init__(self) -> None:
        numbers = (self.recency, self.half_life, self.senders, self.addressed)
        is_number = all(type(one) in (int, float) and isfinite(one) for one in numbers)
        if not is_number or self.half_life <= 0:
            hint = "finite numbers, a half-life above 0"
            raise UsageError("invalid ranking", hint=hint)


class MemoryQuery(Struct, frozen=True, kw_only=True):
    """The query of a section."""

    kind: MemoryKind
    about: str | None = None
    """Only memories about this person."""
    query: str = ""
    """Only memories that match these words, best first; if empty, the newest, oldest first."""
    limit: int = 10
    """Maximum number of memories."""
    now: datetime | None = None
    asker: str | None = None
    """The id of the person who asks; an event with participants is shown to them only."""
    min_weight: float = 0.0
    """Minimum weight, from 0 to 1."""
    prefer: str = ""
    """If there are more than `limit`, prefer those that match these words."""
    min_confidence: float = 0.0
    """Minimum confidence that any passage answers the query, if the source knows it."""
    tokens: int | None = None
    """Maximum tokens of passages, if the source counts them."""
    price: Callable[[str], int] | None = None
    """The tokens of a text; None: a count that fits most models."""
    without: Collection[int] | None = None
    """Numbers of messages that the request has anyway; None: the source may guess."""
    ranking: Ranking = Ranking()
    """What else counts for passages."""


class MemorySource(Protocol):
    """A source of memories."""

    def recall(self, wanted: MemoryQuery) -> Sequence[Memory]:
        """Return the memories that fit a query, at most its limit."""
        ...


class MemoryList:
    """Memories as plain records, searched by the words they share with a question.

    Those that come with a score, from a search of your own, keep it.
    With a `scope`, only the memories of that chat, and those of all chats, are found.
    """

    def __init__(
        self,
        memories: Iterable[Memory] = (),
        *,
        scope: str | None = None,
        half_life: float = 7.0,
    ) -> None:
        self.memories = tuple(memories)
        self.scope = scope
        self.half_life = half_life
        """Days after which a passage counts half as recent."""

    def recall(self, wanted: MemoryQuery) -> Sequence[Memory]:
        """Return the memories of that kind: the best for a query, or the newest."""
        found = [memory for memory in self.memories if self.fits(memory, wanted)]
        if not wanted.query:
            return chosen(found, wanted.prefer, max(wanted.limit, 0))
        if wanted.kind == "episode":
            scores = event_scores(found, keywords(wanted.query))
        else:
            asked = terms_of(wanted.query)
            scores = [self.score(memory, asked, wanted.now) for memory in found]
        scored = [
            memory if memory.score else msgspec.structs.replace(memory, score=score)
            for memory, score in zip(found, scores, strict=True)
            if memory.score or (score and memory.score is None)
        ]
        best = sorted(scored, key=lambda memory: -(memory.score or 0))
        return best[: max(wanted.limit, 0)]

    def fits(self, memory: Memory, wanted: MemoryQuery) -> bool:
        """Whether a memory has the wanted kind, person and chat."""
        seen = self.scope is None or memory.scope in ("", self.scope)
        about = wanted.about is None or memory.about == wanted.about
        fits = seen and about and memory.kind == wanted.kind and memory.weight >= wanted.min_weight
        return fits and (memory.kind != "episode" or had_part(memory, wanted.asker))

    def score(self, memory: Memory, asked: set[str], now: datetime | None) -> float:
        """Return the share of the question's words it has; a newer one wins a tie."""
        shared = len(asked & terms_with_parts(f"{memory.key} {memory.text}")) / max(len(asked), 1)
        return shared * (0.8 + 0.2 * self.recency(memory, now)) * memory.weight

    def recency(self, memory: Memory, now: datetime | None) -> float:
        """Return 1 for now, halved for every half-life that has passed."""
        at = read_time(memory.at) if memory.at else None
        if now is None or at is None:
            return 1.0
        days = max(0.0, (with_zone(now) - at).total_seconds() / 86_400)
        return 0.5 ** (days / self.half_life)


# --- facts ---------------------------------------------------------------------------------------


def current_facts(facts: Iterable[Memory]) -> list[Memory]:
    """Keep the newest fact of each subject and label, and of equal ones the surest.

    A fact without a label stays. Of facts without a time, the later one is newer. Older facts
    remain in the store, with their dates.
    """
    newest: dict[tuple[str | None, str], tuple[tuple[datetime | None, int], Memory]] = {}
    for place, fact in enumerate(facts):
        label = " ".join(fact.key.replace("_", " ").casefold().split())
        subject = (fact.about, label or f"\0{' '.join(fact.text.casefold().split())}")
        age = (read_time(fact.at) if fact.at else None, place)
        known = newest.get(subject)
        if known is None or is_newer(age, known[0]):
            newest[subject] = age, surest(fact, known[1] if known else None)
        else:
            newest[subject] = known[0], surest(known[1], fact)
    return [fact for _, fact in newest.values()]


def is_newer(age: tuple[datetime | None, int], other: tuple[datetime | None, int]) -> bool:
    """Whether one fact is newer than another: by its time, else by its position."""
    if age[0] is not None and other[0] is not None and age[0] != other[0]:
        return age[0] > other[0]
    return age[1] > other[1]


def surest(fact: Memory, other: Memory | None) -> Memory:
    """Return the fact with the higher certainty of the two if both say the same."""
    same = other is not None and other.text.split() == fact.text.split()
    if other is None or not same or other.weight <= fact.weight:
        return fact
    return msgspec.structs.replace(fact, weight=other.weight)


# --- events --------------------------------------------------------------------------------------


def had_part(memory: Memory, asker: str | None) -> bool:
    """Whether an event may be shown to a person: one of its participants, by id.

    An event without participants is shown to everyone in its chat.
    """
    participants: object = memory.meta.get("participants", ())
    if not isinstance(participants, list | tuple):
        return False  # it is not known whom it means
    return not participants or asker in cast("Sequence[object]", participants)


LEAST_SHARE = 0.2
"""The share of a question's words below which a match is by chance."""


def event_scores(events: Sequence[Memory], asked: set[str]) -> list[float]:
    """Return how well each event matches a question: words, tags and weight count 6 to 3 to 1.

    Words are the share of the question's words that the event has, where rare ones count more; tags
    are the overlap, relative to the smaller set. An event with hardly a word of the question does
    not match, whatever its weight.
    """
    held = [terms_with_parts(f"{event.key} {event.text}") & asked for event in events]
    counts = Counter(term for terms in held for term in terms)
    weights = {term: log(1 + len(events) / max(counts[term], 1)) for term in asked}
    whole = sum(sorted(weights.values()))
    scores: list[float] = []
    for event, terms in zip(events, held, strict=True):
        tags = terms_of(" ".join(tags_of(event)))
        overlap = len(tags & asked) / max(min(len(tags), len(asked)), 1)
        share = sum(sorted(weights[term] for term in terms)) / whole if terms else 0.0
        weight = min(max(event.weight, 0.0), 1.0)
        fits = share >= LEAST_SHARE or overlap >= LEAST_SHARE
        scores.append(0.6 * share + 0.3 * overlap + 0.1 * weight if fits else 0.0)
    return scores


def tags_of(event: Memory) -> list[str]:
    """Return the tags of an event."""
    tags: object = event.meta.get("tags", ())
    listed = cast("Sequence[object]", tags) if isinstance(tags, list | tuple) else ()
    return [tag for tag in listed if isinstance(tag, str)]


def chosen(memories: list[Memory], words: str, most: int) -> list[Memory]:
    """Return at most `most` memories: those that share words with a question, then the newest."""
    if len(memories) <= most:
        return memories
    asked = keywords(words)
    shared = [len(asked & terms_with_parts(f"{memory.key} {memory.text}")) for memory in memories]
    best = sorted(range(len(memories)), key=lambda place: (-shared[place], -place))[:most]
    return [memories[place] for place in sorted(best)]
