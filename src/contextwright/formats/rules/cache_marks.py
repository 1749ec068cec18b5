"""Cache breakpoints of one API as another has them: converted, or moved to where it takes them."""

from __future__ import annotations

from typing import Any, TypeVar

from contextwright.formats.base import without
from contextwright.formats.rules.draft import replace
from contextwright.formats.target import Target
from contextwright.messages.message import Message, Role, Tool
from contextwright.messages.parts import Media, Text, Thinking, ToolCall, ToolResult
from contextwright.wire.openai_chat.dialects import takes_cache_control
from contextwright.wire.values import is_object

__all__ = ["tool_with_cache_mark", "with_cache_mark", "with_mark_inside"]

Holder = TypeVar("Holder", bound=Message | Text | Thinking | ToolCall | ToolResult | Media)
Outer = TypeVar("Outer", Message, ToolResult)

CACHE_MARKS = {
    "anthropic": ("cache_control",),
    "openai-chat": ("prompt_cache_breakpoint", "cache_control"),
    "openai-responses": ("prompt_cache_breakpoint",),
}
"""How each API marks a cache breakpoint; the second is for Claude behind a router."""


def with_cache_mark(holder: Holder, role: Role, target: Target) -> Holder:
    """Convert another API's cache breakpoint to the target's, if it takes one there."""
    if not isinstance(holder, Text | Media | ToolResult):
        return holder
    marks = foreign_marks(holder, target)
    if not marks:
        return holder
    extra = dict(holder.extra)
    for format, field in marks:
        mark = extra[format][field]
        extra[format] = without(extra[format], field)
        own, written = cache_mark(target)
        if field == own:
            written = mark
        elif is_object(mark):
            lost = {f"{field}.{name}": mark[name] for name in ("ttl", "scope") if mark.get(name)}
            extra[format].update(lost)
        extra[target.format] = {**extra.get(target.format, {}), own: written}
    bearer = replace(holder, extra={target.format: extra[target.format]})
    if not target.traits.accepts_extra(bearer, role, target.model):
        return holder
    return replace(holder, extra=extra)


def with_mark_inside(holder: Outer, target: Target) -> Outer:
    """Move another API's cache breakpoint of a message or result to its last text or image.

    Routers take one on a whole message; only Anthropic takes one on a result.
    """
    if target.format == "anthropic" and isinstance(holder, ToolResult):
        return holder
    marks = foreign_marks(holder, target)
    inner = holder.parts if isinstance(holder, Message) else holder.content
    if isinstance(inner, str) and inner:
        inner = (Text(inner),)
    if not marks or not inner or not isinstance(inner, tuple):
        return holder
    *before, last = inner
    if not isinstance(last, Text | Media):
        return holder
    extra, found = dict(holder.extra), dict(last.extra)
    for format, field in marks:
        found[format] = {field: extra[format][field], **found.get(format, {})}
        extra[format] = without(extra[format], field)
    parts = (*before, replace(last, extra=found))
    if isinstance(holder, Message):
        return replace(holder, parts=parts, extra=extra)
    return replace(holder, content=parts, extra=extra)


def tool_with_cache_mark(tool: Tool, target: Target) -> Tool:
    """Convert another API's cache breakpoint on a tool to the target's, if it takes one there."""
    if not tool.extra or not takes_marks(target):
        return tool
    if not takes_cache_control(target.format, target.model):
        return tool
    extra, mark = dict(tool.extra), None
    for format in ("anthropic", "openai-chat"):
        fields = extra.get(format, {})
        if format == target.format or not fields:
            continue
        inner = fields.get("function")  # some clients of LiteLLM mark the function in the tool
        if is_object(inner) and inner.get("cache_control"):
            mark = inner["cache_control"]
            fields = {**fields, "function": without(inner, "cache_control")}
        mark = fields.get("cache_control") or mark
        extra[format] = without(fields, "cache_control")
    if not mark:
        return tool
    extra[target.format] = {**extra.get(target.format, {}), "cache_control": mark}
    return replace(tool, extra=extra)


def foreign_marks(
    holder: Message | Text | Media | ToolResult, target: Target
) -> list[tuple[str, str]]:
    """Return where a holder has other APIs' cache breakpoints: format and field of each.

    None of them counts for a target that has no cache breakpoints.
    """
    if not takes_marks(target):
        return []
    return [
        (format, field)
        for format, fields in holder.extra.items()
        if format != target.format
        for field in CACHE_MARKS.get(format, ())
        if fields.get(field)
    ]


def takes_marks(target: Target) -> bool:
    """Whether a request can mark what to cache."""
    return target.format in CACHE_MARKS and target.model.cache_breakpoints


def cache_mark(target: Target) -> tuple[str, Any]:
    """Return how the target marks a cache breakpoint."""
    if takes_cache_control(target.format, target.model):
        return "cache_control", {"type": "ephemeral"}
    return "prompt_cache_breakpoint", {"mode": "explicit"}
