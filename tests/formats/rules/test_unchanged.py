"""What an API takes goes back as it came; what is mended is reported."""

from typing import Any

import pytest

import contextwright as cw
from samples.formats import gemini

RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}
SPOKEN = {"role": "user", "content": "q"}
RESPONSE = gemini.user(gemini.answer("f", {"output": "1"}, "a"))
CACHED = {"cachedContent": "cachedContents/1"}
LONG = "a" * 128
CHAT_CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def claude(*messages: dict[str, Any]) -> dict[str, Any]:
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    asked = {"model": "claude-sonnet-5-5", "max_tokens": 100}
    return {**asked, "tools": tools, "messages": [*messages]}


def call(name: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "a", "name": name, "input": {}}
    return {"role": "assistant", "content": [block]}


def responses(model: str, name: str) -> dict[str, Any]:
    tool = {"type": "function", "name": name, "parameters": {}, "strict": False}
    items = [
        {"role": "user", "content": "q"},
        {"type": "function_call", "call_id": "a", "name": name, "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ]
    return {"model": model, "input": items, "tools": [tool]}


def chat(**fields: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "a", **fields}
    return {"model": "gpt-5.6-sol", "messages": [SPOKEN, said, SPOKEN]}


UNCHANGED: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "a call before any question": ("anthropic", claude(call("f"), RESULT), ["A-first"]),
    "a call by a name that no tool can have": (
        "anthropic",
        claude(SPOKEN, call("x: y"), RESULT),
        ["A-callname"],
    ),
    "a call by such a name in Gemini": (
        "gemini",
        {
            "contents": [
                gemini.user("q"),
                gemini.model(gemini.call("x y", "a")),
                gemini.user(gemini.answer("x y", {"output": "1"}, "a")),
            ]
        },
        ["G-toolname", "G-toolname"],
    ),
    "responses to cached calls": (
        "gemini",
        {"contents": [RESPONSE, gemini.model("ok"), gemini.user("q")], **CACHED},
        ["G-orphan"],
    ),
    "responses to cached calls, and calls without ids": (
        "gemini",
        {
            "contents": [
                RESPONSE,
                gemini.model(gemini.call("f")),
                gemini.user(gemini.answer("f", {"output": "1"})),
            ],
            **CACHED,
        },
        ["G-orphan"],
    ),
    "a call that answers a cached question": (
        "gemini",
        {"contents": [gemini.model(gemini.call("f", "a")), RESPONSE], **CACHED},
        ["G-call-place"],
    ),
    "a long name": (
        "openai-responses",
        responses("gpt-5.6-sol", LONG),
        ["OR-callname", "OR-toolname"],
    ),
    "a name that only other hosts take": (
        "openai-responses",
        responses("grok-4", "x: y"),
        ["OR-callname", "OR-toolname"],
    ),
    "a field of LiteLLM": (
        "openai-chat",
        chat(provider_specific_fields={"refusal": None}),
        ["T-extra"],
    ),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_is_only_warned_of_stays(name: str) -> None:
    format, body, codes = UNCHANGED[name]
    model = body.get("model", gemini.NEW)
    problems = cw.check(body, format, model=model)
    assert [(one.code, one.level) for one in problems] == [(code, "warning") for code in codes]
    rendered = cw.convert(body, format, format, model=model)
    assert rendered.payload is body
    assert rendered.changes == ()


def test_what_a_dropped_cache_does_not_hold_is_dropped_too() -> None:
    """A request that has its own system text loses the cached content, and with it the call."""
    system = {"systemInstruction": {"parts": [{"text": "s"}]}}
    body = {"contents": [RESPONSE, gemini.model("ok"), gemini.user("q")], **system, **CACHED}
    rendered = cw.convert(body, "gemini", "gemini", model=gemini.NEW)
    assert [change.code for change in rendered.changes] == ["loss.orphan", "loss.setting"]
    assert [p for p in cw.check(rendered.payload, "gemini") if p.level == "error"] == []


MENDED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "two tool messages for one call": (
        "openai-chat",
        {
            "model": "gpt-5.6-sol",
            "messages": [
                SPOKEN,
                {"role": "assistant", "tool_calls": [CHAT_CALL]},
                {"role": "tool", "tool_call_id": "a", "content": "1"},
                {"role": "tool", "tool_call_id": "a", "content": "2"},
            ],
        },
        "OC-dup-result messages[3]",
        "loss.orphan messages[3].parts[0]",
    ),
    "a response behind a text": (
        "gemini",
        {
            "contents": [
                gemini.user("q"),
                gemini.model(gemini.call("f", "a"), gemini.call("f", "b")),
                RESPONSE,
                gemini.user("hurry"),
                gemini.user(gemini.answer("f", {"output": "1"}, "b")),
            ]
        },
        "G-orphan contents[4].parts[0]",
        "repair.order messages[4].parts[0]",
    ),
    "a custom call by a name that no tool can have": (
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "input": [
                SPOKEN,
                {"type": "custom_tool_call", "call_id": "a", "name": "x: y", "input": "1"},
                {"type": "custom_tool_call_output", "call_id": "a", "output": "2"},
            ],
        },
        "OR-callname input[1].name",
        "repair.tool_name tools",
    ),
    "a choice among functions that were cached": (
        "gemini",
        {
            "contents": [gemini.user("q")],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
            **CACHED,
        },
        "G-cached toolConfig",
        "loss.setting cachedContent",
    ),
}


@pytest.mark.parametrize("name", MENDED)
def test_what_is_mended_is_reported(name: str) -> None:
    format, body, problem, change = MENDED[name]
    model = body.get("model", gemini.OLD)
    found = cw.check(body, format, model=model)
    assert [f"{one.code} {one.path}" for one in found if one.level == "error"] == [problem]
    rendered = cw.convert(body, format, format, model=model)
    assert change in [f"{one.code} {one.path}" for one in rendered.changes]
    assert [p for p in cw.check(rendered.payload, format, model=model) if p.level == "error"] == []
