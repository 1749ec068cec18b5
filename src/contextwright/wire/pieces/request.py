"""A request body as a flat list of countable pieces.

This file knows where the words, calls, pictures and tools of each provider's body stand;
`contextwright.tokens` knows what each kind of piece costs. A message can be taken apart alone,
so the cost of a request is the sum over its places.

A field of the wrong type is no error here: it is counted as its JSON, or not at all. `check`
is what finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from contextwright.wire.pieces.anthropic import anthropic, anthropic_message
from contextwright.wire.pieces.gemini import gemini, gemini_message
from contextwright.wire.pieces.openai import chat, chat_message, responses, responses_item
from contextwright.wire.pieces.piece import Found, Kind, Piece, json_of

__all__ = ["Kind", "Piece", "message_pieces", "pieces"]

Walker: TypeAlias = Callable[[Any], Found]
MessageWalker: TypeAlias = Callable[[Any, str], Found]

WALKERS: dict[str, tuple[Walker, MessageWalker]] = {
    "openai-chat": (chat, chat_message),
    "openai-responses": (responses, responses_item),
    "anthropic": (anthropic, anthropic_message),
    "gemini": (gemini, gemini_message),
    "gryag": (gemini, gemini_message),
}
PLAIN: tuple[Walker, MessageWalker] = (chat, chat_message)
"""Formats that are no provider's own: messages of a role and a content."""


def pieces(payload: Any, format: str) -> list[Piece]:
    """Every countable piece of a request body, in the order it stands there.

    `payload` may also be a bare list of messages. Formats that are no provider's own are read as
    messages of a role and a content.
    """
    walk = WALKERS.get(format, PLAIN)[0]
    try:
        return list(walk(payload))
    except RecursionError:  # blocks within blocks, deeper than any provider reads
        return [Piece("opaque", "request", json_of(payload))]


def message_pieces(message: Any, format: str, *, place: str = "message") -> list[Piece]:
    """The pieces of one message (or input item, or content), as they count in any request."""
    walk = WALKERS.get(format, PLAIN)[1]
    try:
        return list(walk(message, place))
    except RecursionError:
        return [Piece("opaque", place, json_of(message))]
