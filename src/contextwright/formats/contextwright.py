"""Our own JSON: everything a conversation holds, without loss."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from contextwright.errors import ParseError, Problem, shown
from contextwright.formats.base import Format, Options, Rendered
from contextwright.formats.reader import misshapen
from contextwright.messages.conversation import Conversation, replaced
from contextwright.models import Model
from contextwright.text.json import convert
from contextwright.wire.shapes import shape_problems

__all__ = ["FORMAT"]

NAME = "contextwright"
VERSION = 1


def parse(data: Any, strict: bool = False) -> Conversation:
    """Parse our own JSON, or a list of messages with `parts` or plain `content`."""
    body = fields_of(data)
    problems = problems_of(body)
    if problems:
        others = "".join(f"; {problem.path}: {problem.message}" for problem in problems[1:10])
        raise ParseError(problems[0].message + others, path=problems[0].path)
    conversation = convert(body, Conversation)
    # Keep `source` and `extra` of the original format, so that it can be restored.
    return conversation if conversation.source else replaced(conversation, source=NAME)


def fields_of(data: Any) -> dict[str, Any]:
    """Return the fields of a conversation, with each plain `content` as parts."""
    if isinstance(data, list):
        data = {"messages": cast("list[Any]", data)}
    if not isinstance(data, dict):
        raise misshapen(NAME, "an object or a list of messages", data)
    body = {key: value for key, value in cast("dict[str, Any]", data).items() if key != NAME}
    version = cast("dict[str, Any]", data).get(NAME, VERSION)
    if version != VERSION:
        raise ParseError(
            f"version {shown(version)} is not known",
            path=NAME,
            hint=f"this release reads version {VERSION}",
        )
    messages = body.get("messages")
    if isinstance(messages, list):
        body["messages"] = [spelled_out(message) for message in cast("list[Any]", messages)]
    return body


def spelled_out(message: Any) -> Any:
    """Return a message with `parts` in place of a plain `content`."""
    if not isinstance(message, dict) or "content" not in message or "parts" in message:
        return cast("Any", message)
    fields = dict(cast("dict[str, Any]", message))
    content = fields.pop("content")
    if isinstance(content, str):
        fields["parts"] = [{"type": "text", "text": content}]
    else:
        fields["parts"] = content
    return fields


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render everything except the repairs of parsing, which are not part of the conversation."""
    source = None if conversation.source == NAME else conversation.source
    kept = replaced(conversation, changes=(), source=source)
    payload = {NAME: VERSION, **plain_json(msgspec.to_builtins(kept))}
    return Rendered(payload, origins=tuple(range(len(kept.messages))))


def plain_json(value: Any) -> Any:
    """Return the same value with lists for tuples, as decoded JSON has them."""
    if isinstance(value, dict):
        return {key: plain_json(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in cast("list[Any]", value)]
    return value


def check(payload: Any, model: Model) -> list[Problem]:
    """List what is missing, unknown or of the wrong type."""
    try:
        return problems_of(fields_of(payload))
    except ParseError as error:
        return [Problem("T-type", error.path, str(error))]


def problems_of(body: dict[str, Any]) -> list[Problem]:
    """Check the fields of a conversation, including their depth."""
    return shape_problems(body, Conversation)


FORMAT = Format(
    name=NAME,
    title="our own JSON: lossless for everything",
    parse=parse,
    render=render,
    check=check,
)
