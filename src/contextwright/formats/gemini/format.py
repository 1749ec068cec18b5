"""Gemini: `POST …/models/{model}:generateContent`, its replies and its streams.

Fields are read in camelCase and snake_case, and written in camelCase. The model is named in the
URL, not in the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from contextwright.errors import ParseError, shown
from contextwright.formats.base import Format, Options, Rendered, keep_extra
from contextwright.formats.gemini.read import NAME, kind_of, message_of
from contextwright.formats.gemini.reply import parse_reply
from contextwright.formats.gemini.rules import (
    CACHED_RULES,
    GEMINI_RULES,
    last_question,
    leave_signatures,
)
from contextwright.formats.gemini.settings import settings_of, settings_wire, settle
from contextwright.formats.gemini.stream import parse_stream
from contextwright.formats.gemini.tools import tools_of, tools_wire
from contextwright.formats.gemini.write import Writer, is_response, wire_of
from contextwright.formats.legalise import legalise
from contextwright.formats.media import is_sound, is_web_address
from contextwright.formats.openai_chat.rules import without_system
from contextwright.formats.reader import Reader, misshapen
from contextwright.formats.rules import path_in
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.formats.tools import respelled_choice
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.exchanges import match_results
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.models import Model
from contextwright.text.json import convert
from contextwright.wire.gemini import types as wire
from contextwright.wire.gemini.rules import check
from contextwright.wire.media import GEMINI_BYTES
from contextwright.wire.shapes import shape_problems
from contextwright.wire.spelling import as_spelled, camel_case
from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "FORMAT",
    "TRAITS",
    "as_called",
    "has_source",
    "read_spelling",
    "respell_paths",
    "system_of",
]


def supports_media(media: Media, model: Model) -> bool:
    """Whether the API accepts the source of these media, and any bytes are valid."""
    return has_source(media, model) and is_sound(media, GEMINI_BYTES)


def has_source(media: Media, model: Model) -> bool:
    """Whether there is typed data, a URL on the web or at Google, or a file id of Gemini's."""
    if media.data is not None:
        return media.mime is not None and kind_of(media.mime, "") == media.kind
    if media.url is not None:
        return is_web_address(media.url) or media.url.startswith("gs://")
    return bool(media.file_id) and media.origin == NAME


def supports_thinking(thinking: Thinking, model: Model) -> bool:
    """Whether the thinking is Gemini's own, signed or not."""
    return thinking.origin == NAME and not thinking.redacted


def accepts_extra(holder: Part | Message, role: Role, model: Model) -> bool:
    """Whether the API knows the fields left over from parsing."""
    if isinstance(holder, Message):
        own = holder.extra.get(NAME, {})
        return own.keys() <= {"role"} and (role == "system" or own.get("role") is None)
    part = wire_of(holder)
    if isinstance(holder, Opaque) and is_response(part):
        return role in ("user", "tool")
    own = [key for key in wire.DATA_FIELDS if part.get(key) is not None]
    return len(own) == 1 and not shape_problems(part, wire.Part)


def accepts_piece(block: Opaque) -> bool:
    """Whether a function response may hold a block."""
    return is_response(block.data) or not shape_problems(block.data, wire.FunctionResponsePart)


TRAITS = Traits(
    format=NAME,
    ids=None,
    tool_names=Spelling("a-zA-Z0-9_.:-", first="a-zA-Z_", longest=128),
    system="top",
    error_flag=True,
    merges=True,
    pairs_by_turn=True,
    user_first=True,
    needs_user=True,
    blank_text=False,
    media_roles=("user", "assistant"),
    named_media=("image", "audio", "video", "document"),
    supports_media=supports_media,
    supports_thinking=supports_thinking,
    accepts_piece=accepts_piece,
    block_types=lambda role: wire.Part,
    accepts_extra=accepts_extra,
)
"""Only one of Google's two hosts accepts empty text, so it is sent only if it came empty."""
ANY_NAME = Spelling(r"\s\S")


# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse a request body, or a bare list of contents.

    The SDK's `config` argument is read as the body that the SDK sends for it.
    """
    reader = Reader(NAME, strict=strict)
    body = read_spelling(unpacked(data, reader), wire.Request, reader)
    body = {**body, "contents": read_contents(body.get("contents"), "contents", reader)}
    messages = [*system_of(body.get("systemInstruction"), "systemInstruction", reader)]
    for path, content in reader.objects(body, "contents"):
        messages.append(message_of(content, path, reader))
    if not body.get("cachedContent"):  # their calls may be in it
        messages = as_called(without_unknown_ids(messages, reader), reader)
    tools = tools_of(body, reader)
    model = reader.optional_text(body, "model")
    said = ("contents", "systemInstruction", "tools")
    rest = {key: value for key, value in body.items() if key not in said}
    respell_paths(reader, data)
    return reader.conversation(
        messages,
        rest,
        tools=tools,
        model=model.removeprefix("models/") if model else None,
        settings=settings_of(rest),
    )


def without_unknown_ids(messages: list[Message], reader: Reader) -> list[Message]:
    """Return the messages without ids of responses that no call has, if calls came without ids.

    Such a response answers by its name.
    """
    if not any(message.role == "tool" for message in messages):
        return messages
    ids = {call.id for message in messages for call in message.calls}
    if None not in ids:
        return messages
    kept: list[Message] = []
    for index, message in enumerate(messages):
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolResult) and part.call_id not in ids:
                reader.repair("repair.id", f"messages[{index}]", "no call has the response's id")
                part = msgspec.structs.replace(part, call_id=None)
            parts.append(part)
        kept.append(message.with_parts(parts) if message.results else message)
    return kept


def as_called(messages: list[Message], reader: Reader) -> list[Message]:
    """Return the messages with each response under the name and id of its call.

    Gemini 3 refuses others; the names are sent, but tell nobody else anything.
    """
    if fits_calls(messages):
        return messages
    mended: list[list[Part]] = [list(message.parts) for message in messages]
    for answer in match_results(messages).answers:
        call, result = answer.call, answer.result
        if result is None or answer.result_at is None:
            continue
        position, place = answer.result_at
        path = f"messages[{position}].parts[{place}]"
        if result.name is not None and result.name != call.name:
            reason = f"{shown(result.name)} answers a call of {shown(call.name)}"
            reader.repair("repair.tool_name", path, reason)
        if result.call_id != call.id:
            reader.repair("repair.id", path, "gets the id of its call")
        mended[position][place] = msgspec.structs.replace(result, name=call.name, call_id=call.id)
    return [one.with_parts(parts) for one, parts in zip(messages, mended, strict=True)]


def fits_calls(messages: list[Message]) -> bool:
    """Whether each response has the name and id of a call before it, as nearly all have."""
    by_id: dict[str, str] = {}
    without_id: set[str | None] = set()
    for message in messages:
        for part in message.parts:
            if type(part) is ToolCall:
                if part.id is None:
                    without_id.add(part.name)
                else:
                    by_id[part.id] = part.name
            elif type(part) is ToolResult:
                if part.call_id is None:
                    if part.name not in without_id:
                        return False
                elif by_id.get(part.call_id, part.name) != part.name:
                    return False
    return True


CONFIGURED = frozenset(
    (
        "systemInstruction tools toolConfig safetySettings cachedContent labels serviceTier store "
        "continuationToken modelArmorConfig"
    ).split()
)
"""Fields of the SDK's `config` that are top-level in the body; the rest is generationConfig."""
SDK_ONLY = frozenset(("httpOptions", "automaticFunctionCalling", "shouldReturnHttpResponse"))


def unpacked(data: Any, reader: Reader) -> Object:
    """Return the API's body from a body, a list of contents, or the SDK's arguments."""
    if is_list(data):
        return {"contents": data}
    if not is_object(data):
        raise misshapen(NAME, "an object or a list of contents", data)
    config = data.get("config")
    if not is_object(config):
        return data
    body: Object = {key: value for key, value in data.items() if key != "config"}
    generation: Object = {}
    for key, value in config.items():
        first, *others = key.split("_")
        name = first + "".join(word.capitalize() for word in others)
        if name in CONFIGURED:
            body[name] = value
        elif name in SDK_ONLY:
            reader.repair("loss.setting", f"config.{key}", "a setting of the SDK only")
        else:
            generation[name] = value
    return {**body, "generationConfig": generation}


def read_spelling(data: Object, shape: type[Any], reader: Reader) -> Object:
    """Return the data in camelCase; a field that appears in both spellings is an error."""
    try:
        convert(data, shape)
    except (msgspec.ValidationError, RecursionError):
        body, problems = camel_case(data, shape)
        for problem in problems:
            reader.fault(problem.path, problem.message)
        return body
    return data


def read_contents(value: Any, path: str, reader: Reader) -> list[Any]:
    """Return the list of contents. The SDK also accepts plain strings."""
    if isinstance(value, str):
        reader.repair("repair.contents", path, "must be a list of contents")
        value = [value]
    if not is_list(value):
        raise ParseError(f"must be a list of contents, not {shown(value)}", path=path)
    found: list[Any] = []
    for index, item in enumerate(value):
        if isinstance(item, str):
            reader.repair(
                "repair.contents", f"{path}[{index}]", "plain text is read as a user message"
            )
            item = {"role": "user", "parts": [{"text": item}]}
        found.append(item)
    return found


def system_of(value: Any, path: str, reader: Reader) -> list[Message]:
    """Read the system instruction: a content of texts or, as in the SDK, a string."""
    if value is None:
        return []
    if isinstance(value, str):
        reader.repair("repair.system", path, "must be a content with parts, not a string")
        return [Message("system", (Text(value),))]
    if not is_object(value):
        reader.fault(path, f"must be a content, not {shown(value)}")
        return []
    message = message_of({**value, "role": "user"}, path, reader)
    parts = [part for part in message.parts if isinstance(part, Text | Media)]
    if len(parts) < len(message.parts):
        reader.repair("loss.part", f"{path}.parts", "a system instruction holds only texts")
    role = value.get("role")
    extra = {**message.extra.get(NAME, {}), **({"role": role} if isinstance(role, str) else {})}
    return [Message("system", tuple(parts), extra=keep_extra(NAME, extra))]


def respell_paths(reader: Reader, data: Any) -> None:
    """Change the paths of changes and errors to the spelling the data uses."""
    reader.changes = [
        Change(change.code, as_spelled(change.path, data), change.reason)
        for change in reader.changes
    ]
    reader.faults = [(as_spelled(path, data), message) for path, message in reader.faults]


# --- writing ---------------------------------------------------------------------------------


def without_mid_system(model: Model) -> Model:
    """Return the model without support for system messages in the history, which this API lacks."""
    return msgspec.structs.replace(model, mid_system=False) if model.mid_system else model


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the request body."""
    model = without_mid_system(model)
    same_format = conversation.source == NAME
    cached = same_format and continues_cache(conversation)
    traits = msgspec.structs.replace(
        TRAITS,
        blank_text=same_format,
        result_media=model.function_response_parts,
        user_first=not cached,
        call_names=ANY_NAME if same_format else None,
    )
    conversation, changes = leave_signatures(conversation, model)
    if not model.system_role:
        conversation = without_system(conversation, model, changes)
    rules = CACHED_RULES if cached else GEMINI_RULES
    legal = legalise(conversation, traits, model, options, rules)
    target = legal.target
    changes.extend(legal.changes)
    writer = Writer(target, signs_from=first_to_sign(legal.messages, target))
    writer.write(legal.messages)
    reason = "no Gemini model signed this call; using the documented placeholder"
    draft = legal.placed() if writer.stood_in else []
    for at in writer.stood_in:
        changes.append(Change("invent.signature", path_in(draft, at), reason))
    body: Object = {}
    if writer.system:
        body["systemInstruction"] = writer.system
    tools = tools_wire(conversation, target, changes)
    if tools:
        body["tools"] = tools
    body["contents"] = writer.contents
    body.update(settings_wire(conversation, model, changes))
    if target.tool_names and "toolConfig" in body:
        body["toolConfig"] = respelled_choice(body["toolConfig"], target.tool_names)
    settle(body, model, changes)
    origins = legal.turn_origins(writer.places)
    return Rendered(body, tuple(changes), tool_names=target.sent_names, origins=origins)


def continues_cache(conversation: Conversation) -> bool:
    """Whether the contents continue a cached content, which excludes tools and system text."""
    settings = conversation.extra.get(NAME, {})
    if not settings.get("cachedContent") or settings.get("toolConfig") or conversation.tools:
        return False
    return all(message.role != "system" for message in conversation.messages)


def first_to_sign(messages: Sequence[Message], target: Target) -> int | None:
    """Return the first message whose calls must be signed; None if the model needs none.

    The API checks only the steps since the last user message. Histories from other formats are
    signed everywhere, because signing a step later would break the cached prefix.
    """
    if not target.model.thought_signatures:
        return None
    return last_question(messages) if target.same_format else 0


FORMAT = Format(
    name=NAME,
    title="Gemini generateContent requests, replies and streams",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
    default_model="gemini-3.8-flash",
    turns="contents",
)
