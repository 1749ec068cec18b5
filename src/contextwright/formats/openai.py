"""What OpenAI's two formats, Chat Completions and Responses, say alike."""

from __future__ import annotations

from typing import Any

from contextwright.formats.base import keep_extra
from contextwright.messages import Extra

__all__ = ["BREAKPOINT", "SAME", "moved"]

BREAKPOINT = "prompt_cache_breakpoint"
SAME = (
    "metadata",
    "moderation",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "user",
)
"""Settings of the same name and meaning."""


def moved(
    extra: Extra, held: dict[str, Any], own: dict[str, Any], *, names: tuple[str, str]
) -> Extra:
    """An extra with what stays under the first of two names, and what the second says of it."""
    source, target = names
    rest = {name: fields for name, fields in extra.items() if name not in names}
    return rest | keep_extra(source, held) | keep_extra(target, {**extra.get(target, {}), **own})
