"""Cache marks: telling a provider which part of a prompt will come again."""

from __future__ import annotations

from typing import Any, cast

from contextwright.models import Model

__all__ = ["mark_cache"]

MARK = {"type": "ephemeral"}
BREAKPOINT = {"mode": "explicit"}


def mark_cache(
    payload: dict[str, Any], format: str, model: Model, *, volatile: bool, key: str | None
) -> None:
    """Mark the ends of what stays: tools, system, and the history up to the newest question.

    `payload` is a request under construction, not yet anyone else's. With `volatile` text behind
    the newest question, the mark stands before it.
    """
    if format == "anthropic":
        mark_anthropic(payload, volatile=volatile)
    elif format in ("openai-chat", "openai-responses") and model.provider == "openai":
        if key:
            payload["prompt_cache_key"] = key[:64]
        if model.cache_breakpoints:
            mark_chat(payload)


def mark_chat(payload: dict[str, Any]) -> None:
    """A mark on the last leading system message, which no window moves.

    The newest question has the provider's own, implicit mark. Responses keeps its system text in a
    string, which cannot be marked.
    """
    leading: dict[str, Any] | None = None
    for message in cast("list[dict[str, Any]]", payload.get("messages") or []):
        if message.get("role") not in ("system", "developer"):
            break
        leading = message
    if leading is not None and isinstance(leading.get("content"), str):
        part = {"type": "text", "text": leading["content"], "prompt_cache_breakpoint": BREAKPOINT}
        leading["content"] = [part]


def mark_anthropic(payload: dict[str, Any], *, volatile: bool) -> None:
    """At most three marks, in the order tools, system, messages; never on thinking."""
    for field in ("tools", "system"):
        blocks = payload.get(field)
        if isinstance(blocks, list) and blocks:
            mark_last(cast("list[dict[str, Any]]", blocks))
    turns = payload.get("messages")
    if isinstance(turns, list) and turns:
        blocks = cast("list[dict[str, Any]]", turns[-1]["content"])
        mark_last(blocks, 1 if volatile and len(blocks) > 1 else 0)


def mark_last(blocks: list[dict[str, Any]], behind: int = 0) -> None:
    """A mark on the last block that has so many behind it, if that may carry one."""
    last = len(blocks) - 1 - behind
    if last >= 0 and blocks[last].get("type") not in ("thinking", "redacted_thinking"):
        blocks[last] = {**blocks[last], "cache_control": MARK}
