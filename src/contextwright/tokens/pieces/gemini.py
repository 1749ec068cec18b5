"""The pieces of a Gemini generateContent body, in both its spellings."""

from __future__ import annotations

from typing import Any, Literal

from contextwright.tokens.pieces.piece import (
    Fields,
    Found,
    Outline,
    Piece,
    definition,
    fields,
    items,
    json_of,
    media,
    text_of,
    turns,
    unread,
)

__all__ = ["gemini", "gemini_message"]


def either(value: Fields, camel: str, snake: str) -> Any:
    """Return a Gemini field in either of its two spellings."""
    found = value.get(camel)
    return value.get(snake) if found is None else found


def listed(value: Any) -> list[Any]:
    """Return the items of a list; an object alone stands for a list of one."""
    return [value] if isinstance(value, dict) else items(value)


def both(*names: str) -> frozenset[str]:
    """Return names in camelCase and in snake_case."""
    snake = ("".join(f"_{c.lower()}" if c.isupper() else c for c in name) for name in names)
    return frozenset((*names, *snake))


BODY = both(
    "contents",
    "history",
    "userParts",
    "model",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "cachedContent",
    "safetySettings",
    "labels",
)
SETTINGS = both(
    "audioTimestamp",
    "candidateCount",
    "enableEnhancedCivicAnswers",
    "frequencyPenalty",
    "logprobs",
    "maxOutputTokens",
    "presencePenalty",
    "responseJsonSchema",
    "responseLogprobs",
    "responseMimeType",
    "responseModalities",
    "responseSchema",
    "seed",
    "speechConfig",
    "stopSequences",
    "temperature",
    "thinkingConfig",
    "topK",
    "topP",
)


def gemini(payload: Any) -> Outline:
    """Yield the pieces and contents of a generateContent body."""
    body = fields(payload)
    yield Piece("request", "request")
    yield from unread(body, BODY, "request")
    if system := either(body, "systemInstruction", "system_instruction"):
        yield Piece("system", "system")
        yield from gemini_parts(system, "system")
    contents = listed(body.get("contents")) or items(body.get("history")) or items(payload)
    if now := items(either(body, "userParts", "user_parts")):
        contents = [*contents, {"role": "user", "parts": now}]
    question = newest_question(contents)
    yield from turns("contents", contents, gemini_message, past_message, question)
    yield from gemini_tools(body.get("tools"))
    settings = fields(either(body, "generationConfig", "generation_config"))
    yield from unread(settings, SETTINGS, "generationConfig")
    if schema := either(settings, "responseSchema", "response_schema"):
        yield Piece("schema", "generationConfig", text_of(schema))
    if cached := either(body, "cachedContent", "cached_content"):
        yield Piece("unseen", "cachedContent", text_of(cached))


def gemini_tools(tools: Any) -> Found:
    """Yield the tools of a body, which are in groups."""
    for group in map(fields, listed(tools)):
        declared = listed(either(group, "functionDeclarations", "function_declarations"))
        if declared:
            yield Piece("tools", "tools", [definition(fields(one)) for one in declared])
        for name in group:
            if name not in ("functionDeclarations", "function_declarations"):
                yield Piece("hosted", "tools", text_of(name))


def newest_question(contents: list[Any]) -> int:
    """Return the index of the newest content that a user wrote; Gemini 3 drops older signatures."""
    for index in range(len(contents) - 1, -1, -1):
        content = fields(contents[index])
        if content.get("role") != "model" and any(map(is_written, listed(content.get("parts")))):
            return index
    return 0


def is_written(part: Any) -> bool:
    """Whether a part is something other than a tool result."""
    return not fields(either(fields(part), "functionResponse", "function_response"))


def gemini_message(content: Any, place: str, *, past: bool = False) -> Found:
    """Yield the pieces of one content; `past` means before the newest question."""
    yield Piece("message", place, text_of(fields(content).get("role")))
    yield from gemini_parts(content, place, past=past)


def past_message(content: Any, place: str) -> Found:
    """Yield the pieces of a content before the newest question."""
    return gemini_message(content, place, past=True)


def gemini_parts(content: Any, place: str, *, past: bool = False) -> Found:
    """Yield the parts of a content; a bare text is one part."""
    if isinstance(content, str):
        yield Piece("text", place, content)
        return
    for part in listed(fields(content).get("parts")):
        yield from gemini_part(fields(part), place, past=past)


PART = both(
    "text",
    "thought",
    "thoughtSignature",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
)


def gemini_part(part: Fields, place: str, *, past: bool = False) -> Found:
    """Yield one part and its signature."""
    if len(part) == 1 and type(part.get("text")) is str:
        yield Piece("text", place, part["text"])
        return
    if signature := either(part, "thoughtSignature", "thought_signature"):
        yield Piece("past_sealed" if past else "sealed", place, text_of(signature))
    if part.get("text") is not None:
        yield Piece("thinking" if part.get("thought") else "text", place, text_of(part["text"]))
    elif call := fields(either(part, "functionCall", "function_call")):
        yield Piece("call", place, text_of(call.get("name")))
        yield Piece("arguments", place, json_of(call.get("args") or {}))
    elif answer := fields(either(part, "functionResponse", "function_response")):
        yield Piece("result", place, text_of(answer.get("name")))
        yield Piece("response", place, json_of(answer.get("response") or {}))
        for inner in listed(answer.get("parts")):
            yield from gemini_part(fields(inner), place)
    elif blob := fields(either(part, "inlineData", "inline_data")):
        mime = text_of(either(blob, "mimeType", "mime_type"))
        yield media(media_kind(mime), place, blob.get("data"), mime=mime)
    elif file := fields(either(part, "fileData", "file_data")):
        yield from gemini_file(file, place)
    elif part.keys() - {"thoughtSignature", "thought_signature", "thought"}:
        yield Piece("opaque", place, json_of(part))
        return
    yield from unread(part, PART, place)


def gemini_file(file: Fields, place: str) -> Found:
    """Yield a file given by its address: images have a known price, other files do not."""
    mime = text_of(either(file, "mimeType", "mime_type"))
    address = either(file, "fileUri", "file_uri")
    if mime.startswith("image/"):
        yield media("image", place, None, mime=mime)
    else:
        yield Piece("unseen", place, text_of(address))


def media_kind(mime: str) -> Literal["image", "audio", "video", "document"]:
    """Return what a MIME type contains."""
    match mime.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case _:
            return "document"
