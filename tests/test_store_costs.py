"""What one turn costs, in operations: the same however long the conversation is."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.metering import Meter
from contextwright.store.base import Store
from contextwright.store.sqlite import SqliteConnection

TURN = [
    cw.user("What is six times seven, and why would anybody want to know?"),
    cw.assistant([cw.Text("Let me see."), cw.ToolCall("times", {"a": 6, "b": 7}, "c1")]),
    cw.tool_result("c1", "42"),
    cw.assistant("It is 42."),
]
RECIPE = cw.Recipe(system=("Be brief.",), budget=600)
LENGTHS = (100, 10_000, 100_000) if os.environ.get("CI") else (100, 10_000)
WARM = 12
"""Turns that are watched one after another."""


class Watch:
    """Counts what is done to a file, and what is tokenised."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        rows, run, run_many = SqliteConnection.rows, SqliteConnection.run, SqliteConnection.run_many
        connect, cost = SqliteConnection.__init__, Meter.cost

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

        def counted_cost(meter: Meter, message: cw.Message) -> int:
            self.counts["tokenised"] += 1
            return cost(meter, message)

        patch.setattr(SqliteConnection, "rows", counted_rows)
        patch.setattr(SqliteConnection, "run", counted_run)
        patch.setattr(SqliteConnection, "run_many", counted_many)
        patch.setattr(SqliteConnection, "__init__", connected)
        patch.setattr(Meter, "cost", counted_cost)
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


def measured(file: Path, watch: Watch) -> tuple[dict[str, int], list[dict[str, int]]]:
    """The first build of a process, and the turns after it."""
    watch.pages = 0  # who closes a file last empties its log
    with Store(file, sync="fast") as store:
        chat = store.conversation("long")
        watch.taken()
        chat.context(RECIPE, model="gpt-4o")
        first = watch.taken()
        turns: list[dict[str, int]] = []
        for _ in range(WARM):
            chat.add(TURN)
            chat.context(RECIPE, model="gpt-4o")
            turns.append(watch.taken())
    return first, turns


def test_a_turn_takes_the_same_operations_at_any_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "chat.db"
    watch = Watch(monkeypatch)
    seen: list[Any] = []
    for length in LENGTHS:
        with Store(file, sync="fast") as store:
            chat = store.conversation("long")
            if not seen:
                chat.add(TURN)
            chat.context(RECIPE, model="gpt-4o")  # from now on what is added is counted
            missing = (length - chat.length()) // len(TURN)
            store.add_all(cw.Turn("long", TURN) for _ in range(missing))
        first, turns = measured(file, watch)
        # Now and then a page is full and another begins; most turns find room in those there are.
        pages = min(turn.pop("pages written") for turn in turns)
        seen.append((first, turns, pages))
    assert all(one == seen[0] for one in seen), seen
    assert (
        seen[0][1]
        == [{"tokenised": 5, "statements": 18, "commits": 1, "rows written": 10, "rows read": 13}]
        * WARM
    )  # a result is priced twice: as it is, and faded
