"""Answers that a provider signed, for clients that cannot send the signatures back.

An answer is found by digests: of its place (all that was said before it), and of the id of its
first call. Its place is noted with its request, so that another gateway which gets the next request
too early knows what to wait for.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from contextwright.messages.parts import Part
from contextwright.store.engines.base import Connection, Value
from contextwright.text.json import decoder, encode_json

__all__ = [
    "DELETE",
    "INSERT",
    "SELECT",
    "Found",
    "SignedAnswer",
    "decode",
    "expect",
    "find",
    "finish",
    "remove",
]

INSERT = "INSERT INTO signatures (request, place, first_call, body) VALUES (?, ?, ?, ?)"
SELECT = """
SELECT place, first_call, body FROM signatures WHERE request = ? AND body IS NOT NULL"""
DELETE = "DELETE FROM signatures WHERE request = ?"
SIGN = "UPDATE signatures SET first_call = ?, body = ? WHERE request = ?"
FIND = """
SELECT s.place, s.first_call, s.body, r.state, r.process, r.started
FROM signatures s JOIN requests r ON r.number = s.request
WHERE r.tenant || '' = ? AND (s.place IN ({0}) OR s.first_call IN ({0})) ORDER BY s.request"""
"""By digest: `|| ''` keeps SQLite from going through all requests of the tenant instead."""
BATCH = 500
"""Digests that are looked up at once."""
LEVEL = 3

decode_parts = decoder(tuple[Part, ...]).decode


class SignedAnswer(Struct, frozen=True):
    """An answer that its provider signed."""

    first_call: str | None
    """The digest of its first call's id; None if it has none."""
    parts: tuple[Part, ...]


class Found(NamedTuple):
    """What is known of an answer."""

    place: str
    first_call: str | None
    parts: tuple[Part, ...]
    """Empty if it is not there yet, or cannot be read."""
    awaited: tuple[str, str] | None
    """The process that answers its request, and since when; None if that is over."""


def expect(connection: Connection, request: int, place: str) -> None:
    """Note where the answer to a request will stand."""
    connection.run(INSERT, request, place, None, None)


def finish(connection: Connection, request: int, answer: SignedAnswer | None) -> None:
    """Keep the answer to a request, or that it has no signature."""
    if answer is None:
        connection.run(DELETE, request)
    else:
        body = zlib.compress(encode_json(answer.parts), LEVEL)
        connection.run(SIGN, answer.first_call, body, request)


def find(connection: Connection, tenant: str, digests: Sequence[str]) -> list[Found]:
    """Return the answers with one of these digests, the newest last."""
    found: list[Found] = []
    for start in range(0, len(digests), BATCH):
        batch = digests[start : start + BATCH]
        sql = FIND.format(", ".join("?" * len(batch)))
        for place, call, body, state, *source in connection.rows(sql, tenant, *batch, *batch):
            awaited = (source[0], source[1]) if state == "open" else None
            found.append(Found(place, call, readable(body), awaited))
    return found


def remove(connection: Connection, requests: str, *values: Value) -> None:
    """Remove the answers to the requests whose numbers a query returns."""
    connection.run(f"DELETE FROM signatures WHERE request IN ({requests})", *values)


def decode(body: bytes) -> tuple[Part, ...]:
    """Return the parts of an answer.

    Raises:
        zlib.error: the bytes changed on disk.
        DecodeError: the same.
    """
    return decode_parts(zlib.decompress(bytes(body)))


def readable(body: bytes | None) -> tuple[Part, ...]:
    """Return the parts of an answer; none if they cannot be read: `cw doctor` names it."""
    try:
        return () if body is None else decode(body)
    except (zlib.error, msgspec.DecodeError, UnicodeError, RecursionError):
        return ()
