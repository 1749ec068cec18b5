"""Entries of Aya's history, and what becomes of them."""

from __future__ import annotations

from typing import Any

import contextwright as cw

NOON = "2023-04-04T12:00:00Z"


def entry(index: int, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "index": index,
        "turn": 0,
        "timestamp": NOON,
        "role": role,
        "content": content,
        **fields,
    }


def said(index: int = 0, text: str = "hi", userid: str = "<@U1>") -> dict[str, Any]:
    return entry(index, "user", {"userid": userid, "text": text})


def did(index: int = 0, tool: str = "search", **arguments: Any) -> dict[str, Any]:
    return entry(index, "assistant", {"toolCall": tool, **arguments, "reasoning": "because"})


def back(data: Any, **options: Any) -> Any:
    return cw.convert(data, "aya", "aya", **options).payload


def codes(changes: Any) -> list[str]:
    return [change.code for change in changes]
