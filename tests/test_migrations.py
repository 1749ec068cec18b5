"""Opening: new stores, old ones, newer ones, and many processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import apsw
import psycopg
import pytest

import contextwright as cw
from contextwright.store.migrations import STEPS, Step
from contextwright.store.postgres import PostgresEngine
from contextwright.store.sqlite import SqliteEngine

NEXT = "ALTER TABLE conversations ADD COLUMN colour TEXT;"
LATER = (*STEPS, Step(NEXT, NEXT))
BROKEN = (
    *STEPS,
    Step(f"{NEXT} CREATE TABLE messages (a)", f"{NEXT} CREATE TABLE messages (a int)"),
)
COLOUR = "SELECT colour FROM conversations"


def engine_of(place: str, steps: tuple[Step, ...]) -> SqliteEngine | PostgresEngine:
    if place.startswith("postgresql:"):
        return PostgresEngine(place, "full", steps)
    return SqliteEngine(place, "full", steps)


def test_a_store_is_brought_up_to_date(place: str) -> None:
    with cw.Store(place) as store:
        store.conversation("a").add(cw.user("old"), key="k")
    for _ in range(2):
        engine = engine_of(place, LATER)
        assert engine.read(lambda connection: connection.rows(COLOUR)) == [(None,)]
        engine.close()
    with pytest.raises(cw.UnknownSchema, match="has tables of version 4, this release knows 3"):
        cw.Store(place)


def test_sqlite_makes_a_backup_first(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with cw.Store(file) as store:
        store.conversation("a").add(cw.user("old"))
        # Others have it open, and not all of it is in the file yet.
        engine_of(str(file), LATER).close()
    backup = tmp_path / "store.db.version-3.backup"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.db", backup.name]
    with cw.Store(backup) as store:
        assert [one.message.text for one in store.conversation("a").read()] == ["old"]


def test_a_step_that_fails_changes_nothing(place: str) -> None:
    with cw.Store(place) as store:
        store.conversation("a").add(cw.user("old"))
    with pytest.raises(cw.StoreError, match="already exists"):
        engine_of(place, BROKEN)
    with cw.Store(place) as store:
        assert len(store.conversation("a")) == 1


def test_a_foreign_schema_of_our_name_is_left_alone(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as session:
        session.execute("CREATE SCHEMA contextwright")
        session.execute("CREATE TABLE contextwright.mine (a int)")
        with pytest.raises(cw.UnknownSchema, match="is no store of ours"):
            cw.Store(postgres)
        session.execute("DROP TABLE contextwright.mine")
    cw.Store(postgres).close()


RACER = """
import sys
import contextwright as cw
from contextwright.store.base import Store
sys.stdout.write("ready\\n"); sys.stdout.flush()
sys.stdin.readline()
with Store(sys.argv[1]) as store:
    store.conversation("race").add(cw.user("x"), key=sys.argv[2])
"""


def test_sixteen_processes_open_a_new_store_at_once(place: str) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, place, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(16)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    for racer in racers:
        _, complaint = racer.communicate(timeout=60)
        assert (racer.returncode, complaint) == (0, "")
    with cw.Store(place) as store:
        found = list(store.conversation("race").read())
    assert [one.seq for one in found] == list(range(1, 17))
    assert sorted(str(one.key) for one in found) == sorted(map(str, range(16)))


def test_the_settings_of_a_file(tmp_path: Path) -> None:
    for sync, level in (("full", 2), ("fast", 1)):
        with cw.Store(tmp_path / "store.db", sync=sync) as store:  # pyright: ignore
            engine = store.engine
            assert isinstance(engine, SqliteEngine)
            with engine._writers.borrowed() as connection:  # pyright: ignore
                assert connection.number("synchronous") == level
                assert connection.database.pragma("journal_mode") == "wal"
                assert connection.number("foreign_keys") == 1
    assert tuple(map(int, apsw.sqlitelibversion().split("."))) >= (3, 51, 3)
