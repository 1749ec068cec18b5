"""Vectors: what embedding costs, what a turn pays for it, how long the nearest take.

    uv run python -m benchmarks.retrieval.vectors [--messages 100000]

CPU of this process, the best of several. Messages are words of `workload.py` in any order.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from contextwright import Store, Turn, user
from contextwright.recall.vectors.choose import EmbedderChoice, choose_embedder
from contextwright.store.recall import vectors
from contextwright.store.rows import conversations

from .. import workload
from ..storage.store import best_of

QUESTIONS = ("When did we speak about the budget?", "Who likes coffee?", "the failing test")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show_embedding()
        show_turns(Path(folder))
        show_nearest(Path(folder) / "long.db", options.messages)
    return 0


def show_embedding() -> None:
    """The default embedder: loading, a question, many messages."""
    embedder = choose_embedder("wordllama")
    assert embedder is not None
    print(f"wordllama is ready after {timed(lambda: embedder(['x'])):.2f} s")
    sentence = (
        "Alice said that the meeting about the budget was moved to Thursday, and Bob agreed. "
    )
    texts = [f"{number} {sentence * 3}"[:200] for number in range(5_000)]
    many, one = (
        best_of(lambda: embedder(texts), rounds=3, repeats=1),
        best_of(lambda: embedder(texts[:1])),
    )
    print(f"messages of 200 characters: {len(texts) / many:,.0f} a second; one {one * 1e6:.0f} µs")
    long = sentence * 2_000
    half, whole = (
        best_of(lambda: embedder([long]), rounds=5, repeats=1),
        best_of(lambda: embedder([long * 2]), rounds=5, repeats=1),
    )
    print(f"{len(long):,} characters: {half * 1e3:.0f} ms; twice as many {whole / half:.1f} times")


def show_turns(folder: Path) -> None:
    """A turn of four messages in a store with an embedder, and in one without."""
    four = list(workload.clean(100).messages[:4])
    times: dict[str, float] = {}
    embedders: dict[str, EmbedderChoice] = {"without": None, "with": "wordllama"}
    for name, embedder in embedders.items():
        with Store(folder / f"{name}.db", embedder=embedder) as store:
            chat = store.conversation("c")
            chat.add(four)
            store.index()
            times[name] = best_of(lambda chat=chat: chat.add(four))
    ratio = times["with"] / times["without"]
    print(f"a turn of four: {times['without'] * 1e6:.0f} µs; with an embedder {ratio:.2f} times")


def show_nearest(file: Path, length: int) -> None:
    """A conversation is embedded once, then asked."""
    chance = random.Random(1)
    words = sorted({word for one in workload.clean(2_000).messages for word in one.text.split()})
    with Store(file, sync="fast", embedder=None) as store:
        messages = [user(" ".join(chance.choices(words, k=25))) for _ in range(length)]
        store.add_all(Turn("c0", messages[start : start + 100]) for start in range(0, length, 100))
    before = file.stat().st_size
    with Store(file, sync="fast", embedder="wordllama") as store:
        store.index(words_only=True)
        with_words = file.stat().st_size
        spent = timed(lambda: store.index())
        print(f"{length:,} messages embedded and kept at {spent / length * 1e6:.0f} µs each")
        space = store.state.index.vectors
        assert space is not None
        questions = space.embedder(QUESTIONS)

        def ask() -> None:
            for question in questions:
                store.engine.read(
                    lambda connection, question=question: space.nearest(
                        connection, conversations.require(connection, "", "c0"), question, 200
                    )
                )

        print(f"first question, which reads them: {timed(ask) * 1e3:.0f} ms")
        print(
            f"200 nearest: {best_of(ask, rounds=10, repeats=1) / len(questions) * 1e3:.1f} ms CPU"
        )
        wall = min(clocked(ask) for _ in range(10))
        print(f"200 nearest: {wall / len(questions) * 1e3:.1f} ms by the clock")
        tenant = best_of(
            lambda: store.engine.read(
                lambda connection: space.nearest_of_tenant(connection, "", questions[0], 200)
            ),
            rounds=3,
            repeats=1,
        )
        print(f"200 nearest of the tenant, from the pages: {tenant * 1e3:.0f} ms")
        store.conversation("c0").add([user("Something new was said.")] * 100)
        more = timed(lambda: store.index("c0"))
        print(
            f"100 new messages: {more * 1e3:.1f} ms, then a question {timed(ask) / 3 * 1e3:.1f} ms"
        )
    size = file.stat().st_size
    rows = vectors.row_size(256)
    print(
        f"{(size - with_words) / 1e6:,.0f} MB of vectors ({rows} bytes a piece) beside "
        f"{before / 1e6:,.0f} MB of messages"
    )


def timed(run: Callable[[], object]) -> float:
    """CPU of one call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def clocked(run: Callable[[], object]) -> float:
    """The time of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
