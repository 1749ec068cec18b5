"""Short messages of several people: they share turns, and begin with names only if several speak.

What a message costs alone says little about what it costs among others, and a window that goes by
it is half empty, or moves its cut back and forth.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.context.options import BuildOptions
from contextwright.context.recipe import Recipe
from contextwright.windows.policies import FirstAndRecent, KeepRecent, Layers, Stepped, Window
from profiles import STORE, examples
from samples.windows import From
from strategies.runs import PEOPLE, TARGETS

MERGED = 30
"""Tokens that rendering may add to or save on what messages cost alone."""
WORDS = "ok, I will be there at seven if the train is not late again, see you at the station"

line = st.tuples(st.integers(0, 4), st.sampled_from((1, 4, 12, 40, len(WORDS))))
lines = st.one_of(
    st.lists(line, min_size=20, max_size=50),
    st.lists(st.builds(lambda one, times: [one] * times, line, st.integers(1, 20)), min_size=2).map(
        lambda bursts: [one for burst in bursts for one in burst][-50:]
    ),
)
"""Who speaks, 0 for the model, and how many letters; some say many things in one turn."""
TO_THE_TOKEN = (
    KeepRecent(),
    KeepRecent(whole_turns=True),
    FirstAndRecent(14, 4),
    FirstAndRecent(40, 2),
    Layers(),
)
"""Windows that leave no room unused."""


def said(people: tuple[cw.Author, ...], who: int, length: int) -> cw.Message:
    if not who:
        return cw.assistant(WORDS[:length])
    return cw.user(WORDS[:length], author=people[who % len(people)] if people else None)


@pytest.mark.parametrize(("format", "model"), TARGETS)
@examples(STORE)
@given(lines, st.sampled_from(PEOPLE), st.sampled_from((0.1, 0.3, 0.6)), st.integers(100, 400))
@example([(0, 12)] * 3 + [(1, 83)] * 13 + [(1, 1)] * 13, (), 0.3, 178)
def test_the_cut_of_a_chat_room_is_steady_and_its_window_full(
    format: str,
    model: str,
    lines: list[tuple[int, int]],
    people: tuple[cw.Author, ...],
    step: float,
    budget: int,
) -> None:
    recipe, newest = Recipe(window=Stepped(step)), Recipe(window=KeepRecent())
    history = recipe.history(model=model, format=format)
    options = BuildOptions(model=model, format=format, budget=budget)
    cut = 0
    for who, length in lines:
        history.append(said(people, who, length))
        if not who:
            continue
        context = recipe.build(history, **options)
        if context.decisions.cut < cut:
            # It may only because more than a step of the room would stay unused.
            stayed = replace(recipe, window=From(cut)).build(history, **options)
            most = newest.build(history, **options)
            assert stayed.ledger.history < (1 - step) * most.ledger.history
        cut = context.decisions.cut
    least = (1 - step) * newest.build(history, **options).ledger.history - MERGED
    context = recipe.build(history, **options)
    assert context.ledger.history >= least


@pytest.mark.parametrize(("format", "model"), TARGETS)
@examples(STORE)
@given(
    lines,
    st.sampled_from(PEOPLE),
    st.sampled_from(TO_THE_TOKEN),
    st.sampled_from((None, cw.SummaryPolicy())),
    st.integers(60, 340),
    st.sampled_from((1, 1, 7)),
)
@example([(0, 1)] * 14, (), FirstAndRecent(14, 4), None, 60, 1)
@example([(0, 1)] * 4 + [(0, 12)] * 10, (), FirstAndRecent(14, 4), None, 60, 1)
def test_a_larger_budget_never_keeps_fewer_messages_of_a_chat_room(
    format: str,
    model: str,
    lines: list[tuple[int, int]],
    people: tuple[cw.Author, ...],
    window: Window,
    summary: cw.SummaryPolicy | None,
    least: int,
    step: int,
) -> None:
    recipe = Recipe(window=window, summary=summary)
    messages = [*(said(people, who, length) for who, length in lines), cw.user("And now?")]
    history = recipe.history(messages, model=model, format=format)
    kept = 0
    for budget in range(least, least + 40 * step, step):
        context = recipe.build(history, model=model, format=format, budget=budget)
        assert context.ledger.most <= budget
        assert len(messages) - context.decisions.omitted >= kept
        kept = len(messages) - context.decisions.omitted
