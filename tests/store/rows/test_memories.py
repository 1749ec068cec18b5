"""Memories as records of a store, and what a chat's sections recall from it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import contextwright as cw
from commands import Run
from contextwright.store.care.copying import copy
from contextwright.store.engines.base import Connection
from contextwright.store.recall.options import MAX_RANKED
from contextwright.store.recall.source import StoreMemorySource
from contextwright.store.rows import memories as notes
from contextwright.store.rows.validation import memory_body

ALICE = cw.Author(id="alice", name="Alice")
BOB = cw.Author(id="bob", name="Bob")


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        yield store


def remembered(store: cw.Store, **asked: Any) -> list[str]:
    return [stored.memory.text for stored in store.memories(**asked)]


def test_memories_are_records(store: cw.Store) -> None:
    whole = cw.Memory("fact", "Kyiv", "alice", "location", "bob", "2026-11-15", "lunch", 0.5)
    ids = [
        store.remember("Likes coffee", about="alice"),
        store.remember(whole),
        store.remember(
            "Met at noon", kind="episode", key="lunch", at=datetime(2026, 1, 2, tzinfo=UTC)
        ),
    ]
    found = list(store.memories())
    assert [one.id for one in found] == ids
    assert found[1].memory == whole
    assert (found[0].memory.at or "") > "2026", "the time it was noted"
    assert found[2].memory.at == "2026-01-02T00:00:00+00:00"
    assert remembered(store, about="alice") == ["Likes coffee", "Kyiv"]
    assert remembered(store, about="alice", kind="fact", scope="lunch") == ["Kyiv"]
    assert remembered(store, scope="") == ["Likes coffee", "Met at noon"]
    assert remembered(store.for_tenant("other")) == []
    store.for_tenant("other").forget_memory(ids[0])
    store.forget_memory(ids[1])
    store.forget_memory(ids[1])
    assert remembered(store) == ["Likes coffee", "Met at noon"]


def test_memories_are_read_in_pages(store: cw.Store) -> None:
    for number in range(250):
        store.remember(str(number), about=f"p{number % 2}")
    assert remembered(store, about="p1") == [str(number) for number in range(1, 250, 2)]


def test_a_conversation_takes_its_memories_with_it(store: cw.Store) -> None:
    store.conversation("lunch").add(cw.user("Hello"))
    for scope in ("lunch", "dinner", ""):
        store.remember(f"told in {scope}", scope=scope)
    store.forget("lunch")
    assert remembered(store) == ["told in dinner", "told in "]


@pytest.mark.parametrize(
    ("memory", "complaint"),
    [
        (cw.Memory("passage", "said"), "passages are found"),
        (cw.Memory("memory", " "), "needs text"),
        (cw.Memory("memory", "a\x00b"), "memory.text, character 2: a NUL cannot be stored"),
        (cw.Memory("fact", "x", key="\ud800"), "memory.key, character 1"),
        (cw.Memory("fact", "x", meta={"a": float("nan")}), "NaN|nan"),
        (cw.Memory("fact", "x", weight=float("nan")), "memory"),
        (cw.Memory("fact", "x", about="a\nb"), "person's id"),
        (cw.Memory("rumour", "x"), "memory.kind cannot be 'rumour'"),  # pyright: ignore
        (7, "is not a memory"),
    ],
)
def test_what_cannot_be_remembered(store: cw.Store, memory: Any, complaint: str) -> None:
    with pytest.raises(cw.UsageError, match=complaint):
        store.remember(memory)
    assert remembered(store) == []


def test_a_chat_recalls_what_is_told_in_it(store: cw.Store) -> None:
    for number in range(4):
        store.remember(f"everywhere {number}", about="alice")
        store.remember(f"lunch {number}", about="alice", scope="lunch")
        store.remember(f"dinner {number}", about="alice", scope="dinner")
        store.remember(f"of bob {number}", about="bob")
    memories = StoreMemorySource(store.state, "lunch")
    newest = memories.recall(cw.recall.MemoryQuery(kind="memory", about="alice", limit=3))
    assert [memory.text for memory in newest] == ["lunch 2", "everywhere 3", "lunch 3"]
    assert memories.recall(cw.recall.MemoryQuery(kind="memory", about="alice", limit=0)) == []
    store.remember("They cooked risotto", kind="episode", key="cooking")
    store.remember("They went home", kind="episode")
    event = memories.recall(cw.recall.MemoryQuery(kind="episode", query="who cooked?"))
    assert [(memory.text, memory.score) for memory in event] == [("They cooked risotto", 0.7)]


RECIPE = cw.Recipe(
    system=(cw.Memories(), cw.sections.KeyFacts(), cw.sections.PastExcerpts(most=3)),
    window=cw.windows.KeepRecent(messages=40),
)


def long_chat(store: cw.Store, count: int = 200) -> cw.Chat:
    """A chat with two remarks on risotto far back, one of them hidden."""
    chat = store.conversation("lunch")
    chat.add(cw.user("The risotto at Mario's is best.", author=BOB))
    chat.add(cw.user("The risotto secret is butter.", author=BOB))
    chat.hide(2)
    for number in range(count):
        chat.add([cw.user(f"Small talk {number}", author=BOB), cw.assistant(f"Indeed {number}")])
    return chat


def test_a_context_recalls_from_its_store(store: cw.Store) -> None:
    chat = long_chat(store)
    store.remember("Is vegetarian", about="alice")
    store.remember("Kyiv", about="alice", kind="fact", key="home")
    store.remember("Knows a secret", about="bob")
    chat.add(cw.user("Where is the best risotto?", author=ALICE))
    sent = str(chat.context(RECIPE, model="gpt-4o").payload)
    assert "Is vegetarian" in sent
    assert "Home: Kyiv" in sent
    assert "The risotto at Mario's is best." in sent
    assert "secret" not in sent
    without = str(chat.context(RECIPE, model="gpt-4o", memories=cw.recall.MemoryList()).payload)
    assert "vegetarian" not in without
    assert "Mario" not in without


@pytest.mark.parametrize(
    "window", [cw.windows.KeepAll(), cw.windows.KeepRecent(messages=60), cw.windows.Stepped()]
)
def test_what_is_in_the_window_is_not_recalled(store: cw.Store, window: Any) -> None:
    recipe = cw.Recipe(system=(cw.sections.PastExcerpts(least=0.0),), window=window)
    chat = store.conversation("lunch")
    chat.add([cw.user(f"risotto number {number:03}", author=BOB) for number in range(100)])
    chat.add(cw.user("Which risotto?", author=ALICE))
    context = chat.context(recipe, model="gpt-4o")
    kept = {f"risotto number {place:03}" for place in context.decisions.kept()}
    sent = str(context.payload)
    assert all(sent.count(text) <= 1 for text in kept)
    if isinstance(window, cw.windows.KeepRecent):
        assert any(f"risotto number {number:03}" in sent for number in range(41))


def test_a_transcript_reaches_further_than_the_window(store: cw.Store) -> None:
    """Its lines are cut, and cost less than the messages; the build before looked less far."""
    chat = store.conversation("lunch")
    for number in range(60):
        chat.add([cw.user(f"Story {number}: {'word ' * 2_000}", author=BOB), cw.assistant("Oh")])
    chat.add(cw.user("And now?", author=ALICE))
    near = cw.Recipe(system=("Hi",), window=cw.windows.KeepRecent(messages=1), budget=24_000)
    far = cw.Recipe(
        system=(cw.sections.Transcript(messages=100),), window=near.window, budget=24_000
    )
    whole = cw.Conversation(tuple(stored.message for stored in chat.read()), id="lunch")
    now = datetime(2026, 11, 15, tzinfo=UTC)
    for recipe in (near, far, near):
        told = recipe.build(whole, model="gpt-4o", now=now).payload
        assert chat.context(recipe, model="gpt-4o", now=now).payload == told
    assert "Story 11:" in str(far.build(whole, model="gpt-4o").payload)


@pytest.fixture(name="cw_run")
def command(cw: Run) -> Run:
    return cw


def test_the_command_line_remembers_and_finds(place: str, cw_run: Run) -> None:
    with cw.Store(place) as store:
        chat = store.conversation("обід")
        chat.add(cw.user("Люблю \x1b[31m каву\nз молоком", author=BOB))
    first = cw_run("remember", "alice", "Likes coffee", "--store", place).out.strip()
    second = cw_run(
        "remember", "alice", "-", "--kind", "fact", "--label", "home", "--scope", "обід",
        "--store", place, input="Київ\n".encode(),
    ).out.strip()  # fmt: skip
    assert cw_run("memories", "--store", place).out.splitlines() == [
        f"{first}  memory   alice  Likes coffee",
        f"{second}  fact     alice in обід  home: Київ",
    ]
    assert cw_run("forget-memory", first, "--store", place).code == 0
    left = cw_run("memories", "alice", "--json", "--store", place).out
    assert first not in left
    assert '"text": "Київ"' in left
    found = cw_run("search", "кава", "--conversation", "обід", "--store", place)
    assert found.out == "1.00  обід 1  Bob: Люблю [31m каву з молоком\n"
    nothing = cw_run("search", "tea", "--store", place)
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "cw: nothing found\n")
    wrong = cw_run("search", "tea", "--conversation", "x", "--store", place)
    assert wrong.code == 1
    assert "there is no conversation 'x'" in wrong.err


def fill(store: cw.Store, memory: cw.Memory, count: int) -> None:
    """Remember the same so often, at once."""
    memory = notes.sound(memory)

    def work(connection: Connection) -> None:
        for number in range(count):
            notes.add(connection, "", f"m{number}", memory, memory_body(memory))

    store.engine.write(work)


def test_events_take_no_place_from_memories_that_are_recalled(place: str) -> None:
    with cw.Store(place, sync="fast", embedder=None) as store:
        chat = store.conversation("a")
        chat.add(cw.user("hello"))
        store.remember("Alice likes risotto", scope="a")
        fill(store, cw.Memory("episode", "They met", scope="a"), MAX_RANKED)
        assert [item.message.text for item in chat.recall("risotto?")] == ["Alice likes risotto"]


def test_memories_told_everywhere_are_looked_at_once(place: str) -> None:
    with cw.Store(place, sync="fast", embedder=None) as store:
        store.remember("Alice likes risotto")
        fill(store, cw.Memory("memory", "Bob likes tea"), MAX_RANKED - 1)
        assert [item.message.text for item in store.recall("risotto?")] == ["Alice likes risotto"]


def test_a_copy_brings_memories_and_can_be_searched(
    place: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("source")
    with cw.Store(folder / "chat.db") as source, cw.Store(place) as target:
        source.conversation("a").add(cw.user("risotto"))
        source.for_tenant("other").remember("of others")
        ids = [source.remember(f"note {number}", about="alice") for number in range(150)]
        assert len(source.search("risotto")) == 1
        for _ in range(2):
            assert copy(source.engine, target.engine).memories == 151
        assert list(target.memories()) == list(source.memories())
        assert remembered(target.for_tenant("other")) == ["of others"]
        assert [hit.conversation for hit in target.search("risotto")] == ["a"]
        change = "UPDATE memories SET body = ? WHERE id = ?"
        other = '{"kind":"memory","text":"forged"}'
        target.engine.write(lambda connection: connection.run(change, other, ids[0]))
        source.conversation("b").add(cw.user("tea"))
        with pytest.raises(cw.errors.Conflict, match="is different"):
            copy(source.engine, target.engine)
        assert [one.id for one in target.list()] == ["a"], "nothing was written"


@pytest.mark.parametrize("id", ["", 5, "a\0b", "x" * 257])
def test_only_what_may_be_an_id_names_a_memory(store: cw.Store, id: Any) -> None:
    with pytest.raises(cw.UsageError, match="the memory's id"):
        store.forget_memory(id)
    with pytest.raises(cw.UsageError, match="the memory's id"):
        store.update_memory(id, text="Likes tea")
