"""Entries of gryag's history."""

from __future__ import annotations

from typing import Any


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


META = '[meta] chat_id=-123 user_id=456 name="Alice"'
