"""The digest of each stored message, which detects a body that changed on disk."""

from __future__ import annotations

from hashlib import blake2b

from contextwright.store.engines.base import Connection

__all__ = ["digest_of", "fill_digests"]

PAGE = 1_000
BODIES = """
SELECT conversation, seq, body FROM messages WHERE (conversation, seq) > (?, ?)
ORDER BY conversation, seq LIMIT ?"""
SET = "UPDATE messages SET digest = ? WHERE conversation = ? AND seq = ?"


empty_digest = blake2b(digest_size=8).copy


def digest_of(body: str | bytes) -> int:
    """Return the digest of a body: 8 bytes, as an integer that both databases can hold."""
    digest = empty_digest()  # a copy takes less time than its parameters
    digest.update(body.encode() if isinstance(body, str) else body)
    return int.from_bytes(digest.digest(), signed=True)


def fill_digests(connection: Connection) -> None:
    """Write the digests of all messages; what an older store holds now counts as correct."""
    place = (-1, -1)
    while rows := connection.rows(BODIES, *place, PAGE):
        connection.run_many(SET, [(digest_of(body), number, seq) for number, seq, body in rows])
        place = rows[-1][:2]
