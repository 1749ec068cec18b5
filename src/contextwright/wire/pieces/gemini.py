"""The pieces of a Gemini generateContent body, in both its spellings."""

from __future__ import annotations

from typing import Any, Literal

from contextwright.wire.pieces.piece import (
    Fields,
    Found,
    Piece,
    definition,
    fields,
    items,
    json_of,
    media,
    text_of,
)

__all__ = ["gemini", "gemini_message"]


def either(value: Fields, camel: str, snake: str) -> Any:
    """A Gemini field in either of its two spellings."""
    found = value.get(camel)
    return value.get(snake) if found is None else found


def gemini(payload: Any) -> Found:
    """The pieces of a generateContent body."""
    body = fields(payload)
    yield Piece("request", "request")
    if told := either(body, "systemInstruction", "system_instruction"):
        yield Piece("system", "system")
        yield from gemini_parts(told, "system")
    contents = items(body.get("contents")) or items(body.get("history")) or items(payload)
    for index, content in enumerate(contents):
        yield from gemini_message(content, f"contents[{index}]")
    if now := items(either(body, "userParts", "user_parts")):
        yield from gemini_message({"role": "user", "parts": now}, f"contents[{len(contents)}]")
    for group in map(fields, items(body.get("tools"))):
        declared = items(either(group, "functionDeclarations", "function_declarations"))
        if declared:
            yield Piece("tools", "tools", [definition(fields(one)) for one in declared])
        for name in group:
            if name not in ("functionDeclarations", "function_declarations"):
                yield Piece("hosted", "tools", text_of(name))
    settings = fields(either(body, "generationConfig", "generation_config"))
    if schema := either(settings, "responseSchema", "response_schema"):
        # `responseJsonSchema` steers the answer without being shown to the model.
        yield Piece("schema", "generationConfig", text_of(schema))
    if cached := either(body, "cachedContent", "cached_content"):
        yield Piece("unseen", "cachedContent", text_of(cached))


def gemini_message(content: Any, place: str) -> Found:
    """The pieces of one content."""
    yield Piece("message", place, text_of(fields(content).get("role")))
    yield from gemini_parts(content, place)


def gemini_parts(content: Any, place: str) -> Found:
    """The parts of a content; bare text counts as one part."""
    if isinstance(content, str):
        yield Piece("text", place, content)
        return
    for part in items(fields(content).get("parts")):
        yield from gemini_part(fields(part), place)


def gemini_part(part: Fields, place: str) -> Found:
    """One part, and the signature beside it."""
    if signature := either(part, "thoughtSignature", "thought_signature"):
        yield Piece("sealed", place, text_of(signature))
    if part.get("text") is not None:
        yield Piece("text", place, text_of(part["text"]))
    elif call := fields(either(part, "functionCall", "function_call")):
        yield Piece("call", place, text_of(call.get("name")))
        yield Piece("arguments", place, text_of(call.get("args")))
    elif answer := fields(either(part, "functionResponse", "function_response")):
        yield Piece("result", place, text_of(answer.get("name")))
        yield Piece("text", place, text_of(answer.get("response")))
        for inner in items(answer.get("parts")):
            yield from gemini_part(fields(inner), place)
    elif blob := fields(either(part, "inlineData", "inline_data")):
        mime = text_of(either(blob, "mimeType", "mime_type"))
        yield media(media_kind(mime), place, blob.get("data"), mime=mime)
    elif file := fields(either(part, "fileData", "file_data")):
        yield from gemini_file(file, place)
    elif part.keys() - {"thoughtSignature", "thought_signature", "thought"}:
        yield Piece("opaque", place, json_of(part))


def gemini_file(file: Fields, place: str) -> Found:
    """A file by its address; an image still has a price, anything else has none we could see."""
    mime = text_of(either(file, "mimeType", "mime_type"))
    address = either(file, "fileUri", "file_uri")
    if mime.startswith("image/"):
        yield media("image", place, None, mime=mime)
    else:
        yield Piece("unseen", place, text_of(address))


def media_kind(mime: str) -> Literal["image", "audio", "video", "document"]:
    """What a MIME type holds."""
    match mime.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case _:
            return "document"
