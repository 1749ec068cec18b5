"""Fits the weights of recall to conversations with known answers, and says how far to trust them.

    uv run python benchmarks/weights.py --data FOLDER [--embedder none] [--stores FOLDER]

FOLDER has the sets (`*.jsonl`). For each question, the weights are those under which the messages
that answer it are the most likely ones; every set counts as much as SHARES says, whatever its size.
Each weight set is also fitted without one set, and without each conversation, and tried there: what
it reaches on people it has not seen. With `--leave-out`, each signal is left out in turn. Prints
the `Weights(…)` to put into `ranking.py`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from contextwright import Store
from contextwright.recall.aliases import resolve_aliases
from contextwright.recall.packing import MIN_PRICED_TOKENS, PRICE_EXPONENT
from contextwright.recall.questions import parse_question
from contextwright.recall.signals import Signals, signals_of
from contextwright.store.recall.recall import find_matches, read_conversation
from recall import BUDGETS, Set, chats_of, chosen, filled, now_of, read_sets

SHARES = {"locomo": 1.0, "realtalk": 1.0, "beam_100K": 0.5, "locomo_plus": 0.1}
"""How much a set counts. The last is made of remarks that are planted in another set's talks."""
MOST = 2_000
"""Messages that are looked at for a question: all of these talks."""
RIDGE = 1e-3
NAMES = Signals._fields


class Case:
    """A question, the signals of all messages that may answer it, and which ones do."""

    def __init__(self, talk, rows, numbers, costs, gold) -> None:
        self.talk, self.rows, self.costs = talk, rows, costs
        self.is_gold = np.isin(numbers, list(gold))
        self.whole = len(gold)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="multilingual")
    parser.add_argument("--stores", type=Path, help="a folder for filled stores")
    parser.add_argument("--leave-out", action="store_true", help="each signal in turn")
    options = parser.parse_args()
    embedder = chosen(options.embedder, None)
    cases: dict[str, list[Case]] = {}
    for one in read_sets(options.data):
        with filled(one, embedder, options.stores) as store:
            cases[one.name] = list(cases_of(one, store))
    used = [place for place in range(len(NAMES)) if embedder or "meaning" not in NAMES[place]]
    weights = fitted(cases, used)
    show("fitted on all", cases, weights)
    show_unseen("one set unseen", cases, used, lambda name, one: name)
    show_unseen("one talk unseen", cases, used, lambda name, one: one.talk)
    for left in used if options.leave_out else ():
        rest = [place for place in used if place != left]
        show(f"without {NAMES[left]}", cases, fitted(cases, rest))
    scale, bias = calibrated(cases, weights)
    numbers = ", ".join(
        f"{name}={weight * scale:.2f}"
        for name, weight in zip(NAMES, weights, strict=True)
        if weight
    )
    print(f"Weights(Signals({numbers}), bias={bias:.2f})")
    return 0


def cases_of(one: Set, store: Store) -> Iterator[Case]:
    for talk, (chat, conversation) in enumerate(chats_of(store, one)):
        looked = store.engine.read(
            lambda connection, id=chat.id: read_conversation(connection, store.state, id, None)
        )
        names = {name for name, _ in looked.outline.speaker_counts() if name}
        places = {m["id"]: place for place, m in enumerate(conversation["messages"], 1)}
        for asked in conversation["questions"]:
            if asked["adversarial"] or not asked["evidence"]:
                continue
            question = parse_question(asked["q"], names, now_of(conversation))
            space = store.state.index.vectors
            vector = space and space.vector_of(question.embedded_text)
            asked_for = (store.state, looked, question, vector, MOST, frozenset[int]())
            found, meanings, _ = store.engine.read(
                lambda connection, some=asked_for: find_matches(connection, *some)
            )
            question, found = resolve_aliases(question, found, looked.outline)
            rows = signals_of(question, found, meanings or {}, looked.outline, MOST)
            signals = np.array([signals for _, _, signals in rows])
            signals = signals.reshape(-1, len(NAMES))
            costs = [entry.size / 4 + 7 for _, entry, _ in rows]
            gold = {places[id] for id in asked["evidence"]}
            yield Case(talk, signals, [n for n, _, _ in rows], np.array(costs), gold)


def fitted(cases: dict[str, list[Case]], used: list[int]) -> np.ndarray:
    """The weights under which the answers are most likely, by Newton's method."""
    weights = np.zeros(len(NAMES))
    some = [
        (one.rows[:, used], one.is_gold / one.is_gold.sum(), SHARES.get(name, 0.5) / len(group))
        for name, group in cases.items()
        for one in group
        if one.is_gold.any()
    ]
    best = np.zeros(len(used))
    for _ in range(40):
        gradient, curve = -2 * RIDGE * best, 2 * RIDGE * np.eye(len(used))
        for rows, gold, share in some:
            chance = chances(rows, best)
            mean = chance @ rows
            gradient += share * (gold @ rows - mean)
            curve += share * ((rows * chance[:, None]).T @ rows - np.outer(mean, mean))
        step, before = np.linalg.solve(curve, gradient), likelihood(some, best)
        while likelihood(some, best + step) < before and np.abs(step).max() > 1e-6:
            step /= 2
        best += step
        if np.abs(step).max() < 1e-3:
            break
    weights[used] = best
    return weights


def chances(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    odds = rows @ weights
    chance = np.exp(odds - odds.max())
    return chance / chance.sum()


def likelihood(some, weights: np.ndarray) -> float:
    logs = (share * gold @ np.log(chances(rows, weights) + 1e-300) for rows, gold, share in some)
    return float(sum(logs) - RIDGE * weights @ weights)


def show(name: str, cases: dict[str, list[Case]], weights: np.ndarray) -> None:
    scale, _ = calibrated(cases, weights)
    told(name, [reached(group, weights * scale).mean(0) for group in cases.values()])


def show_unseen(name: str, cases: dict[str, list[Case]], used: list[int], fold_of: Any) -> None:
    """What weights reach on each fold of the questions if they are fitted on the others."""
    found: dict[str, list[np.ndarray]] = {one: [] for one in cases}
    for fold in {fold_of(one, case): None for one, some in cases.items() for case in some}:
        seen, rest = (
            {one: [case for case in some if (fold_of(one, case) == fold) is is_rest]
             for one, some in cases.items()}
            for is_rest in (False, True)
        )  # fmt: skip
        seen = {one: some for one, some in seen.items() if some}
        weights = fitted(seen, used)
        scale, _ = calibrated(seen, weights)
        for one, some in rest.items():
            if some:
                found[one].append(reached(some, weights * scale))
    told(name, [np.concatenate(some).mean(0) for some in found.values()])


def told(name: str, shares: list[np.ndarray]) -> None:
    rows = [" / ".join(f"{share * 100:4.1f}" for share in some) for some in shares]
    print(f"{name:22}", " | ".join(rows), flush=True)


def reached(group: list[Case], weights: np.ndarray) -> np.ndarray:
    """For each question and budget, whether all of its answer is packed."""
    hits = np.zeros((len(group), len(BUDGETS)))
    for row, one in zip(hits, group, strict=True):
        price = PRICE_EXPONENT * np.log(np.maximum(one.costs, MIN_PRICED_TOKENS))
        order = np.argsort(-(one.rows @ weights - price), kind="stable")
        for place, budget in enumerate(BUDGETS):
            left, held = budget, 0
            for at in order:
                if one.costs[at] <= left:
                    left -= one.costs[at]
                    held += one.is_gold[at]
            row[place] = held == one.whole
    return hits


def calibrated(cases: dict[str, list[Case]], weights: np.ndarray) -> tuple[float, float]:
    """How to stretch and shift the odds so that they are those of being needed."""
    odds = np.concatenate([one.rows @ weights for some in cases.values() for one in some])
    gold = np.concatenate([one.is_gold for some in cases.values() for one in some]).astype(float)
    share = np.concatenate(
        [
            np.full(len(one.rows), SHARES.get(name, 0.5) / len(some))
            for name, some in cases.items()
            for one in some
        ]
    )
    scale, bias = 1.0, -log(100) - odds.mean()
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(scale * odds + bias, -40, 40)))
        x = np.stack([odds, np.ones_like(odds)], 1)
        gradient = x.T @ (share * (gold - chance))
        curve = (x * (share * chance * (1 - chance))[:, None]).T @ x + 1e-9 * np.eye(2)
        step = np.linalg.solve(curve, gradient)
        scale, bias = scale + step[0], bias + step[1]
    return scale, bias


if __name__ == "__main__":
    sys.exit(main())
