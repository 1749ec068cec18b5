"""Search: the same answers on SQLite and on Postgres, in any script, and nothing foreign."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.store.engines.postgres import PostgresEngine
from contextwright.store.engines.schema.steps import STEPS
from contextwright.store.engines.sqlite import SqliteEngine
from contextwright.store.recall import terms
from contextwright.store.rows.index import gaps_of
from contextwright.text.terms import terms_of

SAID = (
    "The risotto was excellent.",
    "Вона завжди п'є каву без цукру.",
    "我们明天去东京看樱花。",
    "오늘 날씨가 좋네요",
    "Le café est fermé le 2026-11-15.",
    'NEAR("a", 5) OR terms:* AND NOT ^x -- \'; DROP TABLE words; {"a": 1}',
)


def found(store: cw.Store, query: str, conversation: str | None = None) -> list[int]:
    return [hit.seq for hit in store.search(query, conversation)]


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place) as store:
        yield store


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        ("RISOTTO", [1]),
        ("яка кава найкраща?", [2]),
        ("цукор", [2]),
        ("цукру", [2]),
        ("東京", [3]),
        ("东京", [3]),
        ("樱花开了吗", [3]),
        ("날씨 어때", [4]),
        ("cafe", [5]),
        ("2026", [5]),
        ("2025", []),
        ("terms:* OR NEAR(", [6]),
        ("?!", []),
        ("", []),
        ("'", []),
        ('"', []),
        ("{}%_\\", []),
    ],
)
def test_words_of_any_script_are_found(store: cw.Store, query: str, seqs: list[int]) -> None:
    chat = store.conversation("a")
    for text in SAID:
        chat.add(cw.user(text))
    assert found(store, query, "a") == found(store, query) == seqs


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        ("Rechnungen", [2, 1]),
        ("Wann habe ich die Rechnungen bezahlt?", [1, 2]),
        ("entradas conciertos", [3]),
    ],
)
def test_words_are_found_whether_or_not_they_show_their_language(
    store: cw.Store, query: str, seqs: list[int]
) -> None:
    """A few words may be of any language: as a query, and as a message."""
    chat = store.conversation("a")
    chat.add(cw.user("Die Rechnungen sind da, ich habe sie bezahlt."))
    chat.add(cw.user("Rechnungen bezahlt"))
    chat.add(cw.user("He comprado las entradas para los conciertos."))
    assert found(store, query, "a") == found(store, query) == seqs
    assert {hit.seq for hit in store.recall(query)} >= {*seqs}


def test_scores_say_which_share_of_the_query_is_there(store: cw.Store) -> None:
    chat = store.conversation("a")
    for text in ("green tea", "green leaves", "tea", "green tea, please", "the sea"):
        chat.add(cw.user(text))
    hits = store.search("green tea", "a")
    assert [(hit.seq, hit.conversation, hit.message.text) for hit in hits][:2] == [
        (4, "a", "green tea, please"),
        (1, "a", "green tea"),
    ]
    assert [hit.score for hit in hits[:2]] == [1, 1]
    assert [hit.score for hit in hits[2:]] == pytest.approx([0.5, 0.5])
    rare = store.search("green please", "a")
    assert [hit.seq for hit in rare] == [4, 2, 1]
    assert 0 < rare[1].score < 0.5, "a word that more messages have tells less"
    assert store.search("tea tea TEA", "a", limit=1) == [
        cw.store.SearchHit("a", 4, hits[0].message, 1.0)
    ]


def test_a_word_with_capitals_inside_is_one_word_to_some(store: cw.Store) -> None:
    chat = store.conversation("a")
    for text in ("a tube of glue", "we are on github", "seen on youtube", "YouTube is down"):
        chat.add(cw.user(text))
    hits = store.search("YouTube", "a")
    assert [(hit.seq, hit.score) for hit in hits[:2]] == [(4, 1), (3, 1)]
    assert [(hit.seq, hit.score) for hit in store.search("GitHub", "a")] == [(2, 1)]
    assert store.recall("Is YouTube down?").confidence > 0.5


def test_hidden_messages_are_not_found_and_forks_find_their_parents(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user("risotto one"), cw.user("risotto two"), cw.user("risotto three")])
    fork = chat.fork("b", at=2)
    fork.add(cw.user("risotto four"))
    fork.fork("c").add(cw.user("risotto five"))
    chat.add(cw.user("risotto not of the fork"))
    assert found(store, "risotto", "c") == [4, 3, 2, 1]
    chat.hide(1)
    chat.delete(2)
    assert found(store, "risotto", "a") == [4, 3]
    assert found(store, "risotto", "b") == [3, 2, 1], "what was hidden later is hidden there alone"
    assert found(store, "one two", None) == []
    chat.show(1)
    assert found(store, "one", "a") == found(store, "one") == [1]
    secret = cw.Message("user", (cw.Text("xyzzy"),), visibility="internal")
    assert chat.add(secret) == [5]
    assert found(store, "xyzzy", "a") == found(store, "xyzzy") == []
    assert store.search("risotto", "nobody") == []


def test_results_are_indexed_up_to_a_limit(store: cw.Store) -> None:
    chat = store.conversation("a")
    long = "menu " * (terms.MAX_RESULT_CHARS // 5) + " dessert"
    chat.add([cw.assistant(cw.ToolCall("menu", {}, id="1")), cw.tool_result("1", long)])
    chat.add(cw.user("x" * 100_000 + " " + "長" * 30_000))
    assert (found(store, "menu"), found(store, "dessert"), found(store, "長長")) == ([2], [], [])
    assert found(store, "x" * 5_000) == [3]


def test_what_is_forgotten_is_not_found(store: cw.Store) -> None:
    for id in ("a", "b"):
        store.conversation(id).add(cw.user("risotto"))
    assert [hit.conversation for hit in store.search("risotto")] == ["b", "a"]
    store.forget("a")
    assert [hit.conversation for hit in store.search("risotto")] == ["b"]
    for table in ("words", "indexed"):
        count = store.engine.read(lambda c, table=table: c.rows(f"SELECT count(*) FROM {table}"))
        assert count == [(1,)]
    store.conversation("a").add(cw.user("soup"))
    assert found(store, "risotto", "a") == []


@pytest.mark.parametrize("few", [0, 3, 64])
def test_a_store_of_the_first_version_is_indexed_when_it_is_searched(
    place: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tables are brought up to date, SQLite with a copy, and old messages are found."""
    with cw.Store(place) as store:
        chat = store.conversation("a")
        chat.add([cw.user(f"soup {number}") for number in range(5)])
        chat.fork("b", at=3).add(cw.user("soup of the fork"))
        store.conversation("empty").update(title="nothing")
        store.for_tenant("other").conversation("a").add(cw.user("soup of others"))
    back_to_version_1(place)
    monkeypatch.setattr(terms, "PAGE_MESSAGES", 2)
    monkeypatch.setattr(terms, "MAX_UNINDEXED", few)
    with cw.Store(place) as store:
        assert Path(f"{place}.version-1.backup").exists() or place.startswith("postgresql")
        store.conversation("a").add(cw.user("new soup"))
        assert found(store, "soup", "b") == [4, 3, 2, 1]
        assert len(store.search("soup", "a")) == 6
        assert [hit.message.text for hit in store.for_tenant("other").search("soup")] == [
            "soup of others"
        ]
        assert len(store.search("soup")) == 7
        assert store.engine.read(lambda c: gaps_of(c, "")) == []


def back_to_version_1(place: str) -> None:
    """Take the steps behind the first back."""
    tables = "DROP TABLE meanings; ALTER TABLE heads DROP COLUMN rewritten; "
    tables += "DROP TABLE answers; DROP TABLE places; DROP TABLE bodies; "
    tables += "DROP TABLE signatures; DROP TABLE requests; "
    tables += "DROP TABLE versions; DROP TABLE backups; DROP INDEX marks_origin; "
    tables += "ALTER TABLE marks DROP COLUMN origin; ALTER TABLE turns DROP COLUMN stored; "
    tables += "ALTER TABLE messages DROP COLUMN digest; "
    tables += "ALTER TABLE messages DROP COLUMN length; ALTER TABLE heads DROP COLUMN length; "
    tables += "CREATE TABLE meters (name text); CREATE TABLE totals (cost integer); "
    tables += "DROP TABLE divided; DROP TABLE vectors; DROP TABLE embedders; DROP TABLE outlines; "
    tables += "DROP TABLE words; DROP TABLE indexed; DROP TABLE memories; DROP TABLE summaries; "
    if place.startswith("postgresql"):
        engine: PostgresEngine | SqliteEngine = PostgresEngine(place, "full")
        version = "UPDATE version SET number = 1"
    else:
        engine = SqliteEngine(place, "full")
        version = "PRAGMA user_version = 1"
    engine.write_alone(lambda connection: connection.run(tables + version))
    engine.close()
    assert len(STEPS) == 20


WORDS = ("tea", "soup", "кава", "каву", "东京", "green", "2026")
NUMBERS = itertools.count()
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for many examples, each with a tenant of its own."""
    return tmp_path_factory.mktemp("shared") / "store.db"


@given(st.lists(texts, min_size=1, max_size=12), texts, st.sampled_from((0, 5, 64)))
def test_search_finds_what_a_look_at_every_message_finds(
    shared_file: Path, said: list[str], query: str, few: int
) -> None:
    with cw.Store(shared_file, tenant=f"t{next(NUMBERS)}", sync="fast") as store:
        store.conversation("a").add([cw.user(text) for text in said])
        asked = terms_of(query)
        expected = {seq for seq, text in enumerate(said, 1) if asked & terms_of(text)}
        whole = {seq for seq, text in enumerate(said, 1) if asked <= terms_of(text)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(terms, "MAX_UNINDEXED", few)
            hits = store.search(query, "a")
        assert {hit.seq for hit in hits} == expected
        assert {hit.seq for hit in hits if hit.score > 1 - 1e-9} == whole
        scores = [round(hit.score, 12) for hit in hits]  # sums in another order differ behind that
        assert scores == sorted(scores, reverse=True)
        assert [(hit.seq, hit.score) for hit in store.search(query)] == [
            (hit.seq, hit.score) for hit in hits
        ]


@given(st.text(max_size=40))
def test_terms_hold_nothing_a_database_could_take_for_its_own(text: str) -> None:
    terms = terms_of(text)
    # Capitals only add the words inside identifiers.
    assert terms >= terms_of(text.lower()) or not text.isascii()
    for term in terms:
        assert 1 <= len(term) <= 40
        assert not set(term) & set(" \"'*^:(){}#\\-+\ue000\x00")


def test_async_searches_alike(place: str) -> None:
    async def main() -> None:
        async with cw.AsyncStore(place) as store:
            await store.conversation("a").add(cw.user("risotto"))
            assert [hit.seq for hit in await store.search("risotto", "a")] == [1]
            id = await store.remember("likes risotto", about="alice")
            assert [one.id async for one in store.memories(about="alice")] == [id]
            await store.forget_memory(id)
            assert [one async for one in store.memories()] == []

    asyncio.run(main())


def test_async_recalls_alike(place: str) -> None:
    said = ["I am allergic to hazelnuts.", "Noted.", "My train leaves at 7:40."]

    async def main() -> None:
        async with cw.AsyncStore(place) as store:
            chat = store.conversation("a")
            await chat.add([cw.user(text, author="Alice") for text in said])
            here = await chat.recall("What is Alice allergic to?", limit=1)
            everywhere = await store.recall("When does the train leave?", limit=1, budget=100)
        assert [item.seq for item in here] == [1]
        assert [item.seq for item in everywhere] == [3]
        with cw.Store(place) as same:
            found = same.conversation("a").recall("What is Alice allergic to?", limit=1)
            assert found == here
            assert same.recall("When does the train leave?", limit=1, budget=100) == everywhere

    asyncio.run(main())


@pytest.mark.parametrize("both", [(cw.Store, cw.AsyncStore), (cw.Chat, cw.AsyncChat)], ids=str)
def test_both_recalls_take_the_same_words(both: tuple[type, type]) -> None:
    first, second = (inspect.signature(one.recall) for one in both)
    assert first == second


@pytest.mark.parametrize(("query", "most"), [(None, 20), (b"tea", 20), (7, 20), ("tea", "a")])
def test_what_cannot_be_searched_for_is_refused(tmp_path: Path, query: Any, most: Any) -> None:
    with cw.Store(tmp_path / "store.db") as store:
        with pytest.raises(cw.UsageError, match="cannot search for"):
            store.search(query, limit=most)


def test_a_conversation_that_is_gone_has_nothing_to_index(place: str) -> None:
    with cw.Store(place) as store:
        assert store.engine.write(terms.index_next(store.tenant, 999)) is False
