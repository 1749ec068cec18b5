"""The queries of sections to a memory source: about the asker, about others, for the question."""

from __future__ import annotations

import re

from contextwright.messages.message import Author
from contextwright.recall.memories import Memory, MemoryKind, MemoryQuery, Ranking
from contextwright.sections.base import SectionInput

__all__ = [
    "RECENT",
    "about_person",
    "about_user",
    "asked_for",
    "asker_of",
    "others_of",
    "unfound",
    "unknown",
]

RECENT = 30
"""Number of newest messages that count as part of the history and are not recalled."""
NO_MEMORIES = "no memories were given: pass memories=…, or build from a store"
MOST_OTHERS = 3
"""Maximum number of people, besides the asker, that a section writes about."""


def about_user(moment: SectionInput, kind: MemoryKind, most: int) -> list[Memory]:
    """Return memories about the author of the question; without an author, those about nobody."""
    asker = asker_of(moment)
    if moment.memories is None:
        return []
    prefer = moment.question.text if moment.question else ""
    wanted = MemoryQuery(kind=kind, about=asker, limit=most, now=moment.now, prefer=prefer)
    found = moment.memories.recall(wanted)
    return [memory for memory in found if asker or memory.about is None][:most]


def about_person(moment: SectionInput, kind: MemoryKind, id: str | None, most: int) -> list[Memory]:
    """Return memories about someone other than the author of the question."""
    if moment.memories is None or not id or not most:
        return []
    prefer = moment.question.text if moment.question else ""
    wanted = MemoryQuery(kind=kind, about=id, limit=most, now=moment.now, prefer=prefer)
    return [memory for memory in moment.memories.recall(wanted) if memory.about == id][:most]


def others_of(moment: SectionInput) -> list[Author]:
    """Return the people the question replies to or mentions, among recent speakers."""
    question = moment.question
    if question is None or moment.memories is None:
        return []
    answered = question.reply_to.author if question.reply_to else None
    people = {answered.id: answered} if answered and answered.id else {}
    text = question.text.casefold()
    for message in moment.messages[-RECENT:]:
        author = message.author
        if author and author.id and author.id not in people and is_mentioned(author, text):
            people[author.id] = author
    people.pop(asker_of(moment) or "", None)
    return list(people.values())[:MOST_OTHERS]


def is_mentioned(author: Author, text: str) -> bool:
    """Whether a text contains a person's name as whole words, or their handle."""
    handle = (author.username or "").removeprefix("@").casefold()
    names = [
        name for name in ((author.name or "").casefold(), f"@{handle}" if handle else "") if name
    ]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def asked_for(
    moment: SectionInput,
    kind: MemoryKind,
    most: int,
    *,
    least: float = 0.0,
    confidence: float = 0.0,
    tokens: int | None = None,
    ranking: Ranking | None = None,
) -> list[Memory]:
    """Return memories that match the question, and passages that the window does not keep."""
    query = moment.question.text if moment.question else ""
    if moment.memories is None or not query.strip():
        return []
    wanted = MemoryQuery(
        kind=kind,
        query=query,
        limit=most,
        now=moment.now,
        asker=asker_of(moment),
        min_weight=least,
        min_confidence=confidence,
        tokens=tokens,
        price=moment.price,
        without=None if moment.kept is None else {index + 1 for index in moment.kept},
        ranking=ranking or Ranking(),
    )
    return list(moment.memories.recall(wanted))[:most]


def unknown(moment: SectionInput, kind: MemoryKind) -> str:
    """Return why there is nothing about the person who asks."""
    if moment.memories is None:
        return NO_MEMORIES
    asker = asker_of(moment)
    return (
        f"there is no {kind} about {asker}"
        if asker
        else f"the question has no author, and no {kind} is about everybody"
    )


def unfound(moment: SectionInput, what: str) -> str:
    """Return why there is nothing about the question."""
    if moment.memories is None:
        return NO_MEMORIES
    asked = moment.question is not None and moment.question.text.strip()
    return f"no {what} fits the question" if asked else "the question has no words"


def asker_of(moment: SectionInput) -> str | None:
    """Return the id of the person who asks."""
    author = moment.question.author if moment.question else None
    return author.id or None if author else None
