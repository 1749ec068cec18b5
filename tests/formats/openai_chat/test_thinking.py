"""How hosts of Chat Completions other than OpenAI ask for thinking."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.messages.conversation import Settings

EFFORT = {
    "anthropic": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
    "gemini": {"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}},
    "openai-responses": {"reasoning": {"effort": "high"}},
}
MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
    "openai-responses": "gpt-5.6-sol",
}


def body(**settings: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Is 91 prime?"}]
    return {"model": "anthropic/claude-sonnet-4.5", "messages": messages, **settings}


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize(
    "given",
    [
        {"reasoning": {"effort": "high"}},
        {"reasoning": {"max_tokens": 16_000}},
        {"thinking": {"type": "enabled", "budget_tokens": 16_000}},
        {"reasoning_effort": "high", "reasoning": {"effort": "low"}},
        {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        {"enable_thinking": True, "thinking_budget": 16_000},
        {"think": "high"},
        {"extra_body": {"google": {"thinking_config": {"thinking_level": "HIGH"}}}},
        {"extra_body": {"google": {"thinking_config": {"thinking_budget": 16_000}}}},
    ],
    ids=str,
)
def test_it_crosses(given: dict[str, Any], target: str) -> None:
    made = cw.convert(body(**given), "openai-chat", target, model=MODELS[target])
    assert {key: made.payload[key] for key in EFFORT[target]} == EFFORT[target]
    assert [change for change in made.changes if change.code == "loss.setting"] == []
    assert cw.check(made.payload, target, model=MODELS[target]) == []
    back = cw.convert(body(**given), "openai-chat", "openai-chat")
    assert back.payload == body(**given)


OFF, FREE = Settings(effort="none"), Settings(thinking_budget=-1)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 500}}, Settings(thinking_budget=500)),
        ({"thinking": {"type": "enabled", "budget_tokens": "many"}}, Settings()),
        ({"thinking": "on"}, Settings()),
        ({"thinking": {"type": "enabled"}}, FREE),
        ({"thinking": {"type": "adaptive"}}, FREE),
        ({"reasoning": {"enabled": True}}, FREE),
        ({"enable_thinking": True}, FREE),
        ({"chat_template_kwargs": {"enable_thinking": True}}, FREE),
        ({"chat_template_kwargs": {"thinking": True}}, FREE),
        ({"think": True}, FREE),
        ({"think": 1}, Settings()),
        ({"thinking": {"type": "disabled", "budget_tokens": 1_000}}, OFF),
        ({"thinking": {"type": "disabled"}, "reasoning_effort": "high"}, OFF),
        ({"reasoning": {"enabled": False, "effort": "high"}}, OFF),
        ({"reasoning": {"effort": "high", "max_tokens": "many"}}, Settings(effort="high")),
        ({"enable_thinking": False, "thinking_budget": 500}, OFF),
        ({"chat_template_kwargs": {"enable_thinking": False}}, OFF),
        ({"reasoning": {"exclude": True}}, Settings(show_thinking=False)),
        ({"reasoning": {"exclude": "yes"}}, Settings()),
        ({"include_reasoning": True}, Settings(show_thinking=True)),
        ({"include_reasoning": "yes"}, Settings()),
        (
            {"extra_body": {"google": {"thinking_config": {"include_thoughts": True}}}},
            Settings(show_thinking=True),
        ),
        ({"top_k": 20, "random_seed": 7}, Settings(top_k=20, seed=7)),
        ({"random_seed": 7, "seed": 8}, Settings(seed=8)),
    ],
    ids=str,
)
def test_what_hosts_ask_for(given: dict[str, Any], read: Settings) -> None:
    assert cw.parse(body(**given), "openai-chat").settings == read


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        ({"reasoning": {"enabled": "yes"}}, ["reasoning.enabled"]),
        ({"reasoning": {"effort": "ultra", "exclude": True}}, ["reasoning.effort"]),
        ({"chat_template_kwargs": {"thinking": True, "tone": "x"}}, ["chat_template_kwargs.tone"]),
        ({"extra_body": {"google": {"cached_content": "c"}}}, ["extra_body.google.cached_content"]),
        ({"thinking": "on", "reasoning_effort": "high"}, ["thinking"]),
    ],
    ids=str,
)
@pytest.mark.parametrize(("target", "model"), [*MODELS.items(), ("openai-chat", "gpt-5.6-sol")])
def test_what_nobody_else_reads_is_lost(
    given: dict[str, Any], lost: list[str], target: str, model: str
) -> None:
    made = cw.convert(body(**given), "openai-chat", target, model=model)
    assert [change.path for change in made.changes if change.code.startswith("loss.")] == lost


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"reasoning": {"effort": "high"}}, {"reasoning_effort": "high"}),
        ({"reasoning": {"max_tokens": 16_000}}, {"reasoning_effort": "high"}),
        (
            {"reasoning": {"effort": "low"}, "reasoning_effort": "high"},
            {"reasoning_effort": "high"},
        ),
        ({"thinking": {"type": "disabled"}}, {"reasoning_effort": "none"}),
        ({"thinking": {"type": "enabled"}}, {}),
    ],
    ids=str,
)
def test_openai_hears_it_in_its_own_words(given: dict[str, Any], written: Any) -> None:
    made = cw.convert(body(**given), "openai-chat", "openai-chat", model="gpt-5.6-sol")
    assert made.payload == {"model": "gpt-5.6-sol", "messages": body()["messages"], **written}
    assert {(change.code, change.reason) for change in made.changes} == {
        ("repair.setting", "openai says reasoning_effort")
    }


def test_openai_shows_no_thinking() -> None:
    made = cw.convert(
        body(include_reasoning=True), "openai-chat", "openai-chat", model="gpt-5.6-sol"
    )
    lost = [str(change) for change in made.changes if change.code.startswith("loss.")]
    assert lost == ["loss.setting show_thinking: openai-chat shows no thinking"]


@pytest.mark.parametrize(
    ("model", "written", "said"),
    [
        ("anthropic/claude-opus-4.6", {"reasoning_effort": "medium"}, ["thinking_budget"]),
        ("deepseek-chat", {}, []),  # decides without being asked
    ],
)
def test_claude_behind_a_router_is_asked_to_think(
    model: str, written: dict[str, Any], said: list[str]
) -> None:
    thinking = {"type": "adaptive", "display": "summarized"}
    given = {**body(), "model": "claude-opus-4-6", "max_tokens": 100, "thinking": thinking}
    made = cw.convert(given, "anthropic", "openai-chat", model=model)
    assert {key: made.payload[key] for key in made.payload if "reason" in key} == written
    assert [change.path for change in made.changes] == said


@pytest.mark.parametrize(
    ("given", "sent", "said"),
    [
        ({"reasoning_effort": "high", "temperature": 0}, {}, ["loss.setting temperature"]),
        (
            {"reasoning_effort": "high", "temperature": 1, "top_p": 1},
            {"temperature": 1},
            ["repair.setting top_p"],
        ),
        ({"enable_thinking": True, "top_k": 20}, {}, ["loss.setting top_k"]),
        ({"enable_thinking": False, "top_k": 20}, {"top_k": 20}, []),
        ({"top_k": -1}, {}, []),
        ({"temperature": 0.5, "top_p": 0.9}, {"temperature": 0.5}, ["loss.setting top_p"]),
        (
            {"reasoning_effort": "high", "temperature": 0.5, "top_p": 0.97},
            {"top_p": 0.97},
            ["loss.setting temperature"],
        ),
    ],
    ids=str,
)
def test_claude_draws_as_usual_while_it_thinks(
    given: dict[str, Any], sent: dict[str, Any], said: list[str]
) -> None:
    given = body(max_tokens=20_000, **given)
    made = cw.convert(given, "openai-chat", "anthropic", model="claude-opus-4-6")
    drawn = {key: made.payload[key] for key in made.payload if key[:3] in ("tem", "top")}
    assert drawn == sent
    assert [f"{change.code} {change.path}" for change in made.changes] == said
    assert cw.check(made.payload, "anthropic") == []


def test_signed_thinking_goes_back_to_the_model_that_answered_under_a_date() -> None:
    """OpenRouter asks Claude by one name, and names it in the answer by another."""
    details = [{"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "index": 0}]
    said = {"role": "assistant", "content": "Yes.", "reasoning_details": details}
    answer = {"model": "anthropic/claude-4.5-sonnet-20250929", "choices": [{"message": said}]}
    reply = cw.parse_reply(answer, "openai-chat")
    for model, kept in (("anthropic/claude-sonnet-4.5", details), ("anthropic/claude-4", None)):
        sent = cw.render([cw.user("Is it?"), reply.message], "openai-chat", model=model)
        assert sent.payload["messages"][1].get("reasoning_details") == kept
