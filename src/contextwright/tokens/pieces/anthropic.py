"""The pieces of an Anthropic Messages body."""

from __future__ import annotations

from typing import Any, Literal, cast

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

__all__ = ["anthropic", "anthropic_message"]

BODY = frozenset(
    """
    anthropic_beta anthropic_version betas cache_control container context_management
    inference_geo max_tokens mcp_servers messages metadata model output_config output_format
    service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k
    top_p
    """.split()
)


def anthropic(payload: Any) -> Outline:
    """Yield the pieces and messages of a Messages body."""
    body = fields(payload)
    yield Piece("request", "request")
    if body.get("system"):
        yield Piece("system", "system")
        yield from anthropic_content(body["system"], "system")
    messages = items(body.get("messages")) or items(payload)
    edits = list(map(fields, items(fields(body.get("context_management")).get("edits"))))
    kept = any(edit.get("keep") == "all" for edit in edits if is_about_thinking(edit))
    question = 0 if kept else newest_question(messages)
    yield from turns("messages", messages, anthropic_message, past_message, question)
    yield from anthropic_tools(body)
    if any(asks_citations(fields(message).get("content")) for message in messages):
        yield Piece("citations", "request")
    for name in ("container", "mcp_servers"):
        if body.get(name):
            yield Piece("unseen", name)
    yield from anthropic_settings(body)
    for edit in edits:
        if not is_about_thinking(edit):
            yield Piece("edits", "request", trigger_of(edit))


TRIGGERS = {"clear_tool_uses": 100_000, "compact": 150_000}
"""The number of input tokens at which an edit starts, unless the request has another."""


def is_about_thinking(edit: Fields) -> bool:
    """Whether an edit clears only thinking."""
    return text_of(edit.get("type")).startswith("clear_thinking")


def trigger_of(edit: Fields) -> float:
    """Return the number of input tokens at which an edit starts to clear history."""
    given = fields(edit.get("trigger"))
    if given.get("type") == "input_tokens" and isinstance(given.get("value"), int):
        return given["value"]
    name = text_of(edit.get("type")).rpartition("_")[0]
    return 0 if given else TRIGGERS.get(name, 0)


def anthropic_settings(body: Fields) -> Found:
    """Yield the settings that the provider writes into the prompt, and those of unknown price."""
    yield from unread(body, BODY, "request")
    if fields(body.get("thinking")).get("type") == "enabled":
        yield Piece("budget", "request")
    settings = fields(body.get("output_config"))
    yield from unread(settings, {"effort", "format", "task_budget"}, "output_config")
    if settings.get("task_budget"):
        # The provider tells the model its remaining budget, at the start and after each tool
        # result.
        yield Piece("unseen", "task_budget")
    form = fields(settings.get("format") or body.get("output_format"))
    if form.get("schema"):
        yield Piece("schema", "output_config", json_of(form["schema"]))


def anthropic_tools(body: Fields) -> Found:
    """Yield the tools of a Messages body: own ones, deferred ones, hosted ones."""
    own: list[Fields] = []
    deferred = False
    for tool in map(fields, items(body.get("tools"))):
        if tool.get("type", "custom") != "custom":
            yield Piece("hosted", "tools", text_of(tool.get("type")))
        elif tool.get("defer_loading"):
            deferred = True
        else:
            own.append(definition(tool))
    if own:
        yield Piece("tools", "tools", own)
        if fields(body.get("tool_choice")).get("type") in ("any", "tool"):
            yield Piece("forced", "tools")
    if deferred:
        yield Piece("deferred", "tools")


def newest_question(messages: list[Any]) -> int:
    """Return the index of the newest message that a user wrote."""
    for index in range(len(messages) - 1, -1, -1):
        message = fields(messages[index])
        if message.get("role") == "user" and is_written(message.get("content")):
            return index
    return 0


def is_written(content: Any) -> bool:
    """Whether content is more than tool results."""
    blocks = items(content)
    return not blocks or any(fields(block).get("type") != "tool_result" for block in blocks)


def anthropic_message(message: Any, place: str, *, past: bool = False) -> Found:
    """Yield the pieces of one message; `past` means before the newest question."""
    said = fields(message)
    yield Piece("message", place, text_of(said.get("role")))
    yield from anthropic_content(said.get("content"), place, past=past)


def past_message(message: Any, place: str) -> Found:
    """Yield the pieces of a message before the newest question."""
    return anthropic_message(message, place, past=True)


def anthropic_content(content: Any, place: str, *, past: bool = False) -> Found:
    """Yield content: text, or blocks."""
    if isinstance(content, list):
        for block in items(content):
            yield from anthropic_block(fields(block), place, past=past)
    else:
        yield Piece("text", place, text_of(content))


def anthropic_block(block: Fields, place: str, *, past: bool = False) -> Found:
    """Yield one block of content."""
    match block.get("type"):
        case "text":
            yield Piece("text", place, text_of(block.get("text")))
        case "tool_use":
            yield Piece("call", place, text_of(block.get("name")))
            if block.get("input"):
                yield Piece("arguments", place, text_of(block["input"]))
        case "tool_result":
            yield Piece("result", place)
            yield from anthropic_content(block.get("content"), place)
        case "thinking":
            kind = "past_thinking" if past else "thinking"
            yield Piece(kind, place, text_of(block.get("thinking")))
        case "redacted_thinking":
            yield Piece("past_sealed" if past else "sealed", place, text_of(block.get("data")))
        case "image" | "document" as kind:
            yield from anthropic_media(kind, block, place)
        case "search_result":
            yield Piece("wrapping", place)
            for name in ("source", "title"):
                yield Piece("text", place, text_of(block.get(name)))
            yield from anthropic_content(block.get("content"), place)
        case "container_upload" | "tool_reference":
            yield Piece("unseen", place)
        case _:
            yield Piece("opaque", place, json_of(block))


def anthropic_media(kind: Literal["image", "document"], block: Fields, place: str) -> Found:
    """Yield an image or a document; text inside a document is text."""
    source = fields(block.get("source"))
    for name in ("title", "context"):
        if isinstance(block.get(name), str):
            yield Piece("text", place, block[name])
    match source.get("type"):
        case "text":
            yield Piece("wrapping", place)
            yield Piece("text", place, text_of(source.get("data")))
        case "content":
            yield Piece("wrapping", place)
            yield from anthropic_content(source.get("content"), place)
        case "base64":
            yield media(kind, place, source.get("data"), mime=source.get("media_type"))
        case "url" if kind == "image":
            yield media(kind, place, source.get("url"))
        case _:
            yield Piece("unseen", place)


def asks_citations(content: Any) -> bool:
    """Whether a document or search result in the content may be cited."""
    for block in items(content):
        if not isinstance(block, dict):
            continue
        held = cast("Fields", block)
        if "citations" in held and fields(held["citations"]).get("enabled") is True:
            return True
        if held.get("type") == "tool_result" and asks_citations(held.get("content")):
            return True
    return False
