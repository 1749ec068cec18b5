"""Index the terms of messages.

Messages are not indexed while a turn is stored, because that would more than double its cost (see
`benchmarks/retrieval/search.py`). A search reads the few messages that the index lacks, and indexes
them in bulk when there are more. A message is indexed once, in the conversation it was written in.
"""

from __future__ import annotations

from hashlib import blake2b

from contextwright.messages.message import Message
from contextwright.messages.parts import Text, ToolResult
from contextwright.messages.speech import spoken_text
from contextwright.store.engines.base import Connection, Work
from contextwright.store.rows import conversations, index
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import STAND_IN
from contextwright.text.terms import findable_terms

__all__ = [
    "DAMAGED",
    "MAX_UNINDEXED",
    "MAX_TEXT_CHARS",
    "PAGE_MESSAGES",
    "index_next",
    "owner_of",
    "terms_in",
]

MAX_TEXT_CHARS, MAX_RESULT_CHARS = 50_000, 2_000
"""Maximum indexed characters of a text and of a tool result, because files and pages are long."""

MAX_UNINDEXED = 64
"""Maximum messages missing from the index of a conversation; a search reads them directly."""

PAGE_MESSAGES = 500
"""Messages indexed in one transaction."""

RESERVED = "\ue000"
"""Prefix of reserved terms: a private-use character, which no word contains."""

DAMAGED = f"{RESERVED}damaged"
"""The only term of a message that was damaged when it was indexed, because its text is unknown."""


def index_next(tenant: str, number: int) -> Work[bool]:
    """Return work that indexes the next messages of a conversation, and tells if there were any."""

    def work(connection: Connection) -> bool:
        head = Head(number, ((number, 1),))
        if conversations.locked_length(connection, head) is None:
            return False
        for gap in index.gaps_of(connection, tenant, head):
            last = min(gap.indexed + PAGE_MESSAGES, gap.last)
            owner = owner_of(tenant)
            messages = list(index.read(connection, number, gap.indexed + 1, last))
            rows = [
                (number, seq, f"{owner} {' '.join(sorted(terms))}")
                for seq, message in messages
                if (terms := terms_in(message))
            ]
            connection.run_many(connection.texts.insert, rows)
            index.add_outline(connection, number, messages)
            index.set_indexed(connection, number, last)
            return True
        return False

    return work


def terms_in(message: Message) -> set[str]:
    """Return the terms of a message that are indexed."""
    if STAND_IN in message.meta:
        return {DAMAGED}
    terms: set[str] = set()
    for part in message.parts:
        if type(part) is Text:
            terms |= findable_terms(part.text[:MAX_TEXT_CHARS])
        elif type(part) is ToolResult:
            terms |= findable_terms(part.text[:MAX_RESULT_CHARS])
    if message.calls:
        terms |= findable_terms(spoken_text(message)[:MAX_TEXT_CHARS])
    return terms


def owner_of(tenant: str) -> str:
    """Return the reserved term that all messages of a tenant have."""
    return RESERVED + blake2b(tenant.encode(), digest_size=12).hexdigest()
