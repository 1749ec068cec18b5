"""Tuning: which window is worth its price on recorded conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from contextwright.context.recipe import Recipe
from contextwright.context.simulation.simulate import Progress, Row, simulate, total
from contextwright.errors import ContextwrightError
from contextwright.messages.conversation import Conversation
from contextwright.models import Model
from contextwright.text.json import json_text
from contextwright.windows.clearing import Clearing
from contextwright.windows.decisions import UNSEEN
from contextwright.windows.policies import KeepRecent, Stepped, Window

__all__ = ["CANDIDATES", "Candidate", "Trial", "frontier", "recommend", "try_candidates"]

STEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
RESULTS = 12
"""Exchanges that keep their results where old ones are cleared."""


class Candidate(Struct, frozen=True):
    """A window, and whether old tool results are cleared."""

    window: Window
    clearing: Clearing = Clearing()

    @property
    def name(self) -> str:
        """The window's type and step, and what is cleared."""
        cleared = f", {self.clearing.results} results" if self.clearing.results else ""
        return " ".join(map(str, self.fields.values())) + cleared

    @property
    def fields(self) -> dict[str, Any]:
        """The window as a table of a recipe file; its step is there even if it is the default."""
        step = {"step": self.window.unused} if self.window.unused else {}
        return msgspec.to_builtins(self.window) | step

    def toml(self) -> str:
        """Return the window and the clearing as tables of a recipe file."""
        tables = {"window": self.fields, "clearing": msgspec.to_builtins(self.clearing)}
        return "\n".join(table(name, fields) for name, fields in tables.items() if fields)


def table(name: str, fields: dict[str, Any]) -> str:
    """Return a table of a TOML file."""
    return f"[{name}]\n" + "".join(f"{key} = {json_text(value)}\n" for key, value in fields.items())


CANDIDATES = (
    Candidate(Stepped()),
    Candidate(KeepRecent()),
    *(Candidate(Stepped(step=step)) for step in STEPS if step != Stepped().step),
    *(Candidate(Stepped(step=step), Clearing(results=RESULTS)) for step in STEPS[1::2]),
)
"""The candidates: the default, a sliding window, other steps, and clearing of old results."""


class Trial(Struct, frozen=True):
    """A candidate, and what it would have sent."""

    candidate: Candidate
    row: Row

    @property
    def kept(self) -> float:
        """The share of messages that a request holds whole, on average over all messages."""
        runs = [run for request in self.row.requests for run in request.runs]
        seen = sum(run.stop - run.start for run in runs if run.reason not in UNSEEN)
        return self.whole / seen if seen else 1.0

    @property
    def whole(self) -> int:
        """The number of messages in all requests that are neither dropped nor cleared."""
        runs = (run for request in self.row.requests for run in request.runs)
        return sum(run.stop - run.start for run in runs if run.action == "kept")

    @property
    def cost(self) -> float:
        """The price of the input in dollars; where it is unknown, the tokens not in the cache."""
        return self.row.uncached if self.row.dollars is None else self.row.dollars

    @property
    def is_valid(self) -> bool:
        """Whether every request that could be made is legal, fits, and has its question."""
        return not (self.row.invalid or self.row.over_budget or self.row.lost_questions)


def try_candidates(
    conversations: Sequence[Conversation],
    *,
    model: Model,
    budget: int | None = None,
    answer: int | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> list[Trial]:
    """Replay conversations with every candidate; `answer` reserves tokens for each reply.

    Raises:
        ContextwrightError: there is no request to replay, or none that fits the budget.
    """
    recipes = [
        Recipe(name=one.name, window=one.window, clearing=one.clearing, answer=answer)
        for one in CANDIDATES
    ]
    played: list[list[Row]] = []
    for done, conversation in enumerate(conversations, 1):
        played.append(simulate(conversation, recipes, model=model, budget=budget, format=format))
        if progress is not None:
            progress(done, len(conversations))
    rows = [total(each) for each in zip(*played, strict=True)]
    if not any(row.requests for row in rows) and any(row.refused for row in rows):
        message = "no request fits the budget, with any window"
        raise ContextwrightError(message, hint="try a larger budget")
    if not any(row.requests for row in rows):
        hint = "a request is everything before a reply"
        raise ContextwrightError("there is no request to replay", hint=hint)
    return [Trial(one, row) for one, row in zip(CANDIDATES, rows, strict=True)]


def frontier(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that no other beats: none is cheaper and keeps as much.

    Of those with the same price and messages, the first is one: the default, or the simplest.
    """
    best: list[Trial] = []
    for one in trials:
        same = any((one.cost, one.whole) == (other.cost, other.whole) for other in best)
        if not same and not any(beats(other, one) for other in trials):
            best.append(one)
    return best


def beats(other: Trial, one: Trial) -> bool:
    """Whether a trial is at least as good in price and messages, and better in one of them."""
    as_good = other.cost <= one.cost and other.whole >= one.whole
    return as_good and (other.cost < one.cost or other.whole > one.whole)


def recommend(trials: Sequence[Trial], *, min_kept: float = 0.0) -> Trial:
    """Return the trial with the lowest price per message that a request holds whole.

    `min_kept` is the least share of messages to keep.

    Raises:
        ContextwrightError: none keeps as much, or none makes valid requests only.
    """
    possible = [one for one in trials if one.is_valid and one.kept >= min_kept]
    if not possible:
        most = max(one.kept for one in trials)
        raise ContextwrightError(
            f"no window keeps {min_kept:.0%} of the messages",
            hint=f"the most is {most:.1%}; a larger budget keeps more",
        )
    return min(possible, key=lambda one: (one.cost / max(one.whole, 1), -one.whole))
