"""Stores with vectors, and the nearest by hand."""

from __future__ import annotations

import random
from collections.abc import Collection
from pathlib import Path
from typing import Any

import contextwright as cw
from contextwright.store.recall.nearest import Nearest
from contextwright.store.rows import conversations
from doubles import bag

WORDS = ("tea", "soup", "кава", "东京", "green", "rain", "train", "seven")


def opened(place: str | Path, **options: Any) -> cw.Store:
    return cw.Store(place, sync="fast", **{"embedder": bag(), **options})


def nearest(
    store: cw.Store,
    query: str,
    id: str | None,
    most: int = 1_000,
    last: int | None = None,
    without: Collection[int] = (),
    asks: bool = False,
) -> Nearest:
    space = store.state.index.vectors
    assert space is not None
    vector = space.vector_of(query)

    def work(connection: Any) -> Nearest:
        if id is None:
            return space.nearest_of_tenant(connection, store.tenant, vector, most)
        head = conversations.require(connection, store.tenant, id)
        return space.nearest(connection, head, vector, most, asks=asks, last=last, without=without)

    return store.engine.read(work)


def pages(store: cw.Store) -> list[tuple[Any, ...]]:
    sql = "SELECT conversation, first, last, body FROM vectors ORDER BY conversation, first"
    return store.engine.read(lambda connection: [tuple(row) for row in connection.rows(sql)])


# --- making pages --------------------------------------------------------------------------------


def filled(store: cw.Store, length: int = 700) -> None:
    chance = random.Random(length)
    chat = store.conversation("a")
    chat.add([cw.user(" ".join(chance.choices(WORDS, k=4))) for _ in range(length)])
    chat.fork("b", at=length // 2).add([cw.user("tea soup")] * 40)
    store.for_tenant("other").conversation("a").add([cw.user("rain")] * 10)
