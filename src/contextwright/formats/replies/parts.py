"""The parts of a reply, converted for a client of another format.

Unlike a request, a reply needs no legal history: each part is converted by itself.
"""

from __future__ import annotations

import re

import msgspec

from contextwright.formats.replies.reply import custom_input, is_custom, is_refusal
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import (
    Extra,
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextwright.wire.anthropic import types

__all__ = ["carried", "carried_part", "own_id", "spelled_id"]

REFUSALS: dict[str, Extra] = {
    "openai-chat": {"openai-chat": {"type": "refusal"}},
    "openai-responses": {"openai-responses": {"refusal": True}},
}
"""The mark of a refusal, in formats that have refusals."""
CUSTOM: dict[str, Extra] = {
    "openai-chat": {"openai-chat": {"type": "custom"}},
    "openai-responses": {"openai-responses": {"type": "custom_tool_call"}},
}
"""The mark of a custom tool's call, in formats that have custom tools."""
BOOKKEEPING = frozenset(
    ("id", "status", "type", "role", "refusal", "continued", "index", "phase", "content")
)
"""Fields that mean nothing to a client of another provider."""
UNSIGNED = {"anthropic": types.UNSIGNED}
"""The signature that clients of a format get for another provider's thinking."""
SIGNATURE = "thoughtSignature"
"""The field in which Gemini signs parts that are not thinking."""
MEDIA = ("gemini",)
JOINED = ("gemini", "openai-chat")
"""Formats whose clients join all texts of a reply into one."""
PREFIX = re.compile(r"^(msg|resp|chatcmpl)[_-]")
UNFIT = re.compile(r"[^A-Za-z0-9_-]")
MAX_ID_CHARS = 40


def carried(message: Message, format: str, stem: str) -> tuple[list[Part], list[Change]]:
    """Return the parts that a client of a format can read, and the losses."""
    changes: list[Change] = []
    own_extra(message.extra, "message", format, changes)
    kept: list[Part] = []
    before = ""
    for index, part in enumerate(message.parts):
        taken = carried_part(part, index, format, stem, changes)
        if taken is None:
            continue
        if type(part) is Opaque and type(taken) is Text:
            taken = Text(set_apart(taken.text, before, format))
        if type(taken) is Text:
            before = taken.text or before
        kept.append(taken)
    return kept, changes


def set_apart(text: str, before: str, format: str) -> str:
    """Return the text of a provider's own block as it stands behind other text of a reply.

    It gets lines of its own where clients join all texts of a reply.
    """
    if format not in JOINED:
        return text
    start = "\n" if before and not before.endswith("\n") else ""
    return f"{start}{text}" if text.endswith("\n") else f"{start}{text}\n"


def carried_part(
    part: Part, index: int, format: str, stem: str, changes: list[Change]
) -> Part | None:
    """Convert one part for a client of a format; return None if it cannot be carried."""
    path = f"parts[{index}]"
    if isinstance(part, Opaque):
        return carried_opaque(part, path, format, changes)
    if isinstance(part, ToolResult):
        changes.append(Change("loss.result", path, "a reply holds no tool results"))
        return None
    if isinstance(part, Thinking):
        return carried_thinking(part, path, format, changes)
    if isinstance(part, Media) and format not in MEDIA:
        changes.append(Change("loss.media", path, f"a reply of {format} holds no {part.kind}"))
        return None
    extra = own_extra(part.extra, path, format, changes)
    if isinstance(part, Text):
        mark = REFUSALS.get(format, {}) if is_refusal(part) else {}
        return msgspec.structs.replace(part, extra=extra or mark)
    if isinstance(part, ToolCall):
        return carried_call(part, index, format, stem, extra)
    return msgspec.structs.replace(part, extra=extra)


def carried_call(part: ToolCall, index: int, format: str, stem: str, extra: Extra) -> ToolCall:
    """Convert a call: add an id if the format needs one, and its kind if the format has it."""
    if is_custom(part) and not extra:
        extra = CUSTOM.get(format, {})
        if extra:
            part = msgspec.structs.replace(part, arguments={"input": custom_input(part)}, raw=None)
    return msgspec.structs.replace(part, id=spelled_id(part.id, index, format, stem), extra=extra)


def spelled_id(id: str | None, index: int, format: str, stem: str) -> str | None:
    """Return a call's id in characters the format accepts, derived from the reply's if missing."""
    if format == "gemini":
        return id
    if not id:
        stem = UNFIT.sub("_", PREFIX.sub("", stem))[-(MAX_ID_CHARS - 10) :]
        return f"call_{stem}_{index}" if stem else f"call_{index}"
    return UNFIT.sub("_", id) if format == "anthropic" else id


def carried_thinking(
    part: Thinking, path: str, format: str, changes: list[Change]
) -> Thinking | None:
    """Convert reasoning; only its own provider gets the signature."""
    if part.origin == format:
        return part
    if part.signature:
        changes.append(lost_signature(part.origin, path, format))
    return Thinking(part.text, UNSIGNED.get(format), format) if part.text else None


def lost_signature(origin: str | None, path: str, format: str) -> Change:
    """Return the change that says that a signature cannot be carried."""
    return Change("loss.signature", path, f"a signature of {origin} means nothing to {format}")


def carried_opaque(
    part: Opaque, path: str, format: str, changes: list[Change]
) -> Opaque | Text | None:
    """Convert a provider's own block; clients of other providers get its text."""
    if part.format == format:
        return part
    reason = f"a block of {part.format} alone"
    if not part.text:
        changes.append(Change("loss.block", path, reason))
        return None
    changes.append(Change("repair.block", path, f"{reason}; written as its text"))
    return Text(part.text)


def own_extra(extra: Extra, path: str, format: str, changes: list[Change]) -> Extra:
    """Return the fields of this format; report those of others that hold anything."""
    lost = [
        field
        for name, held in extra.items()
        if name != format
        for field, value in held.items()
        if value and field not in BOOKKEEPING
    ]
    if SIGNATURE in lost:
        lost.remove(SIGNATURE)
        changes.append(lost_signature("gemini", path, format))
    if lost:
        changes.append(Change("loss.extra", path, f"{format} has no {', '.join(sorted(lost))}"))
    return {format: extra[format]} if format in extra else {}


def own_id(id: str | None, prefix: str) -> str:
    """Return a reply's id as this provider spells ids; its own ids stay unchanged."""
    if id and id.startswith(prefix):
        return id
    stem = UNFIT.sub("_", PREFIX.sub("", id)) if id else "0"
    return prefix + stem
