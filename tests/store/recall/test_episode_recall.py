"""Stored episodes are recalled, counted, copied and listed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import contextwright as cw
from commands import Run
from contextwright.sections.queries import RECENT
from contextwright.store.care.copying import copy
from contextwright.store.care.doctor import examine
from samples.hostile import OWN
from samples.stores.episodes import (
    ALICE,
    CARL,
    LATER,
    RECIPE,
    START,
    asked,
    recalled,
    said,
    told,
    two_talks,
)
from samples.talks import GARDEN


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place) as store:
        yield store


# --- recalling -----------------------------------------------------------------------------------


def test_gry_49_told_to_who_was_there(store: cw.Store) -> None:
    chat = two_talks(store)
    chat.make_episodes(now=LATER)
    both = "the tomatoes and the train"
    assert [len(recalled(chat, both, asker)) for asker in ("1", "2", "3", "9", None)] == [
        1, 2, 1, 0, 0,
    ]  # fmt: skip
    assert recalled(chat, both, "2", min_weight=0.6) == []
    assert len(recalled(chat, both, "2", limit=1)) == 1
    assert recalled(store.conversation("dinner"), both, "2") == []


def test_gry_49_how_an_event_is_scored() -> None:
    """0.6 for words, 0.3 for tags, 0.1 for weight; of the words that were asked."""
    events = [
        cw.Memory("episode", "Tomatoes grew.", weight=0.5, meta={"tags": ["garden", "tomatoes"]}),
        cw.Memory("episode", "They select from where.", weight=1.0),
        cw.Memory("episode", "A train left.", weight=0.9, meta={"tags": "garden"}),
    ]
    found = cw.recall.MemoryList(events).recall(
        cw.recall.MemoryQuery(kind="episode", query="garden tomatoes", limit=9)
    )
    assert [(one.text, one.score) for one in found] == [
        ("Tomatoes grew.", pytest.approx(0.6 * 0.5 + 0.3 * 1 + 0.1 * 0.5))
    ]


def test_gry_49_the_whole_past_is_searched(store: cw.Store) -> None:
    chat = two_talks(store)
    for hour in range(4, 84, 2):
        chat.add(said(GARDEN, hour))
    chat.make_episodes(now=LATER)
    assert len(chat.episodes()) == 42
    (found,) = recalled(chat, "night train", "3")
    assert "platform two" in found


def test_gry_48_accesses_are_counted_when_a_turn_follows(store: cw.Store) -> None:
    chat = two_talks(store)
    chat.make_episodes(now=LATER)

    def counts() -> list[int]:
        return [one.accesses for one in chat.episodes()]

    chat.add(cw.user("What about the tomatoes?", author=ALICE, sent_at=LATER))
    for _ in range(3):
        assert "Sunday, good" in asked(chat)
    assert counts() == [0, 0], "so far it was only looked at"
    chat.add(cw.assistant("They are ripe."), key="k")
    chat.add(cw.assistant("They are ripe."), key="k")
    chat.add(cw.user("Thanks", author=ALICE))
    assert counts() == [1, 0]
    (first, _) = chat.episodes()
    assert datetime.fromisoformat(first.accessed or "") <= datetime.now(UTC)
    asked(chat, at=13)
    asked(chat, memories=cw.recall.MemoryList())
    chat.add(cw.assistant("Bye"))
    assert counts() == [1, 0]


def test_accesses_are_counted_beside_past_words(store: cw.Store) -> None:
    chat = two_talks(store)
    chat.make_episodes(now=LATER)
    chat.add([cw.assistant("Well.")] * RECENT)
    chat.add(cw.user("What about the tomatoes?", author=ALICE, sent_at=LATER))
    recipe = msgspec.structs.replace(
        RECIPE, system=(*RECIPE.system, cw.sections.PastMessages(least=0))
    )
    context = chat.context(recipe, model="gpt-4o")
    assert len(context.sections) == 2
    chat.add(cw.assistant("They are ripe."))
    assert [one.accesses for one in chat.episodes()] == [1, 0]


def test_a_removed_event_does_not_stop_a_turn(store: cw.Store) -> None:
    chat = two_talks(store)
    first, _ = chat.make_episodes(now=LATER).episodes
    chat.add(cw.user("What about the tomatoes?", author=ALICE))
    asked(chat)
    store.forget_memory(first.id)
    assert chat.add(cw.assistant("They are ripe.")) == [14]


def test_a_copy_brings_episodes_and_how_far_they_go(
    place: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("source")
    with cw.Store(folder / "chat.db") as source, cw.Store(place) as target:
        chat = two_talks(source)
        first, _ = chat.make_episodes(now=LATER).episodes
        source.forget_memory(first.id)
        chat.add(cw.user("The train?", author=CARL))
        asked(chat)
        chat.add(cw.assistant("At ten."))
        for _ in range(2):
            copy(source.engine, target.engine)
        there = target.conversation("lunch")
        assert [one.accesses for one in there.episodes()] == [1]
        assert there.episodes() == chat.episodes()
        assert there.make_episodes(now=LATER).episodes == ()
        assert examine(target.engine).findings == []


def test_a_later_copy_brings_episodes_that_were_made_anew(
    place: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("source")
    with cw.Store(folder / "chat.db") as source, cw.Store(place) as target:
        chat, there = two_talks(source), target.conversation("lunch")
        chat.make_episodes(now=LATER)
        copy(source.engine, target.engine)
        chat.hide(2)
        chat.make_episodes(now=LATER)
        for _ in range(2):
            copy(source.engine, target.engine)
            assert there.episodes() == chat.episodes()
            assert len(told(there)) == 2
        assert there.make_episodes(now=LATER).episodes == ()
        for seq in (8, 9):
            chat.hide(seq)
        assert chat.make_episodes(now=LATER).removed == 1
        copy(source.engine, target.engine)
        assert there.episodes() == chat.episodes(), "what only the target has is not told"
        assert there.make_episodes(now=LATER).removed == 1
        assert list(target.memories()) == list(source.memories())


def test_a_copy_into_a_store_that_made_its_own_episodes(
    place: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Without times an episode tells when it was made."""
    folder = tmp_path_factory.mktemp("source")
    with cw.Store(folder / "chat.db") as source, cw.Store(place) as target:
        chat, there = source.conversation("lunch"), target.conversation("lunch")
        chat.add([cw.user(text) for text in GARDEN])
        copy(source.engine, target.engine)
        for one, writer in ((chat, None), (there, lambda *_: {"topic": "other words"})):
            one.make_episodes(writer, boundaries=cw.recall.EpisodeRules(max_messages=5))
        assert there.episodes() != chat.episodes()
        copy(source.engine, target.engine)
        assert there.episodes() == chat.episodes()


def test_an_event_by_hand_of_another_store_is_no_episode(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "a.db") as source, cw.Store(tmp_path / "b.db") as target:
        id = source.remember("They met", kind="episode", scope="lunch")
        copy(source.engine, target.engine)
        change = "UPDATE memories SET body = replace(body, 'met', 'parted') WHERE id = ?"
        target.engine.write(lambda connection: connection.run(change, id))
        with pytest.raises(cw.errors.Conflict, match="is different"):
            copy(source.engine, target.engine)


def test_an_event_loop_has_the_same(tmp_path: Path) -> None:
    async def run() -> None:
        async with cw.AsyncStore(tmp_path / "store.db") as store:
            chat = store.conversation("lunch")
            await chat.add(said(GARDEN, 0))
            made = await chat.make_episodes(now=LATER)
            assert await chat.episodes(participant="1") == list(made.episodes)

    asyncio.run(run())


# --- the command line ----------------------------------------------------------------------------


@pytest.fixture(name="cw_run")
def command(cw: Run) -> Run:
    return cw


def test_the_command_line_lists_and_makes(place: str, cw_run: Run) -> None:
    with cw.Store(place) as store:
        two_talks(store)
    nothing = cw_run("episodes", "lunch", "--store", place)
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err == "cw: no episodes yet (--make creates them)\n"
    made = cw_run("episodes", "lunch", "--make", "--store", place)
    assert made.err == "cw: 2 episodes created\n"
    with cw.Store(place) as store:
        store.remember("They met\n# x", kind="episode", scope="lunch", at=START)
    shown = cw_run("episodes", "lunch", "--store", place)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == (
        "time              messages  people      weight  topic\n"
        "2026-11-15 09:00  1-6       Alice, Bob  0.50    garden, tomatoes, Sunday\n"
        "2026-11-15 11:00  7-12      Bob, Carl   0.50    ticket, train, night\n"
        "2026-11-15 09:00  -         -           1.00    They met # x\n"
    )
    entries = json.loads(cw_run("episodes", "lunch", "--json", "--store", place).out)
    assert [entry["memory"]["meta"].get("first") for entry in entries[:2]] == [1, 7]
    missing = cw_run("episodes", "dinner", "--store", place)
    assert (missing.code, missing.out) == (1, "")
    assert "there is no conversation 'dinner'" in missing.err


def test_hostile_names_stay_in_their_cell(tmp_path: Path, cw_run: Run) -> None:
    place = str(tmp_path / "store.db")
    words = [word for word in OWN if "\x00" not in word and word.isprintable()]
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        for hour, word in enumerate(words):
            chat.add(said([f"{word} {word}x"] * 5, 2 * hour, (cw.Author(name=word + "\n| x |"),)))
        chat.make_episodes(now=LATER)
        made = len(chat.episodes())
    lines = cw_run("episodes", "lunch", "--store", place).out.splitlines()
    assert len(lines) == made + 1 == len(words) + 1
    assert all(line[:4] in ("time", "2026") for line in lines)
