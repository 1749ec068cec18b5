"""Frozen values that a store takes and returns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict

from msgspec import Struct

from contextwright.messages.message import Message
from contextwright.recall.memories import Memory, MemoryKind
from contextwright.summaries.summary import Summary

__all__ = [
    "Cure",
    "ConversationInfo",
    "EraseOptions",
    "Erasure",
    "Finding",
    "MemoryChanges",
    "MemoryFields",
    "SearchHit",
    "StoredMessage",
    "StoredMemory",
    "StoredSummary",
    "TenantInfo",
    "Turn",
    "Version",
]


class StoredMessage(Struct, frozen=True, omit_defaults=True):
    """A message with the place it has in its conversation."""

    seq: int
    """Its number: 1 for the first, without holes."""
    key: str | None
    """The key of the turn it came in."""
    message: Message
    """As it was added, but for what was hidden, deleted or pinned since."""
    damage: str = ""
    """The problem, if the stored message cannot be read and `message` is a placeholder."""
    stored_at: str | None = None
    """When it was stored, in ISO 8601; None for messages of imports and of earlier versions."""


class Turn(Struct, frozen=True):
    """Messages to store together: all of them or none, once for each key."""

    conversation: str
    messages: Sequence[Message]
    key: str | None = None


class ConversationInfo(Struct, frozen=True):
    """The title, settings and origin of a conversation."""

    id: str
    length: int
    """The number of messages, those before a fork included."""
    title: str | None = None
    agent: str | None = None
    settings: dict[str, Any] = {}
    parent: str | None = None
    """The conversation it was forked from."""
    fork_at: int | None = None
    """The last message it shares with the parent."""
    created: str = ""
    """Time in ISO 8601, for people only; nothing is ordered by it."""


class Cure(Struct, frozen=True):
    """A statement that rebuilds data from the rest, run once for each row of values."""

    sql: str
    rows: tuple[tuple[str | int | None, ...], ...]
    effect: str
    """What it does, for people."""


class Finding(Struct, frozen=True):
    """Something in a store that should not be so."""

    code: str
    problem: str
    conversation: int | None = None
    """The number of the conversation it is about."""
    where: str = ""
    """The conversation in words."""
    cure: Cure | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{self.code} {place}{self.problem}"


class EraseOptions(TypedDict, total=False):
    """How to erase."""

    scrub: bool
    """Rewrite the database's files at once, so that no byte is left in them; True by default."""
    dry_run: bool
    """Only say what would be erased."""


class MemoryFields(TypedDict, total=False):
    """What is known about a memory beside its text."""

    about: str | None
    kind: MemoryKind
    key: str
    scope: str
    author: str | None
    at: datetime | str | None
    made_from: Sequence[int]


class MemoryChanges(TypedDict, total=False):
    """What a stored memory becomes; what is left out stays."""

    text: str
    key: str
    weight: float
    at: datetime | str | None
    """When it was noted; by default now."""


class Erasure(Struct, frozen=True):
    """What was erased, and what is out of reach."""

    messages: int = 0
    """Messages whose words are gone; a stone stays for each, unless its conversation went too."""
    quotes: int = 0
    """Excerpts of them in replies."""
    memories: int = 0
    conversations: int = 0
    """Conversations that were removed whole."""
    remains: tuple[str, ...] = ()
    """Where the words may still be, in words: backups, logs, and what nobody rewrote yet."""


class TenantInfo(Struct, frozen=True):
    """A tenant, and how much it has."""

    name: str
    conversations: int = 0
    messages: int = 0
    memories: int = 0


class Version(Struct, frozen=True):
    """What a message said before it was edited."""

    replaced: str
    """When, in ISO 8601."""
    message: Message


class SearchHit(Struct, frozen=True):
    """A message that a search found."""

    conversation: str
    seq: int
    message: Message
    score: float
    """The share of the query's words it holds, from 0 to 1, where rare words count for more."""


class StoredMemory(Struct, frozen=True):
    """A memory with the id it has in its store."""

    id: str
    memory: Memory
    accesses: int = 0
    """The number of contexts that included it and were followed by a stored turn."""
    accessed: str | None = None
    """Time of the last of them, in ISO 8601."""


class StoredSummary(Struct, frozen=True):
    """A summary as a store keeps it."""

    name: str
    """How it was made: by which model, and with how many tokens."""
    made: str
    """Time in ISO 8601."""
    summary: Summary
