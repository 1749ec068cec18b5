"""The pieces of an Anthropic Messages body."""

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

__all__ = ["anthropic", "anthropic_message"]


def anthropic(payload: Any) -> Found:
    """The pieces of a Messages body."""
    body = fields(payload)
    yield Piece("request", "request")
    if body.get("system"):
        yield Piece("system", "system")
        yield from anthropic_content(body["system"], "system")
    for index, message in enumerate(items(body.get("messages")) or items(payload)):
        yield from anthropic_message(message, f"messages[{index}]")
    yield from anthropic_tools(body)
    if any(asks_citations(fields(message)) for message in items(body.get("messages"))):
        yield Piece("citations", "request")
    for name in ("container", "mcp_servers"):
        if body.get(name):
            yield Piece("unseen", name)
    if fields(body.get("thinking")).get("type") == "enabled":
        yield Piece("budget", "request")
    form = fields(fields(body.get("output_config")).get("format"))
    if form.get("schema"):
        yield Piece("schema", "output_config", json_of(form["schema"]))


def anthropic_tools(body: Fields) -> Found:
    """The tools of a Messages body: own ones, deferred ones, hosted ones."""
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


def anthropic_message(message: Any, place: str) -> Found:
    """The pieces of one message."""
    said = fields(message)
    yield Piece("message", place, text_of(said.get("role")))
    yield from anthropic_content(said.get("content"), place)


def anthropic_content(content: Any, place: str) -> Found:
    """Content: text, or blocks."""
    if isinstance(content, list):
        for block in items(content):
            yield from anthropic_block(fields(block), place)
    else:
        yield Piece("text", place, text_of(content))


def anthropic_block(block: Fields, place: str) -> Found:
    """One block of content."""
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
            yield Piece("thinking", place, text_of(block.get("thinking")))
        case "redacted_thinking":
            yield Piece("sealed", place, text_of(block.get("data")))
        case "image" | "document" as kind:
            yield from anthropic_media(kind, block, place)
        case "container_upload" | "tool_reference":
            yield Piece("unseen", place)
        case _:
            yield Piece("opaque", place, json_of(block))


def anthropic_media(kind: Literal["image", "document"], block: Fields, place: str) -> Found:
    """An image or a document; text inside a document is text."""
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


def asks_citations(message: Fields) -> bool:
    """Some document of a message is to be cited from."""
    for block in items(message.get("content")):
        if "citations" in fields(block) and fields(block["citations"]).get("enabled") is True:
            return True
    return False
