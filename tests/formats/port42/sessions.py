"""Session files of Port 42, as its tests write them."""

from typing import Any

NOON = "2023-04-04T12:00:00Z"


def codes(changes: Any) -> list[str]:
    return [change.code for change in changes]


def stored(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "timestamp": NOON, **fields}


def session(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "s", "agent": "@ai-muse", "messages": list(messages), **fields}
