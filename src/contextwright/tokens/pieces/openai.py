"""The pieces of OpenAI's two bodies: Chat Completions and Responses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, islice
from typing import Any

from contextwright.tokens.pieces.piece import (
    Fields,
    Found,
    Outline,
    Piece,
    compact,
    definition,
    fields,
    items,
    json_of,
    media,
    text_of,
    turns,
    unread,
)

__all__ = ["chat", "chat_message", "responses", "responses_item"]


CHAT = frozenset(
    """
    frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
    messages metadata model moderation n parallel_tool_calls presence_penalty prompt_cache_key
    prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier
    seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs
    top_p user web_search_options
    """.split()
)
"""Fields of a Chat Completions body that are counted or are known to cost nothing."""

CHAT_MESSAGE = frozenset(
    "role content name tool_calls tool_call_id function_call refusal annotations audio".split()
)


def chat(payload: Any) -> Outline:
    """Yield the pieces and messages of a Chat Completions body."""
    body = fields(payload)
    messages = items(body.get("messages")) or items(payload)
    yield Piece("request", "request")
    yield from unread(body, CHAT, "request")
    yield from turns("messages", messages, chat_message)
    tools = [fields(tool) for tool in items(body.get("tools")) or items(body.get("functions"))]
    yield from openai_tools(tools, body.get("tool_choice"))
    if body.get("web_search_options") is not None:
        yield Piece("unseen", "web_search_options")
    if tools and any(fields(message).get("role") == "system" for message in messages):
        yield Piece("tools_beside_system", "tools")
    form = fields(body.get("response_format"))
    if form.get("type") == "json_schema":
        schema = fields(form.get("json_schema"))
        yield Piece("schema", "response_format", json_of(schema.get("schema")))


def chat_message(message: Any, place: str) -> Found:
    """Yield the pieces of one chat message."""
    said = fields(message)
    if not said.keys() <= CHAT_MESSAGE:
        yield from unread(said, CHAT_MESSAGE, place)
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
        yield Piece("untried", place)
    if said.get("audio"):  # an earlier answer, by its id
        yield Piece("unseen", place)
    if "tool_calls" not in said and "function_call" not in said:
        return
    calls = [*items(said.get("tool_calls"))]
    if said.get("function_call"):
        calls.append({"function": said["function_call"]})
    if calls and (content or said.get("function_call")):
        yield Piece("untried", place)
    yield from openai_calls(calls, place)


def openai_calls(calls: list[Any], place: str) -> Found:
    """Yield the tool calls of one assistant message."""
    for call in calls:
        asked = fields(fields(call).get("function") or fields(call).get("custom"))
        yield Piece("call", place, text_of(asked.get("name")))
        if "input" in asked:
            yield Piece("arguments", place, text_of(asked["input"]))
            yield Piece("untried", place)
        else:
            yield Piece("arguments", place, compact(text_of(asked.get("arguments"))))
    if len(calls) > 1:
        yield Piece("parallel", place)


WORDS = ("text", "input_text", "output_text", "refusal")


def openai_content(content: Any, place: str, others: Callable[[Any, str], Found]) -> Found:
    """Yield the content of a message: text, or parts. Adjacent text parts are read as one."""
    if not isinstance(content, list):
        yield Piece("text", place, text_of(content))
        return
    for spoken, parts in groupby(items(content), lambda part: fields(part).get("type") in WORDS):
        if not spoken:
            for part in parts:
                yield from others(part, place)
            continue
        said = [*parts]
        words = [text_of(part.get("text") or part.get("refusal")) for part in said]
        yield Piece("text", place, "".join(words))
        if len(words) > 1 or said[0].get("type") == "refusal":
            yield Piece("untried", place)


def chat_part(part: Any, place: str) -> Found:
    """Yield one part of a chat message's content that is not text."""
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
    """Yield a file of either OpenAI API: its bytes if the body contains them."""
    data = file.get("file_data")
    if data and not text_of(data).startswith("http"):
        yield media("document", place, data, name=file.get("filename"))
    else:
        yield Piece("unseen", place)


def openai_tools(tools: list[Fields], choice: Any) -> Found:
    """Yield tool definitions of either OpenAI API: nested under `function`, or flat."""
    own: list[Fields] = []
    for tool in tools:
        if tool.get("type") == "namespace":
            inner = [fields(one) for one in items(tool.get("tools"))]
            yield from tool_text(tool.get("description"))
        else:
            inner = [tool]
        for one in inner:
            if one.get("type", "function") not in ("function", "custom"):
                yield Piece("hosted", "tools", text_of(one.get("type")))
            elif one.get("defer_loading"):
                yield Piece("deferred", "tools")
            else:
                own.append(definition(one))
                written = fields(fields(one.get("custom") or one).get("format"))
                grammar = fields(written.get("grammar") or written)  # nested in a chat request
                yield from tool_text(grammar.get("definition"))
    if own:
        yield Piece("tools", "tools", own)
        if choice == "required" or isinstance(choice, dict):
            yield Piece("forced", "tools")


def tool_text(text: Any) -> Found:
    """Yield a text about tools that no recording has the price of: a grammar, a namespace's."""
    if text:
        yield Piece("opaque", "tools", text_of(text))


RESPONSES = frozenset(
    """
    background context_management conversation include input instructions max_output_tokens
    max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt
    prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier
    service_tier store stream stream_options temperature text tool_choice tools top_logprobs
    top_p truncation user
    """.split()
)
"""Fields of a Responses body that are counted or are known to cost nothing."""

REASONING = frozenset("context effort generate_summary summary".split())
TEXT = frozenset("format verbosity".split())
MESSAGE_ITEM = frozenset("type role content id status phase".split())


def responses(payload: Any) -> Outline:
    """Yield the pieces and items of a Responses body."""
    body = fields(payload)
    yield Piece("request", "request")
    yield from unread(body, RESPONSES, "request")
    yield from unread(fields(body.get("reasoning")), REASONING, "reasoning")
    yield from unread(fields(body.get("text")), TEXT, "text")
    if fields(body.get("text")).get("verbosity"):
        yield Piece("untried", "text")
    for name in ("previous_response_id", "conversation", "prompt"):
        if body.get(name):
            yield Piece("unseen", name, text_of(body[name]))
    for edit in map(fields, items(body.get("context_management"))):
        threshold = edit.get("compact_threshold")
        yield Piece("edits", "request", threshold if isinstance(threshold, int) else 0)
    if body.get("instructions"):
        yield Piece("message", "instructions", "system")
        yield Piece("text", "instructions", text_of(body["instructions"]))
    given = body.get("input", payload)
    if isinstance(given, str):
        yield Piece("message", "input", "user")
        yield Piece("text", "input", given)
    yield from islice(turns("input", items(given), responses_item), compacted(items(given)), None)
    yield from openai_tools([fields(t) for t in items(body.get("tools"))], body.get("tool_choice"))
    form = fields(fields(body.get("text")).get("format"))
    if form.get("type") == "json_schema":
        yield Piece("schema", "text", json_of(form.get("schema")))


def compacted(given: list[Any]) -> int:
    """Return the index of the newest compaction; it replaces all items before it."""
    kinds = [fields(item).get("type") for item in given]
    return len(kinds) - 1 - kinds[::-1].index("compaction") if "compaction" in kinds else 0


def responses_item(item: Any, place: str) -> Found:
    """Yield the pieces of one input item."""
    entry = fields(item)
    match entry.get("type", "message"):
        case "message":
            yield Piece("message", place, text_of(entry.get("role")))
            if not entry.keys() <= MESSAGE_ITEM:
                yield from unread(entry, MESSAGE_ITEM, place)
            if entry.get("role") == "assistant":
                yield Piece("answer", place)
            if entry.get("phase"):
                yield Piece("untried", place)
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
        case "reasoning" | "compaction" as kind:
            # The summary is for people; what the model gets back is the encrypted part.
            sealed = text_of(entry.get("encrypted_content"))
            found = "sealed" if kind == "reasoning" else "compaction"
            yield Piece(found if sealed else "unseen", place, sealed)
        case "item_reference":
            yield Piece("unseen", place, text_of(entry.get("id")))
        case "additional_tools":
            yield Piece("added_tools", place)
            for piece in openai_tools([fields(t) for t in items(entry.get("tools"))], None):
                yield Piece(piece.kind, place, piece.value)
        case _:
            yield Piece("opaque", place, json_of({k: v for k, v in entry.items() if k != "id"}))


def responses_part(part: Any, place: str) -> Found:
    """Yield one part of an item's content that is not text."""
    block = fields(part)
    match block.get("type"):
        case "input_image" if block.get("image_url"):
            yield media("image", place, block["image_url"], detail=block.get("detail"))
        case "input_image" | "input_file":
            yield from openai_file(block, place)
        case _:
            yield Piece("opaque", place, text_of(part))
