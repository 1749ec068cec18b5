"""How much a model is to think, as far as it takes it."""

from __future__ import annotations

from typing import Any, get_args

import pytest

import contextwright as cw
from contextwright.messages.conversation import Effort
from contextwright.models import Models, find

EFFORTS: tuple[Effort, ...] = get_args(Effort)
APIS = ("anthropic", "gemini", "openai-chat", "openai-responses")
CODES = ("OC-effort", "OR-effort", "A-effort", "G-thinking")


def request(effort: Effort) -> cw.Conversation:
    return cw.Conversation((cw.user("Hi"),), settings=cw.Settings(effort=effort))


def thinking(config: dict[str, Any]) -> dict[str, Any]:
    said = [{"parts": [{"text": "Hi"}]}]
    return {"contents": said, "generationConfig": {"thinkingConfig": config}}


def made_of(effort: Effort, format: str, model: str) -> Any:
    payload = cw.render(request(effort), format, model=model).payload
    match format:
        case "gemini":
            return payload.get("generationConfig", {}).get("thinkingConfig")
        case "anthropic":
            return payload.get("output_config", {}).get("effort", payload.get("thinking"))
        case "openai-responses":
            return payload.get("reasoning", {}).get("effort")
        case _:
            return payload.get("reasoning_effort")


@pytest.mark.parametrize(
    ("format", "model", "asked", "made"),
    [
        ("openai-responses", "o3", "none", "low"),
        ("openai-responses", "gpt-5", "none", "minimal"),
        ("openai-responses", "gpt-5", "max", "high"),
        ("openai-responses", "gpt-5.1", "minimal", "low"),
        ("openai-responses", "gpt-5-pro", "low", "high"),
        ("openai-responses", "gpt-5.6-sol", "minimal", "low"),
        ("openai-responses", "gpt-5.6-sol", "max", "max"),
        ("openai-responses", "gpt-6-astra", "none", "low"),
        ("openai-chat", "gpt-5.6-sol", "max", "xhigh"),
        ("openai-chat", "o1-mini", "high", None),
        ("openai-chat", "openai/gpt-5.6-sol", "max", "max"),
        ("openai-chat", "kimi-k3", "minimal", "minimal"),
        ("anthropic", "claude-opus-4-6", "xhigh", "max"),
        ("anthropic", "claude-opus-5", "minimal", "low"),
        ("gemini", "gemini-3.8-flash", "none", {"thinkingLevel": "low"}),
        ("gemini", "gemini-3.6-flash", "none", {"thinkingLevel": "minimal"}),
        ("gemini", "gemini-3-pro-preview", "medium", {"thinkingLevel": "high"}),
        ("gemini", "gemini-3.1-pro-preview", "max", {"thinkingLevel": "high"}),
        ("gemini", "gemini-2.5-pro", "none", {"thinkingBudget": 128}),
        ("gemini", "gemini-2.5-pro", "max", {"thinkingBudget": 32_768}),
        ("gemini", "gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini", "gemini-2.5-flash", "max", {"thinkingBudget": 24_576}),
    ],
)
def test_an_effort_becomes_one_that_the_model_takes(
    format: str, model: str, asked: Effort, made: Any
) -> None:
    assert made_of(asked, format, model) == made


@pytest.mark.parametrize(
    ("format", "model", "asked", "said"),
    [
        ("openai-responses", "o3", "none", "repair.setting effort: none is low here"),
        ("openai-chat", "o1-mini", "high", "loss.setting effort: o1-mini has no effort setting"),
        (
            "gemini",
            "gemini-2.5-pro",
            "none",
            "repair.setting effort: raised to 128 tokens, which gemini-2.5-pro takes",
        ),
        ("openai-responses", "gpt-5.6-sol", "max", None),
        ("gemini", "gemini-3.6-flash", "low", None),
    ],
)
def test_another_effort_than_the_one_asked_for_is_said(
    format: str, model: str, asked: Effort, said: str | None
) -> None:
    changes = cw.render(request(asked), format, model=model).changes
    assert [str(change) for change in changes] == ([said] if said else [])


@pytest.mark.parametrize("model", [model.id for model in Models.shipped()])
def test_no_model_is_asked_for_an_effort_that_it_does_not_take(model: str) -> None:
    own = find(model).format
    for format in {own, "openai-chat"} & set(APIS):
        for effort in EFFORTS:
            payload = cw.render(request(effort), format, model=model).payload
            found = cw.check(payload, format, model=model)
            assert [str(one) for one in found if one.code in CODES] == []


@pytest.mark.parametrize(
    ("config", "model", "made"),
    [
        ({"thinkingBudget": 0}, "gemini-2.5-pro", {"thinkingBudget": 128}),
        ({"thinkingBudget": 100}, "gemini-2.5-flash-lite", {"thinkingBudget": 512}),
        ({"thinkingBudget": 32_768}, "gemini-2.5-flash", {"thinkingBudget": 24_576}),
        ({"thinkingBudget": -2}, "gemini-2.5-flash", {"thinkingBudget": 1}),
        ({"thinkingLevel": "HIGH"}, "gemini-2.5-flash", {"thinkingBudget": 16_384}),
        (
            {"thinkingLevel": "low", "includeThoughts": True},
            "gemini-2.5-pro",
            {"includeThoughts": True, "thinkingBudget": 2_048},
        ),
        ({"thinkingLevel": "ultra"}, "gemini-2.5-pro", None),
    ],
)
def test_gemini_2_5_thinks_to_a_budget_that_it_takes(
    config: dict[str, Any], model: str, made: Any
) -> None:
    body = {
        "contents": [{"parts": [{"text": "Hi"}]}],
        "generationConfig": {"thinkingConfig": config},
    }
    assert {one.code for one in cw.check(body, "gemini", model=model)} == {"G-thinking"}
    rendered = cw.convert(body, "gemini", "gemini", model=model)
    assert rendered.payload.get("generationConfig", {}).get("thinkingConfig") == made
    assert {change.code for change in rendered.changes} == {"repair.setting"}
    assert cw.check(rendered.payload, "gemini", model=model) == []


@pytest.mark.parametrize(
    ("config", "model"),
    [
        ({"thinkingBudget": 0}, "gemini-2.5-flash"),
        ({"thinkingBudget": -1}, "gemini-2.5-pro"),
        ({"thinkingBudget": 128}, "gemini-2.5-pro"),
        ({"thinkingBudget": 32_768, "includeThoughts": True}, "gemini-2.5-pro"),
        ({"thinkingBudget": 1}, "gemini-2.5-flash"),
        ({"thinkingBudget": 2_000}, "gemini-3.8-flash"),
        ({"thinkingLevel": "HIGH"}, "gemini-3.8-flash"),
        ({"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}, "gemini-3.8-flash"),
        ({"thinkingLevel": "MINIMAL"}, "gemini-3.5-flash-lite"),
        ({"includeThoughts": True}, "gemini-2.5-pro"),
    ],
)
def test_what_a_gemini_model_takes_stays(config: dict[str, Any], model: str) -> None:
    body = {
        "contents": [{"parts": [{"text": "Hi"}]}],
        "generationConfig": {"thinkingConfig": config},
    }
    assert cw.check(body, "gemini", model=model) == []
    assert cw.convert(body, "gemini", "gemini", model=model).payload is body


HI = {"role": "user", "content": "Hi"}
TOOLS = [{"type": "function", "function": {"name": "f"}}]


@pytest.mark.parametrize(
    ("format", "body", "found"),
    [
        ("openai-chat", {"messages": [HI], "reasoning_effort": "minimal"}, ["OC-effort"]),
        ("openai-chat", {"messages": [HI], "reasoning_effort": "max"}, ["OC-effort"]),
        (
            "openai-chat",
            {"messages": [HI], "reasoning_effort": "high", "tools": TOOLS},
            ["OC-effort"],
        ),
        ("openai-chat", {"messages": [HI], "tools": TOOLS}, ["OC-effort"]),
        ("openai-chat", {"messages": [HI], "reasoning_effort": "none", "tools": TOOLS}, []),
        ("openai-chat", {"messages": [HI], "reasoning_effort": "xhigh"}, []),
        ("openai-responses", {"input": "Hi", "reasoning": {"effort": "minimal"}}, ["OR-effort"]),
        ("openai-responses", {"input": "Hi", "reasoning": {"effort": "max"}}, []),
    ],
)
def test_an_effort_that_openai_refuses(format: str, body: dict[str, Any], found: list[str]) -> None:
    body = {"model": "gpt-5.6-sol", **body}
    problems = cw.check(body, format)
    assert [one.code for one in problems] == found
    assert {one.level for one in problems} <= {"warning"}
    assert cw.convert(body, format, format).payload is body


ALONE = "none, because {} reasons beside functions in the Responses API alone"
UNSET = "{} accepts effort together with functions only in the Responses API"


@pytest.mark.parametrize(
    ("model", "asked", "made", "said"),
    [
        ("gpt-5.6-sol", None, "none", f"invent.effort effort: {ALONE}"),
        ("gpt-5.6-sol", "high", "none", f"loss.setting effort: {ALONE}"),
        ("gpt-5.6-sol", "none", "none", None),
        ("gpt-6-luna", None, "none", f"invent.effort effort: {ALONE}"),
        ("gpt-5.5", None, None, None),
        ("gpt-5.5", "high", None, f"loss.setting effort: {UNSET}"),
        ("gpt-5.4-mini", "low", None, f"loss.setting effort: {UNSET}"),
        ("gpt-5.4-mini", "none", "none", None),
        ("gpt-5.2", "high", "high", None),
        ("openai/gpt-5.6-sol", "high", "high", None),
        ("gpt-6-astra", "high", "high", None),  # nothing helps: its own format is another
    ],
)
def test_openai_gets_functions_in_chat_without_reasoning(
    model: str, asked: Effort | None, made: str | None, said: str | None
) -> None:
    """As it answers since GPT-5.4: 400 "Function tools with reasoning_effort are not supported"."""
    talk = cw.Conversation((cw.user("Hi"),), (cw.Tool("f"),), settings=cw.Settings(effort=asked))
    rendered = cw.render(talk, "openai-chat", model=model)
    assert rendered.payload.get("reasoning_effort") == made
    assert [str(one) for one in rendered.changes] == ([said.format(model)] if said else [])
    refused = model == "gpt-6-astra"
    assert bool(cw.check(rendered.payload, "openai-chat")) is refused
    assert (find(model).format == "openai-responses") is refused


@pytest.mark.parametrize("effort", [{}, {"reasoning_effort": "high"}])
def test_a_chat_request_for_another_model_loses_the_effort_that_it_does_not_take(
    effort: dict[str, str],
) -> None:
    body = {"model": "gpt-5.2", "messages": [HI], "tools": TOOLS, **effort}
    made = cw.convert(body, "openai-chat", "openai-chat", model="gpt-5.6-sol")
    assert made.payload["reasoning_effort"] == "none"
    assert [change.path for change in made.changes] == ["effort"]


def test_claude_takes_the_efforts_of_its_generation() -> None:
    body = {"model": "claude-opus-5", "max_tokens": 100, "messages": [HI]}
    for model, efforts in (
        ("claude-opus-5", ("low", "medium", "high", "xhigh", "max")),
        ("claude-opus-4-6", ("low", "medium", "high", "max")),
        ("claude-opus-4-5", ("low", "medium", "high")),
        ("claude-sonnet-4-5", ()),
    ):
        for effort in ("low", "high", "xhigh", "max"):
            asked = {**body, "output_config": {"effort": effort}}
            found = cw.check({**asked, "model": model}, "anthropic")
            assert [one.code for one in found] == ([] if effort in efforts else ["A-effort"])
            made = cw.convert(asked, "anthropic", "anthropic", model=model)
            assert cw.check(made.payload, "anthropic") == []
            assert bool(made.changes) is (effort not in efforts)
