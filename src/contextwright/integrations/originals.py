"""Messages of another framework in a store: read as ours, and given back exactly."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from contextwright.messages.message import Message

__all__ = ["original_of", "with_original"]


def with_original(message: Message, framework: str, original: dict[str, Any]) -> Message:
    """Return the message with the framework's own in its `meta`."""
    return replace(message, meta={**message.meta, framework: original})


def original_of(message: Message, framework: str) -> dict[str, Any] | None:
    """Return the framework's own message; None if it has none, or was edited since."""
    return None if "edited" in message.meta else message.meta.get(framework)
