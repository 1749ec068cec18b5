"""Memories: records about people, facts, events and past messages.

A memory reaches a model only through a section. Sections ask a `MemorySource`, a protocol of one
method; `MemoryList` is one over plain records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from math import isfinite
from typing import Any, Literal, Protocol, TypeAlias, cast

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError
from contextwright.messages.times import read_time

__all__ = [
    "MIN_CONFIDENCE",
    "Memory",
    "MemoryKind",
    "MemoryQuery",
    "MemorySource",
    "Ranking",
    "current_facts",
    "took_part",
]

MemoryKind: TypeAlias = Literal["memory", "profile", "fact", "episode", "passage"]
"""A note about a person, a profile, a labelled fact, an event, a past passage."""
MIN_CONFIDENCE = 0.1
"""The default confidence below which nothing is recalled. One in a hundred questions that have an
answer is below it (`benchmarks/confidence.py`)."""


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
    """Data of your own; never sent to a model."""


class Ranking(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Reasons that count besides the question; none by default."""

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
    """The id of the person who asks: "I" in the query means them, and an event with participants is
    shown to them only."""
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
    """Other reasons that count for passages."""


class MemorySource(Protocol):
    """A source of memories."""

    def recall(self, wanted: MemoryQuery) -> Sequence[Memory]:
        """Return the memories that fit a query, at most its limit."""
        ...


# --- facts ---------------------------------------------------------------------------------------


def current_facts(facts: Iterable[Memory]) -> list[Memory]:
    """Return the newest fact of each subject and label.

    If it repeats the text of an older one, it gets the higher weight of the two. A fact without a
    label is replaced only by one with the same text. Of facts without a time, the later in the list
    is newer. Older facts remain in the store, with their dates.
    """
    newest: dict[tuple[str | None, str], tuple[tuple[datetime | None, int], Memory]] = {}
    for place, fact in enumerate(facts):
        label = " ".join(fact.key.replace("_", " ").casefold().split())
        subject = (fact.about, label or f"\0{' '.join(fact.text.casefold().split())}")
        age = (read_time(fact.at) if fact.at else None, place)
        known = newest.get(subject)
        if known is None or is_newer(age, known[0]):
            newest[subject] = age, with_highest_weight(fact, known[1] if known else None)
        else:
            newest[subject] = known[0], with_highest_weight(known[1], fact)
    return [fact for _, fact in newest.values()]


def is_newer(age: tuple[datetime | None, int], other: tuple[datetime | None, int]) -> bool:
    """Whether one fact is newer than another, by time, or by position if times are equal."""
    if age[0] is not None and other[0] is not None and age[0] != other[0]:
        return age[0] > other[0]
    return age[1] > other[1]


def with_highest_weight(fact: Memory, other: Memory | None) -> Memory:
    """Return the fact, with the other's weight if both have the same text and it is higher."""
    same = other is not None and other.text.split() == fact.text.split()
    if other is None or not same or other.weight <= fact.weight:
        return fact
    return msgspec.structs.replace(fact, weight=other.weight)


# --- events --------------------------------------------------------------------------------------


def took_part(memory: Memory, asker: str | None) -> bool:
    """Whether an event may be shown to a person: only to its participants.

    An event without participants is shown to everyone in its chat.

    Args:
        asker: the id of the person.
    """
    participants: object = memory.meta.get("participants", ())
    if not isinstance(participants, list | tuple):
        return False  # the field is not a list, so its participants are unknown
    return not participants or asker in cast("Sequence[object]", participants)
