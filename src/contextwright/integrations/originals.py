"""Messages of another framework in a store: read as ours, and given back exactly."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from contextwright.messages.message import Message
from contextwright.store import replace_invalid
from contextwright.text.json import encode_json, require_json

__all__ = ["kept_original", "original_of", "with_original"]

NUL = rb"\u0000"
"""How JSON spells a NUL."""


def with_original(message: Message, framework: str, original: dict[str, Any]) -> Message:
    """Return the message with the framework's own in its `meta`.

    Tools return bytes of all kinds. Characters that no store can hold become U+FFFD in the message;
    the framework's own is then kept as JSON text, which escapes them.

    Raises:
        UsageError: the framework's own message is not JSON.
    """
    (clean,), _ = replace_invalid([message])
    if not has_only_storable_text(original):
        require_json(original)
        kept = json.dumps(original)
    else:
        kept = original
    return replace(clean, meta={**clean.meta, framework: kept})


def has_only_storable_text(original: dict[str, Any]) -> bool:
    """Whether no text in a value has a NUL or half a surrogate pair."""
    try:
        return NUL not in encode_json(original)
    except UnicodeEncodeError:
        return False
    except (TypeError, ValueError, OverflowError):
        return True  # it is not JSON: the store says where


def original_of(message: Message, framework: str) -> dict[str, Any] | None:
    """Return the framework's own message; None if it has none, or was edited since."""
    return None if "edited" in message.meta else kept_original(message, framework)


def kept_original(message: Message, framework: str) -> dict[str, Any] | None:
    """Return what was kept with a message; None if there is nothing."""
    kept = message.meta.get(framework)
    return json.loads(kept) if isinstance(kept, str) else kept
