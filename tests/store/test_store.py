"""What a store promises, on SQLite and on Postgres alike."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.store.rows.validation import replace_invalid
from samples.stores.turns import TURN
from strategies.messages import messages


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
        (stored_at,) = {stored.stored_at for stored in chat.read(2)}
        assert datetime.fromisoformat(stored_at or "") <= datetime.now(UTC)
        assert list(chat.read(2, 4)) == [
            cw.StoredMessage(2, "k", TURN[0], stored_at=stored_at),
            cw.StoredMessage(3, "k", TURN[1], stored_at=stored_at),
        ]
        assert chat.tail(2) == [
            cw.StoredMessage(4, "k", TURN[2], stored_at=stored_at),
            cw.StoredMessage(5, "k", TURN[3], stored_at=stored_at),
        ]
        assert chat.add(cw.user("More")) == [6]


def test_a_key_stores_once(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        assert chat.add(TURN, key="k") == chat.add(TURN, key="k") == [1, 2, 3, 4]
        assert store.conversation("dinner").add(TURN, key="k") == [1, 2, 3, 4]
        with pytest.raises(cw.errors.Conflict, match="the key 'k' was used for another turn"):
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
        assert list(store.list()) == []
        with pytest.raises(cw.UsageError, match=r"one list \(add\(\[first, second\]\)\)"):
            chat.add(cw.user("a"), cw.user("b"))  # pyright: ignore[reportArgumentType]
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
            with pytest.raises(cw.errors.Conflict, match="conversation 'child' already exists"):
                parent.fork("child", at=at)
        with pytest.raises(cw.errors.Conflict, match="conversation 'dinner' already exists"):
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
        tables = ("conversations", "heads", "turns", "messages", "marks", "open_calls", "answers")
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
                chat.update(**fields)  # pyright: ignore[reportArgumentType]
        with pytest.raises(cw.UsageError):
            chat.update(settings={"a": float("nan")})


def test_lists_are_read_in_pages(place: str) -> None:
    with cw.Store(place) as store:
        store.add_all([cw.Turn(f"c{number}", [cw.user("x")]) for number in range(205)])
        assert [one.id for one in store.list()] == [f"c{number}" for number in range(205)]


def test_a_new_conversation_is_empty(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("nobody")
        assert (chat.length(), chat.tail(3), list(chat.read())) == (0, [], [])
        assert (chat.search("tea"), chat.episodes(), chat.summaries()) == ([], [], [])
        assert chat.recall("tea").text == ""
        recipe = cw.Recipe(system=["Be brief."], summary=cw.SummaryPolicy())
        for _ in range(2):
            context = chat.context(recipe, model="gpt-4o")
            assert context.payload["messages"][0]["content"] == "Be brief."
            assert not context.decisions
        assert list(store.list()) == []
        with pytest.raises(cw.errors.NotFound, match="there is no conversation 'nobody'"):
            chat.details()
        with pytest.raises(cw.errors.NotFound):
            chat.context(recipe, model="gpt-4o", at=1)
        chat.add(cw.user("tea"))
        after = chat.context(recipe, model="gpt-4o").payload
        assert after["messages"][-1]["content"] == "tea"
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
        with pytest.raises(cw.errors.NotFound, match="removed while it was read"):
            list(reading)


def test_tenants_do_not_see_each_other(place: str) -> None:
    with cw.Store(place, tenant="a") as a, cw.Store(place, tenant="b") as b:
        a.conversation("lunch").add(TURN, key="k")
        assert list(b.list()) == []
        assert b.conversation("lunch").length() == 0
        assert list(b.conversation("lunch").read()) == []
        for call in (
            b.conversation("lunch").details,
            lambda: b.conversation("lunch").hide(1),
            lambda: b.conversation("lunch").fork("mine"),
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
        clean, changes = replace_invalid([cw.user("fine"), message])
        assert [change.code for change in changes] == ["repair.text"]
        assert store.conversation("lunch").add(clean) == [1, 2]
        assert store.conversation("lunch").tail(1)[0].message == clean[1]


def test_mending_joins_halves_and_leaves_the_rest() -> None:
    halves = cw.user("\ud83d\ude00 \x00 \\u0000 \ud83d")
    (clean,), changes = replace_invalid([halves])
    assert clean.text == "😀 \ufffd \\u0000 \ufffd"
    assert [str(change) for change in changes] == [
        "repair.text messages[0].parts[0].text: characters that cannot be stored became U+FFFD"
    ]
    assert replace_invalid(TURN) == (TURN, [])


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
        cw.user("x", meta={1: 2}),  # pyright: ignore[reportArgumentType]
        cw.user(cw.Opaque("f", {"a": b"bytes"})),
    ],
)
def test_what_could_not_be_read_again_is_refused(tmp_path: Path, message: Any) -> None:
    with cw.Store(tmp_path / "store.db") as store, pytest.raises(cw.UsageError, match="messages"):
        store.conversation("lunch").add([message])


@given(said=st.lists(messages, min_size=1, max_size=3))
def test_every_message_comes_back_as_it_was(shared_file: str, said: list[cw.Message]) -> None:
    clean, _ = replace_invalid(said)
    with cw.Store(shared_file, sync="fast") as store:
        chat = store.conversation("all")
        numbers = chat.add(clean)
        assert [one.message for one in chat.read(numbers[0], hidden=True)] == clean


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


@pytest.mark.parametrize("pinned", range(3))
def test_a_message_is_pinned_wherever_it_is_in_a_turn(place: str, pinned: int) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("a")
        chat.add([cw.user(f"Note {number}", pinned=number == pinned) for number in range(3)])
        chat.add([cw.user("So much more to say about nothing") for _ in range(600)])
    with cw.Store(place) as store:
        context = store.conversation("a").context(cw.Recipe(budget=200), model="gpt-4o")
        kept = [number for number in range(3) if f"Note {number}" in str(context.payload)]
        assert kept == [pinned]
