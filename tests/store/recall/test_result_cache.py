"""What is kept about all conversations is what the database says, whoever wrote last."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.doubles import bag
from tests.profiles import STORE, examples

import contextwright as cw
from contextwright.store.engines.base import Connection
from contextwright.store.recall.result_cache import ResultCache
from contextwright.store.recall.search import size_of_tenant
from contextwright.store.rows.index import gaps_of

ACTS = st.tuples(
    st.sampled_from(("add", "index", "forget", "hide", "fail", "nothing")),
    st.integers(0, 1),
    st.integers(0, 2),
)


def act(store: cw.Store, what: str, number: int) -> None:
    chat = store.conversation(f"c{number}")
    if what == "add":
        chat.add(cw.user(f"Message of {number}."))
    elif what == "index":
        store.index()
    elif what == "forget" and len(chat):
        store.forget(chat.id)
    elif what == "hide" and len(chat):
        chat.hide(1)
    elif what == "fail":
        store.engine.write_each([("", fail)])


def fail(connection: Connection) -> None:
    """Write, and take it back."""
    connection.run("UPDATE heads SET last = last + 1")
    raise cw.ContextwrightError("no")


@examples(STORE)
@given(acts=st.lists(ACTS, max_size=12))
def test_kept_results_are_those_of_the_database(
    empty_store: Path, acts: list[tuple[str, int, int]]
) -> None:
    """Two stores write to one file in turn; each keeps results of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = shutil.copy(empty_store, Path(folder) / "store.db")
        with cw.Store(place, embedder=bag()) as one, cw.Store(place, embedder=bag()) as other:
            stores, caches = (one, other), (ResultCache(), ResultCache())
            for what, who, number in acts:
                act(stores[who], what, number)
                for store, cache in zip(stores, caches, strict=True):
                    for function in (size_of_tenant, gaps_of):

                        def work(
                            connection: Connection, cache: ResultCache = cache, read=function
                        ) -> None:
                            kept = cache.of(connection, read, "")
                            assert kept == read(connection, "")
                            assert cache.of(connection, read, "") is kept

                        store.engine.read(work)


def test_a_store_recalls_what_another_process_wrote_after_its_last_question(
    place: str,
) -> None:
    """On both engines, with vectors and by words."""
    with cw.Store(place, embedder=bag()) as one, cw.Store(place, embedder=bag()) as other:
        one.conversation("a").add(cw.user("The train leaves at seven."))
        assert len(one.recall("When does the train leave?")) == 1
        other.conversation("b").add(cw.user("The train leaves at nine."))
        assert len(one.recall("When does the train leave?")) == 2
        other.conversation("a").hide(1)
        assert [item.conversation for item in one.recall("When does the train leave?")] == ["b"]
        other.forget("b")
        assert len(one.recall("When does the train leave?")) == 0
