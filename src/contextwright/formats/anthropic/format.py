"""Anthropic Messages: `POST /v1/messages`, its replies and its streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextwright.changes import Change
from contextwright.formats.anthropic.blocks import (
    NAME,
    block_of,
    blocks_of,
    message_of,
    plain_text,
    text_blocks,
    tool_of,
    tool_wire,
)
from contextwright.formats.anthropic.settings import settings_of, settings_wire, settle
from contextwright.formats.anthropic.stream import accumulate
from contextwright.formats.base import (
    Conversation,
    Format,
    Options,
    Rendered,
)
from contextwright.formats.media import ALIASES, is_web_address
from contextwright.formats.reading import Reader, stream_reader
from contextwright.formats.survey import made_legal
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.messages import Media, Message, Opaque, Part, Role, Thinking
from contextwright.models import Model
from contextwright.wire.anthropic.rules import check
from contextwright.wire.anthropic.types import (
    AssistantBlock,
    AssistantMessage,
    ResultBlock,
    SystemBlock,
    SystemMessage,
    UserBlock,
    UserMessage,
)
from contextwright.wire.shapes import shape_problems

__all__ = ["FORMAT"]

TYPES = {
    "image": ("image/jpeg", "image/png", "image/gif", "image/webp"),
    "document": ("application/pdf",),
}
"""What may be sent as bytes, by kind of media; plain text travels as its words."""


def carries_media(media: Media, model: Model) -> bool:
    """Pictures of four kinds, PDF and plain text; handles only of its own making."""
    if media.kind not in TYPES:
        return False
    if media.data is not None:
        if media.mime == "text/plain":
            return media.kind == "document" and plain_text(media.data) is not None
        return ALIASES.get(media.mime or "", media.mime) in TYPES[media.kind]
    if media.url is not None:
        return is_web_address(media.url)
    return media.file_id is not None and media.origin == NAME


def carries_thinking(thinking: Thinking, model: Model) -> bool:
    """Signed by the very model it goes back to."""
    signed = thinking.origin == NAME and bool(thinking.signature)
    return signed and thinking.model in (None, model.id)


def takes_extra(holder: Part | Message, role: Role, model: Model) -> bool:
    """Whether the fields left over from parsing are ones the API knows."""
    if isinstance(holder, Message):
        message = {**holder.extra.get(NAME, {}), "role": role, "content": "…"}
        return not shape_problems(message, UserMessage | AssistantMessage | SystemMessage)
    return not shape_problems(block_of(holder), BLOCKS[role])


BLOCKS: dict[Role, Any] = {
    "user": UserBlock | ResultBlock,
    "assistant": AssistantBlock,
    "system": SystemBlock,
    "tool": UserBlock | ResultBlock,
}

TRAITS = Traits(
    format=NAME,
    tool_names=Spelling(longest=128),
    system="top",
    error_flag=True,
    merges=True,
    user_first=True,
    needs_user=True,
    blank_text=False,
    final_space=False,
    carries_media=carries_media,
    carries_thinking=carries_thinking,
    takes_extra=takes_extra,
)

# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """A conversation from a request body, or from a bare list of messages."""
    reader = Reader(NAME, strict=strict)
    body = reader.body(data, "messages")
    model = reader.optional_text(body, "model")
    messages: list[Message] = []
    if body.get("system"):
        parts = text_blocks(body["system"], "system", reader)
        messages.append(Message("system", tuple(parts)))
    for path, message in reader.objects(body, "messages"):
        messages.append(message_of(message, path, reader, model))
    tools = [tool_of(tool, path, reader) for path, tool in reader.objects(body, "tools")]
    rest = {
        key: value
        for key, value in body.items()
        if key not in ("model", "messages", "system", "tools")
    }
    return reader.conversation(messages, rest, tools=tools, model=model, settings=settings_of(rest))


def parse_reply(reply: Any) -> Conversation:
    """The assistant message of a reply."""
    reader = Reader(NAME, strict=False)
    body = reader.reply(reply)
    model = reader.optional_text(body, "model")
    message = message_of({"role": "assistant", "content": body.get("content")}, "", reader, model)
    rest = {
        key: body[key] for key in ("id", "stop_reason", "stop_sequence", "usage") if key in body
    }
    return reader.conversation([message], rest, model=model)


parse_stream = stream_reader(accumulate, parse_reply)


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """The request body."""
    messages, target, changes, _ = made_legal(conversation, TRAITS, model, options)
    system, turns = encode(messages, target)
    body: dict[str, Any] = {"model": model.id}
    body.update(settings_wire(conversation, model, changes))
    if system:
        body["system"] = system
    tools = tools_wire(conversation, target, changes)
    if tools:
        body["tools"] = tools
    body["messages"] = turns
    if target.faithful:
        settle(body, model, changes)
    return Rendered(body, tuple(changes))


def encode(
    messages: Sequence[Message], target: Target
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Leading system text, and the turns: a tool's answers open the user turn they belong to."""
    system: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    previous = "system"
    for message in messages:
        role = message.role
        blocks = blocks_of(message.parts)
        if role == "system" and not turns:
            system.extend(blocks)
            continue
        if previous == "tool" and role in ("tool", "user") and not target.faithful:
            turns[-1]["content"].extend(blocks)
        else:
            turn = {"role": "user" if role == "tool" else role, "content": blocks}
            if message.extra:
                turn = {**message.extra.get(NAME, {}), **turn}
            turns.append(turn)
        previous = role
    return system, turns


def tools_wire(
    conversation: Conversation, target: Target, changes: list[Change]
) -> list[dict[str, Any]]:
    """The tools the model may call; hosted tools only of this provider."""
    wire: list[dict[str, Any]] = []
    for index, tool in enumerate(conversation.tools):
        if isinstance(tool, Opaque):
            if tool.format == NAME:
                wire.append(tool.data)
            else:
                changes.append(Change("loss.tool", f"tools[{index}]", f"hosted by {tool.format}"))
        else:
            wire.append(tool_wire(tool, target, f"tools[{index}]", changes))
    return wire


FORMAT = Format(
    name=NAME,
    title="Anthropic Messages requests, replies and streams (Claude)",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
)
