"""Hugging Face chat lists: the input of `apply_chat_template`, and training data sets.

A list of messages, or `{"messages": […], "tools": […]}`. A call's arguments are an object, results
follow their calls in order, and ids are optional.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from contextwright.formats.base import (
    Format,
    Options,
    Rendered,
    foreign_settings,
    keep_extra,
    without,
)
from contextwright.formats.legalise import legalise
from contextwright.formats.media import is_web_address, sniffed_mime
from contextwright.formats.openai_chat.read import message_of
from contextwright.formats.openai_chat.rules import without_system
from contextwright.formats.openai_chat.tools import tool_of
from contextwright.formats.reader import Reader
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.formats.tools import foreign_fields
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message, Tool
from contextwright.messages.parts import (
    Media,
    MediaKind,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextwright.models import Model
from contextwright.wire.chatml import check

__all__ = ["FORMAT"]

NAME = "chatml"
KINDS: dict[Any, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


def supports_media(media: Media, model: Model) -> bool:
    """Whether these are images, audio or video, with a URL or base64 data."""
    return media.kind in KINDS and (media.data is not None or is_web_address(media.url))


def supports_thinking(thinking: Thinking, model: Model) -> bool:
    """Whether the thinking came from this format (`reasoning_content` or similar)."""
    return thinking.origin == NAME


TRAITS = Traits(
    format=NAME,
    ids=None,
    tool_names=Spelling(r"\s\S"),
    system="top",
    merges=True,
    user_first=True,
    result_media=False,
    supports_media=supports_media,
    supports_thinking=supports_thinking,
)
SAME_FORMAT_TRAITS = msgspec.structs.replace(
    TRAITS,
    system="anywhere",
    user_first=False,
    result_media=True,
    media_roles=("user", "assistant"),
)


# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse a list of messages, or an object that holds one."""
    reader = Reader(NAME, strict=strict)
    body = reader.body(data, "messages")
    messages = [
        with_media(message_of(message, path, reader, None))
        for path, message in reader.objects(body, "messages")
    ]
    tools = [tool_of(tool, path, reader) for path, tool in reader.objects(body, "tools")]
    rest = {key: body[key] for key in body if key not in ("messages", "tools")}
    if body is data:
        rest["messages"] = True  # an object, not a bare list
    return reader.conversation(messages, rest, tools=tools)


def with_media(message: Message) -> Message:
    """Replace images, audio and video among the message's opaque parts with `Media`."""
    if not any(type(part) is Opaque for part in message.parts):
        return message
    return message.with_parts(
        media_of(part) if isinstance(part, Opaque) else part for part in message.parts
    )


def media_of(part: Opaque) -> Part:
    """Read media from a part such as `{"type": "image", "url": …}`; else return the part."""
    kind = KINDS.get(str(part.data.get("type")))
    if kind is None:
        return part
    for field in ("url", kind, "base64"):
        source = part.data.get(field)
        if isinstance(source, str):
            rest = {key: part.data[key] for key in part.data if key not in ("type", field)}
            if field != "url":
                rest["type"] = field  # the field it came in
            extra = keep_extra(NAME, rest)
            if "://" in source or source.startswith("data:"):
                return Media(kind, url=source, extra=extra)
            return Media(kind, sniffed_mime(source), source, extra=extra)
    return part


# --- writing ---------------------------------------------------------------------------------


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the chat: a bare list if there are only messages."""
    made: list[Change] = []
    same_format = conversation.source == NAME
    if not model.system_role:
        conversation = without_system(conversation, model, made)
    traits = SAME_FORMAT_TRAITS if same_format else TRAITS
    legal = legalise(conversation, traits, model, options)
    target, changes = legal.target, [*made, *legal.changes]
    written = list(encode(legal.messages, target, changes))
    origins = legal.turn_origins([place for place, _ in written])
    chat = [wire for _, wire in written]
    tools = list(tools_wire(conversation, target, changes))
    rest = conversation.extra.get(NAME, {}) if same_format else {}
    changes.extend(foreign_settings(conversation, NAME))
    if not tools and not rest:
        return Rendered(chat, tuple(changes), origins=origins)
    body = {**{key: rest[key] for key in rest if key != "messages"}, "messages": chat}
    if tools:
        body["tools"] = tools
    return Rendered(body, tuple(changes), origins=origins)


def encode(
    messages: Sequence[Message], target: Target, changes: list[Change]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Write the messages, one per tool result, in the order of the calls; each with its index."""
    called: list[ToolCall] = []
    results: list[tuple[int, ToolResult]] = []
    for index, message in enumerate(messages):
        results.extend((index, result) for result in message.results)
        if message.role == "tool" and index + 1 < len(messages) and messages[index + 1].results:
            continue  # the results of one exchange may be spread over several messages
        yield from in_order(results, called, f"messages[{index}]", changes)
        results = []
        spoken: list[Part] = [part for part in message.parts if type(part) is not ToolResult]
        if message.role == "tool" or (message.parts and not spoken):
            continue
        called = list(message.calls)
        yield index, message_wire(message, spoken, target)


def in_order(
    results: list[tuple[int, ToolResult]],
    called: list[ToolCall],
    path: str,
    changes: list[Change],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Write results in the order of their calls, because templates pair them by position."""
    if len(results) > 1:
        places: dict[str | None, int] = {call.id: at for at, call in enumerate(called) if call.id}
        ordered = sorted(results, key=lambda one: places.get(one[1].call_id, len(called)))
        if ordered != results:
            changes.append(Change("repair.order", path, "results follow the order of the calls"))
            results = ordered
    names: dict[str | None, str] = {call.id: call.name for call in called if call.id}
    for index, result in results:
        if not has_sound_name(result):
            changes.append(Change("loss.extra", path, "the name of a tool must be text"))
        yield index, result_wire(result, result.name or names.get(result.call_id))


def message_wire(message: Message, spoken: list[Part], target: Target) -> dict[str, Any]:
    """Write a system, user or assistant message."""
    extra = message.extra.get(NAME, {})
    wire: dict[str, Any] = {"role": message.role}
    words = [part for part in spoken if is_content(part)]
    calls = [call_wire(part) for part in spoken if isinstance(part, ToolCall)]
    if words:
        wire["content"] = content_wire(words)
    elif not calls:
        wire["content"] = ""
    elif target.same_format and extra.get("content") is not False:
        wire["content"] = None if extra.get("content") is None else extra["content"]
    for part in spoken:
        if isinstance(part, Thinking) and not is_content(part):
            fields = part.extra.get(NAME) or {"reasoning_content": part.text}
            wire.update(without(fields, "role", "content", "tool_calls"))
    if calls:
        wire["tool_calls"] = calls
    if message.author is not None and target.same_format:
        wire["name"] = message.author.label
    for key, value in extra.items():
        if key == "role" or (key not in wire and key not in ("content", "refusal")):
            wire[key] = value
    return wire


def is_content(part: Part) -> bool:
    """Whether a part is in the content: reasoning may be a part of it, or a field beside it."""
    if isinstance(part, Thinking):
        return part.extra.get(NAME, {}).get("type") == "thinking"
    return not isinstance(part, ToolCall)


def content_wire(parts: list[Part]) -> str | list[dict[str, Any]]:
    """Write a single text as a string, anything else as a list of parts."""
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra:
        return parts[0].text
    return [part_wire(part) for part in parts]


def part_wire(part: Part) -> dict[str, Any]:
    """Write one content part."""
    if isinstance(part, Opaque):
        return part.data
    extra = part.extra.get(NAME, {})
    if isinstance(part, Thinking):
        return extra
    if isinstance(part, Media):
        source = part.url if part.data is None else part.data
        field = extra.get("type") or ("url" if part.data is None else "base64")
        rest = {key: value for key, value in extra.items() if key != "type"}
        return {"type": part.kind, field: source, **rest}
    return {"type": "text", **extra, "text": cast("Text", part).text}


def call_wire(call: ToolCall) -> dict[str, Any]:
    """Write a call with its arguments as an object."""
    extra = call.extra.get(NAME, {})
    function: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
    function |= fields_beside(extra.get("function"), function)
    wire: dict[str, Any] = {"type": "function", "function": function}
    if call.id is not None:
        wire["id"] = call.id
    return {**wire, **{key: extra[key] for key in extra if key not in ("type", "function", "role")}}


def result_wire(result: ToolResult, name: str | None) -> dict[str, Any]:
    """Write a tool message."""
    content: Any = result.content
    if isinstance(content, dict):
        content = result.text
    elif isinstance(content, tuple):
        content = content_wire(list(cast("tuple[Part, ...]", content)))
    wire: dict[str, Any] = {"role": "tool"}
    if name is not None:
        wire["name"] = name
    if result.call_id is not None:
        wire["tool_call_id"] = result.call_id
    wire["content"] = content
    extra = result.extra.get(NAME, {})
    ours = ("role", "content") if has_sound_name(result) else ("role", "content", "name")
    wire.update({key: extra[key] for key in extra if key not in ours})
    return wire


def has_sound_name(result: ToolResult) -> bool:
    """Whether the name that came with a result, if any, is a string."""
    return isinstance(result.extra.get(NAME, {}).get("name"), str | None)


def tools_wire(
    conversation: Conversation, target: Target, changes: list[Change]
) -> Iterator[dict[str, Any]]:
    """Write the tool definitions in OpenAI's spelling."""
    for index, tool in enumerate(conversation.tools):
        path = f"tools[{index}]"
        if isinstance(tool, Opaque):
            if tool.format == NAME:
                yield tool.data
            else:
                changes.append(Change("loss.tool", path, f"hosted by {tool.format}"))
            continue
        lost = foreign_fields(tool, NAME)
        if lost:
            changes.append(Change("loss.extra", path, f"{NAME} has no {', '.join(lost)}"))
        yield tool_wire(tool, target.tool_names.get(tool.name, tool.name))


def tool_wire(tool: Tool, name: str) -> dict[str, Any]:
    """Write one tool's definition."""
    extra = tool.extra.get(NAME, {})
    function: dict[str, Any] = {"name": name}
    for field in ("description", "parameters", "strict"):
        value = getattr(tool, field)
        if value is not None:
            function[field] = value
    function |= fields_beside(extra.get("function"), function)
    wire: dict[str, Any] = {"type": "function", "function": function}
    if extra.get("type") is False:
        del wire["type"]
    return {**wire, **{key: extra[key] for key in extra if key not in ("type", "function")}}


def fields_beside(extra: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Return the leftover fields that we do not write ourselves; {} if `extra` is not an object."""
    if not isinstance(extra, dict):
        return {}
    fields = cast("dict[str, Any]", extra)
    return {key: value for key, value in fields.items() if key not in known}


FORMAT = Format(
    name=NAME,
    title="Hugging Face chat lists, for chat templates and training data",
    parse=parse,
    render=render,
    check=check,
)
