"""Bodies of recorded requests, each stored as its difference from an earlier one.

A client sends the whole history again with every request. What a body shares with the previous one,
at the beginning and at the end, is not stored again.
"""

from __future__ import annotations

import zlib
from typing import Literal

from contextwright.errors import StoreError
from contextwright.store.engines.base import Connection, Value
from contextwright.store.requests import BodyKind, RequestBodies

__all__ = [
    "INSERT",
    "KINDS",
    "add",
    "add_difference",
    "all_of",
    "body_of",
    "inflated",
    "is_earlier",
    "is_within",
    "remove",
    "replace",
    "shared_ends",
]

MAX_DEPTH = 64
"""Maximum number of differences to restore a body; then one is stored whole again."""

SELECT = "SELECT base, depth, head, tail, body FROM bodies WHERE request = ? AND kind = ?"
DEPTH = "SELECT depth FROM bodies WHERE request = ? AND kind = ?"
INSERT = """
INSERT INTO bodies (request, kind, base, depth, head, tail, body) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (request, kind) DO UPDATE SET base = excluded.base, depth = excluded.depth,
head = excluded.head, tail = excluded.tail, body = excluded.body"""
KINDS: tuple[BodyKind, ...] = ("request", "upstream", "reply")
LEVEL = 3
STRIDES = (16_384, 2_048, 256)
"""Bytes of two bodies that are compared at once: many while they are alike, then fewer."""


def add(connection: Connection, request: int, kind: BodyKind, body: bytes, level: int = 0) -> None:
    """Store a body whole; level 0 does not compress it."""
    connection.run(INSERT, request, kind, None, 0, 0, 0, zlib.compress(body, level))


def replace(
    connection: Connection,
    request: int,
    kind: BodyKind,
    body: bytes,
    base: int | None,
    old: bytes | None = None,
) -> None:
    """Store a body as its difference from that of an earlier request, or compressed.

    `old` is the body of the earlier request, if already loaded.
    """
    if base is None or not add_difference(connection, request, kind, body, base, old):
        add(connection, request, kind, body, LEVEL)


def add_difference(
    connection: Connection,
    request: int,
    kind: BodyKind,
    body: bytes,
    base: int,
    old: bytes | None = None,
) -> bool:
    """Store a body as its difference from that of an earlier request; False if that saves little.

    `old` is the body of the earlier request, if already loaded.
    """
    for (depth,) in connection.rows(DEPTH, base, kind):
        old = readable_body(connection, base, kind) if old is None else old
        if depth < MAX_DEPTH and old is not None:
            head, tail = shared_ends(old, body)
            if 2 * (head + tail) > len(body):
                rest = zlib.compress(body[head : len(body) - tail], LEVEL)
                connection.run(INSERT, request, kind, base, depth + 1, head, tail, rest)
                return True
    return False


def body_of(connection: Connection, request: int, kind: BodyKind) -> bytes | None:
    """Return a body, byte for byte; None if it was not kept.

    Raises:
        StoreError: it changed on disk, or one did that it is the difference from.
    """
    differences: list[tuple[int, int, bytes]] = []
    number: int | None = request
    while number is not None:
        rows = connection.rows(SELECT, number, kind)
        if not rows and number == request:
            return None
        rest = inflated(rows[0][4]) if rows else None
        if rest is None or not is_earlier(rows[0][0], number):
            raise damaged(request, kind)
        number, _, head, tail, _ = rows[0]
        differences.append((head, tail, rest))
    whole = b""
    for head, tail, rest in reversed(differences):
        if not is_within(head, tail, len(whole)):
            raise damaged(request, kind)
        whole = b"".join((whole[:head], rest, whole[len(whole) - tail :]))
    return whole


def readable_body(connection: Connection, request: int, kind: BodyKind) -> bytes | None:
    """Return a body; None if it was not kept, or is damaged."""
    try:
        return body_of(connection, request, kind)
    except StoreError:
        return None


def inflated(body: bytes) -> bytes | None:
    """Return the bytes of a row; None if they changed on disk."""
    try:
        return zlib.decompress(bytes(body))
    except zlib.error:
        return None


def is_earlier(base: int | None, request: int) -> bool:
    """Whether a body may be the difference from that of another request."""
    return base is None or base < request


def is_within(head: int, tail: int, length: int) -> bool:
    """Whether a body of a length has what another shares with it."""
    return head >= 0 and tail >= 0 and head + tail <= length


def damaged(request: int, kind: BodyKind) -> StoreError:
    """Return the error for a body that changed on disk."""
    hint = "cw doctor --repair removes it"
    return StoreError(f"the {kind} body of request {request} is damaged", hint=hint)


def all_of(connection: Connection, request: int) -> RequestBodies:
    """Return all bodies of a request."""
    return RequestBodies(*(body_of(connection, request, kind) for kind in KINDS))


def remove(connection: Connection, requests: str, *values: Value) -> None:
    """Remove the bodies of the requests whose numbers a query returns.

    Other bodies that are stored as differences from them are stored whole first.
    """
    leaning = f"SELECT request, kind FROM bodies WHERE base IN ({requests})"
    leaning += f" AND request NOT IN ({requests})"
    for number, kind in connection.rows(leaning, *values, *values):
        body = readable_body(connection, number, kind)
        if body is not None:
            add(connection, number, kind, body, LEVEL)
    connection.run(f"DELETE FROM bodies WHERE request IN ({requests})", *values)


def shared_ends(old: bytes, new: bytes) -> tuple[int, int]:
    """Return how many bytes two bodies share at the beginning, and of the rest at the end."""
    least = min(len(old), len(new))
    head = 0
    for stride in STRIDES:
        while head + stride <= least and old.startswith(new[head : head + stride], head):
            head += stride
    most = min(STRIDES[-1], least - head)
    head += alike(old[head : head + most], new[head : head + most], "big")
    most, tail = least - head, 0
    for stride in STRIDES:
        while tail + stride <= most and ends_alike(old, new, tail, stride):
            tail += stride
    most = min(STRIDES[-1], most - tail)
    old, new = (body[len(body) - tail - most : len(body) - tail] for body in (old, new))
    return head, tail + alike(old, new, "little")


def ends_alike(old: bytes, new: bytes, tail: int, size: int) -> bool:
    """Whether two bodies have the same bytes before a tail that they share."""
    end = len(new) - tail
    return old.endswith(new[end - size : end], 0, len(old) - tail)


def alike(old: bytes, new: bytes, order: Literal["big", "little"]) -> int:
    """Return how many bytes two pieces share: at the beginning (`big`) or at the end (`little`).

    As numbers, because the highest bit in which two numbers differ is known at once.
    """
    differing = int.from_bytes(old, order) ^ int.from_bytes(new, order)
    return len(old) - (differing.bit_length() + 7) // 8
