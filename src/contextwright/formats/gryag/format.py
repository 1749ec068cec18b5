"""gryag: a Telegram bot's history for Gemini, `{role, parts}` in snake_case.

A current history has no metadata: speakers and replies are in the system instruction. Two older
forms are read too: JSON with `[meta]` parts, and plain text. Parts are Gemini's own, so conversion
between the two loses nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec

from contextwright.errors import ParseError
from contextwright.formats.base import Format, Options, Rendered
from contextwright.formats.file_formats import unsaid
from contextwright.formats.gemini.format import (
    TRAITS,
    as_called,
    has_source,
    parse_reply,
    parse_stream,
    read_spelling,
    respell_paths,
    system_of,
    without_mid_system,
)
from contextwright.formats.gemini.read import NAME as PARTS
from contextwright.formats.gemini.read import message_of
from contextwright.formats.gemini.rules import GEMINI_RULES
from contextwright.formats.gemini.tools import tools_of, tools_wire
from contextwright.formats.gemini.write import Writer
from contextwright.formats.gryag.check import Payload, check
from contextwright.formats.gryag.compact import read_compact
from contextwright.formats.gryag.meta import (
    Sender,
    format_metadata,
    metadata_of,
    read_metadata,
    sender_of,
)
from contextwright.formats.legalise import legalise
from contextwright.formats.openai_chat.rules import without_system
from contextwright.formats.reader import Reader, misshapen
from contextwright.formats.rules import (
    Draft,
    Rule,
    Ruled,
    end_with_user,
    messages_of,
    name_speakers,
    path_to,
    start_with_user,
)
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, replaced
from contextwright.messages.message import Message
from contextwright.messages.parts import Extra, Part, Text
from contextwright.models import Model
from contextwright.wire.gemini.types import Content
from contextwright.wire.gemini.types import Part as PartShape
from contextwright.wire.spelling import snake_case
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["FORMAT"]

NAME = "gryag"
GRYAG_TRAITS = msgspec.structs.replace(
    TRAITS,
    title=NAME,
    merges=False,
    user_first=False,
    needs_user=False,
    blank_text=True,
    supports_media=has_source,
)
USER_PARTS, SHAPE = "user_parts", "shape"
KNOWN = ("history", "systemInstruction", "userParts", "tools")
NOW = "now"
"""Mark of the new user message while it is read."""


# --- reading ---------------------------------------------------------------------------------


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse a history, a payload with one, a single message, or compact text."""
    reader = Reader(NAME, strict=strict)
    if isinstance(data, str):
        messages = read_compact(data, reader)
        return Conversation(tuple(messages), source=NAME, changes=reader.finish())
    payload, shape = framed(data)
    body = read_spelling(payload, Payload, reader)
    instruction = text_content(body.get("systemInstruction"))
    messages = system_of(instruction, "systemInstruction", reader)
    for path, entry in reader.objects(body, "history"):
        messages.extend(entry_of(entry, path, reader))
    if body.get("userParts") is not None:
        current = {"role": "user", "parts": body["userParts"]}
        messages.extend(map(marked, entry_of(current, NOW, reader)))
    messages = as_called(messages, reader)
    tools = tools_of(body, reader)
    for key in [key for key in body if key not in KNOWN]:
        reader.repair("loss.extra", key, f"a payload has only {', '.join(KNOWN)}")
    reader.changes = [
        Change(change.code, placed(change.path, shape), change.reason) for change in reader.changes
    ]
    reader.faults = [(placed(path, shape), message) for path, message in reader.faults]
    respell_paths(reader, data)
    return Conversation(
        tuple(messages),
        tuple(tools),
        source=NAME,
        extra=remembered(shape),
        changes=reader.finish(),
    )


def framed(data: Any) -> tuple[Object, str]:
    """Wrap the data into an object with a history; return it and the original shape."""
    if is_list(data):
        return {"history": data}, "list"
    if not is_object(data):
        raise misshapen(NAME, "a list of messages or an object", data)
    if "parts" in data and "history" not in data:
        return {"history": [data]}, "entry"
    if "history" not in data and "contents" in data:
        data = {"history" if key == "contents" else key: value for key, value in data.items()}
    if not is_list(data.get("history")):
        raise ParseError("must be a list of messages", path="history")
    more = ("system_instruction", "systemInstruction", "user_parts", "userParts")
    return data, "payload" if any(data.get(key) for key in more) else "object"


def remembered(shape: str) -> Extra:
    """Return the original shape of the data, for writing it back.

    A single entry leaves an empty mark, because it holds nothing that another format could lose.
    """
    if shape == "object":
        return {NAME: {SHAPE: shape}}
    return {NAME: {}} if shape == "entry" else {}


def placed(path: str, shape: str) -> str:
    """Return a path in the original data, before `framed` wrapped it."""
    if path.startswith(f"{NOW}.parts"):
        return "userParts" + path.removeprefix(f"{NOW}.parts")
    if shape == "list":
        return path.removeprefix("history")
    return path.removeprefix("history[0].") if shape == "entry" else path


def text_content(value: Any) -> Any:
    """Wrap a system instruction that is a string into a content."""
    return {"parts": [{"text": value}]} if isinstance(value, str) else value


def entry_of(entry: Object, path: str, reader: Reader) -> list[Message]:
    """Read one entry; return no message if it holds only metadata."""
    given = entry.get("role")
    for key in [key for key in entry if key not in ("role", "parts")]:
        reader.repair("loss.extra", f"{path}.{key}", "an entry has only role and parts")
    said = {**entry, "role": "user"} if given in ("tool", "function") else entry
    said = {key: said[key] for key in ("role", "parts") if key in said}
    if given == "function":
        reader.repair("repair.role", f"{path}.role", "function is an older name of tool")
    if given is None:
        reader.repair("repair.role", f"{path}.role", "there is no role; read as user")
        said["role"] = "user"
    if is_list(said.get("parts")):
        said["parts"] = [
            known_fields(part, f"{path}.parts[{index}]", reader)
            for index, part in enumerate(said["parts"])
        ]
    message = message_of(said, path, reader)
    if not message.parts:
        reader.repair("loss.blank", f"{path}.parts", "there are none; the message is left out")
        return []
    parts, sender = without_metadata(message, path, reader)
    if not parts:
        reader.changes.append(Change("loss.blank", path, "the message is empty without it"))
        return []
    return [
        Message(
            message.role,
            tuple(parts),
            sender.author,
            sender.reply_to,
            meta=sender.meta,
            extra=message.extra,
        )
    ]


FIELDS = frozenset(field.encode_name for field in msgspec.structs.fields(PartShape))


def known_fields(part: Any, path: str, reader: Reader) -> Any:
    """Remove the bot's own notes from a part, such as `mime` and `kind`, which Gemini refuses."""
    if not is_object(part) or part.keys() <= FIELDS:
        return part
    strange = ", ".join(sorted(str(key) for key in part.keys() - FIELDS))
    reader.repair("loss.extra", path, f"a part has no {strange}")
    return {key: value for key, value in part.items() if key in FIELDS}


def without_metadata(message: Message, path: str, reader: Reader) -> tuple[list[Part], Sender]:
    """Return the parts without `[meta]` and `[speaker …]`, and the sender these name."""
    parts: list[Part] = []
    values: dict[str, str | int] = {}
    for index, part in enumerate(message.parts):
        found = read_metadata(part.text) if type(part) is Text else None
        if found is None:
            parts.append(part)
            continue
        place = f"{path}.parts[{index}]"
        if message.role == "user" and not parts:
            values.update(found[0])
            reason = "metadata became fields of the message"
            reader.changes.append(Change("repair.meta", place, reason))
        else:
            reason = "metadata is not part of the conversation"
            reader.changes.append(Change("loss.meta", place, reason))
        if found[1]:
            parts.append(msgspec.structs.replace(part, text=found[1]))
    return parts, sender_of(values)


def marked(message: Message) -> Message:
    """Mark the message as the new user message, apart from the history."""
    return msgspec.structs.replace(message, extra={**message.extra, NAME: {USER_PARTS: True}})


# --- writing ---------------------------------------------------------------------------------


def quote_metadata(draft: Draft, target: Target) -> Ruled:
    """Quote text that would be read as metadata."""
    changes: list[Change] = []
    spelled: Draft = []
    for place, message in draft:
        for index, part in enumerate(message.parts):
            if type(part) is Text and message.role != "system" and read_metadata(part.text):
                words = msgspec.structs.replace(part, text=f"> {part.text}")
                parts = (*message.parts[:index], words, *message.parts[index + 1 :])
                message = message.with_parts(parts)
                path = path_to(place, index)
                reason = "text that looks like metadata is quoted"
                changes.append(Change("repair.meta", path, reason))
        spelled.append((place, message))
    return spelled, changes


RULES: tuple[Rule, ...] = tuple(
    rule for rule in GEMINI_RULES if rule not in (start_with_user, end_with_user)
)
"""A history is not a request: it may begin and end with any role, and needs no signatures."""
UNNAMED = tuple(rule for rule in RULES if rule is not name_speakers)


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render a history, or a payload if there is more than a history can hold."""
    model = without_mid_system(model)
    own = conversation.source == NAME
    current = own and any(NAME in message.extra for message in conversation.messages[-1:])
    if options.speaker_prefix is None:
        options = msgspec.structs.replace(options, speaker_prefix=False)
    rules = UNNAMED if options.legacy_meta else RULES
    prepared = replaced(
        conversation,
        messages=tuple(map(unmarked, conversation.messages)),
        source=PARTS if own else conversation.source,
    )
    noted: list[Change] = []
    if not model.system_role:
        prepared = without_system(prepared, model, noted)
    legal = legalise(prepared, GRYAG_TRAITS, model, options, rules)
    target = legal.target
    draft, quoted = quote_metadata(legal.placed(), target)
    messages = messages_of(draft)
    changes = [*noted, *legal.changes, *quoted]
    if options.legacy_meta:
        messages = [with_metadata(message) for message in messages]
        changes = [change for change in changes if change.path != "messages[].reply_to"]
    writer = Writer(target)
    writer.write(messages)
    history = [entry_wire(content, own=own) for content in writer.contents]
    payload: Object = {}
    if writer.system:
        texts = [part["text"] for part in writer.system["parts"]]
        payload["system_instruction"] = "\n\n".join(texts)
    payload["history"] = history
    said_now = options.user_parts and (not history or history[-1]["role"] == "user")
    if said_now or (current and history):
        payload[USER_PARTS] = history.pop()["parts"] if history else []
    if own:
        tools = tools_wire(conversation, target, changes)
        if tools:
            payload["tools"] = snake_case({"tools": tools}, Payload)["tools"]
        conversation = replaced(conversation, tools=())
    changes.extend(unsaid(conversation, NAME, ()))
    origins = legal.turn_origins(writer.places)[: len(history)]
    return Rendered(shaped(payload, conversation), tuple(changes), origins=origins)


def shaped(payload: Object, conversation: Conversation) -> Any:
    """Return the payload in its original shape, as a bare history if that holds everything."""
    history = payload["history"]
    extra = conversation.extra.get(NAME)
    if len(payload) > 1 or (extra and SHAPE in extra):
        return payload
    return history[0] if extra == {} and len(history) == 1 else history


def unmarked(message: Message) -> Message:
    """Return the message without our mark."""
    if NAME not in message.extra:
        return message
    rest = {name: fields for name, fields in message.extra.items() if name != NAME}
    return msgspec.structs.replace(message, extra=rest)


def with_metadata(message: Message) -> Message:
    """Put a user message's metadata before its text, as the bot used to store it."""
    block = format_metadata(metadata_of(message)) if message.role == "user" else ""
    return message.with_parts((Text(block), *message.parts)) if block else message


def entry_wire(content: Object, *, own: bool) -> Object:
    """Write an entry of the history; function responses have the role `tool`.

    Calls have no ids unless the history came with them, because results follow in call order.
    """
    parts = content["parts"]
    role = content.get("role", "user")
    if all("text" in part and len(part) == 1 for part in parts):
        return {"role": role, "parts": parts}
    if all("functionResponse" in part for part in parts):
        role = "tool"
    wire = snake_case({"parts": parts}, Content)["parts"]
    return {"role": role, "parts": wire if own else [without_id(part) for part in wire]}


def without_id(part: Object) -> Object:
    """Return a part without the id of its call."""
    return {
        name: {key: item for key, item in value.items() if key != "id"} if name in CALLS else value
        for name, value in part.items()
    }


CALLS = ("function_call", "function_response")

FORMAT = Format(
    name=NAME,
    title="gryag's Gemini histories, with its two older forms read",
    parse=parse,
    render=render,
    check=check,
    parse_reply=parse_reply,
    parse_stream=parse_stream,
)
