"""Stand-ins for what costs money or is counted: a summariser, an embedder, a watched store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy
import pytest

import contextwright as cw
from contextwright.context.fitting.meter import TokenMeter
from contextwright.store.engines.sqlite_connection import SqliteConnection
from contextwright.summaries import Request


class Writer:
    """Writes what it was told the last message was, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> str:
        self.asked.append(request)
        return f"Up to: {request.text.splitlines()[-1]}"


WIDTH = 24


def vector_of(text: str) -> Any:
    """How often each word comes, at a place of its own; a little of every letter."""
    vector = numpy.zeros(WIDTH)
    for word in text.split():
        vector[crc32(word.encode()) % WIDTH] += 1
    return vector + 0.01


def embed(texts: Sequence[str]) -> list[Any]:
    return [vector_of(text) for text in texts]


def bag() -> cw.recall.Embedder:
    return cw.recall.Embedder("bag-24", embed)


class Watch:
    """Counts what is done to a file, and what is tokenised."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        rows, run, run_many = SqliteConnection.rows, SqliteConnection.run, SqliteConnection.run_many
        connect, cost = SqliteConnection.__init__, TokenMeter.cost

        def counted_rows(connection: SqliteConnection, sql: str, *values: Any) -> Any:
            found = rows(connection, sql, *values)
            self.counts["statements"] += 1
            self.counts["rows read"] += len(found)
            return found

        def counted_run(connection: SqliteConnection, sql: str, *values: Any) -> None:
            self.counts["statements"] += 1
            self.counts["commits"] += sql == "BEGIN IMMEDIATE"
            self.changed(connection, lambda: run(connection, sql, *values))

        def counted_many(connection: SqliteConnection, sql: str, given: Any) -> None:
            self.counts["statements"] += 1
            self.changed(connection, lambda: run_many(connection, sql, given))

        def connected(connection: SqliteConnection, path: str) -> None:
            connect(connection, path)
            # With a hook of ours nothing is copied back from the log: it only grows.
            connection.database.set_wal_hook(self.logged)

        def counted_cost(meter: TokenMeter, message: cw.Message) -> int:
            self.counts["tokenised"] += 1
            return cost(meter, message)

        patch.setattr(SqliteConnection, "rows", counted_rows)
        patch.setattr(SqliteConnection, "run", counted_run)
        patch.setattr(SqliteConnection, "run_many", counted_many)
        patch.setattr(SqliteConnection, "__init__", connected)
        patch.setattr(TokenMeter, "cost", counted_cost)
        self.pages = 0

    def changed(self, connection: SqliteConnection, act: Any) -> None:
        before = connection.database.total_changes()
        act()
        self.counts["rows written"] += connection.database.total_changes() - before

    def logged(self, database: Any, name: str, pages: int) -> int:
        self.counts["pages written"] += max(pages - self.pages, 0)
        self.pages = pages
        return 0

    def taken(self) -> dict[str, int]:
        """What was counted since the last time."""
        counts, self.counts = dict(self.counts), Counter()
        return {name: number for name, number in counts.items() if number}
