"""What the surveys of all formats share.

Most requests are in order and should not pay for every rule. Each format has a `survey`: a pass
over the history that returns None as soon as a rule might find something; then all rules run. Types
and JSON are checked in C, and only for messages that are more than a role and a text. A property
test asserts that the rules find nothing in what a survey accepts.
"""

# `type(value) is dict` leaves the types of its items unknown; a call of `is_object` would cost more
# than the whole look.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from contextwright.text.json import convert
from contextwright.wire.shapes import write_fast

__all__ = [
    "BLOCK",
    "WRONG_TYPES",
    "Entries",
    "is_valid",
    "packed_size",
    "roles_alternate",
    "without_plain",
]

Entries: TypeAlias = list[tuple[int, Any]]
"""Messages with their indexes."""

SPOKEN = ("user", "assistant")
BLOCK = 512
"""Turns that are looked at, converted and encoded together, while they are in the CPU's cache."""
WRONG_TYPES = (AttributeError, IndexError, KeyError, TypeError)
"""Errors of a look at turns whose types `is_valid` has yet to check."""


def without_plain(messages: list[Any]) -> tuple[Entries, list[str]]:
    """Return the messages that are more than a role and a text, and the texts of the others."""
    entries: Entries = []
    texts: list[str] = []
    for index, message in enumerate(messages):
        if (
            type(message) is dict
            and len(message) == 2
            and type(text := message.get("content")) is str
            and message.get("role") in SPOKEN
        ):
            texts.append(text)
        else:
            entries.append((index, message))
    return entries, texts


def is_valid(body: dict[str, Any], shape: Any, texts: list[str]) -> bool:
    """Whether a body without its plain messages has the right type, and all of it is JSON."""
    return packed_size(body, shape, texts) > 0


def packed_size(body: dict[str, Any], shape: Any, texts: list[str]) -> int:
    """Return the bytes of a valid body and the texts of its plain messages as MessagePack.

    Returns 0 if the body has the wrong type, or not all of it is JSON.
    """
    try:
        convert(body, shape)
        return len(write_fast(body)) + len(write_fast(texts))
    except (msgspec.ValidationError, TypeError, ValueError, OverflowError, RecursionError):
        return 0


def roles_alternate(messages: list[Any], other: str) -> bool:
    """Whether the user and the other role take turns, and the user comes last."""
    try:
        roles = [message["role"] for message in messages]
    except (KeyError, TypeError):
        return False
    last, before = roles[::-2], roles[-2::-2]
    return last.count("user") == len(last) > 0 and before.count(other) == len(before)
