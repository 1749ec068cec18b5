"""Options of recall: what makes no sense is refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import contextwright as cw


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        yield store


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": -1}, {"budget": 1.5}, {"budget": True}, {"min_score": 1.1}, {"min_score": -0.1},
        {"min_score": float("nan")}, {"limit": -1}, {"query": None}, {"query": b"tea"},
        {"about": ""}, {"about": 7}, {"min_score": None}, {"min_score": "0.5"},
        {"now": "2026-05-04"}, {"now": 7},
        {"ranking": None}, {"ranking": {"recency": 1}}, {"model": 5}, {"price": 5},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(store: cw.Store, wrong: dict[str, Any]) -> None:
    chat = store.conversation("a")
    chat.add(cw.user("tea"))
    ((name, _),) = wrong.items()
    options = {"query": "tea", **wrong}
    for recall in (chat.recall, store.recall):
        with pytest.raises(cw.UsageError, match=f"^{name} cannot be "):
            recall(**options)
    assert not list(store.conversation("nobody").recall("tea"))


@pytest.mark.parametrize("price", [-1, 1.5, "7", None, True])
def test_a_price_that_is_no_number_of_tokens_is_refused(store: cw.Store, price: Any) -> None:
    chat = store.conversation("a")
    chat.add(cw.user("tea"))
    for recall in (chat.recall, store.recall):
        with pytest.raises(cw.UsageError, match="^the price of a message cannot be "):
            recall("tea", price=lambda message: price)
