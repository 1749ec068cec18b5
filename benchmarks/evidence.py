"""Evidence in the finished request: what a recipe with recall sends, beside recall alone.

    uv run python benchmarks/evidence.py --data FOLDER [--recipe FILE] [--embedder multilingual]
                                         [--stores FOLDER] [--every 1]

FOLDER has the sets (`*.jsonl`, as for `recall.py`). Each question is asked as the newest turn of
its conversation, and built into a request of 2,000, 4,000 and 8,000 tokens. `request` is the share
of questions for which all messages that answer it are in the request, recalled or in the window,
whole or with the passage that answers (`spans.py`); `recall` is the share for which `chat.recall`
finds them with the same tokens: those of the section and of the messages before the question.
`newest` is the mean number of the newest messages that stay beside
the question, `six` the share of requests that have six, `used` the share of the budget that is
used. `--every 5` asks every fifth question.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from contextwright import Author, Chat, Context, Message, Recipe, sections, user
from contextwright.context.recipe_files import as_recipe
from contextwright.recall.lines import MAX_TEXT_CHARS, day_of, format_line
from contextwright.recall.passages import Excerpt, passages_of
from contextwright.text.quoting import one_line
from recall import Set, chats_of, chosen, filled, message_of, now_of, read_sets
from spans import Evidence

BUDGETS = (2_000, 4_000, 8_000)
MODEL = "gpt-4o"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--recipe", help="a recipe's name or file; by default one with recall")
    parser.add_argument(
        "--embedder", default="multilingual", help="multilingual, wordllama, minilm or none"
    )
    parser.add_argument("--cache", type=Path, help="a file for MiniLM's vectors")
    parser.add_argument("--stores", type=Path, help="a folder for filled stores")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    recipe = Recipe(system=["You are a helpful assistant.", sections.PastMessages()])
    recipe = as_recipe(options.recipe) if options.recipe else recipe
    embedder = chosen(options.embedder, options.cache)
    print(f"{'':16}{'n':>5} {'tokens':>6} request recall  newest   six  used")
    for one in read_sets(options.data):
        with filled(one, embedder, options.stores) as store:
            rows = [
                row
                for chat, conversation in chats_of(store, one)
                for row in asked(chat, conversation, recipe, options.every)
            ]
        show(one, rows)
    return 0


def asked(chat: Chat, conversation: dict[str, Any], recipe: Any, every: int) -> list[Any]:
    """One row for each question and budget: how much of its evidence is where."""
    places = {message["id"]: place for place, message in enumerate(conversation["messages"], 1)}
    lines = [line(message_of(said)) for said in conversation["messages"]]
    now, rows, evidence = now_of(conversation), [], Evidence(conversation)
    questions = [
        question
        for question in conversation["questions"]
        if question["evidence"] and not question["adversarial"]
    ]
    for number, question in enumerate(questions):
        if number % every:
            continue
        gold = {places[id] for id in question["evidence"]}
        child = chat.fork(f"{chat.id}-{number}")
        child.add(user(question["q"], author=Author(name="Somebody"), sent_at=now))
        for budget in BUDGETS:
            context = child.context(recipe, model=MODEL, budget=budget, now=now)
            found = chat.recall(question["q"], budget=spent(context), now=now, model=MODEL)
            excerpts = {item.seq: item.excerpt for item in found}
            alone = {
                places[id]
                for id in question["evidence"]
                if places[id] in excerpts and evidence.is_in(excerpts[places[id]], question, id)
            }
            there = sent(context, lines) | {
                places[id]
                for id in question["evidence"]
                if (excerpt := excerpt_in(context, evidence.texts[id]))
                and evidence.is_in(excerpt, question, id)
            }
            rows.append((budget, gold, there, alone, context))
    return rows


def spent(context: Context) -> int:
    """The tokens of messages in a request, recalled or in the window, without the question."""
    sections, question = context.ledger.sections, context.decisions[-1].tokens or 0
    recalled = sum(tokens for name, tokens in sections.items() if name.startswith("Past"))
    return recalled + context.ledger.history - question


def line(message: Message) -> tuple[str, str]:
    """A message as the section shows it: its day, and its line below that."""
    name = message.author.label if message.author else message.role
    return day_of(message.sent_at), format_line(None, name, message.text)


def told_in(context: Context) -> set[tuple[str, str]]:
    """The lines of a request's sections, each with its day."""
    day, told = "", set[tuple[str, str]]()
    for line in "\n".join(context.sections.values()).split("\n"):
        if ":" in line:
            told.add((day, line))
        else:
            day = line
    return told


def sent(context: Context, lines: list[tuple[str, str]]) -> set[int]:
    """The numbers of the messages that a request has, recalled or in the window."""
    told = told_in(context)
    recalled = {number for number, line in enumerate(lines, 1) if line in told}
    return recalled | {index + 1 for index in context.decisions.kept()}


def excerpt_in(context: Context, text: str) -> Excerpt | None:
    """The passages of a message that a request has."""
    told = "\n".join(context.sections.values())
    passages = tuple(passages_of(text))
    shown = [one_line(text[start:end], MAX_TEXT_CHARS) for start, end in passages]
    numbers = tuple(number for number, words in enumerate(shown, 1) if words in told)
    return Excerpt(passages, numbers) if numbers else None


def show(one: Set, rows: list[Any]) -> None:
    for budget in BUDGETS:
        some = [row for row in rows if row[0] == budget]
        newest = [newest_in(context) for *_, context in some]
        shares = (
            sum(gold <= there for _, gold, there, _, _ in some),
            sum(gold <= alone for _, gold, _, alone, _ in some),
            sum(newest) / 100,
            sum(count >= 6 for count in newest),
            sum(context.ledger.tokens / budget for *_, context in some),
        )
        row = " ".join(f"{share / len(some) * 100:6.1f}" for share in shares)
        print(f"{one.name:16}{len(some):5} {budget:6} {row}", flush=True)


def newest_in(context: Context) -> int:
    """The newest messages before the question that stay, without a gap."""
    kept = {*context.decisions.kept()}
    last = max(kept)
    return next(count for count in range(len(kept) + 1) if last - 1 - count not in kept)


if __name__ == "__main__":
    sys.exit(main())
