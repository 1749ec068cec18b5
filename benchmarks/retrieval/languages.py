"""How often recall puts the right one of 32 messages first, by language.

    uv run python -m benchmarks.retrieval.languages [--embedder multilingual] [--misses]

The cases are in `tests/recall/languages/`, one file for each language, written for this project: a
message and a question about it, with other forms of its words, with parts of its compounds, in the
other Chinese script, or by meaning alone. All messages of a language are one conversation.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from contextwright import Store, user

FOLDER = Path(__file__).parents[2] / "tests" / "recall" / "languages"
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Case(NamedTuple):
    kind: str
    message: str
    question: str


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="multilingual", help="multilingual or wordllama")
    parser.add_argument("--misses", action="store_true", help="print the questions it fails at")
    options = parser.parse_args()
    print(f"{'':12}{'cases':>6}{'words':>8}{'':10}{options.embedder}")
    for file in sorted(FOLDER.glob("*.tsv")):
        cases = read_cases(file)
        by_words, by_both = (
            [case for case, found in answers(cases, embedder) if found != case.message]
            for embedder in (None, options.embedder)
        )
        print(
            f"{file.stem:12}{len(cases):6}{share(cases, by_words):7.0f} %"
            f"{'':10}{share(cases, by_both):.0f} %"
        )
        if options.misses:
            for name, misses in (("words", by_words), (options.embedder, by_both)):
                for case in misses:
                    print(f"  {name}: {case.kind}: {case.question} / {case.message}")
    return 0


def read_cases(file: Path) -> list[Case]:
    return [Case(*line.split("\t")) for line in file.read_text(encoding="utf-8").splitlines()]


def answers(cases: list[Case], embedder: Any) -> Iterator[tuple[Case, str]]:
    """Each case, and the text of the message with the best score."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "a.db", embedder=embedder) as store,
    ):
        chat = store.conversation("talk")
        # A day apart, so that neighbours have nothing to do with each other.
        chat.add(
            [
                user(case.message, sent_at=(START + timedelta(days=day)).isoformat())
                for day, case in enumerate(cases)
            ]
        )
        store.index()
        for case in cases:
            found = chat.recall(case.question, budget=10_000)
            best = max(found, key=lambda item: item.score, default=None)
            yield case, best.message.text if best else ""


def share(cases: list[Case], misses: list[Case]) -> float:
    return 100 * (1 - len(misses) / len(cases))


if __name__ == "__main__":
    sys.exit(main())
