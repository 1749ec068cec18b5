"""What is known beyond the conversation: records about people, facts, events and past words.

A memory reaches a model only through a section. Where memories live is somebody else's business:
a section asks a `Recollection`, which is one method. `Notes` is one that holds plain records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.messages import read_time
from contextwright.terms import terms_of

__all__ = ["Memory", "MemoryKind", "Notes", "Recollection", "Wanted"]

MemoryKind: TypeAlias = Literal["memory", "profile", "fact", "episode", "passage"]
"""A note on somebody, a summary of them, a labelled fact, an event, words once said."""


class Memory(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One record: what is known, about whom, who said so and when."""

    kind: MemoryKind
    text: str
    about: str | None = None
    """The id of the person it is about. A name is no id: anybody can take one."""
    key: str = ""
    """What a fact is a fact of (`Location`), or the topic of an event."""
    author: str | None = None
    at: str | None = None
    """When it was noted, in the spelling it came in."""
    scope: str = ""
    """The chat it belongs to and is told in; empty: told everywhere."""
    weight: float = 1.0
    """How sure or how important it is, from 0 to 1."""
    score: float | None = None
    """How well it fits what was asked for, from 0 to 1; only of what was searched for."""
    meta: dict[str, Any] = {}
    """Yours: never sent to a model."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What a section would like to know."""

    kind: MemoryKind
    about: str | None = None
    """Only what is about this person."""
    query: str = ""
    """Only what fits these words, best first; without them the newest, oldest first."""
    most: int = 10
    now: datetime | None = None


class Recollection(Protocol):
    """Where memories come from."""

    def recall(self, wanted: Wanted) -> Sequence[Memory]:
        """The memories that fit, at most so many."""
        ...


class Notes:
    """Memories held as plain records, searched by the words they share with a question.

    With a `scope`, only the memories of that chat are seen, and those told everywhere.
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
        """After so many days a passage counts half as recent."""

    def recall(self, wanted: Wanted) -> Sequence[Memory]:
        """The memories of that kind: the best for a query, or the newest."""
        found = [memory for memory in self.memories if self.fits(memory, wanted)]
        if not wanted.query:
            return found[-wanted.most :] if wanted.most > 0 else []
        asked = terms_of(wanted.query)
        scored = [
            msgspec.structs.replace(memory, score=self.score(memory, asked, wanted.now))
            for memory in found
        ]
        best = sorted(scored, key=lambda memory: -(memory.score or 0))
        return [memory for memory in best[: wanted.most] if memory.score]

    def fits(self, memory: Memory, wanted: Wanted) -> bool:
        """Whether a memory is of the kind, the person and the chat that are asked for."""
        seen = self.scope is None or memory.scope in ("", self.scope)
        about = wanted.about is None or memory.about == wanted.about
        return seen and about and memory.kind == wanted.kind

    def score(self, memory: Memory, asked: set[str], now: datetime | None) -> float:
        """The share of the question's words it holds; of two alike, the newer one is better."""
        shared = len(asked & terms_of(f"{memory.key} {memory.text}")) / max(len(asked), 1)
        return shared * (0.8 + 0.2 * self.recency(memory, now)) * memory.weight

    def recency(self, memory: Memory, now: datetime | None) -> float:
        """1 for now, and half as much for every half-life that has passed."""
        at = read_time(memory.at) if memory.at else None
        if now is None or at is None:
            return 1.0
        days = max(0.0, (now - at).total_seconds() / 86_400)
        return 0.5 ** (days / self.half_life)
