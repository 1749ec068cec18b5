"""What a store promises, on SQLite and on Postgres alike."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.messages.exchanges import match_results
from contextwright.store.engines.group_commit import Entry, Writer
from contextwright.store.rows.open_calls import unanswered
from contextwright.store.rows.validation import mended
from contextwright.text.json import encode_json
from strategies.messages import conversations, messages

TURN = [
    cw.user("What is 6 × 7?"),
    cw.assistant([cw.Text("Let me see."), cw.ToolCall("times", {"a": 6, "b": 7}, "c1")]),
    cw.tool_result("c1", "42"),
    cw.assistant("It is 42."),
]


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file for many examples: each opens it anew."""
    return str(tmp_path_factory.mktemp("shared") / "store.db")


def texts(chat: cw.Chat) -> list[str]:
    return [stored.message.text for stored in chat.read()]


# --- turns and keys ------------------------------------------------------------------------------


def test_a_turn_is_stored_whole_and_numbered(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        assert chat.add(cw.user("Hello")) == [1]
        assert chat.add(TURN, key="k") == [2, 3, 4, 5]
        assert len(chat) == 5
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        assert list(chat.read(2, 4)) == [
            cw.StoredMessage(2, "k", TURN[0]),
            cw.StoredMessage(3, "k", TURN[1]),
        ]
        assert chat.tail(2) == [
            cw.StoredMessage(4, "k", TURN[2]),
            cw.StoredMessage(5, "k", TURN[3]),
        ]
        assert chat.add(cw.user("More")) == [6]


def test_a_key_stores_once(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        assert chat.add(TURN, key="k") == chat.add(TURN, key="k") == [1, 2, 3, 4]
        assert store.conversation("dinner").add(TURN, key="k") == [1, 2, 3, 4]
        with pytest.raises(cw.errors.Conflict, match="the key 'k' was used for other messages"):
            chat.add(TURN[:3], key="k")
        assert len(chat) == 4


def test_the_same_message_in_another_spelling_is_the_same(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        one = cw.assistant(cw.ToolCall("f", {"a": 1, "b": (2, 3)}))
        other = cw.assistant(cw.ToolCall("f", {"b": [2, 3], "a": 1}))
        assert chat.add(one, key="k") == chat.add(other, key="k") == [1]


def test_a_turn_with_one_bad_message_stores_nothing(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        with pytest.raises(cw.UsageError):
            chat.add([*TURN, cw.user("a\x00b")])
        with pytest.raises(cw.errors.NotFound):
            chat.length()
        with pytest.raises(cw.UsageError, match="at least one message"):
            chat.add([])


def test_each_on_its_own_and_all_or_nothing(place: str) -> None:
    with cw.Store(place) as store:
        store.conversation("a").add(cw.user("one"), key="k")
        bad, taken = cw.Turn("b", [cw.user("\x00")]), cw.Turn("a", [cw.user("two")], "k")
        good = [cw.Turn("b", TURN), cw.Turn("a", TURN, "k2")]
        outcomes = store.add_each([good[0], bad, taken, good[1]])
        assert [type(one) for one in outcomes] == [list, cw.UsageError, cw.errors.Conflict, list]
        assert (outcomes[0], outcomes[3]) == ([1, 2, 3, 4], [2, 3, 4, 5])
        with pytest.raises(cw.errors.Conflict):
            store.add_all([cw.Turn("c", TURN), taken])
        assert store.add_all([cw.Turn("d", TURN), cw.Turn("d", TURN)]) == 8
        assert [details.id for details in store.list()] == ["a", "b", "d"]


def test_threads_share_a_conversation(place: str) -> None:
    with cw.Store(place, sync="fast") as store:
        numbers: list[int] = []

        def write(writer: int) -> None:
            chat = store.conversation("shared")
            for turn in range(10):
                pair = [cw.user(f"{writer} {turn} a"), cw.user(f"{writer} {turn} b")]
                numbers.extend(chat.add(pair, key=f"{writer}-{turn}"))

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(numbers) == list(range(1, 161))
        said = texts(store.conversation("shared"))
        assert all(said[at][:-1] == said[at + 1][:-1] for at in range(0, 160, 2))


def test_writers_share_transactions() -> None:
    """While one transaction runs, all others gather for the next."""
    sizes: list[int] = []
    begun, go = threading.Event(), threading.Event()

    def transact(entries: Sequence[Entry]) -> None:
        sizes.append(len(entries))
        begun.set()
        assert go.wait(10)
        for entry in entries:
            entry.do(None)  # pyright: ignore[reportArgumentType]

    writer = Writer(transact)
    entries = [Entry("", lambda connection, number=number: number) for number in range(20)]
    threads = [threading.Thread(target=writer.write, args=([entry],)) for entry in entries]
    threads[0].start()
    assert begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    while len(writer._waiting) < 19:  # pyright: ignore[reportPrivateUsage]
        pass
    go.set()
    for thread in threads:
        thread.join()
    assert sizes == [1, 19]
    assert [entry.outcome() for entry in entries] == list(range(20))


# --- what is said about messages -----------------------------------------------------------------


def test_hidden_deleted_and_pinned(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        chat.add(TURN)
        chat.hide(1)
        chat.delete(2)
        chat.pin(4)
        child = chat.fork("child")
        chat.show(2)
        chat.unpin(4)
        for it, states in (
            (chat, [("hidden", False), ("public", False), ("public", False), ("public", False)]),
            (child, [("hidden", False), ("deleted", False), ("public", False), ("public", True)]),
        ):
            found = [(one.message.visibility, one.message.pinned) for one in it.read()]
            assert found == states
        for call in (chat.hide, chat.show, chat.delete, chat.pin, chat.unpin):
            for seq in (0, 5):
                with pytest.raises(
                    cw.errors.NotFound, match=f"there is no message {seq} in 'lunch'"
                ):
                    call(seq)


def test_forks_of_forks_read_the_lines_they_come_from(place: str) -> None:
    with cw.Store(place, sync="fast") as store:
        first = store.conversation("1")
        first.add([cw.user(f"1-{number}") for number in range(1, 301)])
        second = first.fork("2", at=200)
        second.add([cw.user(f"2-{number}") for number in range(201, 401)])
        third = second.fork("3", at=250)
        third.add(cw.user("3-251"))
        fourth = third.fork("4", at=150)
        expected = [f"1-{number}" for number in range(1, 201)]
        assert texts(third) == [*expected, *(f"2-{number}" for number in range(201, 251)), "3-251"]
        assert texts(fourth) == expected[:150]
        assert fourth.add(cw.user("4-151")) == [151]
        assert [one.message.text for one in third.tail(2)] == ["2-250", "3-251"]
        assert texts(first)[-1] == "1-300"
        assert len(texts(second)) == 400
        assert third.details() == cw.store.ConversationInfo(
            "3", 251, parent="2", fork_at=250, created=third.details().created
        )


def test_a_fork_takes_no_name_of_another(place: str) -> None:
    """The same fork again is no harm; another place or parent, or no fork at all, is."""
    with cw.Store(place) as store:
        lunch, dinner = store.conversation("lunch"), store.conversation("dinner")
        for chat in (lunch, dinner):
            chat.add([cw.user("one"), cw.assistant("two"), cw.user("three")])
        lunch.fork("child", at=2)
        lunch.fork("child", at=2)
        for parent, at in ((lunch, 1), (dinner, 2), (dinner, 1)):
            with pytest.raises(cw.errors.Conflict, match="conversation 'child' already"):
                parent.fork("child", at=at)
        with pytest.raises(cw.errors.Conflict, match="conversation 'dinner' already"):
            lunch.fork("dinner", at=2)
        child = store.conversation("child").details()
        assert (child.parent, child.fork_at, child.length) == ("lunch", 2, 2)


def test_forgetting(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        chat.add([*TURN, cw.assistant(cw.ToolCall("late", {}, "c2"))], key="k")
        chat.hide(1)
        chat.fork("child")
        with pytest.raises(cw.errors.Conflict, match="'child' was forked from 'lunch'"):
            store.forget("lunch")
        store.forget("child")
        store.forget("lunch")
        store.forget("lunch")
        tables = ("conversations", "heads", "turns", "messages", "marks", "open_calls")
        for table in tables:
            sql = f"SELECT count(*) FROM {table}"
            assert store.engine.read(lambda it, sql=sql: it.rows(sql)) == [(0,)], table
        assert chat.add(cw.user("anew"), key="k") == [1]


def test_what_is_known_about_a_conversation(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        chat.update(title="Lunch", settings={"budget": 8_000, "tools": ["a", None]})
        chat.update(agent="Aya")
        details = chat.details()
        assert details == cw.store.ConversationInfo(
            "lunch",
            0,
            title="Lunch",
            agent="Aya",
            settings={"budget": 8_000, "tools": ["a", None]},
            created=details.created,
        )
        assert datetime.fromisoformat(details.created).tzinfo is not None
        chat.update(title=None)
        assert chat.details().title is None
        for fields in ({"title": "a\x00"}, {"agent": "\ud83d"}, {"settings": {"a": ["\x00"]}}):
            with pytest.raises(cw.UsageError, match=r"character \d: "):
                chat.update(**fields)
        with pytest.raises(cw.UsageError):
            chat.update(settings={"a": float("nan")})


def test_lists_are_read_in_pages(place: str) -> None:
    with cw.Store(place) as store:
        store.add_all([cw.Turn(f"c{number}", [cw.user("x")]) for number in range(205)])
        assert [one.id for one in store.list()] == [f"c{number}" for number in range(205)]


def test_reading_what_is_not_there(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("nobody")
        for call in (chat.length, chat.details, lambda: chat.tail(3), lambda: list(chat.read())):
            with pytest.raises(cw.errors.NotFound, match="there is no conversation 'nobody'"):
                call()
        store.conversation("somebody").add(cw.user("x"))
        assert list(store.conversation("somebody").read(5, 9)) == []
        assert store.conversation("somebody").tail(0) == []


def test_a_reader_is_told_when_the_conversation_is_forgotten_meanwhile(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        chat.add([cw.user(str(number)) for number in range(300)])
        reading = chat.read()
        next(reading)
        store.forget("lunch")
        with pytest.raises(cw.errors.NotFound, match="forgotten while it was read"):
            list(reading)


def test_tenants_do_not_see_each_other(place: str) -> None:
    with cw.Store(place, tenant="a") as a, cw.Store(place, tenant="b") as b:
        a.conversation("lunch").add(TURN, key="k")
        assert list(b.list()) == []
        for call in (
            b.conversation("lunch").length,
            b.conversation("lunch").details,
            lambda: b.conversation("lunch").hide(1),
            lambda: b.conversation("lunch").fork("mine"),
            lambda: list(b.conversation("lunch").read()),
        ):
            with pytest.raises(cw.errors.NotFound):
                call()
        b.forget("lunch")
        assert b.conversation("lunch").add(cw.user("other"), key="k") == [1]
        assert len(a.conversation("lunch")) == 4
        assert [one.id for one in a.for_tenant("b").list()] == ["lunch"]
        assert list(a.for_tenant("").list()) == []


# --- at the door ---------------------------------------------------------------------------------

UNFIT = [
    (cw.user("ab\x00"), "messages[1].parts[0].text, character 3: a NUL"),
    (cw.user("\ud83d"), "messages[1].parts[0].text, character 1: half a surrogate pair"),
    (cw.tool_result("c", {"a": ["\x00"]}), "messages[1].parts[0].content.a[0], character 1: a NUL"),
    (cw.tool_result("\x00", "x"), "messages[1].parts[0].call_id, character 1: a NUL"),
    (cw.user("x", author=cw.Author(name="E\x00")), "messages[1].author.name, character 2: a NUL"),
    (cw.user("x", meta={"k\x00": 1}), "messages[1].meta.(key), character 2: a NUL"),
]


@pytest.mark.parametrize(("message", "place_in_it"), UNFIT)
def test_what_cannot_be_stored(place: str, message: cw.Message, place_in_it: str) -> None:
    with cw.Store(place) as store:
        with pytest.raises(cw.UsageError) as refused:
            store.conversation("lunch").add([cw.user("fine"), message])
        assert refused.value.args[0] == f"{place_in_it} cannot be stored"
        clean, changes = mended([cw.user("fine"), message])
        assert [change.code for change in changes] == ["repair.text"]
        assert store.conversation("lunch").add(clean) == [1, 2]
        assert store.conversation("lunch").tail(1)[0].message == clean[1]


def test_mending_joins_halves_and_leaves_the_rest() -> None:
    halves = cw.user("\ud83d\ude00 \x00 \\u0000 \ud83d")
    (clean,), changes = mended([halves])
    assert clean.text == "😀 \ufffd \\u0000 \ufffd"
    assert [str(change) for change in changes] == [
        "repair.text messages[0].parts[0].text: what cannot be stored became U+FFFD"
    ]
    assert mended(TURN) == (TURN, [])


def test_a_backslash_before_u0000_is_no_nul(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        chat.add(cw.user("\\u0000"))
        assert texts(chat) == ["\\u0000"]


@pytest.mark.parametrize(
    "message",
    [
        "words",
        cw.Message("bogus"),  # pyright: ignore[reportArgumentType]
        cw.Message("user", (cw.Text(5),)),  # pyright: ignore[reportArgumentType]
        cw.user("x", meta={"a": float("nan")}),
        cw.user("x", meta={"a": datetime(2026, 1, 1)}),
        cw.user("x", meta={1: 2}),
        cw.user(cw.Opaque("f", {"a": b"bytes"})),
    ],
)
def test_what_could_not_be_read_again_is_refused(tmp_path: Path, message: Any) -> None:
    with cw.Store(tmp_path / "store.db") as store, pytest.raises(cw.UsageError, match="messages"):
        store.conversation("lunch").add([message])


@given(said=st.lists(messages, min_size=1, max_size=3))
def test_every_message_comes_back_as_it_was(shared_file: str, said: list[cw.Message]) -> None:
    clean, _ = mended(said)
    with cw.Store(shared_file, sync="fast") as store:
        chat = store.conversation("all")
        numbers = chat.add(clean)
        assert [one.message for one in chat.read(numbers[0])] == clean


BAD = [
    "",
    "x" * 257,
    "é" * 129,
    "a\nb",
    "a\x00",
    "\x1bc",
    "\ud83d",
    "a\u2028b",
    "\x1fkey",
    None,
    5,
]
GOOD = ["../../etc/passwd", "'; DROP TABLE messages; --", "%s ? $1", "é" * 128, "-", "👩‍👩‍👧‍👦"]


@pytest.mark.parametrize("name", BAD)
def test_bad_names_are_refused(tmp_path: Path, name: Any) -> None:
    with cw.Store(tmp_path / "store.db") as store:
        with pytest.raises(cw.UsageError, match="conversation's id"):
            store.conversation(name)
        if name is not None:
            with pytest.raises(cw.UsageError, match="key"):
                store.conversation("a").add(cw.user("x"), key=name)
        assert list(store.list()) == []


def test_names_are_data(place: str) -> None:
    with cw.Store(place) as store:
        for name in GOOD:
            store.conversation(name).add(cw.user(name), key=name)
        assert [one.id for one in store.list()] == GOOD
        assert [texts(store.conversation(name)) for name in GOOD] == [[name] for name in GOOD]


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
    said, _ = mended([*conversation.messages, *conversation.messages])
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
        chat.add(cw.tool_result(long, "hidden calls wait"))
        chat.show(1)
        assert store.engine.read(lambda it: it.rows(count)) == [(3,)]
        chat.add([cw.tool_result(long, "x"), cw.Message("tool", (cw.ToolResult(None, "y"),))])
        chat.add(cw.Message("tool", (cw.ToolResult(None, "z", "b"),)))
        assert store.engine.read(lambda it: it.rows(count)) == [(0,)]


@given(conversations)
def test_calls_without_results_are_found(conversation: cw.Conversation) -> None:
    public = [one for one in conversation.messages if one.visibility == "public"]
    waiting = [one.at for one in match_results(public).answers if one.result is None]
    assert [(seq, part) for seq, part, _, _ in unanswered(enumerate(public))] == waiting


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
    for name, reason in (("notes.txt", "is no SQLite file"), ("foreign.db", "no store of ours")):
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


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
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


# --- what one turn costs -------------------------------------------------------------------------


def steps_of_a_turn(store: cw.Store) -> list[tuple[str, int]]:
    """Every statement of one turn, with the steps it took in the database."""
    seen: list[tuple[str, int]] = []

    def note(event: dict[str, Any]) -> None:
        seen.append((event["sql"], event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]))

    with store.engine._writers.borrowed() as connection:  # pyright: ignore
        connection.database.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    store.conversation("long").add(TURN, key=f"turn {store.conversation('long').length()}")
    with store.engine._writers.borrowed() as connection:  # pyright: ignore
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
