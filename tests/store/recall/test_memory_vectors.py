"""Memories and events are found by their meaning, in a store and in a list."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.memory_list import select_memories
from contextwright.store.recall.source import StoreMemorySource
from doubles import bag
from profiles import STORE, examples
from samples.stores.vectors import WORDS, opened

NUMBERS = itertools.count()
ALIKE = {"puppy": "dog", "hound": "dog", "soup": "broth", "train": "railway", "carriage": "railway"}


def embed(texts: Sequence[str]) -> list[list[float]]:
    """What each word means, at a place of its own."""
    meant = [[ALIKE.get(word, word) for word in text.lower().split()] for text in texts]
    return [
        [float(sum(crc32(one.encode()) % 97 == place for one in some)) for place in range(97)]
        for some in meant
    ]


def synonyms() -> cw.recall.Embedder:
    return cw.recall.Embedder("synonyms", embed)


MEMORIES = [
    cw.Memory("memory", "adopted a puppy", about="1"),
    cw.Memory("memory", "cooks soup on Fridays", about="1"),
    cw.Memory("memory", "moved house", about="1"),
    cw.Memory("episode", "They took the train north.", weight=0.9),
]


def asked(kind: Any, query: str, **fields: Any) -> cw.recall.MemoryQuery:
    return cw.recall.MemoryQuery(kind=kind, query=query, **fields)


QUERIES = [
    (asked("memory", "which hound"), ["adopted a puppy"]),
    (asked("memory", "hound soup"), ["cooks soup on Fridays", "adopted a puppy"]),
    (asked("memory", "moved"), ["moved house"]),
    (asked("memory", "nothing of all this"), []),
    (asked("memory", "", prefer="any hound", limit=1), ["adopted a puppy"]),
    (asked("memory", "", prefer="weather", limit=1), ["moved house"]),
    (asked("episode", "the carriage"), ["They took the train north."]),
    (asked("episode", "a hound"), []),
]


@pytest.mark.parametrize(("wanted", "texts"), QUERIES)
def test_found_by_meaning(place: str, wanted: cw.recall.MemoryQuery, texts: list[str]) -> None:
    """The same in a list and in a store; a score is at most 1."""
    notes = cw.recall.MemoryList(MEMORIES, embedder=synonyms())
    with opened(place, embedder=synonyms()) as store:
        for memory in MEMORIES:
            store.remember(memory)
        for source in (notes, StoreMemorySource(store.state, "lunch")):
            found = source.recall(wanted)
            assert [one.text for one in found] == texts
            assert all(0 < (one.score or 1) <= 1 for one in found)


def test_recall_tells_memories_by_meaning(place: str) -> None:
    with opened(place, embedder=synonyms()) as store:
        store.remember(MEMORIES[0])
        store.remember("has a hound", scope="dinner")
        chat = store.conversation("lunch")
        chat.add(cw.user("Hello there."))
        for found in (chat.recall("which hound"), store.recall("which hound")):
            (memory,) = [one for one in found if one.memory]
            assert memory.memory is not None
            assert memory.memory.text == "adopted a puppy"
            assert {"meaning", "meaning_beside"} < {part.name for part in memory.parts}
    with opened(place, embedder=None) as store:
        assert not [one for one in store.recall("which hound") if one.memory]


def test_vectors_follow_their_memory(place: str) -> None:
    """Made once, made again for another text, and gone with it."""
    texts: list[str] = []

    def function(given: Sequence[str]) -> list[list[float]]:
        texts.extend(given)
        return embed(given)

    with opened(place, embedder=cw.recall.Embedder("seen", function)) as store:
        source = StoreMemorySource(store.state, "lunch")
        old = store.remember("adopted a puppy", kind="fact", about="1", key="pet")
        for _ in range(3):
            assert len(source.recall(asked("fact", "hound"))) == 1
        assert texts == ["pet adopted a puppy", "hound"]
        store.update_memory(old, text="rides a carriage")
        assert source.recall(asked("fact", "hound")) == []
        assert [one.text for one in source.recall(asked("fact", "train"))] == ["rides a carriage"]
        assert store.index().vectors == 0
        store.forget_memory(old)
        rows = store.engine.read(lambda one: one.rows("SELECT memory FROM meanings"))
        assert rows == []


def test_an_index_has_the_memories_of_its_conversations(place: str) -> None:
    """A conversation has those of its own scope, and those of no scope."""
    with cw.Store(place, embedder=synonyms()) as store:
        for id in ("lunch", "dinner"):
            store.conversation(id).add(cw.user("soup"))
            store.remember(f"{id} is at noon", scope=id)
        store.remember("adopted a puppy")
        made = [store.index("lunch"), store.index("lunch"), store.index(), store.index()]
        assert [one.vectors for one in made] == [3, 0, 2, 0]
        assert store.index(again=True, words_only=True).vectors == 0


def test_a_failing_embedder_costs_no_answer(place: str) -> None:
    def fail(texts: Sequence[str]) -> Any:
        raise OSError("no network")

    with opened(place, embedder=cw.recall.Embedder("remote", fail)) as store:
        store.remember(cw.Memory("memory", "adopted a puppy", about="1"))
        found = store.recall("a puppy")
        assert [one.memory.text for one in found if one.memory] == ["adopted a puppy"]
        assert "no network" in found.trouble
        source = StoreMemorySource(store.state, "lunch")
        assert len(source.recall(asked("memory", "a puppy"))) == 1
        assert "no network" in source.trouble


# --- laws ----------------------------------------------------------------------------------------

text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
kinds = st.sampled_from(("memory", "fact", "episode"))
memories = st.lists(
    st.builds(cw.Memory, kinds, text, weight=st.sampled_from((0.5, 1.0)), key=st.just("") | text),
    max_size=8,
)
queries = st.builds(
    cw.recall.MemoryQuery,
    kind=kinds,
    query=st.just("") | text,
    prefer=text,
    limit=st.integers(0, 9),
)


@given(memories, queries)
def test_words_are_found_with_an_embedder_too(
    known: list[cw.Memory], wanted: cw.recall.MemoryQuery
) -> None:
    """Whatever words find, however far its meaning; only the order may be another."""
    of_kind = [one for one in known if one.kind == wanted.kind]
    every = cw.recall.MemoryQuery(kind=wanted.kind, query=wanted.query, limit=99)
    by_words = select_memories(of_kind, every)
    by_both = select_memories(of_kind, every, [-1.0] * len(of_kind))
    assert sorted(one.text for one in by_both) == sorted(one.text for one in by_words)
    near = cw.recall.MemoryList(known, embedder=bag()).recall(every)
    assert {one.text for one in near} >= {one.text for one in by_words}


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared") / "store.db"


@examples(STORE)
@given(memories, st.lists(queries, min_size=1, max_size=4))
def test_a_store_finds_what_a_list_finds(
    shared_file: Path, known: list[cw.Memory], wanted: list[cw.recall.MemoryQuery]
) -> None:
    with opened(shared_file, tenant=f"t{next(NUMBERS)}") as store:
        for memory in known:
            store.remember(memory)
        stored = [one.memory for one in store.memories()]
        for one in wanted:
            expected = cw.recall.MemoryList(stored, embedder=bag()).recall(one)
            found = StoreMemorySource(store.state, "lunch").recall(one)
            scores = [memory.score or 0 for memory in found]
            assert scores == pytest.approx([memory.score or 0 for memory in expected], abs=1e-3)
