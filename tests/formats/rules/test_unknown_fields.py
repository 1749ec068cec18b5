"""A block of the provider's own with fields that it does not know loses these alone."""

import json
from typing import Any

import pytest

import contextwright as cw

ASK = {"role": "user", "content": [{"type": "text", "text": "Rain?"}]}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "rain"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
SOURCE = {
    "type": "search_result",
    "source": "https://a.b",
    "title": "Rain",
    "content": [{"type": "text", "text": "Wet."}],
}
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
BODIES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "a hosted call and its result": (
        "anthropic",
        {
            "model": "claude-sonnet-5-5",
            "max_tokens": 9,
            "messages": [ASK, {"role": "assistant", "content": [SEARCH, FOUND]}, ASK],
        },
        ["messages.1.content.0", "messages.1.content.1"],
    ),
    "a source, and one in a result": (
        "anthropic",
        {
            "model": "claude-sonnet-5-5",
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": [SOURCE]},
                {"role": "assistant", "content": [CALL]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "t1", "content": [SOURCE, SOURCE]}
                    ],
                },
            ],
            "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        },
        ["messages.0.content.0.content.0", "messages.2.content.0.content.1"],
    ),
    "code that ran": (
        "gemini",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Run it."}]},
                {
                    "role": "model",
                    "parts": [
                        {"executableCode": {"language": "PYTHON", "code": "1"}},
                        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                    ],
                },
                {"role": "user", "parts": [{"text": "Again."}]},
            ]
        },
        ["contents.1.parts.0.executableCode", "contents.1.parts.1"],
    ),
    "a search": (
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "input": [
                {"role": "user", "content": "Rain?"},
                {
                    "type": "web_search_call",
                    "id": "ws_1",
                    "status": "completed",
                    "action": {"type": "search", "query": "rain"},
                },
                {"role": "user", "content": "And?"},
            ],
        },
        ["input.1"],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_only_the_field_is_lost(name: str) -> None:
    format, body, places = BODIES[name]
    assert cw.check(body, format) == []
    odd = json.loads(json.dumps(body))
    for path in places:
        holder: Any = odd
        for step in path.split("."):
            holder = holder[int(step) if step.isdecimal() else step]
        holder["novelty"] = "new"
    assert [one.code for one in cw.check(odd, format)] == ["T-extra"] * len(places)
    sent = cw.convert(odd, format, format)
    assert sent.payload == body
    lost = [one for one in sent.changes if one.code != "invent.model"]
    assert {one.code for one in lost} == {"loss.extra"}
    assert all("novelty" in one.reason for one in lost)
    assert len(lost) == len(places)
