"""Inputs of the command line."""

from __future__ import annotations

import sys

COMMAND = [sys.executable, "-m", "contextwright"]

CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Котра година?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
            ],
        },
    ],
}

CLAUDE = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 4096,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Котра година?"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "clock", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": "[no result recorded]",
                    "is_error": True,
                }
            ],
        },
    ],
}
