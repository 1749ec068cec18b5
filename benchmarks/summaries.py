"""What a digest tells of what people ask about later, and what summaries cost a build.

    uv run python benchmarks/summaries.py [--data FOLDER]

With recorded conversations (the folder holds `recall/*.jsonl`): the share of the messages that
questions are about which a digest of the whole conversation has a line of, and how many times as
much that is as of equally many messages at random. Without: builds of a kept history with and
without a digest, in one run.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import contextwright as cw
from contextwright.summaries.digest import Digest

SETS = ("locomo", "realtalk", "beam_100K")
TOKENS = (200, 400, 800)


def conversations(file: Path) -> Iterator[tuple[list[cw.Message], Counter[int]]]:
    """Messages, and how often each is what a question is about."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            places = {said["id"]: number for number, said in enumerate(row["messages"], 1)}
            asked = [one for question in row["questions"] for one in question["evidence"]]
            messages = [
                cw.user(said["text"], author=cw.Author(name=said["speaker"] or said["role"]))
                for said in row["messages"]
            ]
            yield messages, Counter(places[one] for one in asked if one in places)


def told(file: Path, tokens: int) -> tuple[float, float]:
    """The share of what is asked about that a digest tells, and that share over chance."""
    found = wanted = 0
    chance = 0.0
    for messages, asked in conversations(file):
        digest = Digest(cw.SummaryPolicy(tokens).longest)
        for message in messages:
            digest.add(message)
        lines = digest.summary.lines
        found += sum(asked[line.number] for line in lines)
        wanted += asked.total()
        chance += asked.total() * len(lines) / len(messages)
    return found / wanted, found / chance


def best(work: Callable[[], object], times: int = 20) -> float:
    """Seconds of processor time, at their best."""
    found: list[float] = []
    for _ in range(times):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


def costs(count: int) -> None:
    """Builds of a history that is kept, in turn."""
    messages: list[cw.Message] = []
    for number in range(count // 2):
        messages.append(cw.user(f"What about place {number} on the way to the sea?"))
        messages.append(cw.assistant(f"Place {number} has {number * 7} houses. It is quiet there."))
    messages.append(cw.user("And now?"))
    plain, telling = cw.Recipe(budget=3_000), cw.Recipe(budget=3_000, summary=cw.SummaryPolicy())
    model = "gpt-4o"
    first = best(lambda: telling.build(telling.history(messages, model=model), model=model), 3)
    without = best(lambda: plain.history(messages, model=model), 3)
    kept, told = (one.history(messages, model=model) for one in (plain, telling))
    bare = best(lambda: plain.build(kept, model=model))
    again = best(lambda: telling.build(told, model=model))
    print(f"{count:>7,} messages: a build {bare * 1000:.2f} ms, with a digest {again / bare:.2f} ×")
    print(f"        the first digest {(first - without) / without:.2f} × the pricing of all")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="a folder with recall/*.jsonl")
    folder: Path | None = parser.parse_args().data
    for count in (1_000, 10_000):
        costs(count)
    if folder is not None:
        for name in SETS:
            file = folder / "recall" / f"{name}.jsonl"
            rows = [told(file, tokens) for tokens in TOKENS]
            line = "   ".join(
                f"{tokens} tokens {share:.1%} ({lift:.1f} ×)"
                for tokens, (share, lift) in zip(TOKENS, rows, strict=True)
            )
            print(f"{name:<10} {line}", flush=True)


if __name__ == "__main__":
    main()
