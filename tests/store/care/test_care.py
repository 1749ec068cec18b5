"""Maintenance of a store: the doctor's findings and repairs, backups."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import contextwright as cw
from contextwright.store.care.doctor import examine, mend
from contextwright.store.engines.backup import back_up, free_name
from contextwright.store.engines.schema.steps import STEPS
from samples.stores.care import TURN, filled, run_sql

# --- the doctor ----------------------------------------------------------------------------------


def test_a_store_in_order(place: str) -> None:
    with filled(place) as store:
        report = examine(store.engine)
        assert (report.findings, report.conversations, report.messages) == ([], 3, 10)
        assert report.facts["tables"] == f"version {len(STEPS)}"
        assert mend(store.engine, report) == []


A = "conversation = 1"
LOST = f"DELETE FROM messages WHERE {A} AND seq = 6"
DAMAGE = {
    "a head that lags": (
        f"UPDATE heads SET last = 7 WHERE {A}",
        ["head conversation 'a': its head says 7, the last message is 8"],
        True,
    ),
    "a head that runs ahead": (
        f"UPDATE heads SET last = 80 WHERE {A}",
        ["head conversation 'a': its head says 80, the last message is 8"],
        True,
    ),
    "a summary of nothing": (
        "INSERT INTO summaries (conversation, name, last, made, body) VALUES (1, 'm', 9, '', '{}')",
        ["summaries conversation 'a': summaries of missing messages: 1"],
        True,
    ),
    "a mark without a message": (
        "INSERT INTO marks (conversation, seq, pinned) VALUES (1, 9, 1)",
        ["marks conversation 'a': marks without a message: 1"],
        True,
    ),
    "a hidden message without a mark": (
        f"DELETE FROM marks WHERE {A}",
        ["marks conversation 'a': hidden or pinned messages without a mark: 1"],
        True,
    ),
    "a call that waits and is none": (
        "INSERT INTO open_calls VALUES (1, 1, 0, 'x', 'x')",
        ["calls conversation 'a': open calls without a message: 1"],
        True,
    ),
    "a call that waits and was answered": (
        "INSERT INTO open_calls VALUES (1, 2, 1, 'c1', 'times')",
        ["calls conversation 'a': answered calls that are listed as open: 1"],
        True,
    ),
    "a call that does not wait": (
        f"DELETE FROM open_calls WHERE {A}",
        ["calls conversation 'a': calls without a result that are not listed as open: 1"],
        True,
    ),
    "lengths that do not add up": (
        f"UPDATE messages SET length = length + 1 WHERE {A} AND seq = 6",
        ["lengths conversation 'a': messages whose recorded length is wrong: 1"],
        True,
    ),
    "a length of the whole that is wrong": (
        f"UPDATE heads SET length = 1 WHERE {A}",
        ["lengths conversation 'a': its recorded length is not that of its messages"],
        True,
    ),
    "a message that is lost": (
        LOST,
        [
            "hole conversation 'a': messages 6 to 6 are missing",
            "half conversation 'a': of the turn at 5 1 of 2 are there",
            "calls conversation 'a': open calls without a message: 1",
        ],
        False,
    ),
    "an end that is lost": (
        f"DELETE FROM messages WHERE {A} AND seq = 8",
        [
            "half conversation 'a': of the turn at 8 0 of 1 are there",
            "head conversation 'a': its head says 8, the last message is 7",
            "lengths conversation 'a': its recorded length is not that of its messages",
        ],
        False,
    ),
    "a beginning that is lost": (
        f"DELETE FROM messages WHERE {A} AND seq = 1",
        [
            "hole conversation 'a': messages 1 to 1 are missing",
            "half conversation 'a': of the turn at 1 3 of 4 are there",
        ],
        False,
    ),
    "messages without a turn": (
        f"DELETE FROM turns WHERE {A} AND first = 8",
        ["turns conversation 'a': messages 8 to 8 belong to no turn"],
        False,
    ),
    "a gap between turns": (
        f"DELETE FROM turns WHERE {A} AND first = 5",
        ["turns conversation 'a': the turn at 1 (4 messages) is not linked to the next one"],
        False,
    ),
    "an answer that is noted of another": (
        "INSERT INTO answers (conversation, seq, joins) VALUES (1, 4, 2)",
        ["answers conversation 'a': messages that are paired with the wrong calls: 1"],
        True,
    ),
    "a join to nothing": (
        f"UPDATE messages SET joins = 5000 WHERE {A} AND seq = 3",
        ["answers conversation 'a': messages that are paired with the wrong calls: 1"],
        True,
    ),
    "a message nobody can read": (
        f"UPDATE messages SET body = '[]' WHERE {A} AND seq = 4",
        ["body conversation 'a': message 4 cannot be read"],
        False,
    ),
    "a message of another kind": (
        f"UPDATE messages SET kind = 1 WHERE {A} AND seq = 4",
        ["kind conversation 'a': message 4 is recorded with the wrong kind"],
        True,
    ),
    "settings nobody can read": (
        "UPDATE conversations SET settings = '{' WHERE number = 1",
        ["settings conversation 'a': its settings cannot be read"],
        True,
    ),
    "a summary nobody can read": (
        "INSERT INTO summaries (conversation, name, last, made, body) VALUES (1, 'm', 5, '', '{')",
        ["summary conversation 'a': its summary up to message 5 cannot be read"],
        True,
    ),
    "a version nobody can read": (
        "INSERT INTO versions (conversation, seq, number, replaced, body) VALUES (1, 3, 1, '', '')",
        ["version conversation 'a': an old version of message 3 cannot be read"],
        True,
    ),
    "signatures nobody can read": (
        "INSERT INTO requests (tenant, conversation, session, state, process, started, record) "
        "VALUES ('', 1, '', 'answered', '', '', '{}');"
        "INSERT INTO signatures (request, place, body) VALUES (1, '', x'00')",
        ["signatures conversation 'a': the signatures of the answer to request 1 cannot be read"],
        True,
    ),
    "a fork behind the end": (
        "UPDATE conversations SET fork_at = 30 WHERE number = 2",
        ["fork conversation 'b': it was forked at 30, past the end of its parent"],
        False,
    ),
    "another tenant": (
        "UPDATE messages SET kind = 1 WHERE conversation = 3",
        ["kind conversation 'a' of 'other': message 1 is recorded with the wrong kind"],
        True,
    ),
}


@pytest.mark.parametrize(("damage", "expected", "is_mended"), DAMAGE.values(), ids=DAMAGE)
def test_what_is_wrong_is_found_and_mended_from_the_rest(
    tmp_path: Path, damage: str, expected: list[str], is_mended: bool
) -> None:
    find_and_mend(str(tmp_path / "store.db"), damage, expected, is_mended)


@pytest.mark.parametrize(
    "name", ["a head that lags", "lengths that do not add up", "a message that is lost"]
)
def test_the_same_on_postgres(postgres: str, name: str) -> None:
    find_and_mend(postgres, *DAMAGE[name])


def test_an_end_is_not_moved_to_where_messages_were_lost(tmp_path: Path) -> None:
    """The lost message may be in a backup: its number must not be given again."""
    with filled(str(tmp_path / "store.db")) as store:
        run_sql(store, DAMAGE["an end that is lost"][0])
        mend(store.engine, examine(store.engine))
        assert any(one.code == "head" for one in examine(store.engine).findings)


def find_and_mend(place: str, damage: str, expected: list[str], is_mended: bool) -> None:
    with filled(place) as store:
        whole = list(store.conversation("a").read())
        run_sql(store, damage)
        report = examine(store.engine)
        found = list(map(str, report.findings))
        assert found[: len(expected)] == expected
        mended = mend(store.engine, report)
        left = examine(store.engine).findings
        assert [one for one in left if one.cure] == []
        assert bool(mended) >= is_mended
        if is_mended:
            assert left == []
            assert list(store.conversation("a").read()) == whole
            assert store.conversation("a").add(cw.user("Next")) == [9]
            assert examine(store.engine).findings == []


def test_what_stands_beside_messages_is_named_and_stops_nothing_else(place: str) -> None:
    with filled(place) as store:
        ids = [store.remember(text, about="U1") for text in ("Likes tea", "Likes tin")]
        store.index()
        run_sql(store, f"UPDATE memories SET body = '{{' WHERE id = '{ids[0]}'")
        run_sql(store, "UPDATE outlines SET body = '[' WHERE conversation = 1")
        assert list(map(str, examine(store.engine).findings)) == [
            "index conversation 'a': its index cannot be read; cw reindex --rebuild rebuilds it",
            f"memory {ids[0]} cannot be read; cw forget-memory {ids[0]} removes it",
        ]
        told = {one.id: one.memory.text for one in store.memories()}
        assert (told[ids[0]], told[ids[1]]) == ("(damaged)", "Likes tin")
        recipe = cw.Recipe(system=[cw.Memories()])
        asked = [cw.user("Tea?", author=cw.Author("U1", "Alice"))]
        store.conversation("new").add(asked)
        context = store.conversation("new").context(recipe, model="gpt-4o")
        assert "Likes tin" in str(context.sections)
        assert "damaged" not in str(context.sections)
        for recall in (store.recall, store.conversation("a").recall):
            with pytest.raises(cw.errors.StoreError, match="a row of .* is damaged"):
                recall("tea times")
        with pytest.raises(cw.errors.StoreError, match="the memory .* is damaged"):
            store.update_memory(ids[0], text="Likes milk")
        store.forget_memory(ids[0])
        store.index(again=True)
        assert examine(store.engine).findings == []
        assert store.recall("tea times") is not None


@pytest.mark.parametrize("first", [3, 9])
def test_a_damaged_file_is_reported(tmp_path: Path, first: int) -> None:
    file = tmp_path / "store.db"
    with filled(str(file)):
        pass
    data = bytearray(file.read_bytes())
    for at in range(8_192 * first, len(data), 8_192):
        if b"CREATE " not in data[at : at + 8_192]:  # without its schema, no store can be opened
            data[at + 8 : at + 4_000] = b"\xff" * 3_992
    file.write_bytes(data)
    with cw.Store(file) as store:
        findings = examine(store.engine).findings
    assert findings
    assert findings[0].code in ("integrity", "database")
    assert any("damaged" in one.problem for one in findings) or first > 3


def test_a_row_without_its_parent_is_reported(tmp_path: Path) -> None:
    with filled(str(tmp_path / "store.db")) as store:
        [number] = store.engine.read(lambda one: one.rows("SELECT max(number) FROM conversations"))
    apart = apsw.Connection(str(tmp_path / "store.db"))
    apart.execute("PRAGMA foreign_keys = OFF")
    apart.execute("DELETE FROM conversations WHERE number = ?", number)
    apart.close()
    with cw.Store(tmp_path / "store.db") as store:
        problems = [one.problem for one in examine(store.engine).findings]
    assert problems == ["a row of heads belongs to none of conversations"]


# --- backup --------------------------------------------------------------------------------------

WRITER = """
import sys
import contextwright as cw
with cw.Store(sys.argv[1], sync="fast") as store:
    chat = store.conversation("busy")
    chat.add([cw.user("x" * 4_000)] * 100)
    print("ready", flush=True)
    for number in range(100_000):
        chat.add([cw.user("a" * 900), cw.user("b" * 900)])
"""


def test_a_backup_while_another_process_writes(tmp_path: Path) -> None:
    file, target = str(tmp_path / "store.db"), str(tmp_path / "copy.db")
    filled(file).close()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, file], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        told: list[tuple[int, int]] = []
        for number in range(3):
            back_up(file, f"{target}{number}", lambda done, total: told.append((done, total)))
    finally:
        writer.kill()
        writer.communicate()
    assert told
    assert all(0 < done <= total for done, total in told)
    for number in range(3):
        with cw.Store(f"{target}{number}") as store:
            assert examine(store.engine).findings == []
            assert len(store.conversation("busy")) % 2 == 0
            assert [one.message for one in store.conversation("a").read(1, 5)] == TURN
    names = {path.name for path in tmp_path.iterdir()}
    assert not any("part" in name for name in names), names


def test_a_backup_shows_one_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwright.store.engines.backup.PAGES", 20)
    file, target = str(tmp_path / "store.db"), str(tmp_path / "copy.db")
    told: list[tuple[int, int]] = []

    def add_more(done: int, total: int) -> None:
        if not told:
            store.conversation("a").add(cw.user("Was it copied?"))
        told.append((done, total))

    with filled(file) as store:
        before = [*store.conversation("a").read()]
        back_up(file, target, add_more)
    [pages] = {total for _, total in told}
    assert told == [(min(done, pages), pages) for done in range(20, pages + 20, 20)]
    assert pages > 40
    with cw.Store(target) as copy:
        assert [*copy.conversation("a").read()] == before


def test_a_backup_that_fails_leaves_nothing(tmp_path: Path) -> None:
    file = str(tmp_path / "store.db")
    filled(file).close()
    (tmp_path / "taken").mkdir()
    for target in (tmp_path / "missing" / "copy.db", tmp_path / "taken"):
        with pytest.raises(cw.errors.StoreError, match="cannot write"):
            back_up(file, str(target))
    (tmp_path / "text").write_text("no database at all" * 100)
    with pytest.raises(cw.errors.StoreError, match="cannot copy"):
        back_up(str(tmp_path / "text"), str(tmp_path / "copy.db"))
    names = {path.name for path in tmp_path.iterdir()} - {"store.db-shm", "store.db-wal"}
    assert names == {"store.db", "taken", "text"}
    (tmp_path / "store.db.repair-1.backup").touch()
    assert free_name(file, "repair") == f"{file}.repair-2.backup"
