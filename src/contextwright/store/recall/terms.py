"""The index of terms, updated after messages are stored.

Nothing is indexed while a turn is stored, because that would more than double its cost (see
`benchmarks/retrieval/search.py`). A search reads the few messages that the index lacks, and indexes
them in bulk when they are no longer few. A message is indexed once, in the conversation it was
written in.
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

__all__ = ["DAMAGED", "FEW", "LONGEST_TEXT", "PAGE", "catch_up", "owner_of", "terms_in"]

LONGEST_TEXT, LONGEST_RESULT = 50_000, 2_000
"""Indexed characters of a text and of a tool's result, because files and pages are long."""

FEW = 64
"""Maximum messages missing from the index of a conversation; a search reads them directly."""

PAGE = 500
"""Messages indexed in one transaction."""

OURS = "\ue000"
"""Prefix of terms that no text has: a private-use character, which no word contains."""

DAMAGED = f"{OURS}damaged"
"""The only term of a message that was damaged when it was indexed: its words are unknown."""


def catch_up(tenant: str, number: int) -> Work[bool]:
    """Return work that indexes the next messages of a conversation, and whether there were any."""

    def work(connection: Connection) -> bool:
        head = Head(number, ((number, 1),))
        if conversations.locked_length(connection, head) is None:
            return False
        for gap in index.gaps_of(connection, tenant, head):
            last = min(gap.indexed + PAGE, gap.last)
            owner = owner_of(tenant)
            messages = list(index.read(connection, number, gap.indexed + 1, last))
            rows = [
                (number, seq, f"{owner} {' '.join(sorted(terms))}")
                for seq, message in messages
                if (terms := terms_in(message))
            ]
            connection.run_many(connection.texts.insert, rows)
            index.add_outline(connection, number, messages)
            index.note(connection, number, last)
            return True
        return False

    return work


def terms_in(message: Message) -> set[str]:
    """Return the terms of a message."""
    if STAND_IN in message.meta:
        return {DAMAGED}
    terms: set[str] = set()
    for part in message.parts:
        if type(part) is Text:
            terms |= findable_terms(part.text[:LONGEST_TEXT])
        elif type(part) is ToolResult:
            terms |= findable_terms(part.text[:LONGEST_RESULT])
    if message.calls:
        terms |= findable_terms(spoken_text(message)[:LONGEST_TEXT])
    return terms


def owner_of(tenant: str) -> str:
    """Return the term that all messages of a tenant have."""
    return OURS + blake2b(tenant.encode(), digest_size=12).hexdigest()
