"""The first question of a fresh process: what it takes, and which part of it is what.

    uv run python -m benchmarks.retrieval.first [--rounds 5]

Each kind of recall is asked in processes of their own, with bytecode that is kept; CPU
milliseconds, the median of all rounds. The conversation has 1,000 messages and is indexed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from contextwright import Store
from contextwright.recall.vectors.choose import EmbedderChoice

from .recalling import talk

KINDS: tuple[tuple[str, EmbedderChoice], ...] = (
    ("words", None),
    ("wordllama", "wordllama"),
    ("multilingual", "multilingual"),
)
STEPS = ("start", "open", "numpy", "embedder", "question", "total", "next")
ASK = """
import sys, time
laps = [time.process_time()]
def lap():
    laps.append(time.process_time())
from contextwright import Store
embedder = None if sys.argv[2] == "words" else sys.argv[2]
store = Store(sys.argv[1], embedder=embedder)
chat = store.conversation("c")
lap()
if embedder:
    import numpy
lap()
if embedder:
    store.state.index.vectors.embedder.one("Who said that?")
lap()
chat.recall("What did Bohdan say about the budget last week?")
lap()
chat.recall("Who was late on Thursday?")
lap()
print(*laps)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'CPU ms':14}" + "".join(f"{step:>12}" for step in STEPS))
        for name, embedder in KINDS:
            place = Path(folder) / f"{name}.db"
            with Store(place, embedder=embedder) as store:
                store.conversation("c").add(list(talk(1_000)))
                store.index()
            rounds = [asked(place, name, folder) for _ in range(options.rounds + 1)][1:]
            medians = map(statistics.median, zip(*rounds, strict=True))
            print(f"{name:14}" + "".join(f"{one * 1e3:12.0f}" for one in medians), flush=True)
    return 0


def asked(place: Path, name: str, folder: str) -> list[float]:
    """The seconds of each step in a process of its own."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(place), name],
        env={**kept, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"},
        check=True,
        capture_output=True,
        text=True,
    )
    laps = [float(lap) for lap in done.stdout.split()]
    steps = [after - before for before, after in zip([0.0, *laps], laps, strict=False)]
    return [*steps[:-1], laps[-2], steps[-1]]


if __name__ == "__main__":
    sys.exit(main())
