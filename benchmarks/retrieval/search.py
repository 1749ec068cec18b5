"""What an index of words costs, and how long a search takes in a long conversation.

    uv run python -m benchmarks.retrieval.search [--messages 100000]

Times are CPU of this process. The first line shows why the store indexes behind the turns, many at
once: what a turn would cost if the index were brought up to date after each.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from contextwright import Store
from contextwright.store.recall import terms

from .. import workload
from ..storage.store import best_of, fill

QUERIES = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show_turns(Path(folder) / "turns.db")
        show_searches(Path(folder) / "long.db", options.messages)
    return 0


def show_turns(file: Path) -> None:
    """A turn of four messages as it is stored, and with the index brought up behind it."""
    four = list(workload.clean(100).messages[:4])
    with Store(file) as store:
        chat = store.conversation("c")

        def indexed() -> None:
            chat.add(four)
            store.index()

        plain, both = best_of(lambda: chat.add(four)), best_of(indexed)
    print(f"a turn of four: {plain * 1e6:.0f} µs; with its index {both / plain:.1f} times that")


def show_searches(file: Path, length: int) -> None:
    """A conversation is indexed once, then searched."""
    fill(file, length, conversations=1)
    before = file.stat().st_size
    with Store(file, sync="fast") as store:
        spent = timed(lambda: store.index())
        print(f"{length:,} messages indexed at {spent / length * 1e6:.0f} µs each")
        chance = random.Random(1)
        words = sorted(
            {term for one in workload.clean(2_000).messages for term in terms.terms_in(one)}
        )
        for count in (1, 3, 10):
            queries = [" ".join(chance.sample(words, count)) for _ in range(QUERIES)]
            show(
                "one conversation",
                count,
                [timed(lambda q=q: store.search(q, "c0")) for q in queries],
            )
            show("all of them", count, [timed(lambda q=q: store.search(q)) for q in queries])
    size = file.stat().st_size
    print(f"{(size - before) / 1e6:,.0f} MB of index beside {before / 1e6:,.0f} MB")


def show(where: str, count: int, times: list[float]) -> None:
    """Median and nearly the worst."""
    median, late = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    print(f"{count:>3} words in {where:<17} {median * 1e3:>6.2f} ms, p95 {late * 1e3:>6.2f} ms")


def timed(run: Callable[[], object]) -> float:
    """CPU of one call."""
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
