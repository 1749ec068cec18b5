"""OpenAI Responses: requests of Chat Completions, with what only OpenAI's two APIs have."""

from typing import Any

import pytest

import contextwright as cw
from samples.responses import MODEL, NAME, body


def test_from_chat_completions() -> None:
    lark = {"syntax": "lark", "definition": "start: /./"}
    grammar = {"type": "grammar", "grammar": lark}
    chat = {
        "model": MODEL,
        "messages": [
            {"role": "user", "content": [marked("text", "See"), picture("low")]},
            {"role": "assistant", "content": None, "refusal": "I cannot help"},
            {"role": "user", "content": "x"},
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "1"}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "1"},
        ],
        "tools": [{"type": "custom", "custom": {"name": "sql", "format": grammar}}],
        "reasoning_effort": "low",
        "verbosity": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
        "prompt_cache_key": "k",
        "max_completion_tokens": 100,
    }
    rendered = cw.convert(chat, "openai-chat", NAME, model=MODEL)
    assert rendered.payload == body(
        {
            "role": "user",
            "content": [
                marked("input_text", "See"),
                {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"},
            ],
        },
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot help"}]},
        {"role": "user", "content": "x"},
        {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
        tools=[{"type": "custom", "name": "sql", "format": {"type": "grammar", **lark}}],
        reasoning={"effort": "low"},
        text={"verbosity": "low", "format": {"type": "json_schema", "name": "n", "schema": {}}},
        prompt_cache_key="k",
        max_output_tokens=100,
    )
    assert rendered.changes == ()


def marked(kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "text": text, "prompt_cache_breakpoint": {"mode": "explicit"}}


def picture(detail: str) -> dict[str, Any]:
    return {
        "type": "image_url",
        "image_url": {"url": "https://example.com/a.png", "detail": detail},
    }


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"type": "text"}, {"type": "text"}),
        (
            {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a+"}},
            {"type": "grammar", "syntax": "regex", "definition": "a+"},
        ),
    ],
)
def test_a_custom_tool_of_chat_completions(form: Any, expected: Any) -> None:
    tool = {"type": "custom", "custom": {"name": "sql", "format": form}}
    body = {"messages": [{"role": "user", "content": "q"}], "tools": [tool]}
    payload = cw.convert(body, "openai-chat", "openai-responses").payload
    assert payload["tools"] == [{"type": "custom", "name": "sql", "format": expected}]
