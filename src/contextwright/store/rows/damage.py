"""Damaged messages: a body that cannot be read is replaced by a stand-in, and everything goes on.

The stand-in is a deleted message without parts, so no context, search or recall uses it. It keeps
the damaged bytes, so that nothing is lost when `cw doctor --repair` stores it.
"""

from __future__ import annotations

import msgspec

from contextwright.messages.message import Message
from contextwright.store.rows.validation import decode_message

__all__ = ["STAND_IN", "damage_of", "is_damaged", "read_message", "stand_in", "stand_in_body"]

STAND_IN = "contextwright.damaged"
"""The field of `Message.meta` with the damaged bytes, in hexadecimal."""


def is_damaged(body: str | bytes) -> bool:
    """Whether a body cannot be read as a message."""
    try:
        decode_message(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return True
    return False


def read_message(body: str | bytes) -> Message:
    """Return the message of a body; a stand-in if it is damaged."""
    try:
        return decode_message(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return stand_in(body)


def stand_in(body: str | bytes) -> Message:
    """Return the message that stands for a damaged body."""
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else bytes(body)
    return Message("assistant", visibility="deleted", meta={STAND_IN: data.hex()})


def stand_in_body(body: str | bytes) -> str:
    """Return the JSON of the stand-in for a damaged body."""
    return msgspec.json.encode(stand_in(body)).decode()


def damage_of(message: Message, seq: int) -> str:
    """Say that a message is a stand-in; empty if it is not."""
    if STAND_IN not in message.meta:
        return ""
    return f"message {seq} is damaged and cannot be read"
