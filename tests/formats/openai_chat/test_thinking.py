"""How hosts of Chat Completions other than OpenAI ask for thinking."""

from typing import Any

import pytest

import contextwright as cw

EFFORT = {
    "anthropic": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
    "gemini": {"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}},
    "openai-responses": {"reasoning": {"effort": "high"}},
}
MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
    "openai-responses": "gpt-5.6-sol",
}


def body(**settings: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Is 91 prime?"}]
    return {"model": "anthropic/claude-sonnet-4.5", "messages": messages, **settings}


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize(
    "given",
    [
        {"reasoning": {"effort": "high"}},
        {"reasoning": {"max_tokens": 16_000}},
        {"thinking": {"type": "enabled", "budget_tokens": 16_000}},
        {"reasoning_effort": "high", "reasoning": {"effort": "low"}},
    ],
    ids=str,
)
def test_it_crosses(given: dict[str, Any], target: str) -> None:
    made = cw.convert(body(**given), "openai-chat", target, model=MODELS[target])
    assert {key: made.payload[key] for key in EFFORT[target]} == EFFORT[target]
    assert [change for change in made.changes if change.code == "loss.setting"] == []
    assert cw.check(made.payload, target, model=MODELS[target]) == []
    back = cw.convert(body(**given), "openai-chat", "openai-chat")
    assert back.payload == body(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"type": "disabled", "budget_tokens": 1_000},
        {"type": "enabled"},
        {"type": "enabled", "budget_tokens": "many"},
        "on",
    ],
    ids=str,
)
def test_what_names_no_budget(given: Any) -> None:
    assert cw.parse(body(thinking=given), "openai-chat").settings.thinking_budget is None
