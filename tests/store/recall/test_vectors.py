"""Vectors in a store: pages that are whole, in order and made once, and the nearest of them."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.ranking import SHARPNESS, WITH_MEANING
from contextwright.recall.vectors.query import PRIOR_COUNT, QUESTION_MEAN_SHARE
from contextwright.store.care.doctor import examine
from contextwright.store.recall import vectors
from contextwright.store.recall.nearest import VectorIndex
from doubles import bag, embed
from paths import TESTS
from profiles import FAULT, examples
from samples.stores.vectors import WORDS, filled, nearest, opened, pages

NUMBERS = itertools.count()


def by_hand(
    store: cw.Store,
    query: str,
    id: str,
    last: int | None = None,
    without: Collection[int] = (),
    asks: bool = False,
) -> dict[int, float]:
    """Every message that is not hidden, compared one by one, seen from the middle of them all."""
    middle = middle_of(store, id)
    away = bag()([query])[0] - middle * (QUESTION_MEAN_SHARE if asks else 1)
    asked = away / (numpy.linalg.norm(away) or 1)
    found: dict[int, float] = {}
    for stored in store.conversation(id).read(stop=None if last is None else last + 1):
        chunks = vectors.embedded_texts(stored.message)
        if chunks and stored.message.visibility == "public" and stored.seq not in without:
            rows = bag()(chunks) - middle
            found[stored.seq] = max(float(row @ asked / numpy.linalg.norm(row)) for row in rows)
    return found


def middle_of(store: cw.Store, id: str | None) -> Any:
    """The mean of all vectors of a conversation and those it was forked from, drawn to nothing."""
    rows: list[Any] = []
    while id is not None:
        chat = store.conversation(id)
        details = chat.details()
        for stored in chat.read((details.fork_at or 0) + 1, hidden=True):
            rows += list(bag()(vectors.embedded_texts(stored.message)))
        id = details.parent
    return sum(rows, bag()(["x"])[0] * 0) / (len(rows) + PRIOR_COUNT)


def run_sql(store: cw.Store, *statements: str) -> None:
    store.engine.write_alone(lambda connection: [connection.run(one) for one in statements])


# --- the nearest ---------------------------------------------------------------------------------

said = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
long = said.map(lambda text: f"{text}. " * 600)
turns = st.lists(st.one_of(said, said, said, long), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for many examples, each with a tenant of its own."""
    return tmp_path_factory.mktemp("shared") / "store.db"


@examples(FAULT)
@given(turns, turns, turns, st.data())
def test_the_nearest_are_those_of_a_look_at_every_message(
    shared_file: Path, first: list[str], second: list[str], third: list[str], data: st.DataObject
) -> None:
    """Forks, hidden and long messages, any page size, any room, any end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "PAGE_MESSAGES", data.draw(st.integers(1, 5)))
        with opened(shared_file, tenant=f"t{next(NUMBERS)}") as store:
            room = data.draw(st.sampled_from((0, 2_000, 2**20)))
            store.state.index.vectors = VectorIndex(bag(), room)
            about = 5e-2 if room == 2_000 else 2e-3  # some vectors are codes
            chat = store.conversation("a")
            chat.add([cw.user(text or "?") for text in first])
            if data.draw(st.booleans()):
                store.index("a", few=0)
            chat.fork("b", at=data.draw(st.integers(0, len(first))))
            store.conversation("b").add([cw.user(text or "?") for text in second])
            store.conversation("b").fork("c").add([cw.user(text or "?") for text in third])
            for id in ("a", "b", "c"):
                seqs = st.integers(1, len(store.conversation(id)))
                for seq in data.draw(st.sets(seqs, max_size=3)):
                    store.conversation(id).hide(seq)
            store.index()
            query = data.draw(said)
            for id in ("a", "b", "c", "c"):
                last = data.draw(st.none() | st.integers(1, 20))
                without = data.draw(st.sets(st.integers(1, 20), max_size=3))
                asks = data.draw(st.booleans())
                expected = by_hand(store, query, id, last, without, asks)
                found = nearest(store, query, id, last=last, without=without, asks=asks)
                assert {place[1]: cosine for place, cosine in found} == pytest.approx(
                    expected, abs=about
                )
                few = data.draw(st.integers(0, 5))
                assert nearest(store, query, id, few, last, without, asks) == found[:few]
            everywhere = nearest(store, query, None)
            assert nearest(store, query, None, 3) == everywhere[:3]
            assert len({place for place, _ in everywhere}) == len(everywhere)
            # In memory or page by page, also when it grew or shrank since.
            kept, pages = store.state.index.vectors, VectorIndex(bag(), 0)
            for is_growth in (True, False):
                if is_growth:
                    chat.add(cw.user(query or "?"))
                else:
                    store.forget("c")
                store.index()
                both: list[dict[tuple[int, int], float]] = []
                for space in (kept, pages):
                    store.state.index.vectors = space
                    both.append(dict(nearest(store, query, None)))
                assert both[0] == pytest.approx(both[1], abs=about)


def test_a_question_is_less_like_messages_than_a_remark(place: str) -> None:
    """So less of what they have in common is taken from it."""
    remark = "red tea green tea black tea white tea oolong matcha chai rooibos"
    with opened(place) as store:
        chat = store.conversation("a")
        chat.add([cw.user(text) for text in ("red tea", "green tea", "a boat", "a train")])
        store.index("a", few=0)
        for query, asks in ((remark, False), (f"{remark}?", True)):
            expected = dict(nearest(store, query, "a", asks=asks))
            for hit in chat.recall(query):
                meaning = next((part.adds for part in hit.parts if part.name == "meaning"), 0.0)
                cosine = expected[1, hit.seq]
                assert meaning == pytest.approx(cosine * WITH_MEANING.signals.meaning * SHARPNESS)


def test_the_order_of_those_alike(place: str) -> None:
    with opened(place) as store:
        chat = store.conversation("a")
        chat.add([cw.user(text) for text in ("tea", "soup", "tea", "tea green", "tea")])
        chat.fork("b").add(cw.user("tea"))
        store.index()
        found = nearest(store, "tea", "b")
        assert [spot for spot, _ in found] == [(2, 6), (1, 5), (1, 3), (1, 1), (1, 4), (1, 2)]
        assert found[0][1] == pytest.approx(1, abs=1e-3)
        assert [spot for spot, _ in nearest(store, "tea", None)] == [spot for spot, _ in found]
        assert [spot for spot, _ in nearest(store, "tea", "b", 2)] == [(2, 6), (1, 5)]
        assert nearest(store, "tea", "b", 0) == nearest(store, "tea", None, 0) == []


def test_what_is_embedded(place: str) -> None:
    """Words that were said: no results, no calls, no names, nothing without a word."""
    texts: list[str] = []

    def function(given: Sequence[str]) -> list[Any]:
        texts.extend(given)
        return embed(given)

    with opened(place, embedder=cw.recall.Embedder("seen", function)) as store:
        chat = store.conversation("a")
        call = cw.ToolCall("menu", {"day": "secret"}, id="1")
        chat.add([cw.assistant(call), cw.tool_result("1", "secret menu")])
        chat.add(cw.user(["tea", cw.Media("image", "image/png", "AAAA"), "soup"], author="alice"))
        chat.add([cw.user("🙂 !"), cw.assistant([cw.Thinking("secret"), "green"])])
        assert store.index().vectors == 5
        assert texts == ["tea\nsoup", "green"]
        assert {spot[1] for spot, _ in nearest(store, "tea", "a")} == {3, 5}
        assert [one[1:3] for one in pages(store)] == [(1, 5)]
        assert store.index().vectors == 0


def test_a_conversation_without_a_word(place: str) -> None:
    with opened(place) as store:
        store.conversation("a").add([cw.user("…")] * 3)
        assert store.index().vectors == 3
        assert nearest(store, "tea", "a") == nearest(store, "tea", None) == []
        store.conversation("a").add(cw.user("tea"))
        store.index()
        assert [spot for spot, _ in nearest(store, "tea", "a")] == [(1, 4)]
        assert examine(store.engine).findings == []


@pytest.mark.parametrize(
    ("texts", "query", "seq"),
    [
        (
            (
                "Вчора ми дивилися футбол у парку.",
                "Вона завжди п'є каву без цукру.",
                "Мій брат працює лікарем у Львові.",
                "Завтра обіцяють дощ і вітер.",
            ),
            "яку каву вона п'є?",
            2,
        ),
        (
            (
                "我昨天买了一辆自行车。",
                "她不喜欢吃辣的菜。",
                "我们明天去东京看樱花。",
                "会议改到星期五。",
            ),
            "什么时候去东京？",
            3,
        ),
        (
            ("My sister adopted a puppy.", "The train was late again.", "I paid the rent."),
            "Who has a dog?",
            1,
        ),
    ],
)
def test_wordllama_finds_what_was_said(
    tmp_path: Path, texts: tuple[str, ...], query: str, seq: int
) -> None:
    """English by meaning; other languages by the tokens that both sides have."""
    with cw.Store(tmp_path / "store.db") as store:
        store.conversation("a").add([cw.user(text) for text in texts])
        store.index()
        assert nearest(store, query, "a")[0][0] == (1, seq)


def test_pages_follow_each_other(place: str) -> None:
    told: list[tuple[int, int]] = []
    with opened(place) as store:
        filled(store)
        done = store.index(progress=lambda *figures: told.append(figures))
        assert (done.words, done.vectors) == (740, 740)
        assert [one[:3] for one in pages(store)] == [
            (1, 1, 256),
            (1, 257, 512),
            (1, 513, 700),
            (2, 351, 390),
        ]
        assert told[-1] == (1_480, 1_480)
        assert [figures[0] for figures in told] == sorted(figures[0] for figures in told)
        again = pages(store)
        assert store.index(again=True).vectors == 740
        assert pages(store) == again
        assert store.index("b", again=True).vectors == 740, "with what it was forked from"
        assert pages(store) == again


def test_a_few_messages_may_wait(place: str) -> None:
    with opened(place) as store:
        chat = store.conversation("a")
        counts: list[int] = []
        for length in (1, 8, 8, 40, 400, 4, 60, 10):
            chat.add([cw.user("tea")] * length)
            counts.append(store.index("a").vectors)
        assert counts == [1, 8, 8, 40, 400, 0, 0, 74]
        chat.add(cw.user("tea"))
        assert store.index("a").vectors == 0
        assert store.index("a", few=0).vectors == 1
        assert store.index("nobody").vectors == 0


def test_it_goes_on_where_it_was_interrupted(place: str) -> None:
    calls: list[int] = []

    def function(texts: Sequence[str]) -> list[Any]:
        calls.append(len(texts))
        if len(calls) == 3:
            raise ConnectionError
        return embed(texts)

    with opened(place, embedder=cw.recall.Embedder("bag-24", function, batch=256)) as store:
        filled(store)
        with pytest.raises(cw.errors.EmbedderError):
            store.index()
        assert [one[:3] for one in pages(store)] == [(1, 1, 256), (1, 257, 512)]
        assert store.index().vectors == 228
        assert calls == [256, 256, 188, 188, 40]
        kept = pages(store)
        store.index(again=True)
        assert pages(store) == kept


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[2])
import contextwright as cw
from doubles import embed
calls = 0
def function(texts):
    global calls
    calls += 1
    if calls == 3:
        os.kill(os.getpid(), 9)
    return embed(texts)
cw.Store(sys.argv[1], embedder=cw.recall.Embedder("bag-24", function, batch=256)).index()
"""


def test_a_killed_process_loses_nothing(place: str) -> None:
    with opened(place) as store:
        filled(store)
    here = str(TESTS)
    assert subprocess.run([sys.executable, "-c", KILLED, place, here]).returncode == -9
    with opened(place) as store:
        assert [one[2] for one in pages(store)] == [256, 512]
        store.index()
        assert examine(store.engine).findings == []
        kept = pages(store)
        store.index(again=True)
        assert pages(store) == kept


def test_many_at_once_make_the_same_pages(place: str) -> None:
    """Threads of one store and of another, while somebody adds and somebody looks."""
    with opened(place) as alone:
        filled(alone)
        alone.index()
        expected = pages(alone)
        run_sql(alone, "DELETE FROM vectors")
    barrier = threading.Barrier(4, timeout=60)
    failures: list[BaseException] = []

    def work(store: cw.Store, number: int) -> None:
        try:
            barrier.wait()
            store.index()
            if number == 0:
                store.conversation("c").add(cw.user("train"))
            assert nearest(store, "tea", "b", 1)[0][1] > 0.5
        except BaseException as error:
            failures.append(error)

    with opened(place) as one, opened(place) as other:
        crowd = [
            threading.Thread(target=work, args=(store, number))
            for number, store in enumerate((one, one, other, other))
        ]
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
        assert failures == []
        assert [page for page in pages(one) if page[0] != 4] == expected


def test_wrong_answers_store_nothing(place: str) -> None:
    answers: list[Any] = [[[1.0, 2.0]] * 5, [[float("nan")] * 2] * 4, [[0.5, 1.0]] * 4]
    with opened(place, embedder=cw.recall.Embedder("x", lambda texts: answers.pop(0))) as store:
        store.conversation("a").add([cw.user("tea")] * 4)
        for problem in ("for 4 texts", "not finite"):
            with pytest.raises(cw.UsageError, match=problem):
                store.index()
            assert pages(store) == []
        assert store.index().vectors == 4
    with opened(place, embedder=cw.recall.Embedder("x", lambda texts: [[1.0, 2.0, 3.0]])) as store:
        kept = pages(store)
        store.conversation("a").add(cw.user("soup"))
        for act in (store.index, lambda: nearest(store, "tea", "a")):
            with pytest.raises(cw.UsageError, match="vectors of 3 numbers, after 2 before"):
                act()
        assert pages(store) == kept


def test_another_embedder_has_vectors_of_its_own(place: str) -> None:
    with opened(place) as store:
        filled(store, 20)
        store.index()
        store.for_tenant("other").index()
        old = pages(store)
    flat = cw.recall.Embedder("flat", lambda texts: [[1.0, len(text)] for text in texts])
    with opened(place, embedder=flat) as store:
        assert nearest(store, "tea", "a") == []
        assert store.index().vectors == 60
        assert set(old) < set(pages(store))
        assert nearest(store, "tea", "a")[0][1] > 0.5
        assert store.drop_unused_vectors() == 60
        assert store.drop_unused_vectors() == 0
        assert set(pages(store)) & set(old) == {old[-1]}, "another tenant's are not touched"
    with opened(place, embedder=None) as store:
        assert store.index().vectors == 0
        with pytest.raises(cw.UsageError, match="no vectors in use"):
            store.drop_unused_vectors()
