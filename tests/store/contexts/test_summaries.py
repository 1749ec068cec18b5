"""Stored summaries: written once, used again, removed with the messages they cover."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

import contextwright as cw
from contextwright.store.care import copying
from contextwright.store.care.doctor import examine
from contextwright.store.store import Store
from contextwright.summaries import Request
from doubles import Writer
from samples.stores.summaries import DIGEST, MODEL, WRITTEN, filled, with_writer
from samples.summaries import said_of_gap, talk


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store(place) as store:
        yield store


def every_row(store: Store) -> list[str]:
    return store.engine.read(
        lambda connection: [body for (body,) in connection.rows("SELECT body FROM summaries")]
    )


# --- told again ------------------------------------------------------------------------------


def test_what_a_writer_wrote_is_told_by_everybody(store: Store, place: str) -> None:
    chat, writer = filled(store), Writer()
    before = chat.context(WRITTEN, model=MODEL)
    assert said_of_gap(before) == ["[12 earlier messages are left out here]"]
    summary = chat.summarise(WRITTEN, model=MODEL, summariser=writer)
    assert summary is not None
    assert (summary.last, summary.count, summary.method) == (12, 12, "small")
    with Store(place) as other:
        for one in (chat, other.conversation("lunch")):
            context = one.context(WRITTEN, model=MODEL)
            assert said_of_gap(context) == [
                "[Summary of messages 1–12, written by small: nobody here said these words]\n"
                "> Up to: > 12 assistant: Then be at the station at 7:20."
            ]
            assert context.decisions.cut == before.decisions.cut == 12
    assert chat.summarise(WRITTEN, model=MODEL, summariser=writer) == summary
    assert len(writer.asked) == 1
    assert [(one.name, one.summary) for one in chat.summaries()] == [("small 100", summary)]


def test_a_summary_of_what_stays_is_not_told(store: Store) -> None:
    chat, writer = filled(store), Writer()
    assert chat.summarise(WRITTEN, model=MODEL, summariser=writer) is not None
    chat.pin(3)
    context = chat.context(WRITTEN, model=MODEL)
    assert said_of_gap(context) == ["[11 earlier messages are left out here]"]
    reason = "the stored summary covers messages that are in the request"
    assert cw.Change("loss.summary", "summary", reason) in context.changes
    assert chat.context(with_writer(writer), model=MODEL).changes == context.changes
    assert len(writer.asked) == 1


def test_it_grows_by_what_came_since(store: Store) -> None:
    chat, writer = filled(store), Writer()
    chat.summarise(WRITTEN, model=MODEL, summariser=writer)
    chat.add(talk(1))
    context = chat.context(WRITTEN, model=MODEL)
    assert len(said_of_gap(context)) == 2  # the old summary, and a note on what it does not tell
    assert context.decisions.summarised == 12
    chat.summarise(WRITTEN, model=MODEL, summariser=writer)
    assert chat.context(WRITTEN, model=MODEL).decisions.summarised == 20
    told = [line for request in writer.asked for line in request.text.splitlines()]
    numbers = [int(line.split()[1]) for line in told if line.startswith("> ") and line[2].isdigit()]
    assert numbers == list(range(1, 21))


def test_undo_restores_what_was_there_before(store: Store) -> None:
    chat, writer = filled(store), Writer()
    payloads = [chat.context(WRITTEN, model=MODEL).payload]
    for _ in range(2):
        chat.summarise(WRITTEN, model=MODEL, summariser=writer)
        payloads.append(chat.context(WRITTEN, model=MODEL).payload)
        chat.add(talk(1))
    length = chat.length() - len(talk(1))
    undone = chat.undo_summary(WRITTEN)
    assert undone is not None
    assert undone.last == 20
    undone = chat.undo_summary(WRITTEN)
    assert undone is not None
    assert undone.last == 12
    assert chat.undo_summary(WRITTEN) is None
    assert chat.context(WRITTEN, model=MODEL, at=17).payload == payloads[0]
    bare = msgspec.structs.replace(WRITTEN, summary=None)
    for at in (17, length):
        context = chat.context(WRITTEN, model=MODEL, at=at)
        assert context.payload == chat.context(bare, model=MODEL, at=at).payload


@pytest.mark.parametrize("is_written", [True, False])
def test_what_is_undone_stays_undone_until_the_cut_moves(store: Store, is_written: bool) -> None:
    chat, writer = filled(store), Writer()
    recipe = with_writer(writer) if is_written else DIGEST
    assert chat.context(recipe, model=MODEL).decisions.summarised == 12
    undone = chat.undo_summary(recipe)
    assert undone is not None
    for again in (chat, chat.fork("other")):
        context = again.context(recipe, model=MODEL)
        assert context.decisions.summarised == 0
        assert cw.Change("loss.summary", "summary", "it was undone") in context.changes
        assert again.summaries() == []
    assert not examine(store.engine).findings
    assert chat.summarise(recipe, model=MODEL) == undone
    assert chat.context(recipe, model=MODEL).decisions.summarised == 12
    chat.undo_summary(recipe)
    chat.add(talk(2))
    assert chat.context(recipe, model=MODEL).decisions.summarised > 12


def test_two_at_once_keep_one(place: str) -> None:
    both = threading.Barrier(2)

    def summariser(request: Request) -> str:
        both.wait(60)
        return f"By {threading.get_ident()}."

    with Store(place) as first, Store(place) as second:
        filled(first)
        found: list[cw.summaries.Summary | None] = []

        def run(store: Store) -> None:
            chat = store.conversation("lunch")
            found.append(chat.summarise(WRITTEN, model=MODEL, summariser=summariser))

        threads = [threading.Thread(target=run, args=(one,)) for one in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 2
        assert found[0] == found[1]
        assert len(every_row(first)) == 1


def test_a_fork_begins_with_its_parents_summaries(store: Store) -> None:
    chat = filled(store)
    chat.summarise(WRITTEN, model=MODEL, summariser=Writer())
    fork = chat.fork("dinner", at=15)
    early = chat.fork("early", at=11)
    assert [one.summary.last for one in fork.summaries()] == [12]
    assert early.summaries() == []
    fork.hide(3)
    assert fork.summaries() == []
    assert len(chat.summaries()) == 1
    store.forget("dinner")
    store.forget("early")
    store.forget("lunch")
    assert every_row(store) == []


def test_copies_have_them_too(store: Store, tmp_path: Path) -> None:
    chat = filled(store)
    chat.summarise(WRITTEN, model=MODEL, summariser=Writer())
    with Store(tmp_path / "copy.db") as target:
        for _ in range(2):
            copying.copy(store.engine, target.engine)
            assert target.conversation("lunch").summaries() == chat.summaries()
        chat.hide(1)
        copying.copy(store.engine, target.engine)
        assert target.conversation("lunch").summaries() == []


# --- what nobody may be told -----------------------------------------------------------------


@pytest.mark.parametrize("method", ["hide", "delete"])
@pytest.mark.parametrize("recipe", [DIGEST, WRITTEN], ids=["digest", "written"])
def test_what_is_hidden_is_told_no_more(store: Store, recipe: cw.Recipe, method: str) -> None:
    chat = store.conversation("lunch")
    chat.add([cw.user("The password is zebra4711."), *talk(2)])
    summariser = None if recipe is DIGEST else lambda request: f"They said: {request.text}"
    chat.summarise(recipe, model=MODEL, summariser=summariser)
    assert "zebra4711" in str(chat.context(recipe, model=MODEL).payload)
    getattr(chat, method)(1)
    assert "zebra4711" not in "".join(every_row(store))
    assert "zebra4711" not in str(chat.context(recipe, model=MODEL).payload)
    chat.summarise(recipe, model=MODEL, summariser=summariser)
    assert "zebra4711" not in "".join(every_row(store))
    chat.show(1)
    chat.summarise(recipe, model=MODEL, summariser=summariser)
    assert "zebra4711" in str(chat.context(recipe, model=MODEL).payload)


def test_what_is_hidden_is_not_said_to_be_told(store: Store) -> None:
    """Also where it lies so far back that no build reads it."""
    chat = store.conversation("lunch")
    chat.add(talk(40))
    chat.hide(3)
    chat.delete(4)
    context = chat.context(DIGEST, model=MODEL)
    assert context.decisions[2].tokens is None
    told, hidden = ("summarised", "covered by the summary"), ("dropped", "hidden from context")
    fates = [(one.action, one.reason) for one in context.decisions]
    assert fates[:5] == [told, told, hidden, hidden, told]
    assert fates.count(told) == context.decisions.summarised
    runs = [(run.start, run.stop, run.action, run.reason) for run in context.decisions.runs]
    assert runs[:2] == [(0, 2, *told), (2, 4, *hidden)]


def test_what_is_hidden_while_it_is_written_is_not_kept(store: Store) -> None:
    chat = store.conversation("lunch")
    chat.add([cw.user("The password is zebra4711."), *talk(2)])

    def summariser(request: Request) -> str:
        chat.hide(1)
        return "The password is zebra4711."

    with pytest.raises(cw.errors.SummaryError, match="messages were hidden while it was made"):
        chat.summarise(WRITTEN, model=MODEL, summariser=summariser)
    assert every_row(store) == []
    context = chat.context(with_writer(summariser), model=MODEL)
    assert "zebra4711" not in str(context.payload)


def until_waiting(session: psycopg.Connection[Any], count: int) -> None:
    """Come back when so many sessions wait for a lock."""
    sql = (
        "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
        "WHERE NOT granted AND datname = current_database()"
    )
    for _ in range(600):
        if session.execute(sql).fetchone() == (count,):
            return
        time.sleep(0.05)
    raise TimeoutError(f"{count} sessions should wait for a lock")


def test_what_is_hidden_while_it_is_stored_is_not_kept(postgres: str) -> None:
    """Both wait for the conversation, whoever stores first: what is stored then is removed."""
    with (
        Store(postgres) as first,
        Store(postgres) as second,
        psycopg.connect(postgres) as blocker,
        psycopg.connect(postgres, autocommit=True) as watch,
    ):
        chat = filled(first)
        chat.pin(3)
        chat.unpin(3)

        def summariser(request: Request) -> str:
            if "> 3 " not in request.text:  # asked again, because it was hidden
                return "They spoke."
            blocker.execute("SELECT last FROM contextwright.heads FOR UPDATE")
            return "The password is zebra4711."

        def write() -> None:
            second.conversation("lunch").summarise(WRITTEN, model=MODEL, summariser=summariser)

        threads = [threading.Thread(target=one) for one in (write, lambda: chat.hide(3))]
        for waiting, thread in enumerate(threads, 1):
            thread.start()
            until_waiting(watch, waiting)
        blocker.commit()
        for thread in threads:
            thread.join()
        assert "zebra4711" not in "".join(every_row(first))
