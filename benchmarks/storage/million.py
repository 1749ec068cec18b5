"""A million messages on one machine: what recall takes, in one conversation and in many.

    OPENBLAS_NUM_THREADS=1 nice -n 19 uv run python -m benchmarks.storage.million \\
        [--messages 1000000] [--conversations 1,10000] [--folder KEPT]

The messages are those of `benchmarks.retrieval.recalling`; the embedder is wordllama, because the
default one would take an hour. Each kind of recall is asked in a process of its own, whose largest
memory is printed beside the times. With `--folder` the stores are kept, and made only once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path

from contextwright import Message, Store, Turn

from ..retrieval.recalling import START, questions, talk

KINDS = (("words", None), ("words and vectors", "wordllama"))
TURN = 100
"""Messages of a turn."""
NOW = START + timedelta(days=200)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--conversations", default="1,10000")
    parser.add_argument("--folder", type=Path, help="where stores are kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        print(
            f"{'conversations':>13} {'':18}{'p50':>8}{'p95':>8}"
            f"{'CPU p50':>9}{'CPU p95':>9}{'first':>8} ms",
            end="",
        )
        print(f"{'MB':>8}")
        for conversations in map(int, options.conversations.split(",")):
            place = folder / f"{options.messages}-{conversations}.db"
            if not place.exists():
                make(place, options.messages, conversations)
            for name, embedder in KINDS:
                context = multiprocessing.get_context("spawn")
                arguments = (str(place), options.messages, conversations, name, embedder)
                process = context.Process(target=ask, args=arguments)
                process.start()
                process.join()
    return 0


def make(place: Path, messages: int, conversations: int) -> None:
    """Store the messages, and index them."""
    began = time.perf_counter()
    new = place.with_suffix(".new")
    for old in new.parent.glob(f"{new.name}*"):
        old.unlink()
    with Store(new, sync="fast", embedder="wordllama") as store:
        store.add_all(turns(messages, conversations))
        stored = time.perf_counter()
        store.index()
    new.rename(place)
    print(
        f"{conversations:>13,} made in {stored - began:.0f} s, indexed in"
        f" {time.perf_counter() - stored:.0f} s, {place.stat().st_size / 1e6:,.0f} MB",
        flush=True,
    )


def turns(messages: int, conversations: int) -> Iterator[Turn]:
    """Yield the turns of all conversations, one conversation after the other."""
    said, each = talk(messages), messages // conversations
    place = 0
    while some := [*islice(said, min(TURN, each))]:
        yield Turn(f"c{place // each}", some)
        place += len(some)


def ask(place: str, size: int, conversations: int, name: str, embedder: str | None) -> None:
    """Print the times of questions, and the largest memory of this process."""
    some: list[Message] = [*islice(talk(size), 20_000)]
    asked = [*questions(some)]
    del some
    with Store(place, sync="fast", embedder=embedder) as store:  # pyright: ignore[reportArgumentType]
        source = store if conversations > 1 else store.conversation("c0")
        began = time.perf_counter()
        source.recall("Who is here?", now=NOW)
        first = time.perf_counter() - began
        clocks, cpus = list[float](), list[float]()
        for one in asked:
            began, spent = time.perf_counter(), time.process_time()
            source.recall(one, budget=2_000, now=NOW)
            clocks.append(time.perf_counter() - began)
            cpus.append(time.process_time() - spent)
    p95 = [statistics.quantiles(times, n=20)[-1] * 1e3 for times in (clocks, cpus)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"{conversations:>13,} {name:18}{statistics.median(clocks) * 1e3:>8.1f}"
        f"{p95[0]:>8.1f}{statistics.median(cpus) * 1e3:>9.1f}{p95[1]:>9.1f}"
        f"{first * 1e3:>8.0f}   {memory:>8,.0f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
