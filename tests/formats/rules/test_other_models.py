"""Requests for another model of the same API."""

from typing import Any

import pytest

import contextwright as cw


@pytest.mark.parametrize(
    ("format", "settings", "model", "lost"),
    [
        ("openai-chat", {"reasoning_effort": "low"}, "gpt-4o", ["reasoning_effort"]),
        (
            "openai-chat",
            {"temperature": 0.5, "logprobs": True, "top_logprobs": 2, "stop": "END"},
            "o3",
            ["logprobs", "stop", "temperature", "top_logprobs"],
        ),
        ("openai-chat", {"verbosity": "low"}, "gpt-4.1", ["verbosity"]),
        ("openai-responses", {"text": {"verbosity": "low"}}, "gpt-4.1", ["text.verbosity"]),
        ("openai-responses", {"reasoning": {"effort": "low"}}, "gpt-4o", ["reasoning"]),
        (
            "openai-responses",
            {"temperature": 0.5, "top_p": 0.5, "top_logprobs": 2},
            "gpt-5.6-sol",
            ["temperature", "top_logprobs", "top_p"],
        ),
        (
            "anthropic",
            {"max_tokens": 4_000, "thinking": {"type": "enabled", "budget_tokens": 2_000}},
            "claude-3-5-haiku",
            ["thinking"],
        ),
    ],
)
def test_another_model_of_the_same_api_gets_only_settings_it_takes(
    format: str, settings: dict[str, Any], model: str, lost: list[str]
) -> None:
    turn = {"role": "user", "content": "Hi"}
    field = "input" if format == "openai-responses" else "messages"
    body = {"model": "another", field: [turn], **settings}
    made = cw.convert(body, format, format, model=model)
    kept = settings.keys() - {path.partition(".")[0] for path in lost}
    assert made.payload.keys() & settings.keys() == kept
    assert sorted(change.path for change in made.changes) == lost
    assert {change.code for change in made.changes} == {"loss.setting"}
    assert cw.check(made.payload, format) == []
