"""Tuning: the frontier is what no other beats, and what is recommended is on it."""

import tomllib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context import recipe_files
from contextwright.context.simulation.prompt_cache import Charge
from contextwright.context.simulation.simulate import Request, Row
from contextwright.context.simulation.tuning import (
    CANDIDATES,
    Candidate,
    Trial,
    frontier,
    recommend,
    try_candidates,
)
from contextwright.errors import ContextwrightError
from contextwright.models import find
from contextwright.windows.decisions import Run

MODEL = find("claude-sonnet-5-5")


def trial(dollars: int, kept: int, candidate: Candidate = CANDIDATES[0]) -> Trial:
    runs = (Run(0, kept, "kept", ""), Run(kept, 20, "dropped", "before the cut"))
    request = Request(20, 100, 200, 0, Charge(0, 0, 100), float(dollars), runs=runs)
    return Trial(candidate, Row(candidate.name, (request,)))


@pytest.mark.parametrize(
    ("fault", "is_valid"),
    [
        ({}, True),
        ({"errors": ("A-empty",)}, False),
        ({"over_budget": True}, False),
        ({"lost_question": True}, False),
    ],
    ids=["none", "invalid", "over budget", "without its question"],
)
def test_one_faulty_request_rules_a_candidate_out(fault: dict[str, Any], is_valid: bool) -> None:
    (request,) = trial(1, 20).row.requests
    row = Row("x", (request, msgspec.structs.replace(request, **fault)))
    assert Trial(CANDIDATES[0], row).is_valid is is_valid


def test_every_candidate_is_tried_once() -> None:
    names = ["stepped 0.6", "keep-recent"]
    names += [f"stepped {step}" for step in (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8)]
    names += [f"stepped {step}, 12 results" for step in (0.2, 0.4, 0.6, 0.8)]
    assert [one.name for one in CANDIDATES] == names


trials = st.lists(st.builds(trial, st.integers(0, 5), st.integers(0, 5)), min_size=1)


@given(trials)
def test_the_frontier_is_what_no_other_beats(found: list[Trial]) -> None:
    best = frontier(found)
    assert best
    for one in found:
        assert any(other.cost <= one.cost and other.whole >= one.whole for other in best)
    for one in best:
        rest = [other for other in found if other is not one]
        assert not any(
            other.cost <= one.cost
            and other.whole >= one.whole
            and (other.cost, other.whole) != (one.cost, one.whole)
            for other in rest
        )
    chosen = recommend(found)
    if chosen.whole:
        assert (chosen.cost, chosen.whole) in [(one.cost, one.whole) for one in best]


def test_a_minimum_of_messages_kept() -> None:
    found = [trial(1, 5), trial(3, 10), trial(9, 20)]
    assert recommend(found) is found[0]
    assert recommend(found, min_kept=0.5) is found[1]
    with pytest.raises(ContextwrightError, match=r"no window keeps 200% .*the most is 100.0%"):
        recommend(found, min_kept=2)


def test_the_figures_are_those_of_a_simulation() -> None:
    history = [
        message
        for turn in range(12)
        for message in (cw.user(f"Question {turn}? " + "word " * 20), cw.assistant("So. " * 20))
    ]
    conversation = cw.Conversation(messages=tuple(history))
    found = try_candidates([conversation, conversation], model=MODEL, budget=400)
    assert [one.candidate for one in found] == list(CANDIDATES)
    chosen = recommend(found)
    recipe = recipe_files.read(tomllib.loads(chosen.candidate.toml()))
    [row] = cw.simulate(conversation, recipe, model=MODEL, budget=400)
    assert row.dollars is not None
    assert chosen.cost == pytest.approx(2 * row.dollars)
    kept = sum(run.stop - run.start for request in row.requests for run in request.runs
               if run.action == "kept")  # fmt: skip
    assert chosen.whole == 2 * kept
    assert 0 < chosen.kept < 1
    with pytest.raises(ContextwrightError, match="no request to replay"):
        try_candidates([cw.Conversation(messages=())], model=MODEL)


def test_where_all_fits_the_default_is_recommended() -> None:
    talk = cw.Conversation(messages=(cw.user("Hello"), cw.assistant("Hi."), cw.user("So?")))
    chosen = recommend(try_candidates([talk], model=MODEL, budget=4_000))
    assert chosen.candidate.window == cw.Recipe().window
    assert chosen.kept == 1


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda one: one.name)
def test_a_candidate_as_a_recipe_file(candidate: Candidate) -> None:
    recipe = recipe_files.read(tomllib.loads(candidate.toml()))
    assert (recipe.window, recipe.clearing) == (candidate.window, candidate.clearing)
