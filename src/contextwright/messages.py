"""One message model for every format: frozen values without identity.

A `Message` is a role and parts. Two messages with equal content are equal; order and
identity are the store's business. Whatever a foreign format said that has no field here
stands in `extra`, under that format's name, and goes back only to that format.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal, TypeAlias, cast, final

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError, shown

__all__ = [
    "Author",
    "Media",
    "Message",
    "Opaque",
    "Part",
    "Reply",
    "Role",
    "Text",
    "Thinking",
    "Tool",
    "ToolCall",
    "ToolResult",
    "assistant",
    "system",
    "tool_result",
    "user",
]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Kind: TypeAlias = Literal["message", "summary", "note", "event"]
Visibility: TypeAlias = Literal["public", "hidden", "internal", "deleted"]
MediaKind: TypeAlias = Literal["image", "audio", "video", "document"]

Extra: TypeAlias = dict[str, dict[str, Any]]
"""What a foreign format said beyond our fields: format name → its fields as they came."""

UNFIT = re.compile("[\x00\ud800-\udfff]")
"""What is text in Python and nowhere else: a NUL, and half a surrogate pair."""

encode_json = msgspec.json.Encoder().encode
decode_json = msgspec.json.Decoder().decode


def json_text(value: object) -> str:
    """A value as compact JSON text; half a character in it stays what it is, for others to mend."""
    try:
        return encode_json(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


DEEPEST = 100
"""Objects nested deeper than this are no arguments of anything."""


def require_json(value: object, depth: int = 0) -> None:
    """Refuse what JSON cannot say: NaN, infinity, keys that are not text, other objects."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return
    if kind is float and isfinite(value):  # pyright: ignore[reportArgumentType]
        return
    if depth > DEEPEST:
        raise UsageError("arguments are nested too deeply", hint=f"at most {DEEPEST} levels")
    if isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                raise UsageError(f"the key {shown(key)} is not text")
            require_json(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            require_json(item, depth + 1)
    else:
        raise UsageError(f"{shown(value)} is not JSON", hint="text, numbers, lists, objects")


@final
class Text(Struct, frozen=True, tag="text", omit_defaults=True, forbid_unknown_fields=True):
    """Words."""

    text: str
    extra: Extra = {}


@final
class Thinking(Struct, frozen=True, tag="thinking", omit_defaults=True, forbid_unknown_fields=True):
    """A model's reasoning. Signed thinking may only go back to the model that signed it."""

    text: str
    signature: str | None = None
    origin: str | None = None
    """The format it was written in; no other provider gets it back as thinking."""
    model: str | None = None
    """The model that signed it, where known."""
    redacted: bool = False
    """The provider withheld the text; `signature` then holds its encrypted form."""
    extra: Extra = {}


@final
class ToolCall(
    Struct, frozen=True, tag="tool_call", omit_defaults=True, forbid_unknown_fields=True
):
    """The assistant asks for a tool to be run."""

    name: str
    arguments: dict[str, Any] = {}
    id: str | None = None
    raw: str | None = None
    """The arguments as the model spelled them, where our spelling would differ."""
    extra: Extra = {}

    def __post_init__(self) -> None:
        require_json(self.arguments)

    @classmethod
    def from_json(
        cls, name: str, text: str, *, id: str | None = None, extra: Extra | None = None
    ) -> ToolCall:
        """A call whose arguments arrive as JSON text; text that is no object is kept as `_raw`."""
        try:
            decoded: Any = decode_json(text) if text.strip() else {}
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            decoded = None
        if not isinstance(decoded, dict):
            return cls(name, {"_raw": text}, id, text, extra or {})
        arguments = cast("dict[str, Any]", decoded)
        same = not text.strip() or encode_json(arguments).decode() == text
        return cls(name, arguments, id, None if same else text, extra or {})

    @property
    def json(self) -> str:
        """The arguments as JSON text, in the model's own spelling where we have it."""
        return json_text(self.arguments) if self.raw is None else self.raw


@final
class Media(Struct, frozen=True, tag="media", omit_defaults=True, forbid_unknown_fields=True):
    """An image, a sound, a film or a document: its bytes, its address, or a provider's handle."""

    kind: MediaKind
    mime: str | None = None
    data: str | None = None
    """The bytes in base64."""
    url: str | None = None
    """An address; never fetched."""
    file_id: str | None = None
    """A provider's own handle: it means nothing to any other provider."""
    origin: str | None = None
    """The format whose provider gave the handle."""
    name: str | None = None
    extra: Extra = {}

    @classmethod
    def from_bytes(
        cls, kind: MediaKind, content: bytes, mime: str, *, name: str | None = None
    ) -> Media:
        """Media from raw bytes."""
        return cls(kind, mime, base64.b64encode(content).decode(), name=name)


@final
class Opaque(Struct, frozen=True, tag="opaque", omit_defaults=True, forbid_unknown_fields=True):
    """A provider's own block, which may only travel back to that provider."""

    format: str
    data: dict[str, Any]
    text: str | None = None
    """What it says in words, for readers in other formats."""


@final
class ToolResult(
    Struct, frozen=True, tag="tool_result", omit_defaults=True, forbid_unknown_fields=True
):
    """What a tool answered: words, a JSON object, or several pieces."""

    call_id: str | None
    content: str | dict[str, Any] | tuple[Text | Media | Opaque, ...] = ""
    name: str | None = None
    is_error: bool = False
    extra: Extra = {}

    def __post_init__(self) -> None:
        if type(self.content) is dict:
            require_json(self.content)

    @property
    def text(self) -> str:
        """The answer in words alone; an object as JSON."""
        content = self.content
        if isinstance(content, str):
            return content
        if isinstance(content, dict):
            return json_text(content)
        return "\n".join(
            part.text for part in content if not isinstance(part, Media) and part.text is not None
        )


Part: TypeAlias = Text | Thinking | ToolCall | ToolResult | Media | Opaque


class Author(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Who spoke: any of an id, a name people read, and a handle."""

    id: str | None = None
    name: str | None = None
    username: str | None = None

    @property
    def label(self) -> str:
        """The best word for this person."""
        return self.name or self.username or self.id or "unknown"


class Reply(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a message answers: another one, by its id, its author and a few of its words."""

    message_id: str | None = None
    author: Author | None = None
    excerpt: str | None = None


class Message(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One entry of a conversation."""

    role: Role
    parts: tuple[Part, ...] = ()
    author: Author | None = None
    reply_to: Reply | None = None
    sent_at: str | None = None
    """When, in the spelling it came in; `time` reads it."""
    kind: Kind = "message"
    turn: int | None = None
    pinned: bool = False
    visibility: Visibility = "public"
    meta: dict[str, Any] = {}
    """Yours: never sent to a model."""
    extra: Extra = {}

    @property
    def text(self) -> str:
        """The words said, without thinking, calls and results."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls among the parts."""
        return tuple([part for part in self.parts if type(part) is ToolCall])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results among the parts."""
        return tuple([part for part in self.parts if type(part) is ToolResult])

    @property
    def time(self) -> datetime | None:
        """`sent_at` as an instant; None where there is none or its spelling cannot be read."""
        return read_time(self.sent_at) if self.sent_at else None

    def with_parts(self, parts: Iterable[Part]) -> Message:
        """The same message with other parts."""
        return msgspec.structs.replace(self, parts=tuple(parts))


class Tool(Struct, frozen=True, tag="tool", omit_defaults=True, forbid_unknown_fields=True):
    """A tool the model may call; `parameters` is plain JSON Schema."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    extra: Extra = {}


def read_time(spelling: str) -> datetime | None:
    """An instant from ISO 8601 or from a number of seconds such as Slack writes.

    Without a zone it counts as UTC.
    """
    try:
        moment = datetime.fromisoformat(spelling)
    except ValueError:
        try:
            moment = datetime.fromtimestamp(float(spelling), UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return with_zone(moment)


def with_zone(moment: datetime) -> datetime:
    """A time that can be compared with any other: without a zone it counts as UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Content: TypeAlias = "str | Part | Mapping[str, Any] | Sequence[str | Part]"
"""What the helpers below take: words, a part, or several."""


def as_parts(content: Content) -> tuple[Part, ...]:
    """Whatever people naturally pass, as parts."""
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
    """An author from a bare id."""
    return Author(id=author) if isinstance(author, str) else author


def as_time(moment: datetime | str | None) -> str | None:
    """A time in its original spelling; a datetime as ISO 8601."""
    return moment.isoformat() if isinstance(moment, datetime) else moment


def user(
    content: Content,
    *,
    author: Author | str | None = None,
    sent_at: datetime | str | None = None,
    **fields: Any,
) -> Message:
    """A user message: `user("Hello", author="U123")`, `user(["See:", Media(…)])`."""
    return Message("user", as_parts(content), as_author(author), sent_at=as_time(sent_at), **fields)


def assistant(content: Content, *, sent_at: datetime | str | None = None, **fields: Any) -> Message:
    """An assistant message: words, calls, thinking, or a list of them."""
    return Message("assistant", as_parts(content), sent_at=as_time(sent_at), **fields)


def system(content: Content, *, sent_at: datetime | str | None = None, **fields: Any) -> Message:
    """A system message: at the head of a conversation, or anywhere in it."""
    return Message("system", as_parts(content), sent_at=as_time(sent_at), **fields)


def tool_result(
    call_id: str,
    content: object = "",
    *,
    name: str | None = None,
    is_error: bool = False,
    **fields: Any,
) -> Message:
    """The answer to a call: text, a dict, any other JSON value, media, or a list of parts."""
    return Message("tool", (ToolResult(call_id, as_result(content), name, is_error),), **fields)


def as_result(content: object) -> str | dict[str, Any] | tuple[Text | Media | Opaque, ...]:
    """A tool's answer in one of the three shapes a `ToolResult` holds."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return cast("dict[str, Any]", content)
    several = isinstance(content, list | tuple)
    pieces = list(cast("Sequence[object]", content)) if several else [content]
    parts = tuple(piece for piece in pieces if isinstance(piece, Text | Media | Opaque))
    return parts if pieces and len(parts) == len(pieces) else json_text(content)
