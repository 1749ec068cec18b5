"""Tools in every shape: each is sent, and its calls come back under its own name and kind."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.streams import restore_calls

MODELS = {
    "anthropic": "claude-opus-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}
EXEC = {"type": "custom", "name": "exec", "description": "Run code"}
WAIT = {"type": "function", "name": "wait", "parameters": {"type": "object", "properties": {}}}
NAMESPACE = {"type": "namespace", "name": "functions", "description": "", "tools": [EXEC, WAIT]}
USER = {"role": "user", "content": "go"}
HISTORY = [
    {"type": "custom_tool_call", "call_id": "c1", "name": "exec", "input": "1 + 1"},
    {"type": "custom_tool_call_output", "call_id": "c1", "output": "2"},
]
ADDED = {"type": "additional_tools", "role": "developer", "tools": [NAMESPACE]}
BODIES: dict[str, dict[str, Any]] = {
    "tools": {"model": "gpt-5.6-sol", "tools": [NAMESPACE], "input": [USER, *HISTORY]},
    "an item": {"model": "gpt-5.6-sol", "input": [ADDED, USER, *HISTORY]},
}


def names_in(payload: Any, target: str) -> list[str]:
    conversation = cw.parse(payload, target)
    return [tool.name for tool in conversation.tools if isinstance(tool, cw.Tool)]


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-chat"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_namespaced_and_custom_tools_are_delivered(body: Any, target: str) -> None:
    rendered = cw.convert(body, "openai-responses", target, model=MODELS[target])
    assert names_in(rendered.payload, target) == ["functions__exec", "functions__wait"]
    called = [m.calls[0] for m in cw.parse(rendered.payload, target).messages if m.calls]
    assert [(call.name, call.arguments) for call in called] == [
        ("functions__exec", {"input": "1 + 1"})
    ]
    problems = cw.check(rendered.payload, target, model=MODELS[target])
    assert [problem for problem in problems if problem.level == "error"] == []
    assert "loss.tool" not in [change.code for change in rendered.changes]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_namespaced_tools_go_back_as_they_came(body: Any) -> None:
    rendered = cw.render(cw.parse(body, "openai-responses"), "openai-responses")
    assert rendered.payload == body


@pytest.mark.parametrize(
    ("own", "sent", "arguments", "home"),
    [
        (
            "exec",
            "functions__exec",
            {"input": "2 + 2"},
            {"type": "custom_tool_call", "namespace": "functions", "input": "2 + 2"},
        ),
        (
            "wait",
            "functions__wait",
            {},
            {"type": "function_call", "namespace": "functions", "arguments": "{}"},
        ),
    ],
)
def test_a_call_of_a_flattened_tool_comes_home(
    own: str, sent: str, arguments: dict[str, Any], home: dict[str, Any]
) -> None:
    request = cw.parse(BODIES["tools"], "openai-responses")
    rendered = cw.render(request, "anthropic", model="claude-opus-5")
    block = {"type": "tool_use", "id": "c9", "name": sent, "input": arguments}
    reply = cw.parse_reply({"role": "assistant", "content": [block]}, "anthropic")
    restored = restore_calls(reply, request, rendered.tool_names)
    answered = cw.Conversation(
        (*request.messages, *restored.messages, cw.tool_result("c9", "4")),
        request.tools,
        source="openai-responses",
    )
    items = cw.render(answered, "openai-responses", model="gpt-5.6-sol").payload["input"]
    assert items[-2] == {"call_id": "c9", "name": own, **home}
    assert items[-1]["type"] == home["type"] + "_output"


def test_a_call_of_a_renamed_tool_comes_home() -> None:
    request = cw.Conversation((cw.user("go"),), (cw.Tool("my tool"),))
    rendered = cw.render(request, "anthropic", model="claude-opus-5")
    reply = cw.Conversation((cw.assistant(cw.ToolCall("my_tool", {}, "a")),))
    restored = restore_calls(reply, request, rendered.tool_names)
    assert restored.messages[0].calls[0].name == "my tool"


def test_arguments_with_names_that_anthropic_refuses_come_home() -> None:
    properties = {"filter[id]": {"type": "string"}, "filter_id": {}, "$top": {}, "a.b-c": {}}
    schema = {"type": "object", "properties": properties, "required": ["$top", "filter_id"]}
    given = {
        "model": "gpt-5.4",
        "messages": [{"role": "user", "content": "go"}],
        "tools": [{"type": "function", "function": {"name": "list", "parameters": schema}}],
    }
    request = cw.parse(given, "openai-chat")
    rendered = cw.render(request, "anthropic", model="claude-opus-5")
    assert rendered.payload["tools"][0]["input_schema"] == {
        "type": "object",
        "properties": {"filter_id_2": {"type": "string"}, "filter_id": {}, "top": {}, "a.b-c": {}},
        "required": ["top", "filter_id"],
    }
    path = "tools[0].parameters.properties."
    said = [one.path for one in rendered.changes if one.code == "repair.schema"]
    assert said == [f"{path}filter[id]", f"{path}$top"]
    assert cw.check(rendered.payload, "anthropic") == []
    wrong = {**rendered.payload, "tools": [{"name": "list", "input_schema": schema}]}
    assert [problem.code for problem in cw.check(wrong, "anthropic")] == ["A-schema", "A-schema"]
    assert cw.convert(given, "openai-chat", "openai-chat").payload == given

    sent = {"filter_id_2": "7", "filter_id": 1, "top": 5, "more": {"top": 1}}
    block = {"type": "tool_use", "id": "c9", "name": "list", "input": sent}
    reply = cw.parse_reply({"role": "assistant", "content": [block]}, "anthropic")
    [call] = restore_calls(reply, request, rendered.tool_names).messages[0].calls
    assert call.arguments == {"filter[id]": "7", "filter_id": 1, "$top": 5, "more": {"top": 1}}
    [own] = restore_calls(cw.Conversation((cw.assistant(call),)), request).messages[0].calls
    assert own == call


@pytest.mark.parametrize(
    ("tool", "target", "equal"),
    [
        (cw.Opaque("openai-responses", {"type": "web_search"}), "gemini", {"googleSearch": {}}),
        (
            cw.Opaque("openai-responses", {"type": "web_search_preview"}),
            "anthropic",
            {"type": "web_search_20250305", "name": "web_search"},
        ),
        (
            cw.Opaque("gemini", {"codeExecution": {}}),
            "openai-responses",
            {"type": "code_interpreter", "container": {"type": "auto"}},
        ),
        (
            cw.Opaque("anthropic", {"type": "web_fetch_20250910", "name": "web_fetch"}),
            "gemini",
            {"urlContext": {}},
        ),
        (cw.Opaque("anthropic", {"type": "bash_20250124", "name": "bash"}), "gemini", None),
        (cw.Opaque("openai-responses", {"type": "web_search"}), "openai-chat", None),
    ],
)
def test_a_hosted_tool_crosses_where_it_has_an_equal(
    tool: cw.Opaque, target: str, equal: dict[str, Any] | None
) -> None:
    conversation = cw.Conversation((cw.user("go"),), (tool,))
    rendered = cw.render(conversation, target, model=MODELS[target])
    assert rendered.payload.get("tools") == ([equal] if equal else None)
    code = "repair.tool" if equal else "loss.tool"
    assert code in [change.code for change in rendered.changes]
