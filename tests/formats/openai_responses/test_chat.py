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


def test_custom_tools_and_developers_at_hosts_that_have_neither() -> None:
    """Codex asks for both; DeepSeek refuses a request with either."""
    codex = {
        "model": "gpt-5.1-codex",
        "input": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Run it"},
            {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "input": "1 + 1"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "2"},
        ],
        "tools": [
            {"type": "custom", "name": "exec", "description": "Runs.", "format": {"type": "text"}}
        ],
        "tool_choice": {"type": "custom", "name": "exec"},
    }
    rendered = cw.convert(codex, NAME, "openai-chat", model="deepseek-chat")
    function = {"name": "exec", "arguments": '{"input":"1 + 1"}'}
    assert rendered.payload["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Run it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]
    [tool] = rendered.payload["tools"]
    assert tool["type"] == "function"
    assert tool["function"]["parameters"]["required"] == ["input"]
    assert rendered.payload["tool_choice"] == {"type": "function", "function": {"name": "exec"}}
    assert [str(change) for change in rendered.changes] == [
        "loss.extra tools[0]: compatible hosts have no place for type, format"
    ]


def test_a_stored_custom_call_at_a_host_that_has_only_functions() -> None:
    call = cw.ToolCall("exec", {"input": "1"}, "c1", extra={"openai-chat": {"type": "custom"}})
    talk = cw.Conversation((cw.user("Run it"), cw.assistant(call), cw.tool_result("c1", "1")))
    kinds = {
        model: cw.render(talk, "openai-chat", model=model).payload["messages"][1]["tool_calls"][0]
        for model in ("gpt-5.6-sol", "deepseek-chat", "openai/gpt-5.6-sol")
    }
    assert [kinds[model]["type"] for model in kinds] == ["custom", "function", "function"]


def test_settings_of_tools_without_tools_at_other_hosts() -> None:
    """A hosted tool stays behind, and with it what was asked of it."""
    hosted = [{"type": "local_shell"}]
    asked = body({"role": "user", "content": "Hi"}, tools=hosted, parallel_tool_calls=False)
    rendered = cw.convert(asked, NAME, "openai-chat", model="deepseek-chat")
    assert "parallel_tool_calls" not in rendered.payload
    change = "loss.setting parallel_tool_calls: not allowed without tools"
    assert change in map(str, rendered.changes)


BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {"model": "gpt-5.4", "messages": [{"role": "user", "content": "Hi."}]},
    "openai-responses": {"model": "gpt-5.4", "input": "Hi."},
}
REFUSED: dict[str, Any] = {
    "metadata": {"a": 1},
    "moderation": 5,
    "parallel_tool_calls": "x",
    "prompt_cache_key": 5,
    "prompt_cache_options": {"x": 1},
    "prompt_cache_retention": "x",
    "safety_identifier": 5,
    "service_tier": "x",
    "store": "x",
    "stream": 3,
    "user": 7,
}


@pytest.mark.parametrize("target", BODIES)
@pytest.mark.parametrize("source", BODIES)
@pytest.mark.parametrize("field", REFUSED)
def test_a_setting_that_is_lost_is_named_once(field: str, source: str, target: str) -> None:
    sent = cw.convert({**BODIES[source], field: REFUSED[field]}, source, target)
    lost = [one for one in sent.changes if one.code.startswith("loss")]
    assert len(lost) == 1
    assert field not in sent.payload
