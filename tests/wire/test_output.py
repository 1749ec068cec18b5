"""Output limits: those that a model refuses are set to the nearest that it accepts."""

import pytest

import contextwright as cw

CLAUDE, GPT, GEMINI = "claude-sonnet-5-5", "gpt-4o", "gemini-3.8-flash"
LIMITS: dict[str, tuple[str, str, str, int, int, str]] = {
    "Claude Code to GPT": (
        "anthropic", "openai-chat", GPT, 128_000, 16_384,
        "repair.setting max_completion_tokens: lowered to 16,384, the most that gpt-4o writes",
    ),
    "Claude Code to Responses": (
        "anthropic", "openai-responses", GPT, 128_000, 16_384,
        "repair.setting max_output_tokens: lowered to 16,384, the most that gpt-4o writes",
    ),
    "Claude Code to Gemini": (
        "anthropic", "gemini", GEMINI, 128_000, 65_536,
        "repair.setting generationConfig.maxOutputTokens: "
        "lowered to 65,536, the most that gemini-3.8-flash writes",
    ),
    "another Claude": (
        "anthropic", "anthropic", "claude-sonnet-4-5", 128_000, 64_000,
        "repair.setting max_tokens: lowered to 64,000, the most that claude-sonnet-4-5 writes",
    ),
    "the most": ("anthropic", "openai-chat", GPT, 16_384, 16_384, ""),
    "an unknown model": ("anthropic", "openai-chat", "llama-9", 128_000, 128_000, ""),
    "one of its family": ("anthropic", "openai-chat", "gpt-4o-next", 128_000, 128_000, ""),
    "another host": ("anthropic", "openai-chat", "acme/gpt-4o", 128_000, 128_000, ""),
    "a request that warms the cache": (
        "anthropic", "openai-chat", GPT, 0, 1,
        "repair.setting max_completion_tokens: raised to 1, the least allowed",
    ),
    "the same for Gemini": (
        "anthropic", "gemini", GEMINI, 0, 1,
        "repair.setting generationConfig.maxOutputTokens: raised to 1, the least allowed",
    ),
    "the same for Claude": ("anthropic", "anthropic", CLAUDE, 0, 0, ""),
}  # fmt: skip


def limit_of(payload: dict[str, object]) -> object:
    config = payload.get("generationConfig")
    fields = {**payload, **config} if isinstance(config, dict) else payload
    [limit] = [value for field, value in fields.items() if field.lower().startswith("max")]
    return limit


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_one_that_the_model_accepts(name: str) -> None:
    source, target, model, given, expected, change = LIMITS[name]
    body = {
        "model": CLAUDE,
        "max_tokens": given,
        "messages": [{"role": "user", "content": "Hello"}],
    }
    converted = cw.convert(body, source, target, model=model)
    assert limit_of(converted.payload) == expected
    assert [str(one) for one in converted.changes] == ([change] if change else [])
    assert cw.check(converted.payload, target, model=model) == []
    assert body["max_tokens"] == given


@pytest.mark.parametrize(
    ("target", "model", "path", "used"),
    [
        ("anthropic", CLAUDE, "max_tokens", 4_096),
        ("gemini", GEMINI, "generationConfig.maxOutputTokens", None),
        ("openai-chat", GPT, "max_completion_tokens", None),
        ("openai-responses", GPT, "max_output_tokens", None),
    ],
)
def test_a_negative_limit_is_no_limit(target: str, model: str, path: str, used: int | None) -> None:
    settings = cw.Settings(max_tokens=-1)
    chat = cw.Conversation((cw.user("Hello"),), settings=settings)
    rendered = cw.render(chat, target, model=model)
    lost = f"loss.setting {path}: -1 is not a number of tokens"
    assert [str(one) for one in rendered.changes if one.code != "invent.max_tokens"] == [lost]
    assert rendered.payload.get("max_tokens") == used
    assert b"-1" not in rendered.json
    assert cw.check(rendered.payload, target, model=model) == []


def test_a_thinking_budget_fits_the_lower_limit() -> None:
    settings = cw.Settings(max_tokens=128_000, thinking_budget=100_000)
    chat = cw.Conversation((cw.user("Hello"),), settings=settings)
    body = cw.render(chat, "anthropic", model="claude-sonnet-4-5").payload
    assert body["max_tokens"] == 64_000
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 48_000}
