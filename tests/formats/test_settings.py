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
WITHOUT_LIMIT = ("model", "messages", "contents", "input", "tools")
FRAME = (*WITHOUT_LIMIT, "max_tokens")


def asked(payload: dict[str, Any], frame: Sequence[str] = FRAME) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in frame}


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


def test_what_a_thinking_budget_adds_is_said() -> None:
    asked = cw.Settings(thinking_budget=500)
    conversation = cw.Conversation((cw.user("hi"),), settings=asked)
    rendered = cw.render(conversation, "anthropic", model="claude-sonnet-4-5")
    assert rendered.payload["thinking"] == {"type": "enabled", "budget_tokens": 1_024}
    assert [str(change) for change in rendered.changes] == [
        "invent.max_tokens max_tokens: required by this API and not set; using 5,120",
        "repair.setting effort: raised to 1,024 tokens, the least allowed",
    ]


def test_an_effort_beside_disabled_thinking_is_said_to_be_lost() -> None:
    """It also says how much Claude writes; others have one effort for both."""
    body = {
        "model": "claude-opus-4-6",
        "messages": [{"role": "user", "content": "hi"}],
        "thinking": {"type": "disabled"},
        "output_config": {"effort": "low"},
    }
    rendered = cw.convert(body, "anthropic", "openai-responses", model="gpt-5.6-sol")
    assert rendered.payload["reasoning"] == {"effort": "none"}
    assert [change.path for change in rendered.changes] == ["output_config.effort"]


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
