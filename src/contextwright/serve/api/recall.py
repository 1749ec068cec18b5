"""Recall and search: the messages that a question needs, or that hold some words."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.recall.memories import Memory
from contextwright.recall.packing import RecallHit
from contextwright.recall.passages import Excerpt
from contextwright.serve.api.contexts.contexts import time_of
from contextwright.serve.http.fields import Budget, ConversationId, Limit, ModelName, Now, Words
from contextwright.store.records import SearchHit
from contextwright.store.store import Store

__all__ = ["recall", "search"]


class RecallQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, and where to look for what it needs."""

    q: Words
    conversation: ConversationId | None = None
    budget: Budget = 2_000
    about: Annotated[str, Meta(max_length=256, description="Only of this person.")] | None = None
    limit: Limit = 50
    min_score: Annotated[
        float, Meta(ge=0, le=1, description="Least probability that it is needed.")
    ] = 0.0
    model: ModelName | None = None
    now: Now | None = None


class RecallReason(Struct, frozen=True):
    """A reason, and its part in the log-odds of a score."""

    name: str
    adds: float


class RecallExcerpt(Struct, frozen=True):
    """The parts of a long message that are recalled."""

    parts: list[int]
    """Their numbers, from 1."""
    of: int
    """The number of all parts."""
    spans: list[list[int]]
    """Their places in the message's text: the first character, and the one after the last."""


class RecallEntry(Struct, frozen=True, kw_only=True):
    """A message or a memory that is recalled, and why; `seq` 0 is a memory."""

    conversation: str
    seq: int
    score: float
    tokens: int
    speaker: str
    line: str
    reasons: list[RecallReason]
    excerpt: RecallExcerpt | None
    """The parts of a long message that are recalled; null: all of it."""
    message: Message
    memory: Memory | None


class RecallAnswer(Struct, frozen=True, kw_only=True):
    """The recalled messages in the order of the conversation, and the text a model would get."""

    hits: list[RecallEntry]
    text: str
    tokens: int
    budget: int
    by_meaning: bool
    trouble: str
    changes: list[Change]
    """A `loss.damaged` for each damaged message that could not be searched."""


class SearchQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words, and where to look for them."""

    q: Words
    conversation: ConversationId | None = None
    limit: Limit = 20


class SearchAnswer(Struct, frozen=True):
    """The messages that hold most of the words, best first."""

    hits: list[SearchHit]
    changes: list[Change]
    """A `loss.damaged` for each damaged message that could not be searched."""


def recall(store: Store, query: RecallQuery) -> RecallAnswer:
    """Recall what a question needs, within a token budget.

    By words, by meaning if the store has an embedder, by speaker and time; in one conversation, or
    in all of them.
    """
    now = time_of(query.now) if query.now else None
    source = store
    if query.conversation is not None:
        source = store.conversation(query.conversation)
        source.details()
    found = source.recall(
        query.q,
        budget=query.budget,
        about=query.about,
        limit=query.limit,
        min_score=query.min_score,
        model=query.model,
        now=now,
    )
    return RecallAnswer(
        hits=[entry_of(hit) for hit in found],
        text=found.text,
        tokens=found.tokens,
        budget=found.budget,
        by_meaning=found.has_meaning,
        trouble=found.trouble,
        changes=[*found.changes],
    )


def search(store: Store, query: SearchQuery) -> SearchAnswer:
    """Find messages by their words; a query has no syntax."""
    if query.conversation is not None:
        store.conversation(query.conversation).details()
    found = store.search(query.q, query.conversation, query.limit)
    return SearchAnswer(found, [*found.changes])


def entry_of(hit: RecallHit) -> RecallEntry:
    """Return a hit with what speaks for it."""
    return RecallEntry(
        conversation=hit.conversation,
        seq=hit.seq,
        score=round(hit.score, 4),
        tokens=hit.tokens,
        speaker=hit.speaker,
        line=hit.line,
        reasons=[RecallReason(name, round(adds, 4)) for name, adds in hit.reasons],
        excerpt=excerpt_of(hit.excerpt),
        message=hit.message,
        memory=hit.memory,
    )


def excerpt_of(excerpt: Excerpt | None) -> RecallExcerpt | None:
    """Return which parts of a message are recalled."""
    if excerpt is None:
        return None
    spans = [[start, end] for start, end in excerpt.spans]
    return RecallExcerpt([*excerpt.numbers], len(excerpt.passages), spans)
