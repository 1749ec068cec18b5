"""Examination of recorded requests: their figures, and their bodies."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from contextwright.store.care.requests import BODIES
from contextwright.store.engines.base import Connection, Row
from contextwright.store.records import Cure, Finding
from contextwright.store.rows.recorded import bodies
from contextwright.store.rows.recorded.requests import DAMAGED, STATES, decoded, written

__all__ = ["request_findings"]

PAGE = 200

ALL = """
SELECT number, state, started, record FROM requests WHERE number > ? ORDER BY number LIMIT ?"""
EMPTY = "UPDATE requests SET state = ?, record = ? WHERE number = ?"
DROP_BODY = "DELETE FROM bodies WHERE request = ? AND kind = ?"


def request_findings(connection: Connection) -> Iterator[Finding]:
    """Yield the requests of all tenants that cannot be read, and their bodies."""
    lengths: dict[tuple[int, str], int] = {}
    after = 0
    while rows := connection.rows(ALL, after, PAGE):
        after = rows[-1][0]
        for number, state, started, record in rows:
            if state not in STATES or decoded(record) is DAMAGED:
                known = state if state in STATES else "lost"
                row = (known, written(replace(DAMAGED, started=started)), number)
                problem = f"the figures of request {number} cannot be read"
                yield Finding("request", problem, cure=Cure(EMPTY, (row,), "they were emptied"))
            for row in connection.rows(BODIES, number):
                length = length_of_body(number, row, lengths)
                if length is not None:
                    lengths[number, row[0]] = length
                    continue
                cure = Cure(DROP_BODY, ((number, row[0]),), "the body was removed")
                problem = f"the {row[0]} body of request {number} is damaged"
                yield Finding("request", problem, cure=cure)


def length_of_body(number: int, row: Row, lengths: dict[tuple[int, str], int]) -> int | None:
    """Return the length of a body, which may be a difference from another; None if damaged.

    Args:
        lengths: those of the sound bodies of earlier requests.
    """
    kind, base, _, head, tail, body = row
    rest = bodies.inflated(body)
    whole = 0 if base is None else lengths.get((base, kind))
    if rest is None or whole is None or not bodies.is_earlier(base, number):
        return None
    return head + len(rest) + tail if bodies.is_within(head, tail, whole) else None
