"""Settings in every shape: each reaches the other APIs, or is reported as lost."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

import contextwright as cw
from contextwright.formats.settings import effort_of
from contextwright.messages import OutputFormat, ToolChoice
from golden_files import compare

MODELS = {
    "anthropic": "claude-opus-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
TOOL = cw.Tool("f", "d", {"type": "object"})
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "claude-opus-5", "messages": []},
    "gemini": {"contents": []},
    "openai-chat": {"model": "gpt-5.6-sol", "messages": []},
    "openai-responses": {"model": "gpt-5.6-sol", "input": []},
}
WITHOUT_LIMIT = ("model", "messages", "contents", "input", "tools")
FRAME = (*WITHOUT_LIMIT, "max_tokens")


def body(format: str, **fields: Any) -> dict[str, Any]:
    given = {**BODIES[format], **fields}
    said = {"role": "user", "content": "hi"}
    for key in ("messages", "input"):
        if key in given:
            given[key] = [said]
    if "contents" in given:
        given["contents"] = [{"role": "user", "parts": [{"text": "hi"}]}]
    return given


def asked(payload: dict[str, Any], frame: Sequence[str] = FRAME) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in frame}


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


@pytest.mark.parametrize(
    "meaning", [EFFORT, STRUCTURED, STREAMED], ids=["effort", "output", "stream"]
)
@pytest.mark.parametrize("source", MODELS)
@pytest.mark.parametrize("target", MODELS)
def test_a_setting_crosses(meaning: dict[str, dict[str, Any]], source: str, target: str) -> None:
    if source not in meaning or target not in meaning or source == target:
        return
    rendered = cw.convert(body(source, **meaning[source]), source, target, model=MODELS[target])
    assert asked(rendered.payload) == meaning[target]
    assert [change for change in rendered.changes if change.code == "loss.setting"] == []
    assert cw.check(rendered.payload, target, model=MODELS[target]) == []


@pytest.mark.parametrize("mode", ["AUTO", "ANY", "NONE", "VALIDATED"])
@pytest.mark.parametrize("target", [name for name in MODELS if name != "gemini"])
def test_only_gemini_holds_calls_to_their_schemas(mode: str, target: str) -> None:
    """The mode `VALIDATED` is `AUTO` with that promise."""
    config = {"functionCallingConfig": {"mode": mode}}
    tools = [{"functionDeclarations": [{"name": "f", "description": "d"}]}]
    rendered = cw.convert(body("gemini", toolConfig=config, tools=tools), "gemini", target)
    lost = [change.path for change in rendered.changes if change.code == "loss.setting"]
    named = ["toolConfig.functionCallingConfig"] if mode == "VALIDATED" else []
    refused = ["tool_choice"] if (mode, target) == ("ANY", "anthropic") else []
    assert lost == [*named, *refused]


@pytest.mark.parametrize(
    ("target", "setting", "silent", "lost"),
    [
        ("anthropic", "store", [False], True),
        ("anthropic", "service_tier", ["auto", "default"], "flex"),
        ("anthropic", "seed", [], 1),
        ("gemini", "parallel_calls", [True], False),
        ("gemini", "cache_key", [], "a"),
    ],
)
def test_what_asks_for_nothing_is_not_lost(
    target: str, setting: str, silent: list[Any], lost: Any
) -> None:
    for value in (*silent, lost):
        settings = cw.Settings(**{setting: value})
        rendered = cw.render(cw.Conversation((cw.user("q"),), settings=settings), target)
        said = [str(change) for change in rendered.changes if change.code == "loss.setting"]
        expected = f"loss.setting {setting}: {target} has no such setting"
        assert said == ([] if value in silent else [expected])


@pytest.mark.parametrize(
    ("effort", "budgets"),
    {
        None: (-1,),
        "none": (0,),
        "minimal": (1, 1_024),
        "low": (1_025, 2_048),
        "medium": (2_049, 8_192),
        "high": (8_193, 16_384),
        "xhigh": (16_385, 32_768),
        "max": (32_769, 65_536, 1_000_000),
    }.items(),
)
def test_a_budget_is_the_least_effort_that_has_it(
    effort: str | None, budgets: tuple[int, ...]
) -> None:
    for budget in budgets:
        assert effort_of(cw.Settings(thinking_budget=budget)) == effort


@pytest.mark.parametrize(
    ("settings", "target", "model", "expected"),
    [
        (
            cw.Settings(effort="medium", max_tokens=20_000, temperature=0.5),
            "anthropic",
            "claude-sonnet-4-5",
            {"thinking": {"type": "enabled", "budget_tokens": 8_192}},
        ),
        (
            cw.Settings(thinking_budget=5_000),
            "gemini",
            "gemini-2.5-flash",
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 5_000}}},
        ),
        (
            cw.Settings(thinking_budget=5_000, show_thinking=True),
            "openai-responses",
            "gpt-5.6-sol",
            {"reasoning": {"effort": "medium", "summary": "auto"}},
        ),
        (
            cw.Settings(effort="none"),
            "gemini",
            "gemini-2.5-flash",
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
        ),
        (
            cw.Settings(effort="none"),
            "anthropic",
            "claude-sonnet-5-5",
            {"output_config": {"effort": "low"}},
        ),
        (
            cw.Settings(top_k=5, seed=1, temperature=0.5),
            "gemini",
            "gemini-2.5-flash",
            {"generationConfig": {"topK": 5, "seed": 1, "temperature": 0.5}},
        ),
        (
            cw.Settings(user="u1", parallel_calls=False, store=False),
            "anthropic",
            "claude-opus-5",
            {
                "metadata": {"user_id": "u1"},
                "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            },
        ),
        (
            cw.Settings(verbosity="low", cache_key="k", service_tier="flex", parallel_calls=False),
            "openai-responses",
            "gpt-5.6-sol",
            {
                "text": {"verbosity": "low"},
                "prompt_cache_key": "k",
                "service_tier": "flex",
                "parallel_tool_calls": False,
            },
        ),
    ],
)
def test_a_setting_is_asked_in_the_models_own_terms(
    settings: cw.Settings, target: str, model: str, expected: dict[str, Any]
) -> None:
    conversation = cw.Conversation((cw.user("hi"),), (TOOL,), settings=settings)
    rendered = cw.render(conversation, target, model=model)
    assert asked(rendered.payload) == expected
    problems = cw.check(rendered.payload, target, model=model)
    assert [problem for problem in problems if problem.level == "error"] == []


@pytest.mark.parametrize(
    ("limit", "budget", "changes"),
    [
        (20_000, 16_384, []),
        (
            5_000,
            3_750,
            ["repair.setting effort: max_tokens is 5,000; a thinking budget of 3,750, not 16,384"],
        ),
        (
            1_100,
            1_024,
            ["repair.setting effort: max_tokens is 1,100; a thinking budget of 1,024, not 16,384"],
        ),
        (1_024, None, ["loss.setting effort: max_tokens leaves no room to think"]),
    ],
)
def test_thinking_leaves_room_for_an_answer(
    limit: int, budget: int | None, changes: list[str]
) -> None:
    settings = cw.Settings(effort="high", max_tokens=limit)
    conversation = cw.Conversation((cw.user("hi"),), settings=settings)
    rendered = cw.render(conversation, "anthropic", model="claude-sonnet-4-5")
    assert rendered.payload.get("thinking", {}).get("budget_tokens") == budget
    assert [str(change) for change in rendered.changes] == changes


@pytest.mark.parametrize(
    ("settings", "target", "model", "lost"),
    [
        (cw.Settings(effort="high"), "openai-chat", "gpt-4o", ["effort"]),
        (cw.Settings(effort="high"), "gemini", "gemini-2.0-flash", ["effort"]),
        (cw.Settings(verbosity="low", seed=1), "anthropic", "claude-opus-5", ["verbosity", "seed"]),
        (cw.Settings(cache_key="k"), "gemini", "gemini-3.8-flash", ["cache_key"]),
        (cw.Settings(top_k=3), "openai-responses", "gpt-4o", ["top_k"]),
        (cw.Settings(output=OutputFormat()), "openai-chat", "gpt-5.6-sol", ["output"]),
    ],
)
def test_a_setting_without_a_place_is_said(
    settings: cw.Settings, target: str, model: str, lost: list[str]
) -> None:
    conversation = cw.Conversation((cw.user("hi"),), settings=settings)
    changes = cw.render(conversation, target, model=model).changes
    assert sorted(c.path for c in changes if c.code == "loss.setting") == sorted(lost)


def test_a_setting_that_nobody_knows_is_refused() -> None:
    body = {"messages": [], "settings": {"max_tokens": 5, "colour": "red"}}
    with pytest.raises(cw.ParseError, match="settings.colour"):
        cw.parse(body, "contextwright")


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("schema", [SCHEMA, {"type": "object"}], ids=["closed", "open"])
@pytest.mark.parametrize("strict", [None, False, True])
def test_an_answer_is_strict_where_that_is_wanted_and_possible(
    format: str, schema: dict[str, Any], strict: bool | None
) -> None:
    settings = cw.Settings(output=OutputFormat(schema, strict=strict))
    conversation = cw.Conversation((cw.user("hi"),), settings=settings)
    rendered = cw.render(conversation, format, model=MODELS[format])
    sent = cw.parse(rendered.payload, format).settings.output
    assert sent is not None
    possible = strict and schema is SCHEMA
    assert sent.strict == (None if strict is None else possible)
    lost = ["loss.strict"] if strict and not possible else []
    assert [change.code for change in rendered.changes] == lost


FAMILIES = {
    "anthropic": ["claude-opus-5", "claude-sonnet-5-5", "claude-sonnet-4-5", "claude-3-haiku"],
    "gemini": ["gemini-3.8-flash", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.0-flash"],
    "openai-chat": ["gpt-5.6-sol", "gpt-4o", "o3", "mistral-large", "deepseek-v4-flash"],
    "openai-responses": ["gpt-5.6-sol", "gpt-4o"],
}
OPEN = {"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}}
ITSELF = {"type": "object", "properties": {"a": {"$ref": "#"}}}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
SETTINGS = [
    *(cw.Settings(effort=effort) for effort in EFFORTS),
    *(cw.Settings(thinking_budget=tokens) for tokens in (-1, 0, 1_000, 100_000)),
    *(cw.Settings(show_thinking=shown) for shown in (True, False)),
    cw.Settings(effort="low", show_thinking=True, thinking_budget=3_000),
    cw.Settings(max_tokens=1),
    cw.Settings(temperature=2.0, top_p=0.5, top_k=3, seed=1),
    cw.Settings(presence_penalty=0.5, frequency_penalty=0.5),
    *(cw.Settings(stop=tuple("abcdef"[:count])) for count in (4, 5, 6)),
    *(cw.Settings(tool_choice=ToolChoice(mode)) for mode in ("auto", "none", "required")),
    cw.Settings(tool_choice=ToolChoice("required", "f")),
    cw.Settings(tool_choice=ToolChoice("required", "missing")),
    *(cw.Settings(tool_choice=ToolChoice(mode, None, ("f",))) for mode in ("auto", "required")),
    cw.Settings(tool_choice=ToolChoice("auto", None, ("f", "missing"))),
    cw.Settings(tool_choice=ToolChoice("required"), effort="high"),
    *(cw.Settings(parallel_calls=several) for several in (True, False)),
    cw.Settings(output=OutputFormat()),
    cw.Settings(output=OutputFormat(OPEN, "name", "description", True)),
    cw.Settings(output=OutputFormat(ITSELF)),
    cw.Settings(verbosity="low", cache_key="k", service_tier="flex", store=False),
    cw.Settings(user="u", metadata={"a": "b"}, stream=True, store=True),
]


def test_every_setting_of_every_family() -> None:
    """As each family of models gets it: the whole of what is asked, and every change."""
    tools = (cw.Tool("f", "d", {"type": "object"}), cw.Tool("g", "d", {"type": "object"}))
    lines: list[str] = []
    for format, models in FAMILIES.items():
        for model in models:
            lines += [f"== {format} {model}"]
            for settings in SETTINGS:
                said = (cw.user("Answer in JSON."),)
                conversation = cw.Conversation(said, tools, settings=settings)
                rendered = cw.render(conversation, format, model=model)
                errors = cw.check(rendered.payload, format, model=model)
                assert [one for one in errors if one.level == "error"] == [], settings
                lines += [
                    msgspec.json.encode(settings).decode(),
                    f"  {json.dumps(asked(rendered.payload, WITHOUT_LIMIT))}",
                ]
                lines += [f"  {change}" for change in rendered.changes]
    compare("settings", "\n".join(lines))


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


def test_all_settings_are_read() -> None:
    read = {name: cw.parse(body(name, **fields), name).settings for name, fields in ALL.items()}
    compare("settings-read", {name: msgspec.to_builtins(one) for name, one in read.items()})
