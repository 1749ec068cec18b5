"""Rules that remove hidden messages and data of one provider that the target cannot carry."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from contextwright.formats.base import without
from contextwright.formats.rules.cache_marks import with_cache_mark, with_mark_inside
from contextwright.formats.rules.draft import (
    Draft,
    Ruled,
    clean_name,
    is_plain_text,
    keeping,
    path_to,
    replace,
    with_content,
)
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.wire.gemini.types import STAND_IN
from contextwright.wire.shapes import objects_in, shape_problems, trimmed, unknown_fields
from contextwright.wire.values import Object

__all__ = [
    "extra_fits",
    "leave_out_foreign",
    "leave_out_hidden",
    "opaque_fits",
    "thinking_fits",
]

Holder = TypeVar("Holder", bound=Message | Text | Thinking | ToolCall | ToolResult | Media)
SPELLINGS = {
    "aya": {"content", "nested", "result"},
    "forge": {"raw"},
    "openai-chat": {"name"},
    "openai-responses": {"name"},
}
"""Fields of a format that only record a spelling: their content is in the parts."""
SAYS_NOTHING = {
    "gemini": {"role": ("user", "model", "system"), "thoughtSignature": (STAND_IN,)},
    "openai-chat": {
        "role": ("assistant", "developer", "function"),
        "type": ("custom",),
        **dict.fromkeys(("image_url", "audio_url", "video_url", "document_url"), ("bare",)),
    },
    "openai-responses": {
        "role": ("developer", "system"),
        "type": ("message", "custom_tool_call", "custom_tool_call_output"),
        "status": ("completed",),
    },
}
"""Values of fields that every such part has; that a tool is a custom one is said of the tool."""
ITEM_ID = re.compile(r"[a-z]+_[\w-]+", re.ASCII).fullmatch
"""The fields of OpenAI's bookkeeping of an item."""


OF_THE_CALLER = ("function", "custom", "namespace")
"""The types of tools that an item of Responses adds to those of the conversation."""


def is_said_elsewhere(part: Part, target: Target) -> bool:
    """Whether another provider's block only adds tools, which the conversation has too."""
    match part:
        case Opaque("openai-responses", {"type": "additional_tools", "tools": tools}):
            added = objects_in(tools)
            own = all(tool.get("type") in OF_THE_CALLER for _, tool in added)
            return own and target.format != part.format
        case _:
            return False


def leave_out_hidden(draft: Draft, target: Target) -> Ruled:
    """Drop messages that are not public, because a model must never see them."""
    changes = [
        Change("loss.hidden", path_to(place), f"the message is {message.visibility}")
        for place, message in draft
        if message.visibility != "public"
    ]
    if not changes:
        return draft, changes
    return [placed for placed in draft if placed[1].visibility == "public"], changes


def leave_out_foreign(draft: Draft, target: Target) -> Ruled:
    """Remove another provider's thinking, blocks and fields."""
    changes: list[Change] = []
    kept: Draft = []
    for place, message in draft:
        if is_plain_text(message):
            kept.append((place, message))
            continue
        if message.parts and all(is_said_elsewhere(part, target) for part in message.parts):
            continue
        message = with_mark_inside(message, target)
        parts: list[tuple[int, Part]] = []
        for index, part in enumerate(message.parts):
            found = travelling(part, message, target, path_to(place, index), changes)
            parts.extend((index, part) for part in found)
        message = own_extra(message, message.role, target, path_to(place), changes)
        kept.append(keeping((place, message), parts))
    return kept, changes


def travelling(
    part: Part,
    message: Message,
    target: Target,
    path: str,
    changes: list[Change],
    *,
    inside: bool = False,
) -> list[Part]:
    """Return what the target accepts of a part: the part itself, its text, or nothing.

    `inside`: the part is a piece of a tool result.
    """
    if isinstance(part, Thinking):
        if thinking_fits(part, message.role, target):
            return [own_extra(part, message.role, target, path, changes)]
        said = target.options.thinking == "text" and message.role == "assistant" and part.text
        changes.append(Change("loss.thinking", path, why_lost(target, stays=bool(said))))
        return [Text(part.text)] if said else []
    if isinstance(part, Opaque):
        if opaque_fits(part, message.role, target, inside=inside):
            return [part]
        known, fields = known_block(part, message.role, target)
        if fields and opaque_fits(known, message.role, target, inside=inside):
            names = ", ".join(map(clean_name, fields))
            changes.append(Change("loss.extra", path, f"{target.title} has no place for {names}"))
            return [known]
        foreign = part.format != target.format
        reason = f"only {part.format} knows" if foreign else f"{target.title} does not accept"
        rest = "; its text stays" if part.text else ""
        changes.append(Change("loss.opaque", path, f"{reason} this block{rest}"))
        return [Text(part.text)] if part.text else []
    if isinstance(part, ToolCall) and message.role != "assistant":
        changes.append(Change("loss.call", path, f"a {message.role} message cannot call tools"))
        return []
    if isinstance(part, ToolResult):
        part = with_mark_inside(part, target)
    kept: Part = own_extra(part, message.role, target, path, changes)
    if isinstance(kept, ToolResult) and isinstance(kept.content, tuple):
        content: list[Part] = []
        for index, piece in enumerate(kept.content):
            place = f"{path}.content[{index}]"
            content.extend(travelling(piece, message, target, place, changes, inside=True))
        return [with_content(kept, content)]
    return [kept]


def why_lost(target: Target, *, stays: bool) -> str:
    """Return why thinking is lost; its text may stay."""
    if target.options.thinking == "drop":
        return "thinking is left out, as asked"
    return f"{target.title} does not accept this thinking{'; its text stays' if stays else ''}"


def known_block(part: Opaque, role: Role, target: Target) -> tuple[Opaque, list[str]]:
    """Return a block of the target's own without the fields that it does not know, and these."""
    if part.format != target.format:
        return part, []
    fields = unknown_fields(shape_problems(part.data, target.traits.block_types(role)))
    return replace(part, data=trimmed(part.data, fields)), fields


def own_extra(
    holder: Holder, role: Role, target: Target, path: str, changes: list[Change]
) -> Holder:
    """Return the holder with only the leftover fields that the target accepts."""
    if not holder.extra:
        return holder
    holder = with_signature(with_cache_mark(holder, role, target), target)
    lost = [
        field
        for format, fields in holder.extra.items()
        if format != target.format
        for field, value in fields.items()
        # null, false and empty values are not a loss
        if value and field not in SPELLINGS.get(format, ())
        if not says_nothing(format, field, value)
        # A flat name, beside which the original is kept, says the namespace.
        if field != "namespace" or "name" not in fields
    ]
    own = holder.extra.get(target.format, {})
    known = known_fields(holder, own, role, target) if own else {}
    lost.extend(field for field in own if field not in known)
    kept = replace(holder, extra={target.format: known} if known else {})
    if lost:
        names = ", ".join(clean_name(field) for field in lost)
        changes.append(Change("loss.extra", path, f"{target.title} has no place for {names}"))
    return kept


def known_fields(holder: Message | Part, fields: Object, role: Role, target: Target) -> Object:
    """Return the leftover fields of a holder that the target accepts."""

    def accepts(some: Object) -> bool:
        held = replace(holder, extra={target.format: some})
        return target.traits.accepts_extra(held, role, target.model)

    if accepts(fields):
        return fields
    known = {field: value for field, value in fields.items() if accepts({field: value})}
    return known if known and accepts(known) else {}


def says_nothing(format: str, field: str, value: Any) -> bool:
    """Whether a field of a format means nothing to other formats."""
    if (format, field) == ("openai-responses", "id"):
        return isinstance(value, str) and ITEM_ID(value) is not None
    return value in SAYS_NOTHING.get(format, {}).get(field, ())


def with_signature(holder: Holder, target: Target) -> Holder:
    """Move a call's signature between Gemini's API and the one it has for OpenAI's clients."""
    if not isinstance(holder, ToolCall) or target.model.provider != "google":
        return holder
    extra = dict(holder.extra)
    match target.format, extra:
        case "gemini", {
            "openai-chat": {"extra_content": {"google": {"thought_signature": str(signature)}}}
        }:
            extra["openai-chat"] = without(extra["openai-chat"], "extra_content")
            extra["gemini"] = {"thoughtSignature": signature}
        case "openai-chat", {"gemini": {"thoughtSignature": str(signature)}} if (
            "/" not in target.model.id and signature != STAND_IN
        ):
            extra["gemini"] = without(extra["gemini"], "thoughtSignature")
            extra["openai-chat"] = {"extra_content": {"google": {"thought_signature": signature}}}
        case _:
            return holder
    return replace(holder, extra=extra)


# --- whether a history needs these rules -----------------------------------------------------


def thinking_fits(thinking: Thinking, role: Role, target: Target) -> bool:
    """Whether the target accepts this thinking in a message of that role."""
    if role != "assistant" or target.options.thinking == "drop":
        return False
    return target.traits.supports_thinking(thinking, target.model)


def opaque_fits(part: Opaque, role: Role, target: Target, *, inside: bool = False) -> bool:
    """Whether an opaque block is the target's own, in a message of that role.

    `inside`: it is a piece of a tool result there.
    """
    traits = target.traits
    if part.format != traits.format or (inside and not traits.accepts_piece(part)):
        return False
    return traits.accepts_extra(part, role, target.model)


def extra_fits(
    holder: Message | Text | Thinking | ToolCall | ToolResult | Media, role: Role, target: Target
) -> bool:
    """Whether the leftover fields are the target's own and valid."""
    traits = target.traits
    if list(holder.extra) != [traits.format]:
        return False
    return traits.accepts_extra(holder, role, target.model)
