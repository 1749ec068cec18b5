"""Conversion from Chat Completions, the other format of the same provider.

Fields that both formats have, and other providers do not, are moved to this format's spelling.
"""

from __future__ import annotations

from typing import Any

import msgspec

from contextwright.formats.base import keep_extra, without
from contextwright.formats.openai import BREAKPOINT, moved
from contextwright.formats.openai_responses.media import NAME
from contextwright.messages.conversation import Conversation, replaced
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import Media, Opaque, Part, Text, ToolCall
from contextwright.wire.values import is_object

__all__ = ["CHAT", "from_chat"]

CHAT = "openai-chat"
NAMES = (CHAT, NAME)

replace = msgspec.structs.replace


def from_chat(conversation: Conversation) -> Conversation:
    """Return a chat conversation with the shared fields in this format's spelling."""
    if conversation.source != CHAT:
        return conversation
    messages = tuple(map(carried_message, conversation.messages))
    return replaced(
        conversation, messages=messages, tools=tuple(map(carried_tool, conversation.tools))
    )


def carried_message(message: Message) -> Message:
    if all(type(part) is Text and not part.extra for part in message.parts) and not message.extra:
        return message
    rest = message.extra.get(CHAT, {})
    extra = message.extra
    if rest.get("refusal") is True:  # the part with the text is marked instead
        extra = keep_extra(CHAT, without(rest, "refusal"))
    elif message.role == "system" and rest.get("role") == "developer":
        own = {"role": "developer"}
        extra = moved(extra, without(rest, "role"), own, names=NAMES)
    return replace(message, parts=tuple(map(carried_part, message.parts)), extra=extra)


def carried_part(part: Part) -> Part:
    """Convert a part: move shared fields under this format's name."""
    if not isinstance(part, Text | Media | ToolCall) or CHAT not in part.extra:
        return part
    rest = dict(part.extra[CHAT])
    own: dict[str, Any] = {}
    if isinstance(part, ToolCall):
        if rest.pop("type", None) == "custom":
            own["type"] = "custom_tool_call"
    else:
        if BREAKPOINT in rest:
            own[BREAKPOINT] = rest.pop(BREAKPOINT)
        if isinstance(part, Text) and rest.get("type") == "refusal":
            own["refusal"] = True
            del rest["type"]
        inner = rest.get("image_url")
        if isinstance(part, Media) and is_object(inner) and list(inner) == ["detail"]:
            own.update(rest.pop("image_url"))
    return replace(part, extra=moved(part.extra, rest, own, names=NAMES))


def carried_tool(tool: Tool | Opaque) -> Tool | Opaque:
    """Convert a custom tool, whose grammar is nested one level less here."""
    if isinstance(tool, Opaque) or tool.extra.get(CHAT, {}).get("type") != "custom":
        return tool
    rest = {key: value for key, value in tool.extra[CHAT].items() if key not in ("type", "custom")}
    own: dict[str, Any] = {"type": "custom"}
    nested = tool.extra[CHAT].get("custom")
    form = nested.get("format") if is_object(nested) else None
    if is_object(form):
        grammar = form.get("grammar")
        own["format"] = {"type": form.get("type"), **(grammar if is_object(grammar) else {})}
    return replace(tool, extra=moved(tool.extra, rest, own, names=NAMES))
