"""Cache marks and tool choices, from one API to another."""

from typing import Any

import pytest

import contextwright as cw

MODELS = {
    "anthropic": "claude-opus-4-6",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}
MARK = {"cache_control": {"type": "ephemeral"}}
BREAK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {
        "model": "claude-opus-4-6",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", **MARK}]}],
    },
    "openai-chat": {
        "model": "gpt-5.6-sol",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", **BREAK}]}],
    },
    "openai-responses": {
        "model": "gpt-5.6-sol",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi", **BREAK}]}],
    },
}


def first_part(payload: dict[str, Any]) -> dict[str, Any]:
    [message] = payload.get("messages") or payload["input"]
    return message["content"][0]


@pytest.mark.parametrize("source", BODIES)
@pytest.mark.parametrize("target", BODIES)
def test_a_cache_mark_crosses(source: str, target: str) -> None:
    rendered = cw.convert(BODIES[source], source, target, model=MODELS[target])
    part = first_part(rendered.payload)
    assert {key: part[key] for key in part if "cache" in key} == (
        MARK if target == "anthropic" else BREAK
    )
    assert "loss.extra" not in [change.code for change in rendered.changes]


ROUTED = "anthropic/claude-opus-4.6"
LONG = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


@pytest.mark.parametrize("mark", [MARK, LONG])
def test_claude_behind_a_router_is_marked_as_by_anthropic(mark: dict[str, Any]) -> None:
    """There and back: a router hands `cache_control` on, and ignores OpenAI's field."""
    content = [{"type": "text", "text": "Hi", **mark}]
    body = {**BODIES["anthropic"], "messages": [{"role": "user", "content": content}]}
    routed = cw.convert(body, "anthropic", "openai-chat", model=ROUTED)
    assert routed.payload["messages"] == body["messages"]
    assert routed.changes == ()
    again = cw.convert(routed.payload, "openai-chat", "anthropic", model=MODELS["anthropic"])
    assert again.payload["messages"] == body["messages"]
    assert again.changes == ()
    for target in ("openai-chat", "openai-responses"):
        source = "anthropic" if target == "openai-chat" else "openai-chat"
        given = body if target == "openai-chat" else routed.payload
        made = cw.convert(given, source, target, model=MODELS[target])
        assert BREAK.items() <= first_part(made.payload).items()
        lost = [change.reason for change in made.changes if change.code == "loss.extra"]
        assert lost == ([f"{target} has no place for cache_control.ttl"] if mark is LONG else [])


def test_a_mark_with_a_scope_stays() -> None:
    """As Claude Code marks its system prompt."""
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h", "scope": "global"}}
    system = [{"type": "text", "text": "Be brief.", **mark}]
    body = {**BODIES["anthropic"], "system": system}
    assert cw.check(body, "anthropic") == []
    assert cw.convert(body, "anthropic", "anthropic").payload is body
    made = cw.convert(body, "anthropic", "openai-chat", model=MODELS["openai-chat"])
    reason = "openai-chat has no place for cache_control.ttl, cache_control.scope"
    assert [change.reason for change in made.changes] == [reason]


FUNCTION = {"name": "f", "parameters": {"type": "object", "properties": {}}}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize("mark", [MARK, LONG])
def test_a_cache_mark_of_a_tool_crosses(mark: dict[str, Any]) -> None:
    tool = {"name": "f", "input_schema": FUNCTION["parameters"], **mark}
    body = {**BODIES["anthropic"], "tools": [tool]}
    routed = cw.convert(body, "anthropic", "openai-chat", model=ROUTED)
    assert routed.payload["tools"] == [{"type": "function", "function": FUNCTION, **mark}]
    assert routed.changes == ()
    inside = {**routed.payload, "tools": [{"type": "function", "function": {**FUNCTION, **mark}}]}
    for given in (routed.payload, inside):
        again = cw.convert(given, "openai-chat", "anthropic", model=MODELS["anthropic"])
        assert again.payload["tools"] == body["tools"]
        assert "loss.extra" not in [change.code for change in again.changes]


@pytest.mark.parametrize(
    ("target", "model", "reason"),
    [
        ("gemini", "gemini-3.8-flash", "gemini has no place for {}"),
        ("openai-responses", "gpt-5.6-sol", "openai-responses has no {}"),
        ("openai-chat", "gpt-5.6-sol", "OpenAI's own models refuse {}"),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_a_cache_mark_of_a_tool_without_a_place_is_named(
    target: str, model: str, reason: str, inside: bool
) -> None:
    function, beside = ({**FUNCTION, **MARK}, {}) if inside else (FUNCTION, MARK)
    tools = [{"type": "function", "function": function, **beside}]
    body = {**BODIES["openai-chat"], "model": ROUTED, "tools": tools}
    made = cw.convert(body, "openai-chat", target, model=model)
    field = "function.cache_control" if inside else "cache_control"
    assert [c.reason for c in made.changes if c.path == "tools[0]"] == [reason.format(field)]


def test_a_cache_mark_of_a_whole_message_or_result_crosses() -> None:
    """Routers take it beside the content too, and Anthropic only on a result."""
    messages = [
        {"role": "system", "content": "Be brief.", **MARK},
        {"role": "user", "content": "Hi", **MARK},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "a", "content": "Done", **MARK},
    ]
    tools = [{"type": "function", "function": FUNCTION}]
    body = {"model": ROUTED, "messages": messages, "tools": tools, "max_tokens": 100}
    made = cw.convert(body, "openai-chat", "anthropic", model=MODELS["anthropic"])
    assert made.changes == ()
    assert made.payload["system"] == [{"type": "text", "text": "Be brief.", **MARK}]
    [asked, _, answered] = made.payload["messages"]
    result = {"type": "tool_result", "tool_use_id": "a", "content": "Done", **MARK}
    assert asked["content"] == [{"type": "text", "text": "Hi", **MARK}]
    assert answered["content"] == [result]
    there = cw.convert(body, "openai-chat", "openai-responses", model=MODELS["openai-responses"])
    assert there.changes == ()
    assert there.payload["input"][-1]["output"] == [{"type": "input_text", "text": "Done", **BREAK}]
    back = cw.convert(made.payload, "anthropic", "openai-chat", model=ROUTED)
    assert back.changes == ()
    [*_, answer] = back.payload["messages"]
    assert answer["content"] == [{"type": "text", "text": "Done", **MARK}]


@pytest.mark.parametrize(
    ("target", "model"), [("gemini", "gemini-3.8-flash"), ("openai-chat", "gpt-4o")]
)
def test_a_cache_mark_without_a_place_is_named(target: str, model: str) -> None:
    rendered = cw.convert(BODIES["anthropic"], "anthropic", target, model=model)
    [lost] = [change for change in rendered.changes if change.code == "loss.extra"]
    assert (lost.path, "cache_control" in lost.reason) == ("messages[0].parts[0]", True)


def test_a_cache_key_asks_anthropic_to_cache() -> None:
    body = {**BODIES["openai-chat"], "prompt_cache_key": "k"}
    rendered = cw.convert(body, "openai-chat", "anthropic", model=MODELS["anthropic"])
    assert rendered.payload["cache_control"] == {"type": "ephemeral"}
    assert ("repair.setting", "cache_key") in [(c.code, c.path) for c in rendered.changes]


TOOLS = (cw.Tool("my tool"), cw.Tool("b"))


@pytest.mark.parametrize(
    ("target", "choice", "expected"),
    [
        ("anthropic", cw.ToolChoice("required", "my tool"), {"type": "tool", "name": "my_tool"}),
        (
            "gemini",
            cw.ToolChoice("required", "my tool"),
            {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["my_tool"]}},
        ),
        (
            "gemini",
            cw.ToolChoice("auto", allowed=("my tool", "b")),
            {
                "functionCallingConfig": {
                    "mode": "VALIDATED",
                    "allowedFunctionNames": ["my_tool", "b"],
                }
            },
        ),
        (
            "openai-responses",
            cw.ToolChoice("auto", allowed=("my tool", "b")),
            {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [
                    {"type": "function", "name": "my_tool"},
                    {"type": "function", "name": "b"},
                ],
            },
        ),
        ("anthropic", cw.ToolChoice("auto", allowed=("my tool",)), {"type": "auto"}),
    ],
)
def test_a_choice_names_tools_as_they_are_sent(
    target: str, choice: cw.ToolChoice, expected: dict[str, Any]
) -> None:
    settings = cw.Settings(tool_choice=choice)
    conversation = cw.Conversation((cw.user("Hi"),), TOOLS, settings=settings)
    rendered = cw.render(conversation, target, model=MODELS[target])
    assert (rendered.payload.get("tool_choice") or rendered.payload["toolConfig"]) == expected
    narrowed = [c.path for c in rendered.changes if c.path == "tool_choice.allowed"]
    assert bool(narrowed) == (target == "anthropic" and bool(choice.allowed))


def test_a_choice_of_a_namespaced_tool_follows_it() -> None:
    exec_tool = {"type": "custom", "name": "exec", "description": "Run"}
    body = {
        "model": "gpt-5.6-sol",
        "input": "go",
        "tools": [{"type": "namespace", "name": "ns", "description": "d", "tools": [exec_tool]}],
        "tool_choice": {"type": "custom", "name": "exec"},
    }
    made = cw.convert(body, "openai-responses", "openai-chat", model="gpt-5.6-sol")
    assert made.payload["tool_choice"] == {"type": "custom", "custom": {"name": "ns__exec"}}
    reasons = [change.reason for change in made.changes if change.path == "tools[0]"]
    assert any("namespace.description" in reason for reason in reasons)


def test_fields_of_a_hosted_tool_that_stay_behind_are_named() -> None:
    tool = {"type": "web_search", "filters": {"allowed_domains": ["x.org"]}}
    body = {"model": "gpt-5.6-sol", "input": "go", "tools": [tool]}
    made = cw.convert(body, "openai-responses", "gemini", model="gemini-3.8-flash")
    assert [c.reason for c in made.changes if c.code == "loss.extra"] == ["gemini has no filters"]
