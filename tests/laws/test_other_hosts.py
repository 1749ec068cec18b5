"""Laws of requests to other hosts of Chat Completions than OpenAI."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from profiles import BODY, examples
from strategies.bodies import MODELS, bodies

HOSTS = ("deepseek-chat", "kimi-k3", "mistral-large", "z-ai/glm-5", "gemini-3.8-flash")


@pytest.mark.parametrize("source", [api for api in MODELS if api != "openai-chat"])
def test_requests_hold_only_what_all_hosts_know(source: str) -> None:
    """Of the roles and the kinds of tools, each host knows those that it had from the start."""
    seen: Counter[str] = Counter()

    @examples(BODY)
    @given(bodies(source), st.sampled_from(HOSTS))
    def law(body: dict[str, Any], model: str) -> None:
        payload = cw.convert(body, source, "openai-chat", model=model).payload
        messages = payload["messages"]
        calls = [call for message in messages for call in message.get("tool_calls", ())]
        kinds = {tool["type"] for tool in (*payload.get("tools", ()), *calls)}
        roles = {message["role"] for message in messages}
        seen.update(kinds | roles)
        assert kinds <= {"function"}
        assert roles <= {"system", "user", "assistant", "tool"}

    law()
    assert seen["function"]
    assert seen["system"]


@pytest.mark.parametrize("source", [api for api in MODELS if api != "openai-chat"])
def test_requests_to_mistral_hold_only_what_it_knows(source: str) -> None:
    """It refuses any other field, of the request and of its messages."""
    seen: Counter[str] = Counter()

    @examples(BODY)
    @given(bodies(source))
    def law(body: dict[str, Any]) -> None:
        payload = cw.convert(body, source, "openai-chat", model="mistral-large").payload
        fields = {field for message in payload["messages"] for field in message}
        seen.update(payload.keys())
        assert fields <= {"role", "content", "tool_calls", "tool_call_id"}
        assert payload.keys() <= MISTRALS

    law()
    assert len(seen) > 3


MISTRALS = frozenset(
    "model messages temperature top_p max_tokens stream stop random_seed metadata response_format "
    "tools tool_choice presence_penalty frequency_penalty parallel_tool_calls reasoning_effort "
    "prompt_cache_key".split()
)
