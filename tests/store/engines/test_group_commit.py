"""Group commit: many writers share a transaction."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import SimpleNamespace

import contextwright as cw
from contextwright.store.engines.base import Connection
from contextwright.store.engines.group_commit import Entry, Writer

IDLE = SimpleNamespace(written=0)
"""Stands for a connection that nothing is written to."""


def test_writers_share_transactions() -> None:
    """While one transaction runs, all others gather for the next."""
    sizes: list[int] = []
    begun, go = threading.Event(), threading.Event()

    def transact(entries: Sequence[Entry]) -> None:
        sizes.append(len(entries))
        begun.set()
        assert go.wait(10)
        for entry in entries:
            entry.do(IDLE)  # pyright: ignore[reportArgumentType]

    writer = Writer(transact)
    results: dict[int, int] = {}

    def write(number: int) -> None:
        results[number] = writer.write(lambda _: number, "")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(20)]
    threads[0].start()
    assert begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    while len(writer._waiting) < 19:  # pyright: ignore[reportPrivateUsage]
        pass
    go.set()
    for thread in threads:
        thread.join()
    assert sizes == [1, 19]
    assert results == {number: number for number in range(20)}


def test_work_that_fails_halfway_leaves_nothing(place: str) -> None:
    """What shares its transaction stays, whether it came before or behind it."""

    def title(connection: Connection, id: str) -> None:
        connection.run("UPDATE conversations SET title = 'new' WHERE id = ?", id)

    def fail(connection: Connection) -> None:
        title(connection, "b")
        raise cw.errors.StoreError("damaged")

    with cw.Store(place) as store:
        for id in "abc":
            store.conversation(id).add(cw.user("Hello!"))
        works = [lambda _: title(_, "a"), fail, lambda _: title(_, "c")]
        outcomes = store.engine.write_each([("", work) for work in works])
        assert [str(outcome) for outcome in outcomes] == ["None", "damaged", "None"]
        assert {chat.id: chat.title for chat in store.list()} == {"a": "new", "b": None, "c": "new"}
        assert [str(one) for one in store.engine.write_each([("", fail)])] == ["damaged"]
        assert store.conversation("b").details().title is None
