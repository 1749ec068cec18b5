"""Functions that make messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias, cast

from contextwright.errors import UsageError, shown
from contextwright.messages.message import Author, Message
from contextwright.messages.parts import Media, Opaque, Part, Text, ToolResult
from contextwright.messages.times import as_time
from contextwright.text.json import json_text

__all__ = ["assistant", "system", "tool_result", "user"]

Content: TypeAlias = "str | Part | Mapping[str, Any] | Sequence[str | Part]"
"""Accepted content: text, a part, or several."""


def as_parts(content: Content) -> tuple[Part, ...]:
    """Return text, a part or a list of them as parts."""
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, Part):
        return (content,)
    if isinstance(content, Sequence):
        parts: list[Part] = []
        for item in content:
            parts.extend(as_parts(item))
        return tuple(parts)
    raise UsageError(
        f"content cannot be {shown(content)}",
        hint="pass text, a part such as Media(…), or a list of them",
    )


def as_author(author: Author | str | None) -> Author | None:
    """Return an author; a string is an id."""
    return Author(id=author) if isinstance(author, str) else author


def user(
    content: Content,
    *,
    author: Author | str | None = None,
    sent_at: datetime | str | None = None,
    **fields: Any,
) -> Message:
    """Make a user message: `user("Hello", author="U123")`, `user(["See:", Media(…)])`."""
    return Message("user", as_parts(content), as_author(author), sent_at=as_time(sent_at), **fields)


def assistant(content: Content, *, sent_at: datetime | str | None = None, **fields: Any) -> Message:
    """Make an assistant message of text, calls, thinking, or a list of them."""
    return Message("assistant", as_parts(content), sent_at=as_time(sent_at), **fields)


def system(content: Content, *, sent_at: datetime | str | None = None, **fields: Any) -> Message:
    """Make a system message, for the head of a conversation or anywhere in it."""
    return Message("system", as_parts(content), sent_at=as_time(sent_at), **fields)


def tool_result(
    call_id: str,
    content: object = "",
    *,
    name: str | None = None,
    is_error: bool = False,
    **fields: Any,
) -> Message:
    """Make the result of a call: text, a dict, any other JSON value, media, or a list of parts."""
    return Message("tool", (ToolResult(call_id, as_result(content), name, is_error),), **fields)


def as_result(content: object) -> str | dict[str, Any] | tuple[Text | Media | Opaque, ...]:
    """Return a tool's result in one of the three shapes that a `ToolResult` holds."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return cast("dict[str, Any]", content)
    several = isinstance(content, list | tuple)
    pieces = list(cast("Sequence[object]", content)) if several else [content]
    parts = tuple(piece for piece in pieces if isinstance(piece, Text | Media | Opaque))
    return parts if pieces and len(parts) == len(pieces) else json_text(content)
