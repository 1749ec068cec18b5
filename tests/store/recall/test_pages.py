"""Small pages of the index are merged as it grows, and it answers the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.store.care.doctor import examine
from contextwright.store.recall import vectors
from contextwright.store.rows import index
from profiles import STORE, examples
from samples.stores.vectors import WORDS, nearest, opened, pages

NUMBERS = itertools.count()
ROUNDING = 1e-4
"""Texts that are embedded together add up their words in another order than one by one."""
turns = st.lists(
    st.lists(st.sampled_from((*WORDS, "?", "tea. " * 700)), min_size=1, max_size=5),
    min_size=1,
    max_size=20,
)


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared") / "store.db"


def rows(store: cw.Store, table: str) -> list[int]:
    """The first message of each page of a conversation."""
    sql = f"""
SELECT p.first FROM {table} p JOIN conversations c ON c.number = p.conversation
WHERE c.tenant = ? ORDER BY p.first"""
    return [first for (first,) in store.engine.read(lambda one: one.rows(sql, store.tenant))]


@examples(STORE)
@given(turns, st.integers(1, 9), st.sampled_from(WORDS))
def test_merged_pages_answer_as_those_made_at_once(
    shared_file: Path, turns: list[list[str]], page: int, query: str
) -> None:
    """Also in a store that had read them before, with any size of a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "PAGE_MESSAGES", page)
        patch.setattr(index, "MAX_ROW_MESSAGES", page)
        names = [f"t{next(NUMBERS)}" for _ in range(2)]
        with opened(shared_file, tenant=names[0]) as grown:
            with opened(shared_file, tenant=names[1]) as at_once:
                for turn in turns:
                    for store in (grown, at_once):
                        store.conversation("a").add([cw.user(text) for text in turn])
                    grown.index("a", few=0)
                    nearest(grown, query, "a")
                    grown.recall(query)
                at_once.index()
                for id in ("a", None):
                    found = [
                        {place[1]: cosine for place, cosine in nearest(store, query, id)}
                        for store in (grown, at_once)
                    ]
                    assert found[0] == pytest.approx(found[1], abs=ROUNDING)
                both = [
                    {(one.seq, one.parts): one.score for one in store.recall(query)}
                    for store in (grown, at_once)
                ]
                assert both[0] == pytest.approx(both[1], abs=ROUNDING)


def test_a_message_at_a_time_leaves_few_pages(tmp_path: Path) -> None:
    """As many as bits of the last page's length; the doctor finds nothing to mend."""
    with opened(tmp_path / "store.db") as store:
        chat = store.conversation("a")
        for number in range(vectors.PAGE_MESSAGES + 7):
            chat.add(cw.user(f"{WORDS[number % 8]} {number}"))
            store.index("a", few=0)
        assert [(first, last) for _, first, last, _ in pages(store)] == [
            (1, 256), (257, 260), (261, 262), (263, 263),
        ]  # fmt: skip
        assert rows(store, "outlines") == [1, 257, 261, 263]
        assert not examine(store.engine).findings
