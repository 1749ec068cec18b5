"""Copies of a store that agree with it, go on where they stopped, and overwrite nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.store.care import copying
from contextwright.store.care.doctor import examine
from contextwright.store.recording import BegunRequest, RequestLog
from samples.stores.care import RECIPE, TURN, filled
from samples.stores.records import PASSED
from store.test_recording import record


def everything(store: cw.Store) -> list[object]:
    """All that anyone can read of a store."""
    seen: list[object] = []
    for tenant in ("", "other"):
        for details in store.for_tenant(tenant).list():
            chat = store.for_tenant(tenant).conversation(details.id)
            seen.append((tenant, details, list(chat.read())))
    return seen


def rows(store: cw.Store, sql: str) -> list[object]:
    return list(store.engine.read(lambda connection: connection.rows(sql)))


ROWS = (
    "SELECT seq, joins, kind, body, length FROM messages ORDER BY conversation, seq",
    "SELECT first, count, key FROM turns ORDER BY conversation, first",
    "SELECT seq, part, id, name FROM open_calls ORDER BY conversation, seq, part",
    "SELECT seq, joins FROM answers ORDER BY conversation, seq, joins",
    "SELECT last, length FROM heads ORDER BY conversation",
)


def test_there_and_back(tmp_path: Path, postgres: str) -> None:
    back = str(tmp_path / "back.db")
    with filled(str(tmp_path / "store.db")) as store, cw.Store(postgres) as server:
        told: list[tuple[int, int]] = []
        done = copying.copy(
            store.engine, server.engine, lambda done, total: told.append((done, total))
        )
        assert (done.conversations, done.messages, done.known) == (3, 10, 0)
        assert told[-1] == (20, 20)
        expected = [rows(store, sql) for sql in ROWS]
        with cw.Store(back) as other:
            assert copying.copy(server.engine, other.engine).digest == done.digest
            for one in (server, other):
                assert everything(one) == everything(store)
                assert [rows(one, sql) for sql in ROWS] == expected
                assert examine(one.engine).findings == []
                contexts = [
                    each.conversation("b").context(RECIPE, model="gpt-4o") for each in (one, store)
                ]
                assert contexts[0].payload == contexts[1].payload
            assert other.conversation("a").add(TURN, key="k") == [1, 2, 3, 4]


def test_a_later_copy_brings_what_is_new(place: str, tmp_path: Path) -> None:
    with filled(str(tmp_path / "source.db")) as store, cw.Store(place) as target:
        told: list[tuple[int, int]] = []
        copying.copy(store.engine, target.engine, lambda *moved: told.append(moved))
        assert told[-1] == (20, 20), "10 messages, each written and compared"
        assert told == sorted(told)
        target.conversation("mine").add(cw.user("stays"))
        store.conversation("a").add(cw.tool_result("c2", "56"), key="late")
        store.conversation("a").pin(1)
        store.conversation("b").update(title="new")
        store.conversation("c").add(TURN)
        done = copying.copy(store.engine, target.engine)
        assert (done.conversations, done.messages, done.known) == (4, 5, 10)
        assert [one for one in everything(target) if "mine" not in str(one)] == everything(store)
        assert rows(target, ROWS[2]) == rows(store, ROWS[2])
        again = copying.copy(store.engine, target.engine)
        assert (again.messages, again.known, again.digest) == (0, 15, done.digest)
        assert examine(target.engine).findings == []


def in_other_words(store: cw.Store) -> None:
    store.conversation("a").add(cw.user("something else"))


def longer(store: cw.Store) -> None:
    store.conversation("a").add(TURN, key="k")
    for number in range(30):
        store.conversation("a").add(cw.user(str(number)))


def no_fork(store: cw.Store) -> None:
    store.conversation("b").add(TURN[:3])


@pytest.mark.parametrize(
    ("fill", "reason"),
    [
        (in_other_words, "conversation 'a' of the target holds another message 1"),
        (longer, "conversation 'a' of the target has 34 messages, the source 8"),
        (no_fork, "conversation 'b' of the target was forked at another place, or not forked"),
    ],
)
def test_a_target_with_other_content_is_refused(
    tmp_path: Path, fill: Callable[[cw.Store], None], reason: str
) -> None:
    with filled(str(tmp_path / "a.db")) as store, cw.Store(tmp_path / "b.db") as target:
        fill(target)
        before = everything(target)
        with pytest.raises(cw.errors.Conflict, match=reason):
            copying.copy(store.engine, target.engine)
        assert everything(target) == before


@pytest.mark.parametrize("change", ["edit", "erase"])
def test_a_copy_from_before_a_change_names_it_and_can_be_made_again(
    tmp_path: Path, change: str
) -> None:
    with cw.Store(tmp_path / "a.db") as store, cw.Store(tmp_path / "b.db") as target:
        chat = store.conversation("lunch")
        chat.add([cw.user("one"), cw.user("two"), cw.user("three")])
        copying.copy(store.engine, target.engine)
        chat.edit(2, "TWO") if change == "edit" else chat.erase(2)
        with pytest.raises(cw.errors.Conflict) as caught:
            copying.copy(store.engine, target.engine)
        assert str(caught.value) == (
            "conversation 'lunch' of the target has message 2 as it was before it was edited or "
            "erased (copy into another store, or remove it there (cw rm 'lunch') and copy again)"
        )
        target.forget("lunch")
        copying.copy(store.engine, target.engine)
        assert everything(target) == everything(store)


def test_an_interrupted_copy_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "GROUP", 1)
    with filled(str(tmp_path / "a.db")) as store, cw.Store(tmp_path / "b.db") as target:

        def stop(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            copying.copy(store.engine, target.engine, stop)
        assert [one.id for one in target.list()] == ["a"]
        assert copying.copy(store.engine, target.engine).known == 8
        assert everything(target) == everything(store)


@pytest.mark.parametrize(("tenant", "named"), [("", "'a'"), ("us", "'a' of 'us'")])
def test_a_copy_that_differs_says_so(tmp_path: Path, tenant: str, named: str) -> None:
    with filled(str(tmp_path / "a.db")) as store, cw.Store(tmp_path / "b.db") as target:
        chat = store.for_tenant(tenant).conversation("a")
        chat.add([cw.user("one"), cw.user("two")])

        def meddle(done: int, total: int) -> None:
            chat.pin(2)

        with pytest.raises(cw.errors.StoreError) as caught:
            copying.copy(store.engine, target.engine, meddle)
        assert f"conversation {named} differs between the two stores" in str(caught.value)


def bodies(store: cw.Store) -> list[object]:
    return [store.request_bodies(one.number) for one in store.requests()]


def test_recorded_requests_come_along(tmp_path: Path, place: str) -> None:
    """Once, under new numbers; the client's next request goes on where it was."""
    said = [cw.user("word " * 200)]
    with cw.Store(tmp_path / "source.db", sync="fast") as store, cw.Store(place) as other:
        foreign, log = RequestLog(other.state, "there/1"), RequestLog(store.state, "here/1")
        record(foreign, "another", said, cw.assistant("No."))
        for number in range(3):
            record(log, "one", said, cw.assistant(f"{number}"))
            said += [cw.assistant(f"{number}"), cw.user(f"Next {number}")]
        record(log, "one", said, None)
        log.begin([BegunRequest(PASSED, b"{}")])
        assert copying.copy(store.engine, other.engine).requests == 4
        assert copying.copy(store.engine, other.engine).requests == 0
        assert bodies(other)[:4] == bodies(store)[1:]
        copied = [
            replace(one, number=one.number - 1, previous=one.previous and one.previous - 1)
            for one in other.requests()[:4]
        ]
        assert copied == store.requests()[1:]
        again = record(RequestLog(other.state, "there/1"), "one", said, cw.assistant("3"))
        assert (again.fork, again.previous) == (None, 4)
        assert other.request(again.number).conversation == store.requests()[1].conversation
