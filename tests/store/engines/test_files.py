"""SQLite files: who may read them, read-only ones, their log, and errors that are not hidden."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import apsw
import pytest

import contextwright as cw
from commands import Run
from contextwright import importers
from contextwright.errors import NotFound, StoreError, StoreFull, UsageError
from contextwright.importers.intake import Intake
from contextwright.recall.vectors.embedder import Embedder
from contextwright.store.engines.base import Connection, Sync
from contextwright.store.engines.sqlite import LARGE_LOG, SqliteEngine
from contextwright.store.engines.sqlite_connection import SqliteConnection
from contextwright.store.records import ConversationInfo
from contextwright.store.rows import conversations
from contextwright.store.store import Store


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_may_read_a_store_and_its_backups(tmp_path: Path) -> None:
    from contextwright.store.engines.backup import back_up

    file, copy = tmp_path / "store.db", tmp_path / "copy.db"
    old = os.umask(0)
    try:
        with Store(file) as store:
            store.conversation("a").add(cw.user("x"))
            modes = {path.name: mode_of(path) for path in tmp_path.iterdir()}
            back_up(str(file), str(copy))
    finally:
        os.umask(old)
    assert modes == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), 0o600)
    assert mode_of(copy) == 0o600
    os.chmod(file, 0o640)
    Store(file).close()
    assert mode_of(file) == 0o640, "what the owner chose stays"


READ = """
import os, sys
import contextwright as cw
from contextwright.errors import StoreError
from contextwright.store.care.doctor import examine

def read(place):
    with cw.Store(place, embedder=None) as store:
        chat = store.conversation("a")
        if place == sys.argv[1]:
            chat.add([cw.user("tea")] * 100)
        assert [one.message.text for one in chat.read()] == ["tea"] * 100
        assert len(store.search("tea")) == 20
        assert len(chat.search("tea", limit=200)) == 100
        assert chat.recall("tea?", limit=3).items
        assert [one.id for one in store.list()] == ["a"]
        assert chat.summaries() == []
        assert examine(store.engine).findings == []
        try:
            chat.add(cw.user("more"))
        except StoreError as error:
            print(error)

read(sys.argv[1])  # all modules are loaded by now: another user may not read them
if os.getuid() == 0:
    os.setuid(65_534)
read(sys.argv[2])
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user may enter."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.parametrize(
    ("has_log", "file_mode", "folder_mode"),
    [
        pytest.param(False, 0o444, 0o555, id="neither may be written"),
        pytest.param(True, 0o444, 0o555, id="nor the log"),
        pytest.param(False, 0o444, 0o777, id="not the file"),
        pytest.param(False, 0o666, 0o555, id="not the folder"),
    ],
)
def test_a_read_only_store_can_be_read(
    open_folder: Path, tmp_path: Path, has_log: bool, file_mode: int, folder_mode: int
) -> None:
    file = open_folder / "store.db"
    store = Store(file, embedder=None)
    store.conversation("a").add([cw.user("tea")] * 100)
    if not has_log:
        store.close()
    for path in open_folder.iterdir():
        path.chmod(file_mode)
    open_folder.chmod(folder_mode)
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "own.db"), str(file)],
        capture_output=True,
        text=True,
    )
    open_folder.chmod(0o755)
    store.close()
    assert done.stderr == ""
    assert "is not writable" in done.stdout
    assert [path.name for path in open_folder.iterdir()] == ["store.db"]


def limited_to(pages: object) -> Callable[[apsw.Connection], object]:
    """Opens databases that cannot grow, as on a full disk."""
    return lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once nothing was found on one: what search and recall index first could not be written."""
    embedder = Embedder("lengths", lambda texts: [[len(text), 1.0] for text in texts])
    summary = cw.SummaryPolicy(model="m", summariser=lambda request: "They drank tea.")
    recipe = cw.Recipe(system=[cw.Memories()], summary=summary)
    place = tmp_path / "s.db"
    with Store(place) as store:
        chat = store.conversation("tea")
        for number in range(80):
            words = " ".join(f"tea{number}x{place}" for place in range(40))
            chat.add([cw.user(f"tea {number}?", author="U1"), cw.assistant(f"Green tea. {words}")])
        chat.add(cw.user("Which tea?", author="U1"))
        for number in range(30):  # more than a section tells, so that meaning decides
            store.remember(f"likes tea {number}", about="U1")
    connection = apsw.Connection(str(place))
    pages = connection.pragma("page_count")
    connection.close()
    monkeypatch.setattr(apsw, "connection_hooks", [limited_to(pages)])
    with Store(place, embedder=embedder) as store:
        chat = store.conversation("tea")
        found = len(list(store.search("tea", limit=200)))
        recalled = [chat.recall("green tea?").items, store.recall("green tea?").items]
        context = chat.context(recipe, model="gpt-4o", budget=900)
        with pytest.raises(StoreFull):
            chat.add(cw.user(bytes(range(256)).hex() * 99))
        with pytest.raises(StoreFull):
            store.index(few=0)
    assert found == 161
    assert all(recalled)
    assert "They drank tea." in str(context.payload)
    assert context.decisions.omitted
    assert "likes tea" in context.sections["Memories[0]"]


def test_the_log_of_a_large_write_is_emptied(tmp_path: Path) -> None:
    file, log = tmp_path / "store.db", tmp_path / "store.db-wal"
    with Store(file, sync="fast") as store:
        text = "x" * 100_000
        store.add_all(cw.Turn(f"c{number}", [cw.user(text)]) for number in range(50))
        assert 0 < log.stat().st_size < LARGE_LOG, "small ones stay"
        store.add_all(cw.Turn(f"d{number}", [cw.user(text)]) for number in range(200))
        assert log.stat().st_size == 0
        assert sum(1 for _ in store.list()) == 250


@pytest.mark.parametrize("sync", ["full", "fast"])
@pytest.mark.parametrize("is_empty", [True, False])
@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_only_an_empty_file_of_one_s_own_is_filled_without_its_log(
    tmp_path: Path, sync: Sync, is_empty: bool, is_shared: bool, fails: bool
) -> None:
    file = tmp_path / "store.db"
    modes: list[str] = []

    def work(connection: Connection) -> None:
        modes.extend(mode for (mode,) in connection.rows("PRAGMA journal_mode"))
        conversations.create(connection, "", ConversationInfo("new", 0))
        if fails:
            raise NotFound("nothing")

    with Store(file, sync=sync) as store, Store(file) if is_shared else nullcontext():
        if not is_empty:
            store.conversation("old").add(cw.user("x"))
        with pytest.raises(NotFound) if fails else nullcontext():
            store.engine.write_much(work)
        found = [one.id for one in store.list()]
    alone = sync == "full" and is_empty and not is_shared
    assert modes == ["delete" if alone else "wal"]
    assert found == [*([] if is_empty else ["old"]), *([] if fails else ["new"])]
    assert file.read_bytes()[18:20] == b"\2\2", "the log is in use again"


class DiskFails(apsw.IOError):
    extendedresult = apsw.SQLITE_IOERR_READ


@pytest.mark.parametrize("way", ["read", "write", "write_alone"])
def test_the_first_error_is_the_one_that_is_said(tmp_path: Path, way: str) -> None:
    """A database that fails ends its transaction: nothing is left to commit or to roll back."""
    engine = SqliteEngine(str(tmp_path / "store.db"), "full")

    def work(connection: Any) -> None:
        assert isinstance(connection, SqliteConnection)
        connection.run("ROLLBACK")
        raise DiskFails("the disk fails")

    with pytest.raises(StoreError, match="the disk fails"):
        getattr(engine, way)(work)
    assert engine.read(lambda connection: connection.rows("SELECT 1")) == [(1,)]
    engine.close()


def test_a_dry_run_is_not_taken_for_damage(tmp_path: Path) -> None:
    """Else the whole file would be checked, through another connection."""
    chat = tmp_path / "chat.json"
    chat.write_text('{"messages": [{"role": "user", "content": "hi"}]}')
    with cw.Store(tmp_path / "store.db", embedder=None) as store:
        store.conversation("a").add(cw.user("hi"))
        with store.engine._connections.borrowed() as first:  # pyright: ignore
            pass
        assert store.conversation("a").erase(1, dry_run=True).messages == 1
        with importers.open_files(chat) as files:
            assert Intake(format="openai-chat").rehearse(files, store).messages == 1
        with store.engine._connections.borrowed() as connection:  # pyright: ignore
            assert connection is first
        assert [info.length for info in store.list()] == [1]


@pytest.mark.parametrize(
    ("id", "problem"),
    [
        ("a\u200bb", "the invisible character U\\+200B at character 2"),
        ("\u202eabc", "the invisible character U\\+202E at character 1"),
        ("a\u3164", "the invisible character U\\+3164 at character 2"),
        ("a\ud800", "half a surrogate pair at character 2"),
    ],
)
def test_names_nobody_can_read_are_refused_before_anything_is_written(
    tmp_path: Path, id: str, problem: str
) -> None:
    with Store(tmp_path / "store.db") as store:
        with pytest.raises(UsageError, match=problem):
            store.conversation(id).add(cw.user("x"))
        with pytest.raises(UsageError, match=problem):
            store.for_tenant(id).conversation("a").add(cw.user("x"))
        store.conversation("a").add(cw.user("x"))
        with pytest.raises(UsageError, match=problem):
            store.conversation("a").fork(id)
        assert [one.id for one in store.list()] == ["a"]


def test_numbers_nobody_can_read_again_are_refused(tmp_path: Path) -> None:
    huge = {"n": 10**5_000}
    with Store(tmp_path / "store.db") as store:
        chat = store.conversation("a")
        for act in (
            lambda: chat.add(cw.user("x", meta=huge)),
            lambda: chat.update(settings=huge),
            lambda: store.remember(cw.Memory("memory", "x", meta=huge)),
        ):
            with pytest.raises(UsageError, match="a number has too many digits"):
                act()
        assert list(store.list()) == []


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_an_endless_source_is_refused(
    cw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextwright.documents import files

    monkeypatch.setenv("CONTEXTWRIGHT_STORE", str(tmp_path / "chat.db"))
    done = cw("import", "/dev/zero", "--format", "openai-chat")
    assert (done.code, "is a device" in done.err) == (2, True)
    done = cw("import", "-", "--format", "openai-chat", input=bytes(10))
    assert (done.code, "NUL" in done.err) == (1, True)
    monkeypatch.setattr(files, "PIPE_LIMIT", 1_000)
    done = cw("import", "-", "--format", "openai-chat", input=b"a" * 2_000)
    assert (done.code, "more than 1,000 bytes from a pipe" in done.err) == (1, True)
