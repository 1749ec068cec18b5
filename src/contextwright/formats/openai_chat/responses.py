"""Conversion from Responses, the other format of the same provider.

Fields that both formats have, and other providers do not, are moved to this format's spelling.
"""

from __future__ import annotations

from typing import Any

import msgspec

from contextwright.formats.base import without
from contextwright.formats.openai import BREAKPOINT, moved
from contextwright.messages.conversation import Conversation, replaced
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Media, Opaque, Part, Text, ToolCall
from contextwright.wire.values import is_object

__all__ = ["RESPONSES", "from_responses"]

NAME = "openai-chat"
RESPONSES = "openai-responses"
NAMES = (RESPONSES, NAME)

replace = msgspec.structs.replace


def from_responses(conversation: Conversation) -> Conversation:
    """Return a Responses conversation with the shared fields in this format's spelling."""
    if conversation.source != RESPONSES:
        return conversation
    return replaced(
        conversation,
        messages=tuple(map(carried_message, conversation.messages)),
        tools=tuple(map(carried_tool, conversation.tools)),
    )


def carried_message(message: Message) -> Message:
    """Convert a message; a refusal is a separate field here."""
    parts = tuple(map(carried_part, message.parts))
    extra = message.extra
    rest = extra.get(RESPONSES, {})
    if message.role == "system" and rest.get("role") in ("system", "developer"):
        own = {"role": "developer"} if rest["role"] == "developer" else {}
        extra = moved(extra, without(rest, "role", "type"), own, names=NAMES)
    if any(type(part) is Text and part.extra.get(NAME, {}).get("type") for part in parts):
        extra = {**extra, NAME: {**extra.get(NAME, {}), "refusal": True}}
    return replace(message, parts=parts, extra=extra)


def carried_part(part: Part) -> Part:
    """Convert a part: move shared fields under this format's name."""
    if isinstance(part, Media) and part.origin == RESPONSES:
        part = replace(part, origin=NAME)
    if not isinstance(part, Text | Media | ToolCall) or RESPONSES not in part.extra:
        return part
    rest = dict(part.extra[RESPONSES])
    own: dict[str, Any] = {}
    if isinstance(part, ToolCall):
        if rest.get("type") == "custom_tool_call":
            own["type"] = "custom"
            del rest["type"]
        return replace(part, extra=moved(part.extra, rest, own, names=NAMES))
    if BREAKPOINT in rest:
        own[BREAKPOINT] = rest.pop(BREAKPOINT)
    if isinstance(part, Text) and rest.pop("refusal", None) is True:
        own["type"] = "refusal"
    if isinstance(part, Media) and part.kind == "image" and "detail" in rest:
        own["image_url"] = {"detail": rest.pop("detail")}
    return replace(part, extra=moved(part.extra, rest, own, names=NAMES))


def carried_tool(tool: Tool | Opaque) -> Tool | Opaque:
    """Convert a custom tool, whose grammar is nested one level deeper here."""
    if isinstance(tool, Opaque) or tool.extra.get(RESPONSES, {}).get("type") != "custom":
        return tool
    rest = dict(tool.extra[RESPONSES])
    del rest["type"]
    custom: dict[str, Any] = {}
    form = rest.pop("format", None)
    if is_object(form):
        grammar = {key: form[key] for key in form if key != "type"}
        kind = form.get("type")
        custom["format"] = {"type": kind, "grammar": grammar} if grammar else {"type": kind}
    return replace(
        tool, extra=moved(tool.extra, rest, {"type": "custom", "custom": custom}, names=NAMES)
    )
