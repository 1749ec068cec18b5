"""What becomes of requests as clients send them: everything they may hold, in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import contextwright as cw
from golden_files import compare_digests, readings
from strategies.bodies import MODELS, fixed_bodies

COUNTED = {
    "anthropic": ("claude-3-5-haiku", "claude-opus-4-6", "claude-opus-4-8", "claude-sonnet-5-5"),
    "gemini": ("gemini-2.0-flash", "gemini-2.5-flash", "gemini-3.8-flash"),
    "openai-chat": ("gpt-4", "o3", "gpt-5", "gpt-oss-120b", "llama-3.3-70b", "qwen3"),
    "openai-responses": ("gpt-4o", "o3", "gpt-5"),
}
"""Models that read a request in other words, or cost something else."""


@pytest.mark.parametrize("api", MODELS)
def test_what_becomes_of_requests(api: str) -> None:
    compare_digests(f"bodies-{api}", outcomes(api))


def outcomes(api: str) -> Iterator[tuple[object, object]]:
    for body in fixed_bodies(api, 40):
        problems = cw.check(body, api, model=body.get("model"))
        yield body, [*readings(api, body), problems, *counts(api, body)]


def counts(api: str, body: dict[str, Any]) -> list[cw.Count]:
    return [cw.count(body, model=model, format=api) for model in COUNTED[api]]
