"""What a turn costs at any length, how fast a large store opens, how large it is on disk.

    uv run python -m benchmarks.storage.store [--messages 1000000]

Times are CPU of this process, the best of several rounds; the work is that of `workload.py`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from contextwright import Message, Store, Turn, user
from contextwright.text.json import encode_json

from .. import workload

LENGTHS = (100, 10_000, 100_000)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000, help="of the large store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show_growth(Path(folder))
        show_large(Path(folder) / "large.db", options.messages)
    return 0


def show_growth(folder: Path) -> None:
    """One turn, and the newest messages, at several lengths of one conversation."""
    said = user("What is left of the budget for this month?")
    four = list(workload.clean(100).messages[:4])
    print(f"{'messages':>10} {'add one':>10} {'add four':>10} {'fast, one':>10} {'last 20':>10}")
    for length in LENGTHS:
        file = folder / f"{length}.db"
        fill(file, length, conversations=1)
        with Store(file) as store, Store(file, sync="fast") as fast:
            chat, quick = store.conversation("c0"), fast.conversation("c0")
            rounds: list[Callable[[], object]] = [
                lambda chat=chat: chat.add(said),
                lambda chat=chat: chat.add(four),
                lambda quick=quick: quick.add(said),
                lambda chat=chat: chat.tail(20),
            ]
            cells = [f"{best_of(one) * 1e6:>7.0f} µs" for one in rounds]
        print(f"{length:>10,} " + " ".join(cells))


def show_large(file: Path, length: int) -> None:
    """How long it takes to open a store, and what it takes on the disk."""
    raw = fill(file, length, conversations=1_000)
    opened = min(elapsed(lambda: Store(file).close()) for _ in range(10))
    size = file.stat().st_size
    print(f"\n{length:,} messages in 1,000 conversations")
    print(f"opened in {opened * 1e3:.1f} ms of wall clock")
    print(f"{size / 1e6:,.0f} MB on disk, {size / raw:.2f} times the JSON of the messages")


def fill(file: Path, length: int, *, conversations: int) -> int:
    """Write a store; gives the size of the messages alone."""
    sizes = 0

    def turns() -> Iterator[Turn]:
        nonlocal sizes
        pool = [list(pair) for pair in pairs(workload.clean(2_000).messages)]
        for number in range(length // 2):
            messages = pool[number % len(pool)]
            sizes += sum(len(encode_json(message)) for message in messages)
            yield Turn(f"c{number % conversations}", messages, f"turn-{number:09d}")

    with Store(file, sync="fast") as store:
        store.add_all(turns())
    return sizes


def pairs(messages: tuple[Message, ...]) -> Iterator[tuple[Message, Message]]:
    """Messages two by two."""
    return zip(messages[::2], messages[1::2], strict=False)


def best_of(run: Callable[[], object], *, rounds: int = 7, repeats: int = 50) -> float:
    """CPU of one call: the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeats):
            run()
        best = min(best, (time.process_time() - start) / repeats)
    return best


def elapsed(run: Callable[[], object]) -> float:
    """Wall clock of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
