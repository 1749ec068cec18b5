"""Stored episodes: made once, from visible messages, and shown to participants only."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.store.recall.episodes import EpisodeMaker
from samples.stores.episodes import ALICE, BOB, LATER, START, recalled, said, told, two_talks
from samples.talks import GARDEN, TRAIN


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place) as store:
        yield store


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
    assert store.conversation("dinner").episodes() == []
    assert store.conversation("dinner").make_episodes().episodes == ()


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
    read = EpisodeMaker.read

    def watched(maker: EpisodeMaker, start: int, stop: int | None = None) -> Any:
        starts.append(start)
        return read(maker, start, stop)

    monkeypatch.setattr(EpisodeMaker, "read", watched)
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
    assert away.conversation("lunch").episodes() == []
    two_talks(away)
    assert told(away.conversation("lunch")) == []


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
