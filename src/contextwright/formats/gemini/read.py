"""Gemini's contents and parts, read into ours. All wire values here are in camelCase."""

from __future__ import annotations

from typing import Any

from contextwright.errors import UsageError, shown
from contextwright.formats.base import keep_extra
from contextwright.formats.media import is_web_address, standard_base64
from contextwright.formats.reader import Reader
from contextwright.messages.message import Message, Role
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
from contextwright.text.json import json_text
from contextwright.wire.gemini.types import DATA_FIELDS
from contextwright.wire.values import Object, is_object

__all__ = ["NAME", "SIGNATURE", "kind_of", "message_of"]

NAME = "gemini"
SIGNATURE = "thoughtSignature"
ROLES: dict[Any, Role] = {"user": "user", "model": "assistant"}
FOREIGN_ROLES: dict[Any, Role] = {
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "assistant": "assistant",
}
"""Roles that older SDKs and other tools write."""
FILES = "https://generativelanguage.googleapis.com/"
"""The prefix of uploaded files' URLs, which only Gemini can open."""
KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
ENDINGS: dict[str, MediaKind] = {
    **dict.fromkeys(("jpg", "jpeg", "png", "gif", "webp", "heic", "heif", "bmp"), "image"),
    **dict.fromkeys(("mp3", "wav", "ogg", "oga", "m4a", "aac", "flac"), "audio"),
    **dict.fromkeys(("mp4", "mov", "webm", "mpeg", "avi", "mkv"), "video"),
}


def message_of(content: Object, path: str, reader: Reader) -> Message:
    """Read one content. A content that holds only function responses gets the role `tool`."""
    given = content.get("role")
    role = ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        role = other_role(given, path, reader)
    parts: list[Part] = []
    for place, part in reader.objects(content, "parts", path):
        parts.extend(parts_of(part, place, reader))
    if role in ("user", "tool"):
        parts = [flagged_text(part) if type(part) is Thinking else part for part in parts]
        only_results = bool(parts) and all(type(part) is ToolResult for part in parts)
        role = "tool" if only_results else "user"
    rest = {key: value for key, value in content.items() if key not in ("role", "parts")}
    if given is None:
        rest["role"] = None  # remember that the role was missing, so that none is written back
    return Message(role, tuple(parts), extra=keep_extra(NAME, rest))


def other_role(given: Any, path: str, reader: Reader) -> Role:
    """Map a role that the API does not know."""
    if given is None or given == "":
        return "user"
    role = FOREIGN_ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        reader.fault(f"{path}.role", f"{shown(given)} is not one of: user, model")
        return "user"
    reader.repair("repair.role", f"{path}.role", f"{given} is not one of: user, model")
    return role


def parts_of(part: Object, path: str, reader: Reader) -> list[Part]:
    """Read one wire part: usually one part of ours, several if it breaks the rules."""
    fields = [key for key in DATA_FIELDS if part.get(key) is not None]
    if len(fields) == 1:
        return [part_of(part, fields[0], path, reader)]
    if not fields:
        if part:
            return [Opaque(NAME, part)]
        reader.repair("loss.blank", path, "an empty part")
        return []
    reader.repair("repair.part", path, f"{' and '.join(fields)} in one part are read as several")
    beside = {key: value for key, value in part.items() if key not in DATA_FIELDS}
    first, *others = fields
    return [
        part_of({first: part[first], **beside}, first, path, reader),
        *(part_of({key: part[key]}, key, path, reader) for key in others),
    ]


def part_of(part: Object, key: str, path: str, reader: Reader) -> Part:
    """Read a part from the one field of a wire part that holds its content."""
    beside = {name: value for name, value in part.items() if name != key} if len(part) > 1 else {}
    match key:
        case "text":
            text = reader.text(part, "text", path)
            if beside.get("thought") is not True:
                return Text(text, keep_extra(NAME, beside))
            return thinking_of(text, beside)
        case "functionCall" if is_object(part[key]):
            return call_of(part[key], beside, f"{path}.{key}", reader)
        case "functionResponse" if is_object(part[key]):
            return result_of(part[key], beside, f"{path}.{key}", reader)
        case "inlineData" | "fileData" if is_object(part[key]) and not beside.get("thought"):
            return media_of(key, part[key], beside) or Opaque(NAME, part)
        case _:
            return Opaque(NAME, part, words_of(part, key))


def flagged_text(thought: Thinking) -> Text:
    """Return a thought in a user's turn as text with the flag, because only models think."""
    own: Object = {"thought": True, **thought.extra.get(NAME, {})}
    if thought.signature is not None:
        own[SIGNATURE] = thought.signature
    return Text(thought.text, keep_extra(NAME, own))


def thinking_of(text: str, beside: Object) -> Thinking:
    """Read a thought, which the API marks with a flag."""
    signature = beside.get(SIGNATURE)
    rest = {key: value for key, value in beside.items() if key not in ("thought", SIGNATURE)}
    if not isinstance(signature, str):
        return Thinking(text, origin=NAME, extra=keep_extra(NAME, rest))
    return Thinking(text, signature, NAME, extra=keep_extra(NAME, rest))


def call_of(call: Object, beside: Object, path: str, reader: Reader) -> ToolCall:
    """Read a call with its signature."""
    rest = {key: value for key, value in call.items() if key not in ("name", "args", "id")}
    arguments: Any = call.get("args")
    if arguments is None:
        rest["args"] = None  # remember that the arguments were missing
    extra = keep_extra(NAME, {**beside, "functionCall": rest} if rest else beside)
    name = reader.text(call, "name", path)
    id = reader.optional_text(call, "id", path)
    if arguments is None:
        return ToolCall(name, {}, id, extra=extra)
    if is_object(arguments):
        try:
            return ToolCall(name, arguments, id, extra=extra)
        except UsageError as error:  # nested too deeply
            reader.repair("repair.arguments", f"{path}.args", f"{error.args[0]}; kept as text")
            arguments = json_text(arguments)
    else:
        reason = f"must be an object, not {shown(arguments)}"
        reader.repair("repair.arguments", f"{path}.args", reason)
    if isinstance(arguments, str):
        return ToolCall.from_json(name, arguments, id=id, extra=extra)
    return ToolCall(name, {"_raw": arguments}, id, extra=extra)


def result_of(function: Object, beside: Object, path: str, reader: Reader) -> ToolResult:
    """Read a result: a string under `output` or `error`, any other object as it is."""
    response = function.get("response")
    if not is_object(response):
        reader.repair(
            "repair.response", f"{path}.response", f"must be an object: {shown(response)}"
        )
        response = {} if response is None else {"output": response}
    content, is_error = answer_of(response)
    pieces = [piece_of(piece) for _, piece in reader.objects(function, "parts", path)]
    if pieces:
        content = (*words_before(content), *pieces)
    said = ("name", "response", "id", "parts")
    rest = {key: value for key, value in function.items() if key not in said}
    return ToolResult(
        reader.optional_text(function, "id", path),
        content,
        reader.text(function, "name", path) or None,
        is_error,
        keep_extra(NAME, {**beside, "functionResponse": rest} if rest else beside),
    )


def answer_of(response: Object) -> tuple[str | Object, bool]:
    """Return a string if the response is one text under a known key, and whether it is an error."""
    if len(response) == 1:
        for key in ("output", "error"):
            if isinstance(response.get(key), str):
                return response[key], key == "error"
    return response, False


def words_before(content: str | Object) -> tuple[Text | Opaque, ...]:
    """Return the part that precedes the media of a result; an object is kept as a block."""
    if isinstance(content, str):
        return (Text(content),)
    if not content:
        return ()
    try:
        words = json_text(content)
    except RecursionError:
        words = None
    return (Opaque(NAME, {"functionResponse": {"response": content}}, words),)


def piece_of(piece: Object) -> Media | Opaque:
    """Read media inside a function response."""
    for key in ("inlineData", "fileData"):
        if is_object(piece.get(key)):
            beside = {name: value for name, value in piece.items() if name != key}
            return media_of(key, piece[key], beside) or Opaque(NAME, piece)
    return Opaque(NAME, piece)


def media_of(key: str, fields: Object, beside: Object) -> Media | None:
    """Read media from inline data or a URI, or from neither; return None if it has other fields."""
    mime, name = fields.get("mimeType"), fields.get("displayName")
    mime = mime if isinstance(mime, str) else None
    extra = keep_extra(NAME, beside)
    if isinstance(name, str):
        known = {"mimeType", "data", "fileUri", "displayName"}
    else:
        name, known = None, {"mimeType", "data", "fileUri"}
    if fields.keys() - known:
        return None
    if key == "inlineData":
        data = fields.get("data")
        held = standard_base64(data) if isinstance(data, str) else None
        return Media(kind_of(mime, ""), mime, held, name=name, extra=extra)
    uri = fields.get("fileUri")
    if not isinstance(uri, str) or not uri:
        return Media(kind_of(mime, ""), mime, name=name, extra=extra)
    kind = kind_of(mime, uri)
    if is_web_address(uri) and not uri.startswith(FILES):
        return Media(kind, mime, url=uri, name=name, extra=extra)
    return Media(kind, mime, file_id=uri, origin=NAME, name=name, extra=extra)


def kind_of(mime: str | None, uri: str) -> MediaKind:
    """Return the kind of media from its MIME type, else from the end of its URI."""
    if mime is not None:
        return KINDS.get(mime.partition("/")[0], "document")
    if "youtube.com/" in uri or "youtu.be/" in uri:
        return "video"
    return ENDINGS.get(uri.rpartition(".")[2].lower(), "document")


def words_of(part: Object, key: str) -> str | None:
    """Return the readable text of a block that only Gemini knows."""
    fields = part[key]
    if not is_object(fields):
        return None
    words = fields.get("code") if key == "executableCode" else fields.get("output")
    return words if isinstance(words, str) and words else None
