"""What translation once left out, by number: tools, settings, schemas."""

from typing import Any

import msgspec
import pytest

import contextwright as cw
from contextwright.messages import OutputFormat
from contextwright.streams import restore_calls
from golden_files import compare

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
CODEX: dict[str, dict[str, Any]] = {
    "tools": {"model": "gpt-5.6-sol", "tools": [NAMESPACE], "input": [USER, *HISTORY]},
    "an item": {"model": "gpt-5.6-sol", "input": [ADDED, USER, *HISTORY]},
}


def names_in(payload: Any, target: str) -> list[str]:
    conversation = cw.parse(payload, target)
    return [tool.name for tool in conversation.tools if isinstance(tool, cw.Tool)]


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-chat"])
@pytest.mark.parametrize("body", CODEX.values(), ids=CODEX.keys())
def test_10_namespaced_and_custom_tools_are_delivered(body: Any, target: str) -> None:
    rendered = cw.convert(body, "openai-responses", target, model=MODELS[target])
    assert names_in(rendered.payload, target) == ["functions__exec", "functions__wait"]
    called = [m.calls[0] for m in cw.parse(rendered.payload, target).messages if m.calls]
    assert [(call.name, call.arguments) for call in called] == [
        ("functions__exec", {"input": "1 + 1"})
    ]
    problems = cw.check(rendered.payload, target, model=MODELS[target])
    assert [problem for problem in problems if problem.level == "error"] == []
    assert "loss.tool" not in [change.code for change in rendered.changes]


@pytest.mark.parametrize("body", CODEX.values(), ids=CODEX.keys())
def test_10_namespaced_tools_go_back_as_they_came(body: Any) -> None:
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
def test_10_a_call_of_a_flattened_tool_comes_home(
    own: str, sent: str, arguments: dict[str, Any], home: dict[str, Any]
) -> None:
    request = cw.parse(CODEX["tools"], "openai-responses")
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


def test_10_a_call_of_a_renamed_tool_comes_home() -> None:
    request = cw.Conversation((cw.user("go"),), (cw.Tool("my tool"),))
    rendered = cw.render(request, "anthropic", model="claude-opus-5")
    reply = cw.Conversation((cw.assistant(cw.ToolCall("my_tool", {}, "a")),))
    restored = restore_calls(reply, request, rendered.tool_names)
    assert restored.messages[0].calls[0].name == "my tool"


def test_10_arguments_with_names_that_anthropic_refuses_come_home() -> None:
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
def test_10_a_hosted_tool_crosses_where_it_has_an_equal(
    tool: cw.Opaque, target: str, equal: dict[str, Any] | None
) -> None:
    conversation = cw.Conversation((cw.user("go"),), (tool,))
    rendered = cw.render(conversation, target, model=MODELS[target])
    assert rendered.payload.get("tools") == ([equal] if equal else None)
    code = "repair.tool" if equal else "loss.tool"
    assert code in [change.code for change in rendered.changes]


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
HI = {"role": "user", "content": "hi"}
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "claude-opus-5", "messages": [HI]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "openai-chat": {"model": "gpt-5.6-sol", "messages": [HI]},
    "openai-responses": {"model": "gpt-5.6-sol", "input": [HI]},
}
EFFORT = {
    "anthropic": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
    "gemini": {"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}},
    "openai-chat": {"reasoning_effort": "high"},
    "openai-responses": {"reasoning": {"effort": "high"}},
}
STRUCTURED = {
    "anthropic": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    "gemini": {
        "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    },
    "openai-chat": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "output", "schema": SCHEMA},
        }
    },
    "openai-responses": {
        "text": {"format": {"type": "json_schema", "name": "output", "schema": SCHEMA}}
    },
}
STREAMED: dict[str, dict[str, Any]] = {
    "anthropic": {"stream": True},
    "openai-chat": {"stream": True},
    "openai-responses": {"stream": True},
}


def body(format: str, **fields: Any) -> dict[str, Any]:
    return {**BODIES[format], **fields}


@pytest.mark.parametrize(
    "meaning", [EFFORT, STRUCTURED, STREAMED], ids=["effort", "output", "stream"]
)
@pytest.mark.parametrize("source", MODELS)
@pytest.mark.parametrize("target", MODELS)
def test_11_a_setting_crosses(meaning: dict[str, dict[str, Any]], source: str, target: str) -> None:
    if source not in meaning or target not in meaning or source == target:
        return
    rendered = cw.convert(body(source, **meaning[source]), source, target, model=MODELS[target])
    frame = {*BODIES[target], "max_tokens"}
    asked = {key: value for key, value in rendered.payload.items() if key not in frame}
    assert asked == meaning[target]
    assert [change for change in rendered.changes if change.code == "loss.setting"] == []
    assert cw.check(rendered.payload, target, model=MODELS[target]) == []


@pytest.mark.parametrize("mode", ["AUTO", "ANY", "NONE", "VALIDATED"])
@pytest.mark.parametrize("target", [name for name in MODELS if name != "gemini"])
def test_11_only_gemini_holds_calls_to_their_schemas(mode: str, target: str) -> None:
    """The mode `VALIDATED` is `AUTO` with that promise."""
    config = {"functionCallingConfig": {"mode": mode}}
    tools = [{"functionDeclarations": [{"name": "f", "description": "d"}]}]
    rendered = cw.convert(body("gemini", toolConfig=config, tools=tools), "gemini", target)
    lost = [change.path for change in rendered.changes if change.code == "loss.setting"]
    named = ["toolConfig.functionCallingConfig"] if mode == "VALIDATED" else []
    refused = ["tool_choice"] if (mode, target) == ("ANY", "anthropic") else []
    assert lost == [*named, *refused]


@pytest.mark.parametrize(
    ("settings", "target", "model", "lost"),
    [
        (cw.Settings(effort="high"), "openai-chat", "gpt-4o", ["effort"]),
        (cw.Settings(effort="high"), "gemini", "gemini-2.0-flash", ["effort"]),
        (cw.Settings(verbosity="low"), "openai-chat", "gpt-4o", ["verbosity"]),
        (cw.Settings(verbosity="high"), "openai-responses", "o3", ["verbosity"]),
        (cw.Settings(verbosity="low", seed=1), "anthropic", "claude-opus-5", ["verbosity", "seed"]),
        (cw.Settings(cache_key="k"), "gemini", "gemini-3.8-flash", ["cache_key"]),
        (cw.Settings(top_k=3), "openai-responses", "gpt-4o", ["top_k"]),
        (cw.Settings(output=OutputFormat()), "openai-chat", "gpt-5.6-sol", ["output"]),
    ],
)
def test_11_a_setting_without_a_place_is_said(
    settings: cw.Settings, target: str, model: str, lost: list[str]
) -> None:
    conversation = cw.Conversation((cw.user("hi"),), settings=settings)
    changes = cw.render(conversation, target, model=model).changes
    assert sorted(c.path for c in changes if c.code == "loss.setting") == sorted(lost)


ALL: dict[str, dict[str, Any]] = {
    "anthropic": {
        "max_tokens": 5_000,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "stop_sequences": ["END", "STOP"],
        "thinking": {"type": "enabled", "budget_tokens": 2_048, "display": "summarized"},
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        **STRUCTURED["anthropic"],
    },
    "gemini": {
        "generationConfig": {
            "maxOutputTokens": 5_000,
            "temperature": 0.5,
            "topP": 0.9,
            "topK": 40,
            "seed": 7,
            "presencePenalty": 0.1,
            "frequencyPenalty": 0.2,
            "stopSequences": ["END", "STOP"],
            "thinkingConfig": {"thinkingBudget": 2_048, "includeThoughts": True},
            **STRUCTURED["gemini"]["generationConfig"],
        },
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    },
    "openai-chat": {
        "max_completion_tokens": 5_000,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "stop": ["END", "STOP"],
        "reasoning_effort": "high",
        "parallel_tool_calls": False,
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        **STRUCTURED["openai-chat"],
    },
    "openai-responses": {
        "max_output_tokens": 5_000,
        "temperature": 0.5,
        "top_p": 0.9,
        "reasoning": {"effort": "high", "summary": "auto"},
        "parallel_tool_calls": False,
        "tools": [{"type": "function", "name": "f"}],
        "tool_choice": {"type": "function", "name": "f"},
        **STRUCTURED["openai-responses"],
    },
}
"""Every setting that an API has in common with another."""


def test_11_all_settings_are_read() -> None:
    read = {name: cw.parse(body(name, **fields), name).settings for name, fields in ALL.items()}
    compare("settings-read", {name: msgspec.to_builtins(one) for name, one in read.items()})


PLACE = {"type": "object", "properties": {"city": {"type": "string"}}}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
FEATURES: dict[str, dict[str, Any]] = {
    "$defs": {"properties": {"a": {"$ref": "#/$defs/Place"}}, "$defs": {"Place": PLACE}},
    "recursion": {"properties": {"a": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": NODE}},
    "anyOf": {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}},
    "const": {"properties": {"a": {"const": "on"}}},
    "const that is no text": {"properties": {"a": {"const": True}}},
    "additionalProperties": {"additionalProperties": {"type": "string"}},
    "nullable": {"properties": {"a": {"type": ["string", "null"]}}},
    "format": {"properties": {"a": {"type": "string", "format": "uuid"}}},
    "minLength": {"properties": {"a": {"type": "string", "minLength": 2}}},
}
RESTATED = {
    ("const", "gemini"): {"properties": {"a": {"enum": ["on"]}}},
    ("const that is no text", "gemini"): {"properties": {"a": {}}},
}
LOST = {
    ("const that is no text", "gemini"): "const",
    ("minLength", "gemini"): "minLength",
    ("minLength", "anthropic"): "minLength, additionalProperties",
    **{(name, "anthropic"): "additionalProperties" for name in FEATURES if name != "minLength"},
    ("recursion", "anthropic"): "recursive schema",
}


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize("name", FEATURES)
def test_12_what_a_schema_says_arrives_or_is_said(name: str, target: str) -> None:
    """A tool says it all, if in other words; what an answer is not held to is said."""
    schema = {"type": "object", **FEATURES[name]}
    settings = cw.Settings(output=OutputFormat(schema))
    given = cw.Conversation((cw.user("hi"),), (cw.Tool("f", "d", schema),), settings=settings)
    rendered = cw.render(given, target, model=MODELS[target])
    assert [p for p in cw.check(rendered.payload, target) if p.level == "error"] == []
    [tool] = cw.parse(rendered.payload, target).tools
    assert isinstance(tool, cw.Tool)
    assert tool.parameters == {"type": "object", **RESTATED.get((name, target), FEATURES[name])}
    said = [str(change) for change in rendered.changes if change.path == "output"]
    assert len(said) == ((name, target) in LOST)
    assert all(one.endswith(LOST[name, target]) for one in said)


def test_12_nullable_is_a_type() -> None:
    field = {"type": "STRING", "nullable": True}
    declared = {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": field}}}
    given = body("gemini", tools=[{"functionDeclarations": [declared]}])
    for target in ("anthropic", "openai-chat", "openai-responses"):
        rendered = cw.convert(given, "gemini", target, model=MODELS[target])
        [tool] = cw.parse(rendered.payload, target).tools
        assert isinstance(tool, cw.Tool)
        assert tool.parameters is not None
        assert tool.parameters["properties"] == {"a": {"type": ["string", "null"]}}
