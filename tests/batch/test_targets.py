"""Rows of files that providers take: whole lines, in the shape of each API."""

import json
from typing import Any

import pytest

from batch.data_sets import ANSWER, QUESTION
from contextwright.batch import TARGETS, operation_of
from contextwright.batch.targets import find_target
from contextwright.errors import ContextwrightError, UnknownFormat

BODY = {
    "model": "gpt-5.6-sol",
    "stream": True,
    "max_completion_tokens": 50,
    "messages": [QUESTION, ANSWER, QUESTION],
}
TEXT = QUESTION["content"]
ROWS: dict[str, Any] = {
    "openai-batch": {
        "custom_id": "7",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "gpt-5.6-sol",
            "max_completion_tokens": 50,
            "messages": [QUESTION, ANSWER, QUESTION],
        },
    },
    "anthropic-batch": {
        "custom_id": "7",
        "params": {
            "model": "claude-sonnet-5-5",
            "max_tokens": 50,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": TEXT}]},
                {"role": "assistant", "content": [{"type": "text", "text": "Risotto."}]},
                {"role": "user", "content": [{"type": "text", "text": TEXT}]},
            ],
        },
    },
    "gemini-batch": {
        "key": "7",
        "request": {
            "contents": [
                {"role": "user", "parts": [{"text": TEXT}]},
                {"role": "model", "parts": [{"text": "Risotto."}]},
                {"role": "user", "parts": [{"text": TEXT}]},
            ],
            "generationConfig": {"maxOutputTokens": 50},
        },
    },
}


@pytest.mark.parametrize("target", ROWS)
def test_a_request_of_a_batch(target: str) -> None:
    result = operation_of("convert", target=target).run(BODY, "7")
    assert json.loads(result.json) == ROWS[target]
    assert TARGETS[target].has_ids


def test_an_example_for_fine_tuning() -> None:
    operation = operation_of("convert", target="openai-finetuning")
    result = operation.run({**BODY, "messages": [QUESTION, ANSWER]}, "7")
    assert json.loads(result.json) == {"messages": [QUESTION, ANSWER]}
    assert [str(change.path) for change in result.changes] == ["stream", "max_completion_tokens"]
    with pytest.raises(ContextwrightError, match="does not end with a reply"):
        operation.run(BODY, "7")


def test_a_responses_model_is_asked_at_its_own_endpoint() -> None:
    model = "o3-pro"
    operation = operation_of("build", target="openai-batch", model=model, recipes=("default",))
    row = json.loads(operation.run(BODY, "7").json)
    assert row["url"] == "/v1/responses"
    assert row["body"]["input"]


@pytest.mark.parametrize("id", ["", "ä", "a b", "x" * 65, "a\n"])
def test_an_id_that_anthropic_refuses_is_refused_here(id: str) -> None:
    with pytest.raises(ContextwrightError, match="is not a valid custom_id"):
        operation_of("convert", target="anthropic-batch").run(BODY, id)


def test_formats_are_targets_too() -> None:
    assert find_target("chatml").format_for(None) == "chatml"
    with pytest.raises(UnknownFormat, match="openai-batch"):
        find_target("chat")
