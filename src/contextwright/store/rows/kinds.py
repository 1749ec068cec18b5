"""Kinds of messages that a build looks up by number: a column of each message."""

from __future__ import annotations

from contextwright.messages.message import Message
from contextwright.messages.parts import ToolResult
from contextwright.store.rows.damage import STAND_IN

__all__ = ["ASKED", "QUESTION", "SET_ASIDE", "SYSTEM", "kind_of"]

SYSTEM, QUESTION, ASKED, SET_ASIDE = 1, 2, 3, 4
"""System messages, user text next to tool results, plain user text, and placeholders for damaged
messages."""


def kind_of(message: Message) -> int | None:
    """Return the kind stored with a message; None if no build looks it up."""
    if STAND_IN in message.meta and message.visibility != "public":
        return SET_ASIDE
    if message.role == "system":
        return SYSTEM
    if message.role != "user" or message.kind != "message" or message.visibility == "erased":
        return None
    if ToolResult not in map(type, message.parts):
        return ASKED
    return None if message.only_results else QUESTION
