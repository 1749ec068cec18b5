"""Group commit: many writers share a transaction."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from contextwright.store.engines.group_commit import Entry, Writer


def test_writers_share_transactions() -> None:
    """While one transaction runs, all others gather for the next."""
    sizes: list[int] = []
    begun, go = threading.Event(), threading.Event()

    def transact(entries: Sequence[Entry]) -> None:
        sizes.append(len(entries))
        begun.set()
        assert go.wait(10)
        for entry in entries:
            entry.do(None)  # pyright: ignore[reportArgumentType]

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
