"""Requests with a minimum cost: a reserve, and a receipt that shows it."""

import pytest

import contextwright as cw
from contextwright.context.recipe import Recipe
from contextwright.errors import BudgetError

HELD = cw.Media("document", "application/pdf", file_id="file_1", origin="openai-responses")
TALK = [each for n in range(30) for each in (cw.user(f"question {n}?"), cw.assistant("yes"))]


def build(messages: list[cw.Message], unseen: int, budget: int) -> cw.Context:
    recipe = Recipe(unseen=unseen, window=cw.windows.KeepRecent())
    return recipe.build(messages, model="gpt-4o", format="openai-responses", budget=budget)


def test_a_reserve_is_kept_where_a_count_is_at_least() -> None:
    question = cw.user([cw.Text("What does it say?"), HELD])
    plain, kept = (build([*TALK, question], unseen, 400) for unseen in (0, 100))
    assert plain.ledger.at_least
    assert plain.ledger.unseen
    assert "at least" in plain.explain().splitlines()[0]
    assert kept.ledger.most <= 300 < plain.ledger.most
    with pytest.raises(BudgetError) as refused:
        build([question], 10_000, 400)
    least = refused.value.minimum
    assert least > 10_000
    assert build([question], 10_000, least)


def test_other_requests_lose_nothing() -> None:
    plain, kept = (build([*TALK, cw.user("And?")], unseen, 300) for unseen in (0, 100))
    assert not plain.ledger.at_least
    assert plain.payload == kept.payload
