"""Results are joined to their calls; stores open, wait, reconnect, at a constant cost."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.messages.exchanges import match_results
from contextwright.store.engines import postgres as engine
from contextwright.store.engines.base import Connection
from contextwright.store.rows.pairing import pairing_of
from contextwright.store.rows.validation import replace_invalid
from contextwright.text.json import encode_json
from samples.stores.turns import TURN
from strategies.messages import conversations


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file for many examples: each opens it anew."""
    return str(tmp_path_factory.mktemp("shared") / "store.db")


# --- which result belongs to which call ----------------------------------------------------------


def expected_joins(said: Sequence[cw.Message]) -> list[int | None]:
    """For each message the first other one with a call that it answers."""
    public = [(seq, one) for seq, one in enumerate(said, 1) if one.visibility == "public"]
    joins: list[int | None] = [None] * len(said)
    for answer in match_results([one for _, one in public]).answers:
        if answer.result_at is not None and answer.result_at[0] != answer.at[0]:
            call, result = public[answer.at[0]][0], public[answer.result_at[0]][0]
            joins[result - 1] = min(joins[result - 1] or call, call)
    return joins


@given(
    conversation=conversations,
    sizes=st.lists(st.integers(1, 3), max_size=20),
    at=st.integers(0, 20),
)
def test_results_join_their_calls_however_turns_are_cut(
    shared_file: str, conversation: cw.Conversation, sizes: list[int], at: int
) -> None:
    said, _ = replace_invalid([*conversation.messages, *conversation.messages])
    with cw.Store(shared_file, sync="fast") as store:
        store.forget("fork")
        store.forget("joins")
        chat = store.conversation("joins")
        chat.update()
        rest = list(said)
        for size in [*sizes, len(rest)]:
            turn, rest = rest[:size], rest[size:]
            if turn:
                chat.add(turn)
        joins = "SELECT joins FROM messages m JOIN conversations c ON c.number = m.conversation "
        joins += "WHERE c.id = ? ORDER BY seq"
        found = store.engine.read(lambda it: it.rows(joins, "joins"))
        assert [row[0] for row in found] == expected_joins(said)

        at = min(at, len(said))
        chat.fork("fork", at).update()
        if said:
            store.conversation("fork").add(said)
        found = store.engine.read(lambda it: it.rows(joins, "fork"))
        assert [row[0] for row in found] == expected_joins([*said[:at], *said])[at:]


def test_open_calls_leave_when_they_are_answered(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        long = "x" * 5_000
        chat.add(
            cw.assistant([cw.ToolCall("a", {}, long), cw.ToolCall(long, {}), cw.ToolCall("b")])
        )
        count = "SELECT count(*) FROM open_calls"
        assert store.engine.read(lambda it: it.rows(count)) == [(3,)]
        chat.hide(1)
        assert store.engine.read(lambda it: it.rows(count)) == [(0,)]
        chat.add(cw.tool_result(long, "of a hidden call"))
        chat.show(1)
        assert store.engine.read(lambda it: it.rows(count)) == [(2,)]
        chat.add([cw.tool_result(long, "x"), cw.Message("tool", (cw.ToolResult(None, "y"),))])
        chat.add(cw.Message("tool", (cw.ToolResult(None, "z", "b"),)))
        assert store.engine.read(lambda it: it.rows(count)) == [(0,)]


@given(conversations)
def test_calls_without_results_are_found(conversation: cw.Conversation) -> None:
    public = [one for one in conversation.messages if one.visibility == "public"]
    waiting = [one.at for one in match_results(public).answers if one.result is None]
    pairing = pairing_of((index, None, one) for index, one in enumerate(public))
    assert [(seq, part) for seq, part, _, _ in pairing.open_calls] == waiting


# --- opening -------------------------------------------------------------------------------------


def test_places_that_are_none(tmp_path: Path) -> None:
    for place in (":memory:", "", "mysql://host/db", "http://x"):
        with pytest.raises(cw.UsageError, match="not a valid store location"):
            cw.Store(place)
    with pytest.raises(cw.errors.StoreError, match="cannot open"):
        cw.Store(tmp_path / "missing" / "store.db")
    with pytest.raises(cw.UsageError, match="full or fast"):
        cw.Store(tmp_path / "store.db", sync="off")  # pyright: ignore[reportArgumentType]
    with cw.Store(f"sqlite:///{tmp_path}/store.db".replace("///", "////", 1)) as store:
        store.conversation("a").add(cw.user("x"))
    assert (tmp_path / "store.db").exists()


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(
        "no database at all, but long enough to look like one " * 20
    )
    foreign = tmp_path / "foreign.db"
    database = apsw.Connection(str(foreign))
    database.execute("CREATE TABLE mine (a)")
    database.close()
    for name, reason in (
        ("notes.txt", "is not an SQLite file"),
        ("foreign.db", "not a contextwright store"),
    ):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(cw.errors.UnknownSchema, match=reason):
            cw.Store(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


def test_a_closed_store_says_so(place: str) -> None:
    store = cw.Store(place)
    chat = store.conversation("a")
    chat.add(cw.user("x"))
    store.close()
    store.close()
    for call in (chat.length, lambda: chat.add(cw.user("y"))):
        with pytest.raises(cw.UsageError, match="the store is closed"):
            call()


def test_a_store_is_not_taken_through_a_fork(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db") as store:
        store.conversation("a").add(cw.user("x"))
        child = os.fork()
        if child == 0:
            try:
                store.conversation("a").length()
            except cw.UsageError as error:
                os._exit(7 if "another process" in str(error) else 8)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_postgres_needs_its_package() -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import contextwright as cw\n"
        "try: cw.Store('postgresql://x')\n"
        "except cw.errors.MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    expected = "a Postgres store needs an optional package (pip install 'contextwright[postgres]')"
    assert done.stdout.strip() == expected, done.stderr


def test_a_server_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "OPENING", 0.1)
    with pytest.raises(cw.UsageError, match="not a valid Postgres URL"):
        cw.Store("postgresql://host:port/x?bogus=1")
    with pytest.raises(cw.errors.StoreLost, match="no connection to database 'x'") as lost:
        cw.Store(f"postgresql://user:secret@/x?host={tmp_path}")
    assert "secret" not in str(lost.value)


# --- others hold the store -----------------------------------------------------------------------


def test_the_event_loop_goes_on_while_another_process_writes(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with cw.AsyncStore(tmp_path / "store.db") as store:
            chat = store.conversation("a")
            await chat.add(cw.user("first"))
            other = apsw.Connection(str(tmp_path / "store.db"))
            other.execute("BEGIN IMMEDIATE")
            adding = asyncio.create_task(chat.add(cw.user("second")))
            assert await chat.length() == 1  # readers do not wait for writers
            assert not adding.done()
            other.execute("COMMIT")
            assert await adding == [2]
            other.close()

    asyncio.run(scenario())


def test_tasks_read_and_write_side_by_side(place: str) -> None:
    async def scenario() -> None:
        async with cw.AsyncStore(place, tenant="a", sync="fast") as store:
            chat = store.conversation("a")
            numbers = await asyncio.gather(*(chat.add(cw.user(str(n))) for n in range(50)))
            assert sorted(number for (number,) in numbers) == list(range(1, 51))
            assert [one.seq async for one in chat.read(10, 20)] == list(range(10, 20))
            assert [one.id async for one in store.for_tenant("b").list()] == []
            with pytest.raises(cw.UsageError):
                store.conversation("")
        with pytest.raises(cw.UsageError, match="the store is closed"):
            await chat.length()

    asyncio.run(scenario())


def test_postgres_comes_back(postgres: str) -> None:
    with cw.Store(postgres) as store, psycopg.connect(postgres, autocommit=True) as admin:
        chat = store.conversation("a")
        ends = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = %s AND datname = current_database()"
        )
        for number in range(1, 4):
            assert chat.add(cw.user(str(number))) == [number]
            assert chat.length() == number
            admin.execute(ends, ("contextwright",))
        assert chat.length() == 3
        assert [one.key for one in chat.read()] == [None] * 3
        for change in (
            lambda: chat.erase(1, scrub=False),
            lambda: chat.edit(2, "two"),
            store.scrub,
            lambda: store.remember("a memory"),
            lambda: store.index(),
        ):
            admin.execute(ends, ("contextwright",))
            change()
        assert [one.message.text for one in chat.read()] == ["", "two", "3"]


def test_work_that_cannot_be_repeated_ends_with_the_connection(postgres: str) -> None:
    with cw.Store(postgres) as store, psycopg.connect(postgres, autocommit=True) as admin:
        begun: list[int] = []

        def work(connection: Connection) -> None:
            begun.extend(row[0] for row in connection.rows("SELECT pg_backend_pid()"))
            admin.execute("SELECT pg_terminate_backend(%s)", (begun[-1],))
            connection.rows("SELECT 1")

        with pytest.raises(cw.errors.StoreError, match="no connection"):
            store.engine.write_alone(work)
        assert len(begun) == 1


# --- what one turn costs -------------------------------------------------------------------------


def steps_of_a_turn(store: cw.Store) -> list[tuple[str, int]]:
    """Every statement of one turn, with the steps it took in the database."""
    seen: list[tuple[str, int]] = []

    def note(event: dict[str, Any]) -> None:
        seen.append((event["sql"], event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]))

    chat = store.conversation("long")
    key = f"turn {chat.length()}"
    with store.engine._connections.borrowed() as connection:  # pyright: ignore
        connection.database.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    chat.add(TURN, key=key)
    with store.engine._connections.borrowed() as connection:  # pyright: ignore
        connection.database.trace_v2(0, None)
    return seen


def test_a_turn_costs_the_same_at_any_length(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        store.add_all([cw.Turn("long", TURN)] * 25)
        steps_of_a_turn(store)
        short = steps_of_a_turn(store)
        store.add_all(cw.Turn("long", TURN, f"key {number}") for number in range(5_000))
        assert steps_of_a_turn(store) == short
        assert len(short) == 12  # begin, find, length, key, calls, 4 messages, turn, head, commit


def test_size_on_disk(tmp_path: Path) -> None:
    """Messages of a few hundred bytes; the search index is another matter."""
    said = [cw.user("words " * 40), cw.assistant("more words " * 40)]
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        store.add_all(
            cw.Turn(f"c{number % 50}", said, f"key-{number:08d}") for number in range(5_000)
        )
    raw = sum(len(encode_json(one)) for one in said) * 5_000
    assert (tmp_path / "store.db").stat().st_size <= 1.4 * raw


def test_a_conversation_may_be_forgotten_while_others_add_to_it(place: str) -> None:
    with cw.Store(place, sync="fast") as store, cw.Store(place, sync="fast") as other:
        outcomes: list[list[int]] = []

        def write() -> None:
            chat = store.conversation("shared")
            outcomes.extend(chat.add(cw.user(str(number))) for number in range(60))

        writer = threading.Thread(target=write)
        writer.start()
        while writer.is_alive():
            other.forget("shared")
        writer.join()
        assert len(outcomes) == 60
        other.conversation("shared").add(cw.user("last"))
        said = list(store.conversation("shared").read())
        assert [one.seq for one in said] == list(range(1, len(said) + 1))


@pytest.mark.parametrize("place", [3, None, b"chat.db", object()])
def test_a_place_that_is_no_path_is_refused(place: Any) -> None:
    with pytest.raises(cw.UsageError, match="a store cannot be"):
        cw.Store(place)


@pytest.mark.parametrize("turn", ["hello", b"hello", None, 3])
def test_a_turn_of_something_else_is_refused_whole(tmp_path: Path, turn: Any) -> None:
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        with pytest.raises(cw.UsageError) as caught:
            store.conversation("lunch").add(turn)
        assert str(caught.value).startswith(f"a conversation cannot be {turn!r}")


def test_a_context_without_a_model_is_refused(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        chat: Any = store.conversation("lunch")
        with pytest.raises(cw.UsageError, match="a context needs a model"):
            chat.context(cw.Recipe())
