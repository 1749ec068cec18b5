"""Summaries are written during a request or in the background, once for each cut."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.store.store import Store
from contextwright.summaries import Request
from doubles import Watch, Writer
from profiles import STORE, examples
from samples.stores.summaries import DIGEST, MODEL, WRITTEN, filled, with_writer
from samples.summaries import SECTIONS, said_of_gap, talk


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store(place) as store:
        yield store


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "chat.db") as store:
        yield store


# --- in a request, and in the background -----------------------------------------------------


def test_a_request_asks_once_for_each_cut(store: Store) -> None:
    chat, writer = store.conversation("lunch"), Writer()
    recipe = with_writer(writer)
    cuts: set[int] = set()
    for message in talk(3):
        chat.add(message)
        context = chat.context(recipe, model=MODEL)
        cuts.add(context.decisions.cut)
        assert context.decisions.summarised == context.decisions.omitted
    assert len(writer.asked) == len(cuts - {0}) == len(chat.summaries())


@examples(STORE)
@given(
    st.integers(1, 6),
    st.sampled_from((300, 600, 1_000, 2_000)),
    st.sampled_from((60, 400)),
    st.lists(st.sampled_from(("zebra", "hazelnuts", "Lviv")), max_size=4),
    st.sampled_from(SECTIONS),
)
def test_a_second_request_is_the_first_and_asks_nobody(
    turns: int, budget: int, tokens: int, said: list[str], system: tuple[cw.Section | str, ...]
) -> None:
    """Past words that give way, sections that do: a summary ends where the window begins."""
    writer = Writer()
    summary = cw.SummaryPolicy(tokens, model="small", summariser=writer)
    recalled = cw.sections.PastMessages(tokens=200, least=0)
    recipe = cw.Recipe(system=(*system, recalled), summary=summary, budget=budget)
    with TemporaryDirectory() as folder, Store(Path(folder) / "chat.db", sync="fast") as store:
        chat = store.conversation("lunch")
        for word in ("nuts", *said):
            chat.add([*talk(turns), cw.user(f"What of {word}, the train and the ticket?")])
            writer.asked.clear()
            context = chat.context(recipe, model=MODEL)
            assert len(writer.asked) <= 1
            for told in context.conversation.messages:
                if told.kind == "summary":
                    assert told.meta["summary"]["last"] <= min(context.decisions.kept())
            stored = chat.summaries()
            assert chat.context(recipe, model=MODEL).payload == context.payload
            assert len(writer.asked) <= 1
            assert chat.summaries() == stored


def test_a_request_that_is_refused_asks_nobody(store: Store) -> None:
    chat, writer = filled(store), Writer()
    recipe = msgspec.structs.replace(with_writer(writer), system=("Be brief. " * 200,))
    with pytest.raises(cw.BudgetError):
        chat.context(recipe, model=MODEL, budget=300)
    assert writer.asked == []


def test_in_the_background_no_request_waits(store: Store) -> None:
    chat, go = filled(store), threading.Event()

    def summariser(request: Request) -> str:
        assert go.wait(60)
        return "They spoke."

    recipe = with_writer(summariser, background=True)
    for _ in range(2):
        context = chat.context(recipe, model=MODEL)
        assert said_of_gap(context) == ["[12 earlier messages are left out here]"]
        assert cw.Change("loss.summary", "summary", "it is being written") in context.changes
    go.set()
    store.state.background.wait()
    assert said_of_gap(chat.context(recipe, model=MODEL)) == [
        "[Summary of messages 1–12, written by small: nobody here said these words]\n> They spoke."
    ]
    assert len(chat.summaries()) == 1


def test_what_fails_in_the_background_is_said_by_the_next(store: Store) -> None:
    chat = filled(store)

    def summariser(request: Request) -> str:
        raise TimeoutError("too slow")

    recipe = with_writer(summariser, background=True)
    chat.context(recipe, model=MODEL)
    store.state.background.wait()
    context = chat.context(recipe, model=MODEL)
    assert said_of_gap(context) == ["[12 earlier messages are left out here]"]
    reason = "it failed: TimeoutError: 'too slow'"
    assert cw.Change("loss.summary", "summary", reason) in context.changes


@pytest.mark.parametrize("background", [False, True])
def test_a_summariser_that_fails_is_asked_again_when_the_cut_moves(
    store: Store, background: bool
) -> None:
    chat, asked = filled(store), list[Request]()

    def summariser(request: Request) -> str:
        asked.append(request)
        if len(asked) == 1:
            raise TimeoutError("too slow")
        return "They spoke."

    recipe = with_writer(summariser, background=background)
    reason = "it failed: TimeoutError: 'too slow'"
    for place in range(3):
        context = chat.context(recipe, model=MODEL)
        store.state.background.wait()
        if place or not background:
            assert cw.Change("loss.summary", "summary", reason) in context.changes
    assert len(asked) == 1
    chat.add(talk(2))
    chat.context(recipe, model=MODEL)
    store.state.background.wait()
    assert len(asked) == 2
    assert chat.context(recipe, model=MODEL).decisions.summarised > 0


def test_a_failed_summary_is_written_when_it_is_asked_for(store: Store) -> None:
    chat, asked = filled(store), list[Request]()

    def summariser(request: Request) -> str:
        asked.append(request)
        return "" if len(asked) == 1 else "They spoke."

    recipe = with_writer(summariser)
    chat.context(recipe, model=MODEL)
    assert chat.summarise(recipe, model=MODEL) is not None
    assert chat.context(recipe, model=MODEL).decisions.summarised == 12
    assert len(asked) == 2


def test_what_is_broken_off_in_the_background_is_tried_again(store: Store) -> None:
    chat, asked = filled(store), list[Request]()

    def summariser(request: Request) -> str:
        asked.append(request)
        if len(asked) == 1:
            raise SystemExit
        return "They spoke."

    recipe = with_writer(summariser, background=True)
    for reason in ("it is being written", "it was interrupted"):
        context = chat.context(recipe, model=MODEL)
        assert cw.Change("loss.summary", "summary", reason) in context.changes
        store.state.background.wait()
    assert chat.context(recipe, model=MODEL).decisions.summarised == 12


def test_a_store_closes_when_what_is_written_is_there(tmp_path: Path) -> None:
    def summariser(request: Request) -> str:
        time.sleep(0.1)
        return "They spoke."

    chats = ("breakfast", "lunch", "dinner")
    recipe = with_writer(summariser, background=True)
    with Store(tmp_path / "chat.db") as store:
        for id in chats:
            chat = store.conversation(id)
            chat.add(talk(2))
            chat.context(recipe, model=MODEL)
    with Store(tmp_path / "chat.db") as store:
        assert [len(store.conversation(id).summaries()) for id in chats] == [1, 1, 1]


def test_the_same_words_for_an_event_loop(tmp_path: Path) -> None:
    async def play() -> None:
        async with cw.AsyncStore(tmp_path / "chat.db") as store:
            chat = store.conversation("lunch")
            await chat.add(talk(2))
            summary = await chat.summarise(WRITTEN, model=MODEL, summariser=Writer())
            assert [one.summary for one in await chat.summaries()] == [summary]
            assert await chat.undo_summary(WRITTEN) == summary

    asyncio.run(play())


def test_wrong_calls(file: Store) -> None:
    chat = filled(file)
    with pytest.raises(cw.UsageError, match="the recipe has no summary policy"):
        chat.summarise(cw.Recipe(), model=MODEL)
    with pytest.raises(cw.UsageError, match="names no model for its summaries"):
        chat.summarise(DIGEST, model=MODEL, summariser=Writer())
    with pytest.raises(cw.errors.SummaryError, match="no summariser is set"):
        chat.summarise(WRITTEN, model=MODEL)
    assert chat.summarise(DIGEST, model=MODEL, budget=100_000) is not None
    assert chat.summarise(cw.Recipe(summary=cw.SummaryPolicy()), model=MODEL) is None


# --- what it costs ---------------------------------------------------------------------------


def test_a_turn_reads_no_more_however_long_the_conversation_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A digest goes on from where it was: at most a block and a step of messages are read."""
    watch = Watch(monkeypatch)
    most: list[int] = []
    for length in (50, 500):
        with Store(tmp_path / f"{length}.db", sync="fast") as store:
            chat = store.conversation("lunch")
            for turn in (talk(1) for _ in range(length)):
                chat.add(turn)
            chat.context(DIGEST, model=MODEL)
            watch.taken()
            rows: list[int] = []
            for _ in range(20):
                chat.add(talk(1))
                chat.context(DIGEST, model=MODEL)
                rows.append(watch.taken()["rows read"])
            most.append(max(rows))
    assert most[1] <= most[0] + 10, most


def test_without_a_summary_in_the_recipe_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    with Store(tmp_path / "chat.db") as store:
        chat = filled(store)
        from contextwright.store.engines.sqlite_connection import SqliteConnection

        rows = SqliteConnection.rows

        def watched(connection: SqliteConnection, sql: str, *values: Any) -> Any:
            asked.append(sql)
            return rows(connection, sql, *values)

        monkeypatch.setattr(SqliteConnection, "rows", watched)
        chat.context(msgspec.structs.replace(DIGEST, summary=None), model=MODEL)
    assert asked
    assert not any("summaries" in sql for sql in asked)
