"""Functions that make messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias, TypedDict, Unpack, cast, get_args

from contextwright.errors import UsageError, shown
from contextwright.messages.message import Author, Kind, Message, Reply, Visibility
from contextwright.messages.parts import Extra, Media, Opaque, Part, Text, ToolResult
from contextwright.messages.times import as_time
from contextwright.text.json import json_text

__all__ = ["assistant", "system", "tool_result", "user"]

Content: TypeAlias = "str | Part | Mapping[str, Any] | Sequence[str | Part]"
"""Accepted content: text, a part, or several."""


def as_parts(content: Content) -> tuple[Part, ...]:
    """Return text, a part or a list of them as parts."""
    try:
        return tuple(parts_in(content))
    except RecursionError:
        raise not_content(content) from None


def parts_in(content: Content) -> Iterator[Part]:
    """Yield text, a part or a list of them as parts."""
    if isinstance(content, str):
        yield Text(content)
    elif isinstance(content, Part):
        yield content
    elif isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        for item in content:
            yield from parts_in(item)
    else:
        raise not_content(content)


def not_content(content: object) -> UsageError:
    """Return the error for what holds no parts."""
    hint = "pass text, a part such as Media(…), or a list of them"
    return UsageError(f"content cannot be {shown(content)}", hint=hint)


def as_author(author: Author | str | None) -> Author | None:
    """Return an author; a string is an id."""
    if author is None or isinstance(author, Author):
        return author
    if not isinstance(author, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"an author cannot be {shown(author)}", hint="pass an id, or an Author")
    return Author(id=author)


class MessageFields(TypedDict, total=False):
    """The fields of a message besides those that a function here names."""

    reply_to: Reply | None
    """The message that it replies to."""
    kind: Kind
    """`message` by default."""
    turn: int | None
    """The number of its turn, if the source counts turns."""
    pinned: bool
    """Whether it stays in every window."""
    visibility: Visibility
    """`public` by default; only public messages are sent to a model."""
    meta: dict[str, Any]
    """Data of your own; never sent to a model."""
    extra: Extra
    """Fields of a format, written back to that format only."""


TYPES: dict[str, Any] = {
    "reply_to": Reply | None,
    "turn": int | None,
    "pinned": bool,
    "meta": dict,
    "extra": dict,
}
CHOICES = {"kind": get_args(Kind), "visibility": get_args(Visibility)}


def required(fields: MessageFields) -> MessageFields:
    """Return the fields if each has a valid value.

    Raises:
        UsageError: a field does not.
    """
    for name, value in fields.items():
        known = CHOICES.get(name)
        if known is None:
            right = isinstance(value, TYPES.get(name, object))
        else:
            right = isinstance(value, str) and value in known
        if not right:
            hint = f"one of: {', '.join(known)}" if known else "see contextwright.Message"
            raise UsageError(f"{name} cannot be {shown(value)}", hint=hint)
    return fields


def user(
    content: Content,
    *,
    author: Author | str | None = None,
    sent_at: datetime | str | None = None,
    **fields: Unpack[MessageFields],
) -> Message:
    """Make a user message: `user("Hello", author="U123")`, `user(["See:", Media(…)])`."""
    parts, by = as_parts(content), as_author(author)
    return Message("user", parts, by, sent_at=as_time(sent_at), **required(fields))


def assistant(
    content: Content,
    *,
    author: Author | str | None = None,
    sent_at: datetime | str | None = None,
    **fields: Unpack[MessageFields],
) -> Message:
    """Make an assistant message of text, calls, thinking, or a list of them."""
    parts, by = as_parts(content), as_author(author)
    return Message("assistant", parts, by, sent_at=as_time(sent_at), **required(fields))


def system(
    content: Content,
    *,
    author: Author | str | None = None,
    sent_at: datetime | str | None = None,
    **fields: Unpack[MessageFields],
) -> Message:
    """Make a system message, for the start of a conversation or anywhere in it."""
    parts, by = as_parts(content), as_author(author)
    return Message("system", parts, by, sent_at=as_time(sent_at), **required(fields))


def tool_result(
    call_id: str,
    content: object = "",
    *,
    name: str | None = None,
    is_error: bool = False,
    sent_at: datetime | str | None = None,
    **fields: Unpack[MessageFields],
) -> Message:
    """Make the result of a call: text, a dict, any other JSON value, media, or a list of parts."""
    if not isinstance(call_id, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a call's id cannot be {shown(call_id)}", hint="pass its text")
    result = ToolResult(call_id, as_result(content), name, is_error)
    return Message("tool", (result,), sent_at=as_time(sent_at), **required(fields))


def as_result(content: object) -> str | dict[str, Any] | tuple[Text | Media | Opaque, ...]:
    """Return a tool's result in one of the three shapes that a `ToolResult` holds."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return cast("dict[str, Any]", content)
    several = isinstance(content, list | tuple)
    pieces = list(cast("Sequence[object]", content)) if several else [content]
    parts = tuple(piece for piece in pieces if isinstance(piece, Text | Media | Opaque))
    if pieces and len(parts) == len(pieces):
        return parts
    try:
        return json_text(content)
    except (TypeError, ValueError, RecursionError):
        hint = "pass text, a dict, any other JSON value, media, or a list of parts"
        raise UsageError(f"a result cannot be {shown(content)}", hint=hint) from None
