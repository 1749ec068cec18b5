"""Anthropic Messages: `POST /v1/messages`, its replies and its streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from contextwright.formats.anthropic.read import NAME, message_of, text_blocks
from contextwright.formats.anthropic.reply import parse_reply
from contextwright.formats.anthropic.rules import rules_for
from contextwright.formats.anthropic.settings import settings_of, settings_wire, settle
from contextwright.formats.anthropic.stream import parse_stream
from contextwright.formats.anthropic.tools import tool_of, tools_wire
from contextwright.formats.anthropic.write import block_of, plain_text
from contextwright.formats.base import Format, Options, Rendered
from contextwright.formats.legalise import legalise
from contextwright.formats.media import is_sound, is_web_address
from contextwright.formats.reader import Reader
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.formats.tools import respelled_choice
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking
from contextwright.models import Model, is_same_model
from contextwright.wire.anthropic.blanks import blank_inside
from contextwright.wire.anthropic.rules import check
from contextwright.wire.anthropic.turns import LONGEST_CALL_NAME, is_hosted
from contextwright.wire.anthropic.types import (
    AssistantBlock,
    AssistantMessage,
    ResultBlock,
    SystemBlock,
    SystemMessage,
    UserBlock,
    UserMessage,
)
from contextwright.wire.media import ALIASES, ANTHROPIC_BYTES, ANTHROPIC_IMAGE_BYTES
from contextwright.wire.shapes import shape_problems

__all__ = ["FORMAT"]

TYPES = {
    "image": ("image/jpeg", "image/png", "image/gif", "image/webp"),
    "document": ("application/pdf",),
}
"""MIME types that may be sent as bytes, by kind of media. Plain text is sent as a string."""


def supports_media(media: Media, model: Model) -> bool:
    """Whether Anthropic accepts the media: four image types, PDF, plain text, its own file ids."""
    largest = ANTHROPIC_IMAGE_BYTES if media.kind == "image" else ANTHROPIC_BYTES
    if media.kind not in TYPES or not is_sound(media, largest):
        return False
    if media.data is not None:
        if media.mime == "text/plain":
            return media.kind == "document" and plain_text(media.data) is not None
        return ALIASES.get(media.mime or "", media.mime) in TYPES[media.kind]
    if media.url is not None:
        # Anthropic fetches the URL itself, so only a declared type can rule it out.
        mime = ALIASES.get(media.mime or "", media.mime)
        return is_web_address(media.url) and (mime is None or mime in TYPES[media.kind])
    return bool(media.file_id) and media.origin == NAME


def supports_thinking(thinking: Thinking, model: Model) -> bool:
    """Whether the thinking was signed by the model it is sent back to."""
    signed = thinking.origin == NAME and bool(thinking.signature)
    return signed and (thinking.model is None or is_same_model(thinking.model, model.id))


def accepts_extra(holder: Part | Message, role: Role, model: Model) -> bool:
    """Whether the API knows the fields left over from parsing."""
    if isinstance(holder, Message):
        message = {**holder.extra.get(NAME, {}), "role": role, "content": "…"}
        return not shape_problems(message, UserMessage | AssistantMessage | SystemMessage)
    block = block_of(holder)
    if isinstance(holder, Opaque) and block.get("type") == "tool_result":
        return False  # it stands in another result
    if isinstance(holder, Opaque) and any(blank_inside("", block)):
        return False
    return not shape_problems(block, BLOCKS[role])


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
    continues=lambda block: is_hosted(block.data.get("type")),
    pairs_hosted=True,
    error_flag=True,
    merges=True,
    pairs_by_turn=True,
    user_first=True,
    needs_user=True,
    blank_text=False,
    blank_errors=False,
    final_space=False,
    supports_media=supports_media,
    supports_thinking=supports_thinking,
    block_types=BLOCKS.__getitem__,
    accepts_extra=accepts_extra,
)
SAME_FORMAT_TRAITS = replace(
    TRAITS, user_first=False, call_names=Spelling(r"\s\S", longest=LONGEST_CALL_NAME)
)
"""Only older hosts refuse an assistant's turn at the start, so one that came first may stay, and no
host refuses a call by a name that only a definition cannot have.
"""

# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse a request body, or a bare list of messages."""
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


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the request body."""
    rules = rules_for(conversation.extra.get(NAME, {}))
    traits = SAME_FORMAT_TRAITS if conversation.source == NAME else TRAITS
    legal = legalise(conversation, traits, model, options, rules)
    target, changes = legal.target, legal.changes
    written = encode(legal.messages, target)
    body: dict[str, Any] = {"model": model.id}
    body.update(settings_wire(conversation, model, changes))
    if target.tool_names and "tool_choice" in body:
        body["tool_choice"] = respelled_choice(body["tool_choice"], target.tool_names)
    if written.system:
        body["system"] = written.system
    tools = tools_wire(conversation, target, changes)
    if tools:
        body["tools"] = tools
    body["messages"] = written.turns
    settle(body, written.rich, model, changes)
    origins = legal.turn_origins(written.places)
    return Rendered(body, tuple(changes), tool_names=target.sent_names, origins=origins)


class Written(Struct, frozen=True):
    """The leading system text, the turns, and the contents of those that are not a plain text."""

    system: list[dict[str, Any]]
    turns: list[dict[str, Any]]
    rich: list[list[dict[str, Any]]]
    places: list[int]
    """The index of the message that each turn begins with."""


def encode(messages: Sequence[Message], target: Target) -> Written:
    """Write the messages; tool results go to the start of the user turn after the calls."""
    written = Written([], [], [], [])
    turns, places = written.turns, written.places
    previous = "system"
    for index, message in enumerate(messages):
        role, parts = message.role, message.parts
        plain = parts[0] if len(parts) == 1 else None
        if isinstance(plain, Text) and not plain.extra:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": plain.text}]
        else:
            plain, blocks = None, [block_of(part) for part in parts]
        if role == "system" and not turns:
            written.system.extend(blocks)
            continue
        if previous == "tool" and role in ("tool", "user") and not target.same_format:
            turns[-1]["content"].extend(blocks)
        else:
            turn = {"role": "user" if role == "tool" else role, "content": blocks}
            if message.extra:
                turn = {**message.extra.get(NAME, {}), **turn}
            turns.append(turn)
            places.append(index)
            if plain is None:
                written.rich.append(blocks)
        previous = role
    return written


FORMAT = Format(
    name=NAME,
    title="Anthropic Messages requests, replies and streams (Claude)",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
    default_model="claude-sonnet-5-5",
    turns="messages",
)
