"""Keys that tell users and caches apart, as long as each API takes them."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

import contextwright as cw

LONG = "client-" + "5f" * 70
DIGEST = sha256(LONG.encode()).hexdigest()


@pytest.mark.parametrize(
    ("format", "body"),
    [
        ("openai-chat", {"model": "gpt-5.4", "messages": [{"role": "user", "content": "Hi."}]}),
        ("openai-responses", {"model": "gpt-5.4", "input": "Hi."}),
    ],
)
def test_keys_of_users_and_caches_fit_openai(format: str, body: dict[str, Any]) -> None:
    keys = dict.fromkeys(("user", "safety_identifier", "prompt_cache_key"), LONG)
    found = [(problem.code, problem.path) for problem in cw.check({**body, **keys}, format)]
    assert found == [("X-key", key) for key in keys]
    rendered = cw.convert({**body, **keys}, format, format)
    assert rendered.payload == {**body, **dict.fromkeys(keys, DIGEST)}
    assert [(change.code, change.path) for change in rendered.changes] == [
        ("repair.setting", key) for key in keys
    ]
    short = {**body, **dict.fromkeys(keys, LONG[:64])}
    assert cw.convert(short, format, format).payload == short


@pytest.mark.parametrize("model", ["gpt-5.4", "glm-4.6", "deepseek-chat"])
def test_the_user_of_claude_code_fits_other_apis(model: str) -> None:
    body = {
        "model": "claude-opus-5",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi."}],
        "metadata": {"user_id": LONG},
    }
    assert cw.check(body, "anthropic") == []
    for format in ("openai-chat", "openai-responses"):
        rendered = cw.convert(body, "anthropic", format, model=model)
        assert rendered.payload["user"] == DIGEST
        assert ("repair.setting", "user") in {(one.code, one.path) for one in rendered.changes}


def test_anthropic_is_not_told_the_address_of_a_user() -> None:
    body = {
        "model": "gpt-5.4",
        "messages": [{"role": "user", "content": "Hi."}],
        "user": "ann@example.com",
    }
    assert cw.check(body, "openai-chat") == []
    sent = cw.convert(body, "openai-chat", "anthropic", model="claude-opus-5").payload
    assert sent["metadata"] == {"user_id": sha256(b"ann@example.com").hexdigest()}
    told = {**sent, "metadata": {"user_id": "ann@example.com"}}
    assert [problem.path for problem in cw.check(told, "anthropic")] == ["metadata.user_id"]
    assert cw.convert(told, "anthropic", "anthropic").payload == sent
