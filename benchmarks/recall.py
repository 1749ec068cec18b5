"""Evidence recall: which share of questions gets all the messages that answer it into a budget.

    uv run python benchmarks/recall.py --data FOLDER [--embedder multilingual] [--selections FOLDER]
                                       [--stores FOLDER] [--excerpts]

FOLDER has the sets (`*.jsonl`, one conversation a line with its messages and questions). A message
costs a quarter of the characters of `speaker: text`, and 4. Whole messages are recalled; with
`--excerpts`, passages of long ones, which count only if they hold the evidence (`spans.py`); a
second row counts whole messages alone. The same configuration runs on every set. With
`--selections` the messages that were chosen whole are written in the form that the sets' own scorer
reads. With `--stores` the filled and indexed stores are kept there, so that nothing is embedded
twice.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from contextwright import Author, Chat, Message, Store, Text
from spans import Evidence

BUDGETS = (1_000, 2_000, 4_000, 8_000)


class Set(NamedTuple):
    name: str
    conversations: list[dict[str, Any]]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--embedder", default="multilingual", help="multilingual, wordllama, minilm or none"
    )
    parser.add_argument("--cache", type=Path, help="a file for MiniLM's vectors")
    parser.add_argument("--selections", type=Path, help="a folder for what was chosen")
    parser.add_argument("--stores", type=Path, help="a folder for filled stores")
    parser.add_argument("--excerpts", action="store_true", help="passages of long messages")
    options = parser.parse_args()
    embedder = chosen(options.embedder, options.cache)
    print(f"{'all %':16}{'n':>5}  " + " ".join(f"{budget:>6}" for budget in BUDGETS) + "   ms/95%")
    for one in read_sets(options.data):
        with filled(one, embedder, options.stores) as store:
            selections = list(selected(one, store, options.excerpts))
        if options.selections:
            options.selections.mkdir(parents=True, exist_ok=True)
            lines = "".join(json.dumps(line) + "\n" for line in selections)
            (options.selections / f"{one.name}.jsonl").write_text(lines)
        if options.excerpts:
            show(one, selections, "held")
        show(one, selections, "ids")
    return 0


def chosen(name: str, cache: Path | None) -> Any:
    if name == "minilm":
        from minilm import minilm

        return minilm(cache)
    return None if name == "none" else name


def read_sets(folder: Path) -> list[Set]:
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        sys.exit(f"no *.jsonl in {folder}")
    return [Set(file.stem, [json.loads(line) for line in file.open()]) for file in files]


@contextmanager
def filled(one: Set, embedder: Any, stores: Path | None = None) -> Iterator[Store]:
    """A store with the conversations of a set, indexed: a copy of the kept one if there is one."""
    name = getattr(embedder, "name", embedder or "none")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "talks.db"
        kept = None if stores is None else stores / f"{one.name}-{name}.db"
        if kept is None or not kept.exists():
            with Store(place, embedder=embedder, sync="fast") as store:
                fill(store, one)
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(place, kept)
        else:
            shutil.copy(kept, place)
        with Store(place, embedder=embedder, sync="fast") as store:
            yield store


def fill(store: Store, one: Set) -> None:
    """Store each conversation of a set under its number, and index it."""
    for place, conversation in enumerate(one.conversations):
        chat = store.conversation(str(place))
        messages = [message_of(said) for said in conversation["messages"]]
        for start in range(0, len(messages), 100):
            chat.add(messages[start : start + 100])
        store.index(chat.id, few=0)


def chats_of(store: Store, one: Set) -> Iterator[tuple[Chat, dict[str, Any]]]:
    """Each conversation of a set, as it is stored and as it was read."""
    for place, conversation in enumerate(one.conversations):
        yield store.conversation(str(place)), conversation


def message_of(said: dict[str, Any]) -> Message:
    author = None if said["speaker"] == said["role"] else Author(name=said["speaker"])
    return Message(said["role"], (Text(said["text"]),), author=author, sent_at=said["timestamp"])


def now_of(conversation: dict[str, Any]) -> datetime:
    """When the questions are asked: right after the talk."""
    return datetime.fromisoformat(conversation["messages"][-1]["timestamp"]).replace(tzinfo=UTC)


def price(message: Message) -> int:
    speaker = message.author.label if message.author else message.role
    return -(-len(f"{speaker}: {message.text}") // 4) + 4


def selected(one: Set, store: Store, excerpts: bool) -> Iterator[dict[str, Any]]:
    """What is recalled for every question and budget: whole messages, and those that are held."""
    for chat, conversation in chats_of(store, one):
        ids = [message["id"] for message in conversation["messages"]]
        now, evidence = now_of(conversation), Evidence(conversation)
        for question in conversation["questions"]:
            for budget in BUDGETS if question["evidence"] else ():
                start = time.perf_counter()
                found = chat.recall(
                    question["q"], budget=budget, price=price, now=now, excerpts=excerpts
                )
                spent = time.perf_counter() - start
                parts = {ids[item.seq - 1]: item.excerpt for item in found}
                yield {
                    "conversation": conversation["conversation"],
                    "question": question["id"],
                    "budget": budget,
                    "ids": [id for id, part in parts.items() if part is None],
                    "held": [
                        id
                        for id in question["evidence"]
                        if id in parts and evidence.is_in(parts[id], question, id)
                    ],
                    "ms": spent * 1e3,
                }


def show(one: Set, selections: list[dict[str, Any]], name: str) -> None:
    """The share of questions, unanswerable ones left out, that got everything they need."""
    gold = {
        (conversation["conversation"], question["id"]): set(question["evidence"])
        for conversation in one.conversations
        for question in conversation["questions"]
        if question["evidence"] and not question["adversarial"]
    }
    shares = []
    for budget in BUDGETS:
        whole = sum(
            gold[key] <= set(line[name])
            for line in selections
            if line["budget"] == budget
            and (key := (line["conversation"], line["question"])) in gold
        )
        shares.append(whole / len(gold) * 100)
    times = sorted(line["ms"] for line in selections if line["budget"] == 2_000)
    row = " ".join(f"{share:6.1f}" for share in shares)
    median, late = statistics.median(times), times[int(len(times) * 0.95)]
    what = f"{one.name} {name}" if name == "held" else one.name
    print(f"{what:16}{len(gold):5}  {row}   {median:.1f}/{late:.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
