"""Opening: new stores, old ones, newer ones, and many processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Thread

import apsw
import msgspec
import psycopg
import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.messages.lengths import length_of
from contextwright.store.care.doctor import examine
from contextwright.store.engines.base import Connection
from contextwright.store.engines.postgres import PostgresEngine
from contextwright.store.engines.schema.steps import STEPS, Step
from contextwright.store.engines.sqlite import SqliteEngine
from contextwright.store.engines.sqlite_connection import SqliteConnection
from contextwright.store.recording import BegunRequest, RequestLog
from contextwright.store.rows.kinds import kind_of
from contextwright.store.rows.recorded import requests
from contextwright.store.rows.recorded.signatures import find
from store.rows.recorded.test_requests import RECORD

NEXT = "ALTER TABLE conversations ADD COLUMN colour TEXT;"
LATER = (*STEPS, Step(NEXT, NEXT))
BROKEN = (
    *STEPS,
    Step(f"{NEXT} CREATE TABLE messages (a)", f"{NEXT} CREATE TABLE messages (a int)"),
)
COLOUR = "SELECT colour FROM conversations"
LENGTH = """
SELECT h.length FROM heads h JOIN conversations c ON c.number = h.conversation WHERE c.id = ?"""


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
    with pytest.raises(
        cw.errors.UnknownSchema,
        match=f"has tables of version {len(LATER)}, this release knows {len(STEPS)}",
    ):
        cw.Store(place)


def test_an_older_store_is_filled(bare_place: str) -> None:
    """Version 3 kept no lengths or digests; a fork goes on from the length its parent had."""
    said = [cw.user("one"), cw.assistant("two, at some length"), cw.user("три")]
    forked = [cw.assistant("another end")]
    engine = engine_of(bare_place, STEPS[:3])

    def fill(connection: Connection) -> None:
        create = "INSERT INTO conversations (tenant, id, settings, parent, fork_at, created) "
        connection.run(create + "VALUES ('', 'a', '{}', NULL, NULL, '')")
        connection.run(create + "VALUES ('', 'b', '{}', 1, 2, '')")
        for number, last in ((1, 3), (2, 3)):
            connection.run("INSERT INTO heads (conversation, last) VALUES (?, ?)", number, last)
        rows = [(1, 1, said[0]), (1, 2, said[1]), (1, 3, said[2]), (2, 3, forked[0])]
        for number, seq, message in rows:
            insert = "INSERT INTO messages (conversation, seq, kind, body) VALUES (?, ?, ?, ?)"
            body = msgspec.json.encode(message).decode()
            connection.run(insert, number, seq, kind_of(message), body)
        turns = "INSERT INTO turns (conversation, first, count) VALUES (?, ?, ?)"
        for turn in ((1, 1, 3), (2, 3, 1)):
            connection.run(turns, *turn)

    engine.write_alone(fill)
    engine.close()
    with cw.Store(bare_place) as store:
        for id, messages in (("a", said), ("b", [*said[:2], *forked])):
            chat = store.conversation(id)
            assert [one.message for one in chat.read()] == messages
            chat.add(cw.user("more"))
            ((length,),) = store.engine.read(lambda one, id=id: one.rows(LENGTH, id))
            assert length == sum(map(length_of, [*messages, cw.user("more")]))
        assert examine(store.engine).findings == []


def test_recorded_requests_of_an_older_store_go_on(bare_place: str) -> None:
    """Version 12 kept no signatures."""
    engine = engine_of(bare_place, STEPS[:12])
    engine.write_alone(lambda one: requests.begin(one, "", RECORD, "here/1") and None)
    engine.close()
    with cw.Store(bare_place) as store:
        (old,) = store.requests()
        log = RequestLog(store.state, "here/2")
        log.begin([BegunRequest(RECORD, b"{}", place="p")])
        assert old == replace(RECORD, number=1)
        assert examine(store.engine).findings == []
        assert [one.place for one in store.engine.read(lambda one: find(one, "", ["p"]))] == ["p"]


def test_sqlite_makes_a_backup_first(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with cw.Store(file) as store:
        store.conversation("a").add(cw.user("old"))
        # Others have it open, and not all of it is in the file yet.
        engine_of(str(file), LATER).close()
    backup = tmp_path / f"store.db.version-{len(STEPS)}.backup"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.db", backup.name]
    with cw.Store(backup) as store:
        assert [one.message.text for one in store.conversation("a").read()] == ["old"]


def test_a_step_that_fails_changes_nothing(place: str) -> None:
    with cw.Store(place) as store:
        store.conversation("a").add(cw.user("old"))
    with pytest.raises(cw.errors.StoreError, match="already exists"):
        engine_of(place, BROKEN)
    with cw.Store(place) as store:
        assert len(store.conversation("a")) == 1


def test_a_foreign_schema_of_our_name_is_left_alone(bare_postgres: str) -> None:
    with psycopg.connect(bare_postgres, autocommit=True) as session:
        session.execute("CREATE SCHEMA contextwright")
        session.execute("CREATE TABLE contextwright.mine (a int)")
        with pytest.raises(cw.errors.UnknownSchema, match="is not a contextwright store"):
            cw.Store(bare_postgres)
        session.execute("DROP TABLE contextwright.mine")
    cw.Store(bare_postgres).close()


RACE = """
import os, sys
import contextwright as cw
from contextwright.store.engines import postgres, sqlite
from contextwright.store.store import Store
start, go = os.pipe()
racers = []
for number in range(16):
    racers.append(os.fork())
    if not racers[-1]:
        os.close(go)
        os.read(start, 1)
        with Store(sys.argv[1]) as store:
            store.conversation("race").add(cw.user("x"), key=str(number))
        os._exit(0)
os.close(go)
ends = [os.waitstatus_to_exitcode(os.waitpid(racer, 0)[1]) for racer in racers]
sys.exit(max(map(abs, ends)))
"""


def test_sixteen_processes_open_a_new_store_at_once(bare_place: str) -> None:
    """Forks of one, because each would need longer to start than to open the store."""
    done = subprocess.run(
        [sys.executable, "-c", RACE, bare_place], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    with cw.Store(bare_place) as store:
        found = list(store.conversation("race").read())
    assert [one.seq for one in found] == list(range(1, 17))
    assert sorted(str(one.key) for one in found) == sorted(map(str, range(16)))


def test_another_creates_the_store_while_it_is_being_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the reads of the header and of the tables, where the race above rarely gets."""
    number = SqliteConnection.number
    other = Thread(target=lambda: cw.Store(tmp_path / "store.db").close())

    def slow(connection: SqliteConnection, pragma: str) -> int:
        found = number(connection, pragma)
        if pragma == "application_id" and other.ident is None:
            other.start()
            other.join(0.5)  # it ends only if it does not have to wait for this reader
        return found

    monkeypatch.setattr(SqliteConnection, "number", slow)
    with cw.Store(tmp_path / "store.db") as store:
        store.conversation("race").add(cw.user("x"))
    other.join()


def test_the_settings_of_a_file(tmp_path: Path) -> None:
    for sync, level in (("full", 2), ("fast", 1)):
        with cw.Store(tmp_path / "store.db", sync=sync) as store:  # pyright: ignore
            engine = store.engine
            assert isinstance(engine, SqliteEngine)
            with engine._connections.borrowed() as connection:  # pyright: ignore
                assert connection.number("synchronous") == level
                assert connection.database.pragma("journal_mode") == "wal"
                assert connection.number("foreign_keys") == 1
    assert tuple(map(int, apsw.sqlitelibversion().split("."))) >= (3, 51, 3)


KEYS = """
SELECT c.relname, array_agg(a.attname::text ORDER BY k.place)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indrelid
JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname NOT LIKE 'pg\\_%'
CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place)
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE i.indisunique
GROUP BY c.relname, i.indexrelid
"""
EVERYWHERE = {"backups", "conversations", "embedders", "meanings", "memories", "versioning"}
"""Tables that every node needs; they are small, or seldom written."""
RECORDS = {"requests", "bodies", "signatures"}
"""Recorded requests, some of which belong to no conversation: not to be sharded."""


def test_what_belongs_to_a_conversation_has_it_first_in_every_key(postgres: str) -> None:
    """So that PostgreSQL can be sharded by conversation: docs/scale.md."""
    cw.Store(postgres).close()
    with psycopg.connect(postgres) as session:
        keys = session.execute(KEYS).fetchall()  # pyright: ignore[reportArgumentType, reportCallIssue]
    tables = {table for table, _ in keys}
    sharded = {(table, columns[0]) for table, columns in keys if table not in EVERYWHERE | RECORDS}
    assert {"heads", "messages", "turns", "words", "vectors", "summaries"} < tables
    assert {first for _, first in sharded} == {"conversation"}
