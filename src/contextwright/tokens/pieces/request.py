"""A request body as a flat list of countable pieces.

The walkers know where each provider's body has its text, calls, media and tools;
`tokens/pricer.py` knows what each kind of piece costs. A message can be taken apart alone, so a
request costs the sum over its places.

A field of the wrong type is not an error here: it is counted as its JSON, or not at all. `check`
reports it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from contextwright.tokens.pieces.anthropic import anthropic, anthropic_message
from contextwright.tokens.pieces.gemini import gemini, gemini_message
from contextwright.tokens.pieces.openai import chat, chat_message, responses, responses_item
from contextwright.tokens.pieces.piece import Found, Kind, Outline, Piece, Turn, json_of

__all__ = ["Kind", "Piece", "message_pieces", "outline", "pieces"]

Walker: TypeAlias = Callable[[Any], Outline]
MessageWalker: TypeAlias = Callable[[Any, str], Found]

WALKERS: dict[str, tuple[Walker, MessageWalker]] = {
    "openai-chat": (chat, chat_message),
    "openai-responses": (responses, responses_item),
    "anthropic": (anthropic, anthropic_message),
    "gemini": (gemini, gemini_message),
    "gryag": (gemini, gemini_message),
}
PLAIN: tuple[Walker, MessageWalker] = (chat, chat_message)
"""For formats that are not a provider's own: messages with a role and a content."""


def pieces(payload: Any, format: str) -> list[Piece]:
    """Return the countable pieces of a request body, in order."""
    found: list[Piece] = []
    for one in outline(payload, format):
        found.extend(one.pieces() if isinstance(one, Turn) else (one,))
    return found


def outline(payload: Any, format: str) -> list[Piece | Turn]:
    """Return the countable pieces of a request body, in order, its messages still whole.

    `payload` may also be a bare list of messages. Formats that are not a provider's own are read
    as messages with a role and a content.
    """
    walk = WALKERS.get(format, PLAIN)[0]
    try:
        return list(walk(payload))
    except RecursionError:  # blocks within blocks, deeper than any provider reads
        return [Piece("opaque", "request", json_of(payload))]


def message_pieces(message: Any, format: str, *, place: str = "message") -> list[Piece]:
    """Return the pieces of one message (or input item, or content), as in any request."""
    return Turn(place, message, WALKERS.get(format, PLAIN)[1]).pieces()
