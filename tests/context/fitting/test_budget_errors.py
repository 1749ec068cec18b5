"""Requests that do not fit are refused quickly, with the smallest budget that works."""

import pytest

import contextwright as cw
from contextwright.context.fitting.attempt import Attempt

LONG = "".join(f"line {number}\n" for number in range(2_000))
GIVEN = {
    "a question": [cw.user(LONG)],
    "a result": [
        cw.user("Look"),
        cw.assistant(cw.ToolCall("read", {}, "a")),
        cw.tool_result("a", LONG),
    ],
}


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-5-5", "gemini-3.8-flash"])
@pytest.mark.parametrize("kind", GIVEN)
def test_few_requests_are_tried(kind: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one for each token that is missing."""
    tried = 0
    trial = Attempt.trial

    def counted(*arguments: object) -> object:
        nonlocal tried
        tried += 1
        return trial(*arguments)  # pyright: ignore

    monkeypatch.setattr(Attempt, "trial", counted)
    with pytest.raises(cw.BudgetError) as refused:
        cw.Recipe(budget=500).build(GIVEN[kind], model=model)
    assert tried < 40
    least = refused.value.minimum
    assert cw.Recipe(budget=least).build(GIVEN[kind], model=model).ledger.most <= least
    with pytest.raises(cw.BudgetError):
        cw.Recipe(budget=least - 1).build(GIVEN[kind], model=model)
