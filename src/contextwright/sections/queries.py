"""What sections ask a memory source: about who asks, about others, and what a question needs."""

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
"""Words of so many of the newest messages are taken to be in the history, and not recalled."""
NO_MEMORIES = "no memories were given: pass memories=…, or build from a store"
MOST_OTHERS = 3
"""Of so many people besides the one who asks something is told."""


def about_user(moment: SectionInput, kind: MemoryKind, most: int) -> list[Memory]:
    """Memories about the author of the question; without one, those that are about nobody."""
    asker = asker_of(moment)
    if moment.memories is None:
        return []
    prefer = moment.question.text if moment.question else ""
    wanted = MemoryQuery(kind=kind, about=asker, limit=most, now=moment.now, prefer=prefer)
    found = moment.memories.recall(wanted)
    return [memory for memory in found if asker or memory.about is None][:most]


def about_person(moment: SectionInput, kind: MemoryKind, id: str | None, most: int) -> list[Memory]:
    """Memories about somebody else than the author of the question."""
    if moment.memories is None or not id or not most:
        return []
    prefer = moment.question.text if moment.question else ""
    wanted = MemoryQuery(kind=kind, about=id, limit=most, now=moment.now, prefer=prefer)
    return [memory for memory in moment.memories.recall(wanted) if memory.about == id][:most]


def others_of(moment: SectionInput) -> list[Author]:
    """Whom the question answers or mentions, of those who spoke lately; not who asks."""
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
    """Whether a text has somebody's name as words of its own, or their handle."""
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
    tokens: int | None = None,
    ranking: Ranking | None = None,
) -> list[Memory]:
    """Memories that fit the words of the question."""
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
        tokens=tokens,
        ranking=ranking or Ranking(),
    )
    return list(moment.memories.recall(wanted))[:most]


def unknown(moment: SectionInput, kind: MemoryKind) -> str:
    """Why there is nothing about the person who asks."""
    if moment.memories is None:
        return NO_MEMORIES
    asker = asker_of(moment)
    return (
        f"there is no {kind} about {asker}"
        if asker
        else f"the question has no author, and no {kind} is about everybody"
    )


def unfound(moment: SectionInput, what: str) -> str:
    """Why there is nothing about the question."""
    if moment.memories is None:
        return NO_MEMORIES
    asked = moment.question is not None and moment.question.text.strip()
    return f"no {what} fits the question" if asked else "the question has no words"


def asker_of(moment: SectionInput) -> str | None:
    """The id of who asks."""
    author = moment.question.author if moment.question else None
    return author.id or None if author else None
