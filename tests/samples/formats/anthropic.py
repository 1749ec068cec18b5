"""Requests to Anthropic's API."""

from __future__ import annotations

from typing import Any

OLD, MIDDLE, NEW = "claude-sonnet-4-5", "claude-opus-4-7", "claude-opus-5-5"
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
TOOL = {"name": "f", "input_schema": {"type": "object"}}


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


def body(*messages: tuple[str, Any], model: str = OLD, **fields: Any) -> dict[str, Any]:
    turns = [{"role": role, "content": content} for role, content in messages]
    return {"model": model, "max_tokens": 2_000, "messages": turns, **fields}


MARK = {"cache_control": {"type": "ephemeral"}}
LONG_MARK = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
