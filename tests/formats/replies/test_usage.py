"""The tokens of a reply, as each API counts them."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.replies.events import Usage
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.replies.streams import write_reply

USAGES = {
    "openai-chat": {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "total_tokens": 130,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 7},
        "completion_tokens_details": {"reasoning_tokens": 20},
    },
    "openai-responses": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 7},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 130,
    },
    "anthropic": {
        "input_tokens": 33,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 60,
        "output_tokens": 30,
        "output_tokens_details": {"thinking_tokens": 20},
    },
    "gemini": {
        "promptTokenCount": 100,
        "candidatesTokenCount": 10,
        "totalTokenCount": 130,
        "cachedContentTokenCount": 60,
        "thoughtsTokenCount": 20,
    },
}
NO_USAGES = {
    "openai-chat": {
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
    "anthropic": {
        "input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 0,
    },
    "gemini": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
}


@pytest.mark.parametrize(
    ("format", "usage", "wire"),
    [
        *((format, Usage(100, 30, 60, 7, 20), wire) for format, wire in USAGES.items()),
        *((format, Usage(), wire) for format, wire in NO_USAGES.items()),
        ("anthropic", Usage(67, 30, 60, 7, 20), {**USAGES["anthropic"], "input_tokens": 0}),
    ],
)
def test_usage_as_each_api_counts_it(format: str, usage: Usage, wire: dict[str, Any]) -> None:
    reply = ModelReply((cw.assistant("Hi"),), finish="stop", usage=usage)
    body = write_reply(reply, format).body
    assert body["usageMetadata" if format == "gemini" else "usage"] == wire
