"""A pass over the messages of an Anthropic request, which finds most of them in order."""

# `type(value) is dict` leaves the types of its items unknown; a call of `is_object` would cost more
# than the whole look.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

from contextwright.wire.anthropic.blanks import blank_inside, blank_text
from contextwright.wire.anthropic.citations import is_cited
from contextwright.wire.anthropic.hosted import REFERENCE
from contextwright.wire.anthropic.media import source
from contextwright.wire.anthropic.output import output_path
from contextwright.wire.anthropic.turns import CALL_NAME, ID, MARK
from contextwright.wire.anthropic.types import UNSIGNED, AssistantMessage, Request, UserMessage
from contextwright.wire.shapes import Shape, objects_in
from contextwright.wire.survey import BLOCK, WRONG_TYPES, Entries, packed_size, roles_alternate
from contextwright.wire.values import Object, is_list

__all__ = ["survey"]

PLAIN_BYTES = 64
"""The most bytes that a message which is only a role and a text has as JSON, without the text."""


class Messages(Shape):
    """Some messages of a request."""

    messages: list[UserMessage | AssistantMessage]


class Found:
    """What the messages so far hold."""

    def __init__(self) -> None:
        self.rich: Entries = []
        """Those that may hold media or cache breakpoints."""
        self.called = False
        self.open_calls: set[str] = set()
        self.most_bytes = 0
        """The most bytes of the request as JSON."""


def survey(payload: Object) -> Found | None:
    """Return what the messages hold; None if types or order need a closer look."""
    messages = payload.get("messages")
    if not is_list(messages) or not roles_alternate(messages, "assistant"):
        return None
    if messages[0]["role"] != "user":
        return None
    found = Found()
    try:
        if has_faults(payload.get("system")) or is_open_loop(payload, messages[-1]):
            return None
        if messages[-1]["role"] == "assistant" and output_path(payload):
            return None
        for start in range(0, len(messages), BLOCK):
            seen = look(messages[start : start + BLOCK], start, found)
            if seen is None or not measure({"messages": seen[0]}, Messages, seen[1], found):
                return None
    except WRONG_TYPES:
        return None
    if found.called and not (payload.get("tools") or payload.get("mcp_servers")):
        return None
    if found.open_calls or not measure({**payload, "messages": []}, Request, [], found):
        return None
    return found


def measure(body: Object, shape: Any, texts: list[str], found: Found) -> bool:
    """Whether a part of the request is valid; adds the most bytes it has as JSON.

    JSON takes at most six times the bytes of MessagePack, for `false` and for control characters.
    """
    packed = packed_size(body, shape, texts)
    found.most_bytes += 6 * packed + PLAIN_BYTES * len(texts)
    return packed > 0


def look(messages: list[Any], start: int, found: Found) -> tuple[list[Object], list[str]] | None:
    """Return the messages that are more than a role and a text, and the texts of the others.

    None if a rule might find something.
    """
    others: list[Object] = []
    texts: list[str] = []
    open_calls = found.open_calls
    for index, message in enumerate(messages, start):
        content = message["content"]
        if len(message) == 2 and type(message) is dict:
            text = content
            if (
                type(content) is list
                and len(content) == 1
                and type(block := content[0]) is dict
                and len(block) == 2
                and block["type"] == "text"
            ):
                text = block["text"]
            if type(text) is str and text and not text.isspace():
                if open_calls:
                    return None
                texts.append(text)
                continue
        if type(content) is not list or not content:
            return None
        others.append(message)
        if message["role"] == "assistant":
            if not assistant_fits(content, open_calls):
                return None
            found.called = found.called or bool(open_calls)
        elif not user_fits(content, open_calls):
            return None
        if is_rich(content):
            found.rich.append((index, message))
    return others, texts


def is_rich(content: list[Object]) -> bool:
    """Whether there may be media or cache breakpoints."""
    for block in content:
        if MARK in block or block["type"] == "image" or isinstance(block.get("content"), list):
            return True
    return False


def assistant_fits(content: list[Object], open_calls: set[str]) -> bool:
    """Whether no rule finds anything in an assistant message; adds its calls to `open_calls`."""
    for block in content:
        kind = block["type"]
        if kind == "tool_use":
            id = block["id"]
            if id in open_calls or not ID(id) or not CALL_NAME(block["name"]):
                return False
            open_calls.add(id)
        elif kind == "text":
            if not block["text"] or block["text"].isspace():
                return False
        elif kind == "thinking":
            if block["signature"] in ("", UNSIGNED):
                return False
        elif kind != "redacted_thinking":
            return False
    return True


def user_fits(content: list[Object], open_calls: set[str]) -> bool:
    """Whether a user message answers all open calls, and then holds text and images."""
    for block in content:
        kind = block["type"]
        if kind == "tool_result":
            if block["tool_use_id"] not in open_calls:
                return False
            open_calls.remove(block["tool_use_id"])
            held = block.get("content")
            if not held and block.get("is_error"):
                return False
            if has_faults(held):
                return False
        elif open_calls:
            return False
        elif kind == "text":
            if not block["text"] or block["text"].isspace():
                return False
        elif kind != "image" or any(source(block, "")):
            return False
    return not open_calls


def has_faults(blocks: object) -> bool:
    """Whether a text, or that of a block, is blank, its image is not valid, it is cited, or refers
    to a tool.
    """
    if type(blocks) is str:
        return blocks.isspace()
    return any(
        any(blank_text("", block))
        or any(blank_inside("", block))
        or any(source(block, ""))
        or is_cited(block)
        or block.get("type") == REFERENCE
        for _, block in objects_in(blocks)
    )


def is_open_loop(payload: Object, last: Object) -> bool:
    """Whether the request asks for extended thinking, and the model goes on with a turn."""
    thinking, content = payload.get("thinking"), last["content"]
    if not thinking or thinking["type"] != "enabled":
        return False
    if last["role"] == "assistant":
        return True
    if type(content) is str:
        return False
    return any(block["type"] == "tool_result" for block in content)
