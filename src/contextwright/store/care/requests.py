"""Copy recorded requests into another store, once their conversations are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from contextwright.store.engines.base import Connection, Engine, Row
from contextwright.store.rows import conversations
from contextwright.store.rows.recorded import bodies, signatures
from contextwright.store.rows.recorded.requests import decoded, written

__all__ = ["BODIES", "copy", "count"]

PAGE = 200
"""Requests that are copied in one transaction."""

SELECT = """
SELECT r.number, r.tenant, c.id, r.session, r.state, r.process, r.started, r.answer, r.record
FROM requests r LEFT JOIN conversations c ON c.number = r.conversation
WHERE r.number > ? AND r.state <> 'open' ORDER BY r.number LIMIT ?"""
KNOWN = """
SELECT number FROM requests
WHERE tenant = ? AND started = ? AND process = ? AND session = ? ORDER BY number"""
INSERT = """
INSERT INTO requests (tenant, conversation, session, state, process, started, answer, record)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number"""
BODIES = "SELECT kind, base, depth, head, tail, body FROM bodies WHERE request = ?"


def copy(source: Engine, target: Engine, tenant: str | None = None) -> int:
    """Copy the requests of all tenants, or of one, with their bodies; return how many were new.

    They get new numbers. Those that the target already has, and those not answered yet, are left
    out.
    """
    copying = RequestCopy(source)
    for rows in pages(source, tenant):
        target.write_alone(lambda connection, rows=rows: copying.add_missing(connection, rows))
    return copying.added


def count(source: Engine, tenant: str | None = None) -> int:
    """Return the number of requests of all tenants, or of one."""
    return sum(map(len, pages(source, tenant)))


def pages(source: Engine, tenant: str | None) -> Iterator[list[Row]]:
    """Yield the requests that are over, in order."""
    number = 0
    while rows := source.read(lambda one, after=number: one.rows(SELECT, after, PAGE)):
        number = rows[-1][0]
        yield [row for row in rows if tenant is None or row[1] == tenant]


class RequestCopy:
    """A copy on its way: requests name earlier ones by numbers that differ between the stores."""

    def __init__(self, source: Engine) -> None:
        self.source = source
        self.numbers: dict[int, int] = {}
        """The number in the source → the number in the target."""
        self.taken: set[int] = set()
        self.added = 0

    def add_missing(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Write the requests that the target lacks."""
        for number, tenant, id, session, state, process, started, answer, record in rows:
            known = connection.rows(KNOWN, tenant, started, process, session)
            new = next((one for (one,) in known if one not in self.taken), None)
            if new is None:
                head = None if id is None else conversations.find(connection, tenant, id)
                place = None if head is None else head.number
                about = (session, state, process, started, answer, self.renumbered(record))
                ((new,),) = connection.rows(INSERT, tenant, place, *about)
                self.copy_bodies(connection, number, new)
                self.copy_signatures(connection, number, new)
                self.added += 1
            self.numbers[number] = new
            self.taken.add(new)

    def renumbered(self, text: str) -> str:
        """Return a record that names the request before it by its new number."""
        record = decoded(text)
        if record.previous is None:
            return text
        return written(replace(record, previous=self.numbers.get(record.previous)))

    def copy_bodies(self, connection: Connection, number: int, new: int) -> None:
        """Write the bodies of a request: the same differences from the same bodies."""
        for kind, base, *rest in self.source.read(lambda one: one.rows(BODIES, number)):
            if base is None or base in self.numbers:
                moved = None if base is None else self.numbers[base]
                connection.run(bodies.INSERT, new, kind, moved, *rest)
            else:
                body = self.source.read(lambda one, kind=kind: bodies.body_of(one, number, kind))
                if body is not None:
                    bodies.replace(connection, new, kind, body, None)

    def copy_signatures(self, connection: Connection, number: int, new: int) -> None:
        """Write what the provider signed of the answer."""
        rows = self.source.read(lambda one: one.rows(signatures.SELECT, number))
        connection.run_many(signatures.INSERT, [(new, *row) for row in rows])
