"""A conversation to store, as a request."""

from __future__ import annotations

from typing import Any

CHAT: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Котра година?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "13:05\nEET"},
        {"role": "assistant", "content": "П'ята по першій."},
    ],
    "tools": [
        {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}
    ],
}
