"""Whatever value of a store changes on disk: every call works or names the damage, and ends.

The doctor names it or has nothing to say, its repairs succeed, and nothing is left to repair.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.errors import ContextwrightError
from contextwright.store.care.copying import copy
from contextwright.store.care.doctor import examine, mend
from contextwright.store.rows.recorded import signatures
from doubles import bag
from profiles import STORE, examples
from samples.stores.everything import LATER, RECIPE, everything, record

VALUES = {
    "INTEGER": ("-1", "0", str(10**12), str(2**63 - 1), str(-(2**63))),
    "TEXT": ("''", "'[]'", "'{{'", "CAST(x'fffe80' AS TEXT)", "{0} || 'x'"),
    "BLOB": ("x''", "x'00'", "substr({0}, 1, length({0}) / 2)", "zeroblob(length({0}))"),
}
OF_ANOTHER_TYPE = ("NULL", "'text'", "2.5", "x'00ff'")
"""No statement writes them into a strict table; a changed byte of the file does."""
NAMES = ("lunch", "fork", "spoon")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sound") / "store.db"
    everything(place)
    return place


class Column(NamedTuple):
    """A column, and the key of its table."""

    table: str
    name: str
    type: str
    key: str


def columns() -> list[Column]:
    """The columns of all tables, but those of SQLite's own index."""
    found: list[Column] = []
    with TemporaryDirectory() as folder:
        cw.Store(f"{folder}/store.db", embedder=None).close()
        database = apsw.Connection(f"{folder}/store.db")
        names = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        for (table,) in database.execute(names).fetchall():
            info = database.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,))
            rows = info.fetchall()
            key = ", ".join(str(name) for name, _, place in rows if place) or "rowid"
            if not str(table).startswith(("words", "sqlite")):
                found += [Column(str(table), str(name), str(type), key) for name, type, _ in rows]
        database.close()
    return found


COLUMNS = columns()


def damage(place: Path, statement: str, *, strict: bool = True) -> bool:
    """Change a file behind the store's back; return whether anything was changed."""
    database = apsw.Connection(str(place))
    database.pragma("foreign_keys", False)
    schema = database.execute("SELECT sql, rowid FROM sqlite_schema WHERE sql <> ''").fetchall()
    if not strict:
        define(database, [(loosened(str(sql)), rowid) for sql, rowid in schema])
    try:
        database.execute(statement)
    except apsw.Error:  # two rows would have the same key
        return False
    else:
        if not strict:
            define(database, schema)
    finally:
        database.close()
    return True


def define(database: apsw.Connection, schema: Sequence[tuple[Any, ...]]) -> None:
    """Let the rows of a file stay, and belong to other tables."""
    database.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    database.pragma("writable_schema", True)
    database.executemany("UPDATE sqlite_schema SET sql = ? WHERE rowid = ?", schema)
    database.pragma("schema_version", database.pragma("schema_version") + 1)


def loosened(sql: str) -> str:
    """Return a table that takes values of any type."""
    return sql.replace(" NOT NULL", "").replace(") STRICT, ", ") ").replace(") STRICT", ")")


def reads(store: cw.Store) -> Iterator[Callable[[], object]]:
    for chat in map(store.conversation, NAMES):
        yield lambda chat=chat: list(chat.read(hidden=True))
        yield lambda chat=chat: chat.tail(3)
        yield chat.details
        yield chat.episodes
        yield chat.summaries
        yield lambda chat=chat: chat.context(RECIPE, model="gpt-4o", now=LATER)
        yield lambda chat=chat: chat.recall("soup and tea")
        yield lambda chat=chat: chat.search("soup tea")
    yield lambda: store.conversation("lunch").versions(7)
    yield lambda: list(store.list())
    yield store.tenants
    yield lambda: list(store.memories())
    yield lambda: store.recall("soup and tea")
    yield lambda: store.search("soup tea")
    yield store.requests
    yield lambda: store.request_bodies(1)
    yield lambda: store.request_bodies(2)
    yield lambda: store.engine.read(lambda one: signatures.find(one, "", ["place", "call-1"]))


def writes(store: cw.Store) -> Iterator[Callable[[], object]]:
    for chat in map(store.conversation, NAMES):
        yield lambda chat=chat: chat.add([cw.tool_result("p2", "late"), cw.user("more")], key="new")
    yield lambda: store.conversation("lunch").add(cw.user("again"), key="k1")
    yield lambda: store.conversation("fork").ask("Another way", model="echo", key="f")
    yield lambda: store.conversation("fork").fork("knife", at=6)
    yield lambda: store.conversation("fork").show(3)
    yield lambda: store.conversation("lunch").edit(1, "words")
    yield lambda: store.conversation("lunch").make_episodes(now=LATER)
    yield lambda: store.remember("Likes soup", about="U1")
    yield lambda: store.rename("spoon", "ladle")
    yield lambda: record(store)
    yield lambda: record(store, "another")
    yield lambda: store.index(again=True)
    yield lambda: store.erase_person("U1", dry_run=True)
    yield lambda: store.forget("ladle")
    yield lambda: store.erase_tenant("", scrub=False)


def try_all(calls: Iterator[Callable[[], object]]) -> None:
    for call in calls:
        with suppress(ContextwrightError):
            call()


def try_everything(place: Path) -> None:
    """Read and write a damaged store; then examine, copy and repair it."""
    other = place.with_name("other.db")
    shutil.copy(place, other)
    with cw.Store(place, embedder=bag()) as store:
        try_all(reads(store))
        try_all(writes(store))
    with cw.Store(other, embedder=bag()) as store:
        report = examine(store.engine)
        place.with_name("copy.db").unlink(missing_ok=True)
        with cw.Store(place.with_name("copy.db"), embedder=None) as copied:
            try_all(iter([lambda: copy(store.engine, copied.engine)]))
        if any(one.code == "integrity" for one in report.findings):
            try_all(iter([lambda: mend(store.engine, report)]))
        else:
            mend(store.engine, report)
            left = examine(store.engine).findings
            assert not [one for one in left if one.cure], left


def first_row(column: Column, value: str) -> str:
    """The statement that gives the first row another value."""
    table, name, _, key = column
    where = f"WHERE ({key}) = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1)"
    return f"UPDATE OR REPLACE {table} SET {name} = {value.format(name)} {where}"


def test_every_table_has_a_row(sound: Path) -> None:
    """A new table needs one in `everything`, for what follows."""
    with cw.Store(sound, embedder=None) as store:
        for table in {column.table for column in COLUMNS}:
            sql = f"SELECT count(*) FROM {table}"
            assert store.engine.read(lambda one, sql=sql: one.rows(sql)) > [(0,)], table
        assert examine(store.engine).findings == []


def named(column: Column) -> str:
    return f"{column.table}.{column.name}"


@pytest.mark.parametrize("table", sorted({column.table for column in COLUMNS}))
def test_no_column_ends_in_anything_else(table: str, sound: Path, tmp_path: Path) -> None:
    for place, column in enumerate(COLUMNS):
        values = VALUES[column.type]
        if column.table == table:
            look_at(sound, tmp_path, first_row(column, values[place % len(values)]))


@pytest.mark.parametrize("table", sorted({column.table for column in COLUMNS}))
def test_no_type_ends_in_anything_else(table: str, sound: Path, tmp_path: Path) -> None:
    for place, column in enumerate(COLUMNS):
        value = OF_ANOTHER_TYPE[place % len(OF_ANOTHER_TYPE)]
        if column.table == table:
            look_at(sound, tmp_path, first_row(column, value), strict=False)


@examples(STORE)
@given(st.sampled_from([(one, value) for one in COLUMNS for value in VALUES[one.type]]))
def test_no_value_does(
    sound: Path, tmp_path_factory: pytest.TempPathFactory, change: tuple[Column, str]
) -> None:
    look_at(sound, tmp_path_factory.mktemp("damaged"), first_row(*change))


def look_at(sound: Path, folder: Path, statement: str, *, strict: bool = True) -> None:
    """Try everything on a copy of the store, alone in a folder, with some value changed."""
    for file in folder.iterdir():
        file.unlink()
    place = Path(shutil.copy(sound, folder / "store.db"))
    if damage(place, statement, strict=strict):
        try_everything(place)


WRONG: dict[str, tuple[str, Callable[[cw.Store], object], str]] = {
    "a head that lags": (
        "UPDATE heads SET last = 7 WHERE conversation = 1",
        lambda store: list(store.conversation("lunch").read()),
        "the end of 'lunch' is damaged",
    ),
    "a head far ahead": (
        f"UPDATE heads SET last = {10**15} WHERE conversation = 1",
        lambda store: store.conversation("lunch").context(model="gpt-4o"),
        "the end of 'lunch' is damaged",
    ),
    "an index that goes further": (
        "UPDATE indexed SET last = 99 WHERE conversation = 1",
        lambda store: store.search("soup"),
        "the index of 'lunch' is damaged",
    ),
    "a head to write to": (
        f"UPDATE heads SET length = {2**63 - 1} WHERE conversation = 1",
        lambda store: store.conversation("lunch").add(cw.user("more")),
        "the length of 'lunch' is damaged",
    ),
    "a fork that begins elsewhere": (
        "UPDATE conversations SET fork_at = 11 WHERE id = 'fork'",
        lambda store: list(store.conversation("spoon").read()),
        "the origin of 'fork' is damaged",
    ),
    "a circle of forks": (
        "UPDATE conversations SET parent = 2, fork_at = 5 WHERE number IN (1, 2)",
        lambda store: list(store.conversation("fork").read()),
        "the origin of 'fork' is damaged",
    ),
    "a turn of millions": (
        f"UPDATE turns SET count = {10**12} WHERE key = 'f'",
        lambda store: store.conversation("fork").ask("Another way", model="echo", key="f"),
        "the turn 'f' of 'fork' is damaged",
    ),
    "an answer to what comes later": (
        "UPDATE messages SET joins = 5000 WHERE conversation = 1 AND seq = 3",
        lambda store: store.conversation("lunch").context(model="gpt-4o"),
        "the pairing of results with calls of 'lunch' is damaged",
    ),
    "an unknown state": (
        "UPDATE marks SET visibility = 'gone' WHERE conversation = 1 AND seq = 4",
        lambda store: list(store.conversation("lunch").read()),
        "a message is marked as 'gone'",
    ),
    "a summary of other messages": (
        "UPDATE summaries SET last = 4",
        lambda store: store.conversation("lunch").summaries(),
        "the summary up to message 4 is damaged",
    ),
    "a body that is its own base": (
        "UPDATE bodies SET base = request WHERE request = 2",
        lambda store: store.request_bodies(2),
        "the request body of request 2 is damaged",
    ),
    "a body that shares more than there is": (
        "UPDATE bodies SET head = 5000 WHERE base IS NOT NULL",
        lambda store: store.request_bodies(2),
        "the request body of request 2 is damaged",
    ),
}


@pytest.mark.parametrize(("statement", "call", "said"), WRONG.values(), ids=WRONG)
def test_wrong_numbers_are_not_believed(
    statement: str, call: Callable[[cw.Store], object], said: str, sound: Path, tmp_path: Path
) -> None:
    place = Path(shutil.copy(sound, tmp_path / "store.db"))
    assert damage(place, statement)
    with cw.Store(place, embedder=None) as store:
        with pytest.raises(cw.errors.StoreError, match=said):
            call(store)
        assert examine(store.engine).findings


def test_requests_go_on_after_damaged_ones(sound: Path, tmp_path: Path) -> None:
    place = Path(shutil.copy(sound, tmp_path / "store.db"))
    assert damage(place, "UPDATE requests SET record = '{'")
    assert damage(place, "UPDATE bodies SET body = x'00'")
    with cw.Store(place, embedder=None) as store:
        record(store)
        newest, *others = store.requests()
        assert newest.model == "claude-sonnet-5-5"
        assert {one.error for one in others} == {"damaged"}
        assert store.request_bodies(newest.number).reply == b"{}"
        store.conversation("lunch").erase(1, scrub=False)
        mend(store.engine, examine(store.engine))
        assert examine(store.engine).findings == []
