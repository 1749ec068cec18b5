"""Settings at the ends of what an API takes: the last accepted, and the first refused."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.wire import ranges

MODELS = {
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-4o",
    "anthropic": "claude-3-5-haiku",
    "gemini": "gemini-2.5-flash",
}
BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {"messages": [{"role": "user", "content": "Hello"}]},
    "openai-responses": {"input": "Hello"},
    "anthropic": {
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
    },
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]},
}
RANGES = {
    "openai-chat": ranges.CHAT,
    "openai-responses": ranges.RESPONSES,
    "anthropic": ranges.ANTHROPIC,
    "gemini": ranges.GEMINI,
}
CASES = [(api, field) for api, fields in RANGES.items() for field in fields]


def body_of(api: str, field: str, value: Any) -> tuple[dict[str, Any], str]:
    """A request with a setting, and the path of it."""
    settings: dict[str, Any] = {field: value}
    if field == "top_logprobs" and api == "openai-chat":
        settings["logprobs"] = True
    if api == "gemini":
        return {**BODIES[api], "generationConfig": settings}, f"generationConfig.{field}"
    return {"model": MODELS[api], **BODIES[api], **settings}, field


@pytest.mark.parametrize(("api", "field"), CASES)
def test_each_end_of_a_range(api: str, field: str) -> None:
    least, most = RANGES[api][field]
    accepted: list[Any] = [least, most]
    refused: dict[Any, Any] = {most + 1: most, least - 1: least}
    if field.startswith("stop"):
        accepted, refused = [["a"] * int(most)], {tuple("a" * int(most + 1)): ["a"] * int(most)}
    for value in accepted:
        body, _ = body_of(api, field, value)
        assert cw.check(body, api, model=MODELS[api]) == []
        assert cw.convert(body, api, api, model=MODELS[api]).changes == ()
    for value, nearest in refused.items():
        body, path = body_of(api, field, list(value) if isinstance(value, tuple) else value)
        problems = cw.check(body, api, model=MODELS[api])
        assert [(one.code, one.path, one.level) for one in problems] == [("X-range", path, "error")]
        mended = cw.convert(body, api, api, model=MODELS[api])
        assert [change.path for change in mended.changes] == [path]
        assert mended.payload == body_of(api, field, nearest)[0]


def test_a_temperature_crosses() -> None:
    body, _ = body_of("openai-chat", "temperature", 1.7)
    crossed = {api: cw.convert(body, "openai-chat", api, model=MODELS[api]) for api in MODELS}
    assert crossed["openai-responses"].payload["temperature"] == 1.7
    assert crossed["gemini"].payload["generationConfig"] == {"temperature": 1.7}
    assert crossed["anthropic"].payload["temperature"] == 1.0
    change = "repair.setting temperature: lowered to 1.0, the most allowed"
    assert change in map(str, crossed["anthropic"].changes)


def test_other_hosts_have_ranges_of_their_own() -> None:
    body, _ = body_of("openai-chat", "temperature", 2.5)
    assert cw.check(body, "openai-chat", model="mistral-large") == []
    assert cw.convert(body, "openai-chat", "openai-chat", model="mistral-large").changes == ()
