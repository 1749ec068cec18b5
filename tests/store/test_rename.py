"""A conversation gets another id."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

import contextwright as cw
from contextwright.errors import Conflict, NotFound


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        store.conversation("lunch").add([cw.user("Soup?"), cw.assistant("Yes.")], "k")
        store.conversation("lunch").fork("fork", 1)
        store.remember("Likes soup", about="alice", scope="lunch")
        store.remember("Everywhere", about="alice")
        store.for_tenant("acme").conversation("lunch").add(cw.user("Theirs"))
        yield store


def texts(store: cw.Store, id: str) -> list[str]:
    return [stored.message.text for stored in store.conversation(id).read()]


def test_everything_follows_the_new_id(store: cw.Store) -> None:
    store.rename("lunch", "dinner")
    assert texts(store, "dinner") == ["Soup?", "Yes."]
    assert texts(store, "fork") == ["Soup?"]
    assert store.conversation("fork").details().parent == "dinner"
    assert [stored.memory.scope for stored in store.memories()] == ["dinner", ""]
    assert [stored.memory.text for stored in store.memories(scope="dinner")] == ["Likes soup"]
    assert store.conversation("dinner").add([cw.user("Soup?"), cw.assistant("Yes.")], "k") == [1, 2]
    assert [hit.conversation for hit in store.search("soup", "dinner")] == ["dinner"]
    assert texts(store.for_tenant("acme"), "lunch") == ["Theirs"]
    assert texts(store, "lunch") == []
    store.conversation("lunch").add(cw.user("A new one"))
    assert texts(store, "lunch") == ["A new one"]


def test_a_context_after_a_rename(store: cw.Store) -> None:
    recipe = cw.Recipe()
    before = store.conversation("lunch").context(recipe, model="gpt-4o").payload
    store.rename("lunch", "dinner")
    assert store.conversation("dinner").context(recipe, model="gpt-4o").payload == {
        **before,
        "prompt_cache_key": "dinner",
    }
    store.conversation("lunch").add(cw.user("A new one"))
    after = store.conversation("lunch").context(recipe, model="gpt-4o").payload
    assert [turn["content"] for turn in after["messages"]] == ["A new one"]


def test_a_taken_id_is_refused(store: cw.Store) -> None:
    with pytest.raises(Conflict, match="'fork' already"):
        store.rename("lunch", "fork")
    with pytest.raises(NotFound):
        store.rename("nobody", "somebody")
    store.rename("lunch", "lunch")
    assert texts(store, "lunch") == ["Soup?", "Yes."]


def test_the_async_store_renames_too(store: cw.Store, place: str) -> None:
    async def run() -> list[str]:
        async with cw.AsyncStore(place, embedder=None) as other:
            await other.rename("lunch", "dinner")
            return [one.message.text async for one in other.conversation("dinner").read()]

    assert asyncio.run(run()) == ["Soup?", "Yes."]
