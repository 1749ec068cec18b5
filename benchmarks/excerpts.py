"""What the excerpts of past messages tell at each least score: `PastExcerpts(least=…)`.

    uv run python benchmarks/excerpts.py --data FOLDER [--embedder multilingual] [--stores FOLDER]
                                         [--recipe gryag]

FOLDER has the sets (`*.jsonl`, as for `recall.py`). Each question recalls as the section does, that
of a recipe or one by default: the best few, of those the ones with the least score or more. `told`
is their mean number for questions with an answer, `needed` the share of those excerpts that are
evidence, `any` and `all` the shares of questions with some and with all of their evidence among
them, `empty` the share that gets no excerpt at all. `unasked` is the mean number of excerpts for
questions that have no answer in the talk: those of the set, and all of the next talk.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from contextwright import Chat
from contextwright.context.recipe_files import as_recipe
from contextwright.sections import PastExcerpts
from recall import Set, chats_of, chosen, filled, now_of, read_sets

LEASTS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)


class Told(NamedTuple):
    """The best hits of a question: the score of each, and whether it is evidence."""

    hits: list[tuple[float, bool]]
    evidence: int
    """The number of messages that answer it; 0 if nothing does."""

    def above(self, least: float) -> list[bool]:
        return [is_gold for score, is_gold in self.hits if score >= least]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="multilingual", help="multilingual, wordllama, none")
    parser.add_argument("--stores", type=Path, help="a folder for filled stores")
    parser.add_argument("--recipe", help="a recipe's name or file, for its own ranking")
    options = parser.parse_args()
    system = as_recipe(options.recipe).system if options.recipe else ()
    section = next((one for one in system if isinstance(one, PastExcerpts)), PastExcerpts())
    embedder = chosen(options.embedder, None)
    print(f"{'':16}{'n':>5}  least   told needed    any    all  empty unasked")
    for one in read_sets(options.data):
        with filled(one, embedder, options.stores) as store:
            show(one, list(asked(list(chats_of(store, one)), section)))
    return 0


def asked(chats: list[tuple[Chat, dict[str, Any]]], section: PastExcerpts) -> Iterator[Told]:
    """Ask each talk its questions, and as many of the next talk, which it does not answer."""
    for place, (chat, conversation) in enumerate(chats):
        ids = [message["id"] for message in conversation["messages"]]
        now, others = now_of(conversation), chats[(place + 1) % len(chats)][1]["questions"]
        for question in conversation["questions"]:
            is_answered = question["evidence"] and not question["adversarial"]
            gold = {ids.index(id) + 1 for id in question["evidence"]} if is_answered else set[int]()
            yield told(chat, question["q"], gold, now, section)
        for question in others if len(chats) > 1 else ():
            yield told(chat, question["q"], set(), now, section)


def told(chat: Chat, question: str, gold: set[int], now: Any, section: PastExcerpts) -> Told:
    # As many as the section asks for, which then leaves out those that say the same.
    most, ranking = section.most, section.ranking
    found = chat.recall(question, budget=10**9, limit=most * 2, now=now, ranking=ranking)
    best = sorted(found, key=lambda item: -item.score)[:most]
    return Told([(item.score, item.seq in gold) for item in best], len(gold))


def show(one: Set, rows: list[Told]) -> None:
    answered = [row for row in rows if row.evidence]
    unanswered = [row for row in rows if not row.evidence]
    for least in LEASTS:
        each = [row.above(least) for row in answered]
        shown = sum(map(len, each))
        figures = (
            shown / len(each),
            100 * sum(map(sum, each)) / max(shown, 1),
            100 * sum(map(any, each)) / len(each),
            100
            * sum(sum(a) == row.evidence for a, row in zip(each, answered, strict=True))
            / len(each),
            100 * sum(not a for a in each) / len(each),
            sum(len(row.above(least)) for row in unanswered) / max(len(unanswered), 1),
        )
        name = f"{one.name:16}{len(each):>5}" if least == LEASTS[0] else " " * 21
        print(f"{name}  {least:5.3f} " + " ".join(f"{figure:6.2f}" for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
