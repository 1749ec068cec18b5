"""Rules that remove what OpenAI's own models refuse and other hosts accept.

Every field or part removed here is reported as a change.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, UnsetType

from contextwright.errors import shown
from contextwright.formats.media import padded_base64
from contextwright.formats.openai import with_fitted_schema
from contextwright.formats.openai_chat.media import PARTS, supports_media
from contextwright.formats.openai_chat.settings import fits
from contextwright.formats.replies.events import CallStart
from contextwright.formats.rules import (
    Draft,
    Placed,
    Ruled,
    clean_name,
    keeping,
    path_to,
    spell_ids,
)
from contextwright.formats.target import Target
from contextwright.formats.tools import inner_fields
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, replaced
from contextwright.messages.message import Message, Role, Tool
from contextwright.messages.parts import Extra, Media, Opaque, Part, Text, ToolCall, ToolResult
from contextwright.models import Model
from contextwright.wire.openai_chat.dialects import CLIENT_FIELD
from contextwright.wire.openai_chat.types import (
    CacheBreakpoint,
    GrammarFormat,
    ImageUrl,
    TextFormat,
)
from contextwright.wire.openai_responses.tools import STRICT, is_strict
from contextwright.wire.shapes import Shape

__all__ = [
    "is_old_style",
    "spell_new_ids",
    "supports_unspoken",
    "fitted_tool",
    "leave_out_refused",
    "accepts_extra",
    "without_system",
]

NAME = "openai-chat"


class NoStrictness(Shape):
    """The one field of a function definition that may be null."""

    strict: None = None


class CustomFields(Shape):
    """The fields of a custom tool besides name and description."""

    format: TextFormat | GrammarFormat | UnsetType = UNSET


SpeakerName: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[^\s<|\\/>]{1,64}$")]

PART_FIELDS: dict[str, Any] = {"prompt_cache_breakpoint": CacheBreakpoint}
REFUSAL_FIELDS: dict[str, Any] = {"type": Literal["refusal"]}
IMAGE_FIELDS = {**PART_FIELDS, "image_url": dict[str, Any]}
MESSAGE_FIELDS: dict[str, dict[str, Any]] = {
    "system": {"role": str},
    "user": {},
    "assistant": {
        "content": bool,
        "refusal": Literal[True] | None,
        "function_call": None,
        "annotations": list[dict[str, Any]] | None,
        "audio": None,
        CLIENT_FIELD: Any,
    },
    "tool": {},
}
CALL_FIELDS: dict[str, Any] = {"type": str, "role": str}
RESULT_FIELDS: dict[str, Any] = {"name": SpeakerName, "role": str, "content": None}
TOOL_FIELDS: dict[str, Any] = {
    "functions": bool,
    "function": NoStrictness,
    "type": Literal["custom"],
    "custom": CustomFields,
}
"""Fields that may stay in `extra`, by place, with their types."""

replace = msgspec.structs.replace


def leave_out_refused(draft: Draft, target: Target) -> Ruled:
    """Drop fields and parts that other hosts of this format accept and OpenAI refuses."""
    changes: list[Change] = []
    fitted: Draft = []
    for place, message in draft:
        placed = (place, message)
        if holds_more(message):
            placed = fitted_message(placed, changes, same_format=target.same_format)
        fitted.append(placed)
    return fitted, changes


def spell_new_ids(draft: Draft, target: Target) -> Ruled:
    """Make call ids legal. Those of calls in the old style are not sent, so nothing is said."""
    spelled, changes = spell_ids(draft, target)
    old = {
        path_to(place, index)
        for place, message in draft
        for index, part in enumerate(message.parts)
        if type(part) is ToolCall and part.extra and is_old_style(part) and len(message.calls) == 1
    }
    return spelled, [one for one in changes if one.code != "invent.id" or one.path not in old]


def is_old_style(call: ToolCall | CallStart) -> bool:
    """Whether this call came in the old `function_call` style."""
    return call.extra.get(NAME, {}).get("role") == "function"


def accepts_extra(holder: Part | Message, role: Role, model: Model) -> bool:
    """Whether `leave_out_refused` would not change a part or the fields of a message."""
    if isinstance(holder, Message):
        return own_fields(holder.extra, MESSAGE_FIELDS[role], "", []) == holder.extra
    return fitted_part(holder, role, "", [], same_format=True) == holder


def supports_unspoken(media: Media, model: Model) -> bool:
    """Whether OpenAI accepts the media, and they are not a text file, which is sent as text."""
    return supports_media(media, model) and words_of(media) is None


def holds_more(message: Message) -> bool:
    """Whether a message has more than plain text and calls."""
    if message.extra:
        return True
    for part in message.parts:
        if type(part) is Opaque or type(part) is Media or part.extra:
            return True
        if type(part) is ToolResult and type(part.content) is tuple:
            return True
    return False


def fitted_message(placed: Placed, changes: list[Change], *, same_format: bool) -> Placed:
    """Return the message with only fields and parts that OpenAI accepts."""
    place, message = placed
    parts: list[tuple[int, Part]] = []
    for index, part in enumerate(message.parts):
        path = path_to(place, index)
        kept = fitted_part(part, message.role, path, changes, same_format=same_format)
        if kept is not None:
            parts.append((index, kept))
    extra = own_fields(message.extra, MESSAGE_FIELDS[message.role], path_to(place), changes)
    return keeping((place, replace(message, extra=extra)), parts)


def fitted_part(
    part: Part, role: Role, path: str, changes: list[Change], *, same_format: bool
) -> Part | None:
    """Return a part with only fields OpenAI accepts; of an unknown part its text, if any."""
    match part:
        case Text():
            refusal = role == "assistant" and "type" in part.extra.get(NAME, {})
            fields = REFUSAL_FIELDS if refusal else PART_FIELDS
            return replace(part, extra=own_fields(part.extra, fields, path, changes))
        case Media():
            return fitted_media(part, path, changes, same_format=same_format)
        case ToolCall():
            return replace(part, extra=own_fields(part.extra, CALL_FIELDS, path, changes))
        case ToolResult():
            return fitted_result(part, path, changes, same_format=same_format)
        case Opaque(format="openai-chat") if role == "assistant" and (audio := audio_of(part)):
            return audio
        case Opaque(format="openai-chat"):
            reason = f"OpenAI does not accept this part: {shown(part.data.get('type'))}"
            changes.append(Change("loss.opaque", path, reason))
            return Text(part.text) if part.text else None
        case _:
            return part


def audio_of(part: Opaque) -> Opaque | None:
    """Return generated audio as its id, the only part of it that may be sent back."""
    match part.data:
        case {"type": "audio", "audio": {"id": str(handle)}}:
            return replace(part, data={"type": "audio", "audio": {"id": handle}})
        case _:
            return None


def fitted_media(media: Media, path: str, changes: list[Change], *, same_format: bool) -> Part:
    """Return media that OpenAI accepts, with the image settings it knows."""
    if not same_format and (words := words_of(media)) is not None:
        changes.append(Change("repair.media", path, "a text file is sent as text"))
        others = {name: fields for name, fields in media.extra.items() if name != NAME}
        return Text(words, others)
    own = media.extra.get(NAME)
    if not own:
        return media
    word = PARTS[media.kind]
    rest = {key: own[key] for key in own if key not in PARTS.values()}
    inner = own.get(word)
    if isinstance(inner, dict) and word == "image_url":
        detail = {"detail": cast("dict[str, Any]", inner).get("detail")}
        if fits({"url": "", **detail}, ImageUrl):
            rest["image_url"] = detail
    extra = own_fields({**media.extra, NAME: rest}, IMAGE_FIELDS, path, changes)
    return replace(media, extra=extra)


def words_of(media: Media) -> str | None:
    """Return the text of a text file; None for any other file."""
    if media.kind != "document" or media.data is None or not str(media.mime).startswith("text/"):
        return None
    try:
        words = base64.b64decode(padded_base64(media.data)).decode()
    except ValueError:
        return None
    return f"{clean_name(media.name)}:\n{words}" if media.name else words


def fitted_result(
    result: ToolResult, path: str, changes: list[Change], *, same_format: bool
) -> ToolResult:
    content = result.content
    if isinstance(content, tuple):
        pieces = [
            fitted_part(piece, "tool", f"{path}.content[{index}]", changes, same_format=same_format)
            for index, piece in enumerate(content)
        ]
        content = cast("Any", tuple(piece for piece in pieces if piece is not None) or "")
    extra = own_fields(result.extra, RESULT_FIELDS, path, changes)
    return replace(result, content=content, extra=extra)


def fitted_tool(tool: Tool, path: str, changes: list[Change], *, same_format: bool) -> Tool:
    """Return a tool with only fields that OpenAI accepts; strict only if its schema allows it."""
    tool = with_fitted_schema(tool, path, changes, same_format=same_format)
    if tool.extra.get(NAME):
        tool = replace(tool, extra=own_fields(tool.extra, TOOL_FIELDS, path, changes))
        own = tool.extra.get(NAME, {})
        if own.get("functions"):  # the old style has no `strict`
            return replace(tool, strict=None, extra={**tool.extra, NAME: {"functions": True}})
        if "type" in own and "custom" not in own:
            tool = replace(tool, extra={**tool.extra, NAME: {}})
    described = tool.parameters or not same_format
    if tool.strict and described and not is_strict(tool.parameters or {}):
        changes.append(Change("loss.strict", path, STRICT))
        tool = replace(tool, strict=None)
    return tool


def own_fields(extra: Extra, fields: Mapping[str, Any], path: str, changes: list[Change]) -> Extra:
    """Return the leftover fields that OpenAI accepts; a null that it refuses is not reported."""
    own = extra.get(NAME)
    if not own:
        return extra
    kept = {key: value for key, value in own.items() if key in fields and fits(value, fields[key])}
    lost = [
        name
        for key, value in own.items()
        if key not in kept and not (value is None or value is False or value == [])
        for name in inner_fields(key, value)
    ]
    if lost:
        reason = f"OpenAI's own models refuse {', '.join(map(clean_name, lost))}"
        changes.append(Change("loss.extra", path, reason))
    others = {name: fields for name, fields in extra.items() if name != NAME}
    return {**others, NAME: kept} if kept else others


def without_system(conversation: Conversation, model: Model, changes: list[Change]) -> Conversation:
    """Turn system messages into marked user text, for a model that accepts none."""
    messages: list[Message] = []
    for index, message in enumerate(conversation.messages):
        if message.role == "system":
            message = noted(message)
            reason = f"{model.id} takes no system message; a marked user note"
            changes.append(Change("repair.system", f"messages[{index}]", reason))
        messages.append(message)
    return replaced(conversation, messages=tuple(messages))


def noted(message: Message) -> Message:
    """Turn a system message into a user message; losing `developer` or `system` is not reported."""
    own = {
        name: {key: fields[key] for key in fields if key != "role"}
        for name, fields in message.extra.items()
    }
    extra = {name: fields for name, fields in own.items() if fields}
    return replace(message, role="user", parts=tuple(map(as_note, message.parts)), extra=extra)


def as_note(part: Part) -> Part:
    """Mark text as the operator's."""
    return replace(part, text=f"[System note: {part.text}]") if isinstance(part, Text) else part
