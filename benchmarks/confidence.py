"""How sure recall is that a conversation answers a question, and how far that can be trusted.

    uv run python benchmarks/confidence.py --data FOLDER [--embedder multilingual] [--stores FOLDER]

FOLDER has the sets (`*.jsonl`, as for `recall.py`). The confidence is fitted on questions that have
an answer and on two kinds that have none: those of another conversation of the set (`foreign`), and
those that name the wrong one of two speakers (`swapped`). Each set is then judged by what others
say, with the unanswerable questions that it has itself (`asked`), which are never fitted to. A
remark that asks nothing has the confidence that recall gives it, and is not fitted to. Prints the
area under the curve for each kind, the calibration error in ten bins beside the one that a perfect
confidence would have by chance, and the share of questions below the threshold, the same for the
weights in use, and the weights to put into `confidence.py`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from contextwright import Store
from contextwright.recall.confidence import (
    BIAS,
    REMARK_CONFIDENCE,
    WEIGHTS,
    Evidence,
    evidence_of,
)
from contextwright.recall.memories import MIN_CONFIDENCE
from contextwright.recall.questions import parse_question
from contextwright.recall.ranking import rank
from contextwright.store.recall.recall import find_matches, read_conversation
from recall import Set, chats_of, chosen, filled, now_of, read_sets

WIDTH = 400
"""Messages that are ranked: as for a budget of 4,000 tokens."""
EVERY = 3
"""Of the questions with an answer, so many are asked elsewhere too."""
RIDGE = 1e-2
DRAWS = 300
"""Samples that tell what error there is by chance."""


class Case(NamedTuple):
    set: str
    kind: str
    """`own`: it has an answer; `asked`, `foreign`, `swapped`: it has none."""
    evidence: Evidence
    is_remark: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="multilingual", help="multilingual, wordllama, none")
    parser.add_argument("--stores", type=Path, help="a folder for filled stores")
    options = parser.parse_args()
    cases: list[Case] = []
    for one in read_sets(options.data):
        with filled(one, chosen(options.embedder, None), options.stores) as store:
            cases += cases_of(one, store)
    for left in sorted({case.set for case in cases}):
        seen = [case for case in cases if case.set != left and case.kind != "asked"]
        unseen = [case for case in cases if case.set == left]
        show(left, unseen, fitted(seen))
        show("  in use", unseen, np.array([BIAS, *WEIGHTS]))
    bias, *weights = fitted([case for case in cases if case.kind != "asked"])
    names = zip(Evidence._fields, weights, strict=True)
    print(f"Evidence({', '.join(f'{name}={one:.2f}' for name, one in names)}), {bias:.2f}")
    return 0


def cases_of(one: Set, store: Store) -> Iterator[Case]:
    talks = [conversation for _, conversation in chats_of(store, one)]
    for place, (chat, conversation) in enumerate(chats_of(store, one)):
        ask = Asking(store, chat.id, conversation)
        for number, question in enumerate(conversation["questions"]):
            has_answer = bool(question["evidence"]) and not question["adversarial"]
            yield Case(one.name, "own" if has_answer else "asked", *ask(question["q"]))
            if has_answer and len(ask.people) == 2 and number % EVERY == 0:
                swapped = renamed(question["q"], ask.people, ask.people[::-1])
                if swapped != question["q"]:
                    yield Case(one.name, "swapped", *ask(swapped))
        other = talks[place - 1]
        if other["messages"][0]["text"] == conversation["messages"][0]["text"]:
            continue  # the same talk with another question
        people = people_of(other)
        for question in other["questions"][::EVERY]:
            if question["evidence"] and not question["adversarial"]:
                text = renamed(question["q"], people, ask.people)
                yield Case(one.name, "foreign", *ask(text))


class Asking:
    """Asks one conversation."""

    def __init__(self, store: Store, id: str, conversation: dict[str, Any]) -> None:
        self.store, self.people, self.now = store, people_of(conversation), now_of(conversation)
        self.looked = store.engine.read(
            lambda connection: read_conversation(connection, store.state, id, None)
        )

    def __call__(self, text: str) -> tuple[Evidence, bool]:
        outline, state = self.looked.outline, self.store.state
        question = parse_question(
            text, {name for name, _ in outline.speaker_counts() if name}, self.now
        )
        space = state.index.vectors
        vector = space and space.vector_of(question.embedded_text)
        found, meanings, _ = self.store.engine.read(
            lambda connection: find_matches(
                connection, state, self.looked, question, vector, WIDTH, frozenset()
            )
        )
        total = self.looked.end
        ranked = rank(question, found, meanings, outline, limit=WIDTH, total=total, now=self.now)
        return evidence_of(ranked, found, question), question.is_remark


def people_of(conversation: dict[str, Any]) -> list[str]:
    """The names of two people who talk; none where one talks with a model."""
    names = Counter(said["speaker"] for said in conversation["messages"]).most_common(2)
    roles = {said["role"] for said in conversation["messages"]}
    return [] if roles & {name for name, _ in names} else sorted(name for name, _ in names)


def renamed(text: str, names: list[str], others: list[str]) -> str:
    """A question with other people's names."""
    new = {
        old: other
        for name, instead in zip(names, others, strict=False)
        for old, other in zip(name.split(), instead.split(), strict=False)
    }
    return re.sub(r"\w+", lambda word: new.get(word[0], word[0]), text)


def fitted(cases: list[Case]) -> np.ndarray:
    """A bias and weights; questions with and without an answer count the same in every set.

    A set counts by its questions, so that a small one does not outweigh the others.
    """
    cases = [case for case in cases if not case.is_remark]
    sets = Counter(case.set for case in cases)
    groups = Counter((case.set, case.kind == "own") for case in cases)
    share = np.array([sets[one.set] / groups[one.set, one.kind == "own"] / 2 for one in cases])
    rows = np.array([[1, *case.evidence] for case in cases])
    own = np.array([case.kind == "own" for case in cases], float)
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (share * (own - chance)) - RIDGE * weights
        curve = (rows * (share * chance * (1 - chance))[:, None]).T @ rows
        weights += np.linalg.solve(curve + RIDGE * np.eye(len(weights)), gradient)
    return weights


def show(name: str, cases: list[Case], weights: np.ndarray) -> None:
    chance = 1 / (1 + np.exp(-np.array([[1, *case.evidence] for case in cases]) @ weights))
    chance[[case.is_remark for case in cases]] = REMARK_CONFIDENCE
    kinds = np.array([case.kind for case in cases])
    own = chance[kinds == "own"]
    cells = [f"own {len(own)}, {np.mean(own < MIN_CONFIDENCE):.1%} below"]
    for kind in ("asked", "foreign", "swapped"):
        none = chance[kinds == kind]
        if len(none):
            below = np.mean(none < MIN_CONFIDENCE)
            cells.append(f"{kind} {len(none)}: AUC {area(own, none):.2f}, {below:.0%} below")
    cells.append(f"error {error(kinds == 'own', chance):.2f}")
    cells.append(f"by chance {error_by_chance(kinds == 'own', chance):.2f}")
    print(f"{name:12} {' | '.join(cells)}", flush=True)


def area(own: np.ndarray, none: np.ndarray) -> float:
    """The probability that a question with an answer has more confidence than one without."""
    wins = (own[:, None] > none).mean() + (own[:, None] == none).mean() / 2
    return float(wins)


def shares(own: np.ndarray) -> np.ndarray:
    """The weight of each question, so that both kinds count the same."""
    return np.where(own, 0.5 / max(own.sum(), 1), 0.5 / max((~own).sum(), 1))


def error_by_chance(own: np.ndarray, chance: np.ndarray) -> float:
    """The mean error of a perfect confidence with the same spread, on as many questions.

    Questions of both kinds are drawn again, each as often as its confidence says.
    """
    draw, share, odds = np.random.default_rng(1), shares(own), np.log(chance / (1 - chance))
    low, high = -9.0, 9.0
    for _ in range(40):  # half of all have an answer
        middle = (low + high) / 2
        is_high = (share / (1 + np.exp(middle - odds))).sum() > 0.5
        low, high = (middle, high) if is_high else (low, middle)
    right = 1 / (1 + np.exp(low - odds))
    kinds = np.sort(own)[::-1]

    def drawn(weights: np.ndarray, count: int) -> np.ndarray:
        return draw.choice(right, count, p=weights / weights.sum())

    samples = [
        np.concatenate((drawn(share * right, sum(own)), drawn(share * (1 - right), sum(~own))))
        for _ in range(DRAWS)
    ]
    return float(np.mean([error(kinds, sample) for sample in samples]))


def error(own: np.ndarray, chance: np.ndarray) -> float:
    """The calibration error in ten bins, both kinds of questions counting the same."""
    share = shares(own)
    bins = np.minimum((chance * 10).astype(int), 9)
    return float(
        sum(abs(((own - chance) * share)[bins == one].sum()) for one in range(10)) / share.sum()
    )


if __name__ == "__main__":
    sys.exit(main())
