"""One turn of a chat over a store: add a question, build the request; at any length, by CPU.

    uv run python benchmarks/turns.py [--sizes 100,10000,100000]

Beside it runs what one writes by hand over the same rows: insert, read the newest until their
stored counts fill the budget, encode. Rounds of both alternate, and the best of each counts. What
peers need for the same turn stands in docs/performance.md, with where it was measured.
"""

from __future__ import annotations

import argparse
import gc
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import msgspec

import workload
from contenders import naive
from contextwright import Conversation, Message, Recipe, Settings, Store, user
from contextwright.context.fitting.recent import RECENT
from contextwright.store.records import Turn
from contextwright.tokens.count import count_text

MODEL = "gpt-4o"
BUDGET = 8_000
RECIPE = Recipe(system=("You are Ada.",), budget=BUDGET)
ROUNDS = 60
QUESTION = workload.words(Random(1), 400)

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Message).decode


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--sizes", default="100,10000,100000")
    sizes = [int(size) for size in options.parse_args().sizes.split(",")]
    print(
        f"{'messages':>10}{'by hand':>12}{'ours':>12}{'ours / hand':>13}{'kept':>6}"
        f"{'cold':>12}{'again':>12}"
    )
    first = ours = 0.0
    for size in sizes:
        with TemporaryDirectory() as folder:
            hand, ours, kept, cold, again = measured(Path(folder), size)
        first = first or ours
        print(
            f"{size:>10,}{hand * 1e3:>9.2f} ms{ours * 1e3:>9.2f} ms{ours / hand:>13.2f}"
            f"{kept:>6}{cold * 1e3:>9.2f} ms{again * 1e3:>9.2f} ms"
        )
    print(f"the longest costs {ours / first:.2f} of the shortest")
    return 0


def measured(folder: Path, size: int) -> tuple[float, float, int, float, float]:
    """Seconds by hand and by us, messages in our window, and of a store just opened, and again."""
    messages = workload.clean(size).messages[1:]
    file = folder / "store.db"
    with Store(file) as store:
        store.add_all(Turn("chat", messages[at : at + 50]) for at in range(0, size, 50))
        chat = store.conversation("chat")
        kept = len(chat.context(RECIPE, model=MODEL).payload["messages"])

        def turn() -> None:
            chat.add(user(QUESTION))
            chat.context(RECIPE, model=MODEL)

        hand = by_hand(folder / "hand.db", messages)
        del messages  # a hundred thousand values would slow down both
        best = alternating(hand, turn)

    def opened() -> None:
        with Store(file) as store:
            store.conversation("chat").context(RECIPE, model=MODEL)

    colds: list[float] = []
    for _ in range(20):
        RECENT.forget()  # the prices of all texts
        colds.append(elapsed(opened))
    return *best, kept, min(colds), min(elapsed(opened) for _ in range(20))


def alternating(*runs: Callable[[], object]) -> tuple[float, float]:
    """The best CPU time of each, in alternating rounds."""
    best = [float("inf")] * len(runs)
    gc.collect()
    gc.disable()
    for _ in range(ROUNDS):
        for index, run in enumerate(runs):
            best[index] = min(best[index], elapsed(run))
    gc.enable()
    return best[0], best[1]


def elapsed(run: Callable[[], object]) -> float:
    start = process_time()
    run()
    return process_time() - start


def by_hand(file: Path, messages: tuple[Message, ...]) -> Callable[[], object]:
    """The loop one would write: rows with their counts, the newest first, until they fill it."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE messages (seq INTEGER PRIMARY KEY, tokens, body)")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO messages (tokens, body) VALUES (?, ?)", map(row, messages))
    connection.execute("COMMIT")

    def turn() -> Any:
        connection.execute("INSERT INTO messages (tokens, body) VALUES (?, ?)", row(user(QUESTION)))
        kept: list[Message] = []
        tokens = 0
        newest = "SELECT tokens, body FROM messages ORDER BY seq DESC"
        for count, body in connection.execute(newest):
            tokens += count
            if tokens > BUDGET:
                break
            kept.append(decode(body))
        kept.reverse()
        conversation = Conversation(tuple(kept), settings=Settings(max_tokens=1_024))
        return naive.LOOPS["openai-chat"](conversation, MODEL)

    return turn


def row(message: Message) -> tuple[int, bytes]:
    body = encode(message)
    return count_text(body.decode(), MODEL).tokens, body


if __name__ == "__main__":
    raise SystemExit(main())
