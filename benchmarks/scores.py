"""How far the scores of recall can be trusted as probabilities, and how they are fitted.

    uv run python benchmarks/scores.py --data FOLDER [--embedder multilingual] [--stores FOLDER]

FOLDER has the sets (`*.jsonl`, as for `recall.py`). The best hit of each question with an answer is
judged, and the ten best: the mean score, the share of those that are needed, the calibration error
in ten bins, and the one that a perfect score would have by chance. Besides whole conversations,
stretches of 40 and of 10 messages are asked that have some of the answer. Each set is judged by
each message's own odds (`alone`), by the comparison with its rivals that was fitted on the other
sets (`unseen`), and by the one in use. Prints the numbers to put into `ranking.py`; `UNSAID` is set
by hand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from contextwright.recall.ranking import (
    ABSENT_RIVAL,
    LOG_NEEDED,
    SHARPNESS,
    WITH_MEANING,
    WORDS_ALONE,
    Weights,
    bias_of,
)
from recall import chosen, filled, read_sets
from weights import SHARES, Case, cases_of

STRETCHES = (40, 10)
TOPS = (1, 10)
"""How many of the best hits are judged."""
FACTORS = np.arange(1.0, 2.01, 0.1)
DRAWS = 300
"""Samples that tell what error there is by chance."""


class Asked(NamedTuple):
    """A question, how well each message of a conversation or stretch fits, and which are needed."""

    set: str
    size: int
    """Messages of the stretch; 0 for the whole conversation."""
    odds: np.ndarray
    is_gold: np.ndarray


class Comparison(NamedTuple):
    """How a message is compared with its rivals."""

    sharper: float
    needed: float

    def scores(self, odds: np.ndarray) -> np.ndarray:
        return chances(compared(odds, self.sharper) + self.needed)


IN_USE = Comparison(SHARPNESS, LOG_NEEDED)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="multilingual", help="multilingual, wordllama, none")
    parser.add_argument("--stores", type=Path, help="a folder for filled stores")
    options = parser.parse_args()
    embedder = chosen(options.embedder, None)
    weights = WITH_MEANING if embedder else WORDS_ALONE
    asked: list[Asked] = []
    for one in read_sets(options.data):
        with filled(one, embedder, options.stores) as store:
            asked += asked_of(one.name, cases_of(one, store), weights)
    for name in dict.fromkeys(one.set for one in asked):
        unseen = fitted([one for one in asked if one.set != name and not one.size])
        for size in (0, *STRETCHES):
            some = [one for one in asked if one.set == name and one.size == size]
            for top in TOPS:
                show(f"{name} {size or ''}", some, unseen, top)
    best = fitted([one for one in asked if not one.size])
    print(f"SHARPER, NEEDED = {best.sharper:.1f}, {best.needed:.2f}")
    return 0


def asked_of(name: str, cases: Iterator[Case], weights: Weights) -> Iterator[Asked]:
    draw = np.random.default_rng(1)
    for case in cases:
        fits = case.rows @ np.array(weights.signals)
        yield Asked(name, 0, fits + bias_of(weights, len(fits)), case.is_gold)
        for size in STRETCHES if case.is_gold.any() else ():
            start = max(draw.choice(np.flatnonzero(case.is_gold)) - draw.integers(size), 0)
            part = slice(start, start + size)
            yield Asked(name, size, fits[part] + bias_of(weights, size), case.is_gold[part])


def compared(odds: np.ndarray, sharper: float) -> np.ndarray:
    """The log-odds of messages beside their rivals, if one is needed."""
    return sharper * odds - log(np.exp(sharper * odds).sum() + ABSENT_RIVAL)


def chances(odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(odds, -40, 40)))


def fitted(asked: list[Asked]) -> Comparison:
    """The comparison under which what is needed is most likely; sets count as for the weights."""
    asked = [one for one in asked if len(one.odds)]
    counts = {name: sum(one.set == name for one in asked) for name in {one.set for one in asked}}
    gold = np.concatenate([one.is_gold for one in asked]).astype(float)
    share = np.concatenate(
        [np.full(len(one.odds), SHARES.get(one.set, 0.5) / counts[one.set]) for one in asked]
    )
    losses: dict[float, Comparison] = {}
    for sharper in FACTORS:
        odds, needed = np.concatenate([compared(one.odds, sharper) for one in asked]), 0.0
        for _ in range(20):  # Newton's method
            chance = chances(odds + needed)
            needed += (share @ (gold - chance)) / (share @ (chance * (1 - chance)))
        chance = chances(odds + needed)
        loss = -share @ (gold * np.log(chance) + (1 - gold) * np.log(1 - chance))
        losses[float(loss)] = Comparison(float(sharper), float(needed))
    return losses[min(losses)]


def show(name: str, asked: list[Asked], unseen: Comparison, top: int) -> None:
    asked = [one for one in asked if len(one.odds)]
    best = [np.argsort(-one.odds)[:top] for one in asked]
    is_right = np.concatenate([one.is_gold[at] for one, at in zip(asked, best, strict=True)])
    cells = [f"{name:16} best {top:2}{len(asked):4} right {is_right.mean():.2f}"]
    for kind, scores_of in (("alone", chances), ("unseen", unseen.scores), ("use", IN_USE.scores)):
        pairs = zip(asked, best, strict=True)
        score = np.concatenate([scores_of(one.odds)[places] for one, places in pairs])
        by_chance = np.mean(
            [
                error(score, np.random.default_rng(n).random(len(score)) < score)
                for n in range(DRAWS)
            ]
        )
        told = f"error {error(score, is_right):.2f}, by chance {by_chance:.2f}"
        cells.append(f"{kind} {score.mean():.2f}, {told}")
    print(" | ".join(cells), flush=True)


def error(score: np.ndarray, is_right: np.ndarray) -> float:
    """The calibration error in ten bins."""
    bins = np.minimum((score * 10).astype(int), 9)
    return float(sum(abs((is_right - score)[bins == one].sum()) for one in range(10)) / len(score))


if __name__ == "__main__":
    sys.exit(main())
