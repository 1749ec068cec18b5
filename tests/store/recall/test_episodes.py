"""Episodes of a store: made once, of what may be seen, and told to those who were there."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from commands import Run
from contextwright.sections.memory import RECENT
from contextwright.store.care.copying import copy
from contextwright.store.care.doctor import examine
from contextwright.store.recall.episodes import Maker
from contextwright.store.recall.source import StoreMemorySource
from samples.hostile import OWN
from samples.talks import GARDEN, TRAIN

START = datetime(2026, 11, 15, 9, tzinfo=UTC)
LATER = START + timedelta(days=99)
ALICE, BOB = cw.Author(id="1", name="Alice"), cw.Author(id="2", name="Bob")
CARL = cw.Author(id="3", name="Carl")


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place) as store:
        yield store


def said(
    texts: Sequence[str], hours: float, people: Sequence[cw.Author] = (ALICE, BOB)
) -> list[cw.Message]:
    """People in turns, a message a minute, so many hours after the start."""
    return [
        cw.user(
            text,
            author=people[place % len(people)],
            sent_at=START + timedelta(hours=hours, minutes=place),
        )
        for place, text in enumerate(texts)
    ]


def two_talks(store: cw.Store) -> cw.Chat:
    """On a garden by Alice and Bob (1 to 6), on a train by Bob and Carl (7 to 12)."""
    chat = store.conversation("lunch")
    chat.add(said(GARDEN, 0))
    chat.add(said(TRAIN, 2, (BOB, CARL)))
    return chat


def told(chat: cw.Chat) -> list[tuple[int, int, str]]:
    found = [stored.memory for stored in chat.episodes()]
    return [(memory.meta["first"], memory.meta["last"], memory.key) for memory in found]


BOTH = [(1, 6, "garden, tomatoes, Sunday"), (7, 12, "ticket, train, night")]


# --- making --------------------------------------------------------------------------------------


def test_gry_48_and_50_a_talk_becomes_records(store: cw.Store) -> None:
    chat = two_talks(store)
    assert told(chat) == []
    made = chat.make_episodes(now=START + timedelta(hours=2, minutes=10))
    assert told(chat) == BOTH[:1], "the second may still go on"
    assert (len(made.episodes), made.removed, made.changes) == (1, 0, ())
    made = chat.make_episodes(now=LATER)
    assert told(chat) == BOTH
    assert chat.make_episodes(now=LATER).episodes == ()
    records = list(store.memories(kind="episode", scope="lunch"))
    assert records == chat.episodes()
    assert records[1:] == list(made.episodes)
    messages = [(one.seq, one.message) for one in chat.read()]
    pure = cw.recall.find_episodes(messages, now=LATER)
    assert [cw.recall.Episode.of(record.memory) for record in records] == list(pure)
    assert [record.memory for record in records] == [one.memory("lunch") for one in pure]


def test_who_is_asked_for(store: cw.Store) -> None:
    chat = two_talks(store)
    chat.make_episodes(now=LATER)
    store.remember("They met", kind="episode", key="by hand", scope="lunch")
    keys = {
        name: [one.memory.key for one in chat.episodes(**asked)]
        for name, asked in {
            "alice": {"participant": "1"},
            "stranger": {"participant": "9"},
            "weighty": {"min_weight": 0.6},
        }.items()
    }
    assert keys == {
        "alice": [BOTH[0][2], "by hand"],
        "stranger": ["by hand"],
        "weighty": ["by hand"],
    }
    with pytest.raises(cw.errors.NotFound, match="no conversation 'dinner'"):
        store.conversation("dinner").episodes()
    with pytest.raises(cw.errors.NotFound, match="no conversation 'dinner'"):
        store.conversation("dinner").make_episodes()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cw.Store]:
    with cw.Store(tmp_path_factory.mktemp("store") / "store.db", sync="fast") as store:
        yield store


TALKS = st.lists(
    st.tuples(st.sampled_from(GARDEN + TRAIN + ("By the way, tickets",)), st.integers(0, 2_400)),
    max_size=40,
)


@given(TALKS, st.sets(st.integers(0, 40), max_size=4))
def test_made_bit_by_bit_or_at_once_is_the_same(
    file: cw.Store, talk: list[tuple[str, int]], stops: set[int]
) -> None:
    at, messages = START, list[cw.Message]()
    for place, (text, seconds) in enumerate(talk):
        at += timedelta(seconds=seconds)
        messages.append(cw.user(text, author=(ALICE, BOB)[place % 2], sent_at=at))
    chat = file.conversation("talk")
    file.forget("talk")
    chat.update(title="a talk")
    for place, message in enumerate(messages):
        chat.add(message)
        if place in stops:
            chat.make_episodes(now=START)
    chat.make_episodes(now=LATER)
    pure = cw.recall.find_episodes(enumerate(messages, 1), now=LATER)
    assert [cw.recall.Episode.of(one.memory) for one in chat.episodes()] == list(pure)


def test_a_wrong_clock_ends_no_talk_that_goes_on(store: cw.Store) -> None:
    chat = store.conversation("lunch")
    chat.add(said(GARDEN[:5], 0))
    chat.add(said(["A clock gone wrong"], -9_000))
    assert chat.make_episodes(now=START + timedelta(minutes=5)).episodes == ()
    chat.add(said(GARDEN[5:], 0.1))
    chat.make_episodes(now=LATER)
    assert [(first, last) for first, last, _ in told(chat)] == [(1, 7)]


def test_a_wrong_clock_gives_an_episode_no_weight(store: cw.Store) -> None:
    chat = store.conversation("lunch")
    chat.add([*said(GARDEN, 0), *said(["A clock gone wrong"], 900_000)])
    (made,) = chat.make_episodes(now=LATER).episodes
    chat.hide(2)
    (anew,) = chat.make_episodes(now=LATER).episodes
    assert made.memory.weight == anew.memory.weight == 0.5


def test_many_at_once_make_each_once(place: str) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("lunch")
        for hour in range(0, 80, 2):
            chat.add(said(GARDEN, hour))
    stores = [cw.Store(place) for _ in range(4)]
    makers = [
        threading.Thread(
            target=one.conversation("lunch").make_episodes,
            # Asking somebody makes one transaction for each.
            args=(None if index % 2 else lambda episode, messages: {"valence": "neutral"},),
            kwargs={"now": LATER},
        )
        for index, one in enumerate(stores)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    found = told(stores[0].conversation("lunch"))
    assert [first for first, _, _ in found] == list(range(1, 241, 6))
    for one in stores:
        one.close()


def test_only_what_is_new_is_read(store: cw.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = two_talks(store)
    chat.make_episodes(now=LATER)
    starts: list[int] = []
    read = Maker.read

    def watched(maker: Maker, start: int, stop: int | None = None) -> Any:
        starts.append(start)
        return read(maker, start, stop)

    monkeypatch.setattr(Maker, "read", watched)
    chat.add(said(GARDEN[:2], 4))
    chat.make_episodes(now=LATER)
    assert told(chat) == BOTH, "too short to be one"
    chat.make_episodes(now=LATER)
    assert starts == [13, 15], "and not looked at again"


def test_a_forgotten_episode_stays_forgotten(store: cw.Store) -> None:
    chat = two_talks(store)
    first, _ = chat.make_episodes(now=LATER).episodes
    store.forget_memory(first.id)
    chat.make_episodes(now=LATER)
    assert told(chat) == BOTH[1:]
    store.forget("lunch")
    assert list(store.memories()) == []
    two_talks(store).make_episodes(now=LATER)
    assert told(chat) == BOTH, "another conversation of that name"


def test_forks_and_tenants_have_their_own(store: cw.Store) -> None:
    chat = two_talks(store)
    fork = chat.fork("other", 6)
    fork.hide(1)
    fork.make_episodes(now=LATER)
    chat.make_episodes(now=LATER)
    assert told(chat) == BOTH
    assert [(first, last) for first, last, _ in told(fork)] == [(2, 6)]
    away = store.for_tenant("away")
    with pytest.raises(cw.errors.NotFound):
        away.conversation("lunch").episodes()
    two_talks(away)
    assert told(away.conversation("lunch")) == []


# --- what is hidden ------------------------------------------------------------------------------


def recalled(chat: cw.Chat, query: str, asker: str | None = "1", **asked: Any) -> list[str]:
    wanted = cw.recall.MemoryQuery(kind="episode", query=query, asker=asker, **asked)
    return [memory.text for memory in StoreMemorySource(chat.state, chat.id).recall(wanted)]


@pytest.mark.parametrize("how", ["hide", "delete"])
def test_a_hidden_message_is_told_no_more(store: cw.Store, how: str) -> None:
    chat = two_talks(store)
    chat.hide(3)
    chat.make_episodes(now=LATER)
    assert "ripe" not in str(list(store.memories())), "never was"
    assert "beans" in str(recalled(chat, "tomatoes"))
    getattr(chat, how)(4)
    assert recalled(chat, "tomatoes") == []
    assert recalled(chat, "", limit=9) == []
    assert told(chat) == BOTH[1:]
    assert chat.make_episodes(now=LATER).removed == 1, "four messages are none"
    assert "beans" not in str(list(store.memories()))


def test_an_episode_is_made_anew_without_it(store: cw.Store) -> None:
    chat = two_talks(store)
    first, second = chat.make_episodes(now=LATER).episodes
    chat.pin(2)
    assert chat.make_episodes(now=LATER).episodes == (), "nothing is hidden"
    chat.hide(4)
    (anew,) = chat.make_episodes(now=LATER).episodes
    assert anew.id == first.id
    assert anew.memory.meta["messages"] == [1, 2, 3, 5, 6]
    assert "beans" not in str(anew)
    assert chat.episodes() == [anew, second]
    assert chat.make_episodes(now=LATER).episodes == ()
    chat.show(4)
    assert chat.episodes() == [anew, second], "it tells nothing that may not be seen"


# --- better words --------------------------------------------------------------------------------


def test_better_words_are_stored(store: cw.Store) -> None:
    chat = two_talks(store)
    seen: list[tuple[int, int]] = []

    def writer(episode: cw.recall.Episode, messages: Sequence[cw.Message]) -> dict[str, Any]:
        seen.append((episode.first, len(messages)))
        if episode.first > 1:
            raise ConnectionError("no answer\nat all")
        return {"topic": "Harvest", "summary": "They met.", "importance": 0.75, "valence": "mixed"}

    made = chat.make_episodes(writer, now=LATER)
    assert seen == [(1, 6), (7, 6)]
    assert [str(change) for change in made.changes] == [
        "loss.refinement messages 7 to 12: the digest stays: ConnectionError: 'no answer'"
    ]
    first, second = (one.memory for one in chat.episodes())
    assert (first.key, first.weight, first.meta["digest"]) == ("Harvest", 0.75, False)
    assert (first.text, first.meta["valence"]) == ("They met.", "mixed")
    assert (second.key, second.meta["digest"]) == (BOTH[1][2], True)


def test_words_that_cannot_be_stored_are_none(store: cw.Store) -> None:
    chat = two_talks(store)
    answers = iter(["a\x00b", "half \ud83d"])
    made = chat.make_episodes(lambda episode, messages: {"topic": next(answers)}, now=LATER)
    assert told(chat) == BOTH
    assert [change.code for change in made.changes] == ["loss.refinement"] * 2


def test_what_was_refined_before_a_stop_is_kept(store: cw.Store) -> None:
    chat = two_talks(store)

    def writer(
        episode: cw.recall.Episode, messages: Sequence[cw.Message]
    ) -> cw.recall.EpisodeDetails:
        if episode.first > 1:
            raise KeyboardInterrupt
        return cw.recall.EpisodeDetails(topic="Harvest")

    with pytest.raises(KeyboardInterrupt):
        chat.make_episodes(writer, now=LATER)
    assert told(chat) == [(1, 6, "Harvest")]
    chat.make_episodes(now=LATER)
    assert told(chat) == [(1, 6, "Harvest"), BOTH[1]]


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


RECIPE = cw.Recipe(
    system=(cw.sections.Episodes(least=0.5),), window=cw.windows.KeepRecent(messages=2)
)


def asked(chat: cw.Chat, **options: Any) -> str:
    return str(chat.context(RECIPE, model="gpt-4o", **options).payload)


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
        with pytest.raises(cw.errors.Conflict, match="says something else"):
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
