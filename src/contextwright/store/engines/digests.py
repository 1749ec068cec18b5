"""The digest of each stored message, which detects a body that changed on disk."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from struct import unpack

from contextwright.store.engines.base import Connection

__all__ = ["digest_of", "digests_of", "fill_digests"]

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


def digests_of(bodies: Iterable[bytes]) -> tuple[int, ...]:
    """Return the digest of each body, in less time than one by one."""
    found: list[bytes] = []
    for body in bodies:
        digest = empty_digest()
        digest.update(body)
        found.append(digest.digest())
    return unpack(f">{len(found)}q", b"".join(found))


def fill_digests(connection: Connection) -> None:
    """Write the digests of all messages; what an older store holds now counts as correct."""
    place = (-1, -1)
    while rows := connection.rows(BODIES, *place, PAGE):
        connection.run_many(SET, [(digest_of(body), number, seq) for number, seq, body in rows])
        place = rows[-1][:2]
