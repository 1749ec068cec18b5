"""The pieces of OpenAI's two bodies: Chat Completions and Responses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

from contextwright.wire.pieces.piece import (
    Fields,
    Found,
    Piece,
    compact,
    definition,
    fields,
    items,
    json_of,
    media,
    text_of,
)

__all__ = ["chat", "chat_message", "responses", "responses_item"]


def chat(payload: Any) -> Found:
    """The pieces of a Chat Completions body."""
    body = fields(payload)
    messages = items(body.get("messages")) or items(payload)
    yield Piece("request", "request")
    for index, message in enumerate(messages):
        yield from chat_message(message, f"messages[{index}]")
    tools = [fields(tool) for tool in items(body.get("tools")) or items(body.get("functions"))]
    yield from openai_tools(tools, body.get("tool_choice"))
    if body.get("web_search_options"):
        yield Piece("unseen", "web_search_options")
    if tools and any(fields(message).get("role") == "system" for message in messages):
        yield Piece("tools_beside_system", "tools")
    form = fields(body.get("response_format"))
    if form.get("type") == "json_schema":
        schema = fields(form.get("json_schema"))
        yield Piece("schema", "response_format", json_of(schema.get("schema")))


def chat_message(message: Any, place: str) -> Found:
    """The pieces of one chat message."""
    said = fields(message)
    role = text_of(said.get("role"))
    yield Piece("message", place, role)
    if role in ("tool", "function"):
        yield Piece("result", place)
    elif said.get("name"):
        yield Piece("name", place, text_of(said["name"]))
    content = said.get("content")
    if content and role == "assistant":
        yield Piece("answer", place)
    if type(content) is str:
        yield Piece("text", place, content)
    elif content is not None:
        yield from openai_content(content, place, chat_part)
    if isinstance(refusal := said.get("refusal"), str):
        yield Piece("text", place, refusal)
    if "tool_calls" not in said and "function_call" not in said:
        return
    calls = [*items(said.get("tool_calls"))]
    if said.get("function_call"):
        calls.append({"function": said["function_call"]})
    if calls and content:
        yield Piece("untried", place)
    yield from openai_calls(calls, place)


def openai_calls(calls: list[Any], place: str) -> Found:
    """The tool calls of one assistant message."""
    for call in calls:
        asked = fields(fields(call).get("function") or fields(call).get("custom"))
        yield Piece("call", place, text_of(asked.get("name")))
        if "input" in asked:
            yield Piece("arguments", place, text_of(asked["input"]))
        else:
            yield Piece("arguments", place, compact(text_of(asked.get("arguments"))))
    if len(calls) > 1:
        yield Piece("parallel", place)


WORDS = ("text", "input_text", "output_text", "refusal")


def openai_content(content: Any, place: str, others: Callable[[Any, str], Found]) -> Found:
    """The content of a message: text, or parts. Text in several parts is read as one."""
    if not isinstance(content, list):
        yield Piece("text", place, text_of(content))
        return
    for spoken, parts in groupby(items(content), lambda part: fields(part).get("type") in WORDS):
        if not spoken:
            for part in parts:
                yield from others(part, place)
            continue
        words = [text_of(part.get("text") or part.get("refusal")) for part in parts]
        yield Piece("text", place, "".join(words))
        if len(words) > 1:
            yield Piece("untried", place)


def chat_part(part: Any, place: str) -> Found:
    """One part of a chat message's content that is no text."""
    block = fields(part)
    match block.get("type"):
        case "image_url":
            image = block.get("image_url")
            source = fields(image).get("url") if isinstance(image, dict) else image
            yield media("image", place, source, detail=fields(image).get("detail"))
        case "input_audio":
            audio = fields(block.get("input_audio"))
            yield media("audio", place, audio.get("data"), mime=f"audio/{audio.get('format')}")
        case "file":
            yield from openai_file(fields(block.get("file")), place)
        case "document_url":  # as Mistral calls it
            yield from openai_file({"file_data": block.get("document_url")}, place)
        case _:
            yield Piece("opaque", place, text_of(part))


def openai_file(file: Fields, place: str) -> Found:
    """A file of either OpenAI API: its bytes if they are here, else nothing we could see."""
    data = file.get("file_data")
    if data and not text_of(data).startswith("http"):
        yield media("document", place, data, name=file.get("filename"))
    else:
        yield Piece("unseen", place)


def openai_tools(tools: list[Fields], choice: Any) -> Found:
    """Tool definitions of either OpenAI API: nested under `function`, or flat."""
    own: list[Fields] = []
    for tool in tools:
        if tool.get("type") == "namespace":
            inner = [fields(one) for one in items(tool.get("tools"))]
        else:
            inner = [tool]
        for one in inner:
            if one.get("type", "function") not in ("function", "custom"):
                yield Piece("hosted", "tools", text_of(one.get("type")))
            elif one.get("defer_loading"):
                yield Piece("deferred", "tools")
            else:
                own.append(definition(one))
    if own:
        yield Piece("tools", "tools", own)
        if choice == "required" or isinstance(choice, dict):
            yield Piece("forced", "tools")


def responses(payload: Any) -> Found:
    """The pieces of a Responses body."""
    body = fields(payload)
    yield Piece("request", "request")
    for name in ("previous_response_id", "conversation", "prompt", "context_management"):
        if body.get(name):
            yield Piece("unseen", name, text_of(body[name]))
    if body.get("instructions"):
        yield Piece("message", "instructions", "system")
        yield Piece("text", "instructions", text_of(body["instructions"]))
    given = body.get("input", payload)
    if isinstance(given, str):
        yield Piece("message", "input", "user")
        yield Piece("text", "input", given)
    for index, item in enumerate(items(given)):
        yield from responses_item(item, f"input[{index}]")
    yield from openai_tools([fields(t) for t in items(body.get("tools"))], body.get("tool_choice"))
    form = fields(fields(body.get("text")).get("format"))
    if form.get("type") == "json_schema":
        yield Piece("schema", "text", json_of(form.get("schema")))


def responses_item(item: Any, place: str) -> Found:
    """The pieces of one input item."""
    entry = fields(item)
    match entry.get("type", "message"):
        case "message":
            yield Piece("message", place, text_of(entry.get("role")))
            if entry.get("role") == "assistant":
                yield Piece("answer", place)
            yield from openai_content(entry.get("content"), place, responses_part)
        case "function_call" | "custom_tool_call" as kind:
            yield Piece("message", place, "assistant")
            yield Piece("call", place, text_of(entry.get("name")))
            if kind == "function_call":
                yield Piece("arguments", place, compact(text_of(entry.get("arguments"))))
            else:
                yield Piece("arguments", place, text_of(entry.get("input")))
        case "function_call_output" | "custom_tool_call_output":
            yield Piece("message", place, "tool")
            yield Piece("result", place)
            yield from openai_content(entry.get("output"), place, responses_part)
        case "reasoning" | "compaction":
            # The summary is for people; what the model gets back is the encrypted part.
            sealed = entry.get("encrypted_content")
            yield Piece("sealed" if sealed else "unseen", place, text_of(sealed))
        case "item_reference":
            yield Piece("unseen", place, text_of(entry.get("id")))
        case "additional_tools":
            yield Piece("added_tools", place)
            for piece in openai_tools([fields(t) for t in items(entry.get("tools"))], None):
                yield Piece(piece.kind, place, piece.value)
        case _:
            yield Piece("opaque", place, json_of({k: v for k, v in entry.items() if k != "id"}))


def responses_part(part: Any, place: str) -> Found:
    """One part of an item's content that is no text."""
    block = fields(part)
    match block.get("type"):
        case "input_image" if block.get("image_url"):
            yield media("image", place, block["image_url"], detail=block.get("detail"))
        case "input_image" | "input_file":
            yield from openai_file(block, place)
        case _:
            yield Piece("opaque", place, text_of(part))
