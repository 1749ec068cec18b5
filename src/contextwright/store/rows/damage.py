"""Damaged messages: a body that changed on disk is replaced by a placeholder.

A body is damaged if it does not match its digest, or cannot be read as a message.

The placeholder is a deleted message without parts, so no context, search or recall uses it. It
keeps the damaged bytes, so that nothing is lost when `cw doctor --repair` stores it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from contextwright.errors import StoreError, shown
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.store.engines.digests import digest_of
from contextwright.store.rows.validation import decode_message

__all__ = [
    "STAND_IN",
    "damage_of",
    "decoded",
    "is_damaged",
    "losses_of",
    "missing",
    "read_message",
    "stand_in_body",
]

STAND_IN = "contextwright.damaged"
"""The field of `Message.meta` with the damaged bytes, in hexadecimal."""


def decoded(body: str | bytes) -> Message | None:
    """Return the message of a body; None if it cannot be read."""
    try:
        return decode_message(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def is_damaged(body: str | bytes, digest: int) -> bool:
    """Whether a body does not match its digest, or cannot be read."""
    return digest_of(body) != digest or decoded(body) is None


def read_message(body: str | bytes, digest: int | None) -> Message:
    """Return the message of a body; a placeholder if it is damaged, or missing: no digest."""
    data = body.encode() if isinstance(body, str) else body
    message = decoded(data) if digest_of(data) == digest else None
    return stand_in(data) if message is None else message


def stand_in(body: str | bytes) -> Message:
    """Return the placeholder of a damaged body."""
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else bytes(body)
    return Message("assistant", visibility="deleted", meta={STAND_IN: data.hex()})


def stand_in_body(body: str | bytes) -> str:
    """Return the JSON of the placeholder for a damaged body."""
    return msgspec.json.encode(stand_in(body)).decode()


def damage_of(message: Message, seq: int) -> str:
    """Return the damage of a placeholder; empty for any other message."""
    if STAND_IN not in message.meta:
        return ""
    return f"message {seq} is damaged"


def missing(seq: int) -> StoreError:
    """Return the error for a message whose row a damaged file lacks."""
    return StoreError(f"message {seq} is missing", hint="cw doctor names what is damaged")


def losses_of(damaged: Iterable[tuple[str, int]]) -> tuple[Change, ...]:
    """Return what could not be searched: the conversations and numbers of damaged messages."""
    return tuple(
        Change("loss.damaged", f"messages[{seq - 1}]", f"message {seq} of {shown(id)} is damaged")
        for id, seq in sorted({*damaged})
    )
