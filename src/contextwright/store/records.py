"""Frozen values that a store takes and returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias, TypedDict

from msgspec import Struct

from contextwright.messages.changes import Change
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
    "Numbers",
    "Places",
    "SearchHit",
    "SearchResult",
    "StoredMessage",
    "StoredMemory",
    "StoredSummary",
    "TenantInfo",
    "Tenants",
    "Turn",
    "Version",
]


class StoredMessage(Struct, frozen=True, omit_defaults=True):
    """A message with its position in its conversation."""

    seq: int
    """Its number: 1 for the first, without gaps."""
    key: str | None
    """The key of the turn it came in."""
    message: Message
    """The message as it was added, with its current visibility and pin."""
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
    """The number of messages, including those before a fork."""
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
    """What it does, in one line for people."""


class Finding(Struct, frozen=True):
    """A problem in a store."""

    code: str
    problem: str
    conversation: int | None = None
    """The number of the conversation it is about."""
    where: str = ""
    """The conversation, described."""
    cure: Cure | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{self.code} {place}{self.problem}"


class EraseOptions(TypedDict, total=False):
    """Options of an erasure."""

    scrub: bool
    """Whether to rewrite the database's files at once, so that no byte is left; True by default."""
    dry_run: bool
    """Whether to only report what would be erased."""


class MemoryFields(TypedDict, total=False):
    """The fields of a memory besides its text."""

    about: str | None
    """The id of the person it is about."""
    kind: MemoryKind
    """`memory` by default."""
    key: str
    """The label of a fact, or the topic of an episode."""
    scope: str
    """The conversation it belongs to; all of the tenant by default."""
    author: str | None
    """The id of the person who noted it."""
    at: datetime | str | None
    """When it was noted; now by default."""
    made_from: Sequence[int]
    """Messages of its scope that it was made from: it is erased with them."""


class MemoryChanges(TypedDict, total=False):
    """Changes to a stored memory; fields left out stay."""

    text: str
    key: str
    """The label of a fact, or the topic of an episode."""
    weight: float
    """Certainty or importance, from 0 to 1."""
    at: datetime | str | None
    """When it was noted; now by default."""


class Erasure(Struct, frozen=True):
    """What was erased, and what is out of reach."""

    messages: int
    """Messages whose text was removed; a placeholder stays, unless the conversation was removed."""
    quotes: int
    """Excerpts of them in replies."""
    memories: int
    conversations: int
    """Conversations that were removed."""
    remains: tuple[str, ...]
    """Where the text may still be: backups, logs, and files not rewritten yet."""


class TenantInfo(Struct, frozen=True):
    """A tenant, and how much it has."""

    name: str
    conversations: int = 0
    messages: int = 0
    memories: int = 0


class Version(Struct, frozen=True):
    """An earlier version of a message, before an edit."""

    replaced: str
    """When it was replaced, in ISO 8601."""
    message: Message


class SearchHit(Struct, frozen=True):
    """A message that a search found."""

    conversation: str
    seq: int
    message: Message
    score: float
    """The share of the query's words it has, from 0 to 1; rare words count more."""


class SearchResult(list[SearchHit]):
    """A list of the messages that a search found, the best first.

    `changes` has a `loss.damaged` for each damaged message that may have the words.
    """

    changes: tuple[Change, ...]

    def __init__(self, hits: Iterable[SearchHit] = (), changes: tuple[Change, ...] = ()) -> None:
        super().__init__(hits)
        self.changes = changes


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


# `list` is a method of `Store`, so its annotations cannot use the built-in type.
Numbers: TypeAlias = list[int]
"""The numbers of a turn's messages."""
Places: TypeAlias = list[str]
"""Where removed words may still be."""
Tenants: TypeAlias = list[TenantInfo]
"""All tenants of a store."""
