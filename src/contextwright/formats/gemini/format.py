"""Gemini: `POST …/models/{model}:generateContent`, its replies and its streams.

Both spellings of every field are read, camelCase is written. The model's name is no part of the
body: it stands in the address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from contextwright.changes import Change
from contextwright.errors import ParseError, shown
from contextwright.formats.base import (
    Conversation,
    Format,
    Options,
    Rendered,
    keep_extra,
)
from contextwright.formats.gemini.fitting import GEMINI_RULES, last_question, leave_signatures
from contextwright.formats.gemini.parts import NAME, kind_of, message_of
from contextwright.formats.gemini.settings import settings_of, settings_wire, settle
from contextwright.formats.gemini.stream import accumulate
from contextwright.formats.gemini.tools import tools_of, tools_wire
from contextwright.formats.gemini.writing import Writer, is_response, wire_of
from contextwright.formats.media import is_web_address
from contextwright.formats.openai_chat.fitting import without_system
from contextwright.formats.reading import Reader, stream_reader
from contextwright.formats.survey import made_legal
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
)
from contextwright.models import Model
from contextwright.wire.gemini import types as wire
from contextwright.wire.gemini.rules import check
from contextwright.wire.shapes import shape_problems
from contextwright.wire.spelling import as_spelled, camel_case
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["FORMAT", "TRAITS", "read_spelling", "respell_paths", "system_of"]


def carries_media(media: Media, model: Model) -> bool:
    """Bytes of any type that is said; addresses on the web or at Google; its own handles."""
    if media.data is not None:
        return media.mime is not None and kind_of(media.mime, "") == media.kind
    if media.url is not None:
        return is_web_address(media.url) or media.url.startswith("gs://")
    return media.file_id is not None and media.origin == NAME


def carries_thinking(thinking: Thinking, model: Model) -> bool:
    """Its own thoughts, signed or not."""
    return thinking.origin == NAME and not thinking.redacted


def takes_extra(holder: Part | Message, role: Role, model: Model) -> bool:
    """Whether the fields left over from parsing are ones the API knows."""
    if isinstance(holder, Message):
        held = holder.extra.get(NAME, {})
        return held.keys() <= {"role"} and (role == "system" or held.get("role") is None)
    part = wire_of(holder)
    if isinstance(holder, Opaque) and is_response(part):
        return role in ("user", "tool")
    held = [key for key in wire.DATA_FIELDS if part.get(key) is not None]
    return len(held) == 1 and not shape_problems(part, wire.Part)


TRAITS = Traits(
    format=NAME,
    ids=None,
    tool_names=Spelling("a-zA-Z0-9_.:-", first="a-zA-Z_", longest=128),
    system="top",
    error_flag=True,
    merges=True,
    user_first=True,
    needs_user=True,
    blank_text=False,
    assistant_media=True,
    carries_media=carries_media,
    carries_thinking=carries_thinking,
    takes_extra=takes_extra,
)
"""Empty text is accepted by one of Google's two hosts, so that none is sent unless it came so."""


# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """A conversation from a request body, or from a bare list of contents.

    What the SDK calls `config` is read as the body that the SDK makes of it.
    """
    reader = Reader(NAME, strict=strict)
    body = read_spelling(unpacked(data, reader), wire.Request, reader)
    body = {**body, "contents": read_contents(body.get("contents"), "contents", reader)}
    messages = [*system_of(body.get("systemInstruction"), "systemInstruction", reader)]
    for path, content in reader.objects(body, "contents"):
        messages.append(message_of(content, path, reader))
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


CONFIGURED = frozenset(
    (
        "systemInstruction tools toolConfig safetySettings cachedContent labels serviceTier store "
        "continuationToken modelArmorConfig"
    ).split()
)
"""Fields of the SDK's `config` that stand at the top of the body; the rest is generationConfig."""
SDK_ONLY = frozenset(("httpOptions", "automaticFunctionCalling", "shouldReturnHttpResponse"))


def unpacked(data: Any, reader: Reader) -> Object:
    """The body as the API knows it, from a body, a list of contents, or the SDK's arguments."""
    if is_list(data):
        return {"contents": data}
    if not is_object(data):
        raise ParseError(f"{NAME} wants an object or a list of contents, not {shown(data)}")
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
            reader.repair("loss.setting", f"config.{key}", "only the SDK knows it")
        else:
            generation[name] = value
    return {**body, "generationConfig": generation} if generation else body


def read_spelling(data: Object, shape: type[Any], reader: Reader) -> Object:
    """The data in camelCase; a field that is spelled both ways is a fault."""
    try:
        msgspec.convert(data, shape)
    except (msgspec.ValidationError, RecursionError, UnicodeEncodeError):
        body, problems = camel_case(data, shape)
        for problem in problems:
            reader.fault(problem.path, problem.message)
        return body
    return data


def read_contents(value: Any, path: str, reader: Reader) -> list[Any]:
    """The list of contents; the SDK also takes one alone, and bare words."""
    if isinstance(value, str) or is_object(value):
        reader.repair("repair.contents", path, "must be a list of contents")
        value = [value]
    if not is_list(value):
        raise ParseError(f"must be a list of contents, not {shown(value)}", path=path)
    found: list[Any] = []
    for index, item in enumerate(value):
        if isinstance(item, str):
            reader.repair("repair.contents", f"{path}[{index}]", "words alone are read as a user's")
            item = {"role": "user", "parts": [{"text": item}]}
        found.append(item)
    return found


def system_of(value: Any, path: str, reader: Reader) -> list[Message]:
    """The leading system message, from a content of texts or, as the SDK takes it, bare words."""
    if value is None:
        return []
    if isinstance(value, str):
        reader.repair("repair.system", path, "a content with parts, not a string")
        return [Message("system", (Text(value),))]
    if not is_object(value):
        reader.fault(path, f"must be a content, not {shown(value)}")
        return []
    message = message_of({**value, "role": "user"}, path, reader)
    parts = [part for part in message.parts if isinstance(part, Text | Media)]
    if len(parts) < len(message.parts):
        reader.repair("loss.part", f"{path}.parts", "only texts stand in a system instruction")
    role = value.get("role")
    extra = {**message.extra.get(NAME, {}), **({"role": role} if isinstance(role, str) else {})}
    return [Message("system", tuple(parts), extra=keep_extra(NAME, extra))]


def respell_paths(reader: Reader, data: Any) -> None:
    """Say the places of changes and faults in the spelling of the data itself."""
    reader.changes = [
        Change(change.code, as_spelled(change.path, data), change.reason)
        for change in reader.changes
    ]
    reader.faults = [(as_spelled(path, data), message) for path, message in reader.faults]


def parse_reply(reply: Any) -> Conversation:
    """The model's message of a reply: the first candidate."""
    reader = Reader(NAME, strict=False)
    body = read_spelling(reader.reply(reply), wire.Reply, reader)
    model = reader.optional_text(body, "modelVersion")
    candidates = list(reader.objects(body, "candidates"))
    said = ("promptFeedback", "responseId", "usageMetadata")
    rest = {key: body[key] for key in said if key in body}
    messages: list[Message] = []
    if candidates:
        path, candidate = candidates[0]
        content = candidate.get("content")
        content = {**content, "role": "model"} if is_object(content) else {"role": "model"}
        messages.append(message_of(content, f"{path}.content", reader))
        if "finishReason" in candidate:
            rest["finishReason"] = candidate["finishReason"]
    if len(candidates) > 1:
        reason = f"{len(candidates) - 1} more candidates"
        reader.changes.append(Change("loss.candidate", "candidates[1]", reason))
    return reader.conversation(messages, rest, model=model)


parse_stream = stream_reader(accumulate, parse_reply)


# --- writing ---------------------------------------------------------------------------------


def without_mid_system(model: Model) -> Model:
    """The model's facts as they are behind this API, which has no system role for anyone."""
    return msgspec.structs.replace(model, mid_system=False) if model.mid_system else model


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """The request body."""
    model = without_mid_system(model)
    faithful = conversation.source == NAME
    traits = msgspec.structs.replace(
        TRAITS, blank_text=faithful, result_media=model.function_response_parts
    )
    conversation, changes = leave_signatures(conversation, model)
    if not model.system_role:
        conversation = without_system(conversation, model, changes)
    messages, target, made, places = made_legal(conversation, traits, model, options, GEMINI_RULES)
    changes.extend(made)
    writer = Writer(target, signs_from=first_to_sign(messages, target))
    writer.write(messages)
    reason = "no Gemini model signed this call; the documented stand-in"
    for index, part in writer.stood_in:
        path = f"messages[{places[index]}].parts[{part}]"
        changes.append(Change("invent.signature", path, reason))
    body: Object = {}
    if writer.system:
        body["systemInstruction"] = writer.system
    tools = tools_wire(conversation, target, changes)
    if tools:
        body["tools"] = tools
    body["contents"] = writer.contents
    body.update(settings_wire(conversation, model, changes))
    settle(body, changes)
    return Rendered(body, tuple(changes))


def first_to_sign(messages: Sequence[Message], target: Target) -> int | None:
    """The first message whose calls must be signed; None where the model asks for none.

    The API looks only at the steps since the user last spoke. Histories from elsewhere are signed
    everywhere, so that a step does not change, and break the cached prefix, once it is past.
    """
    if not target.model.thought_signatures:
        return None
    return last_question(messages) if target.faithful else 0


FORMAT = Format(
    name=NAME,
    title="Gemini generateContent requests, replies and streams",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
)
