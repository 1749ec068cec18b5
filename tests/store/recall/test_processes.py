"""What one process has in memory is valid only until another one rewrites messages."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from profiles import STORE, examples
from samples.stores.vectors import WORDS, nearest, opened

NUMBERS = itertools.count()

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
steps = st.lists(
    st.tuples(st.sampled_from(("add", "edit", "erase", "fork")), st.integers(1, 9), words),
    min_size=1,
    max_size=6,
)


def answers(store: cw.Store, query: str) -> list[object]:
    """What a store finds, in a conversation, in a fork of it and everywhere."""
    found: list[object] = [nearest(store, query, None)]
    for id in ("a", "b"):
        if id in {one.id for one in store.list()}:
            found.append(nearest(store, query, id))
            found.append(store.conversation(id).recall(query, budget=300).items)
    return [*found, store.recall(query, budget=300).items]


def change(store: cw.Store, step: str, seq: int, text: str) -> None:
    """Change a conversation as another process would."""
    chat = store.conversation("a")
    seq = min(seq, len(chat))
    is_gone = {one.seq: one.message for one in chat.read(hidden=True)}[seq].visibility == "erased"
    if step == "add":
        chat.add(cw.user(text))
    elif step == "edit" and not is_gone:
        chat.edit(seq, text)
    elif step == "erase":
        chat.erase(seq, scrub=False)
    elif step == "fork" and len([*store.list()]) == 1:
        chat.fork("b", at=seq).add(cw.user(text))


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared") / "store.db"


@examples(STORE)
@given(st.lists(words, min_size=1, max_size=6), steps, words)
def test_what_others_rewrote_is_read_again(
    shared_file: Path, said: list[str], steps: list[tuple[str, int, str]], query: str
) -> None:
    """A store that answered before answers as one that was just opened."""
    tenant = f"t{next(NUMBERS)}"
    with (
        opened(shared_file, tenant=tenant) as reader,
        opened(shared_file, tenant=tenant) as writer,
    ):
        reader.conversation("a").add([cw.user(text) for text in said])
        for step in steps:
            answers(reader, query)
            change(writer, *step)
            writer.index()
            with opened(shared_file, tenant=tenant) as fresh:
                assert answers(reader, query) == answers(fresh, query), step


def test_an_edit_of_another_process_is_found(place: str) -> None:
    with opened(place) as reader, opened(place) as writer:
        reader.conversation("a").add([cw.user("green tea"), cw.user("soup")])
        reader.index()
        before = nearest(reader, "rain", "a"), nearest(reader, "rain", None)
        writer.conversation("a").edit(1, "rain")
        writer.index()
        after = nearest(reader, "rain", "a"), nearest(reader, "rain", None)
        assert [one[0][0] for one in after] == [(1, 1), (1, 1)]
        assert before != after
