"""Kinds of messages that a build looks up by number: a column of each message."""

from __future__ import annotations

from contextwright.messages.message import Message
from contextwright.messages.parts import ToolResult

__all__ = ["ASKED", "QUESTION", "SYSTEM", "is_mere_result", "kind_of"]

SYSTEM, QUESTION, ASKED = 1, 2, 3
"""System messages, user text next to tool results, and plain user text."""


def kind_of(message: Message) -> int | None:
    """Return the kind stored with a message; None if no build looks it up."""
    if message.role == "system":
        return SYSTEM
    if message.role != "user" or message.kind != "message" or is_mere_result(message):
        return None
    return QUESTION if message.results else ASKED


def is_mere_result(message: Message) -> bool:
    """Whether a message holds nothing but tool results."""
    return all(type(part) is ToolResult for part in message.parts)
