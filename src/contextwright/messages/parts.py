"""The parts of a message."""

from __future__ import annotations

import base64
from typing import Any, Literal, TypeAlias, cast, final

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError
from contextwright.text.json import decode_halves, join_halves, json_text, require_json

__all__ = ["Media", "Opaque", "Part", "Text", "Thinking", "ToolCall", "ToolResult"]

MediaKind: TypeAlias = Literal["image", "audio", "video", "document"]


Extra: TypeAlias = dict[str, dict[str, Any]]
"""Fields of a foreign format that have no place in ours: format name → its fields, unchanged."""


@final
class Text(Struct, frozen=True, tag="text", omit_defaults=True, forbid_unknown_fields=True):
    """Plain text."""

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
    """The model that signed it, if known."""
    redacted: bool = False
    """Whether the provider withheld the text; `signature` then holds its encrypted form."""
    extra: Extra = {}


@final
class ToolCall(
    Struct, frozen=True, tag="tool_call", omit_defaults=True, forbid_unknown_fields=True
):
    """A call of a tool by the assistant."""

    name: str
    arguments: dict[str, Any] = {}
    id: str | None = None
    raw: str | None = None
    """The arguments as the model wrote them, if our JSON would differ."""
    extra: Extra = {}

    def __post_init__(self) -> None:
        require_json(self.arguments)

    @classmethod
    def from_json(
        cls, name: str, text: str, *, id: str | None = None, extra: Extra | None = None
    ) -> ToolCall:
        """Make a call from arguments as JSON text.

        Text that is not an object, or one that is nested too deeply, becomes `_raw`.
        """
        text = join_halves(text)
        try:
            decoded: Any = decode_halves(text) if text.strip() else {}
            if type(decoded) is dict:
                arguments = cast("dict[str, Any]", decoded)
                same = not text.strip() or json_text(arguments) == text
                return cls(name, arguments, id, None if same else text, extra or {})
        except (ValueError, RecursionError, UsageError):
            pass  # not JSON, or nested too deeply
        return cls(name, {"_raw": text}, id, text, extra or {})

    @property
    def json(self) -> str:
        """The arguments as JSON text, as the model wrote them if known."""
        return json_text(self.arguments) if self.raw is None else self.raw


@final
class Media(Struct, frozen=True, tag="media", omit_defaults=True, forbid_unknown_fields=True):
    """An image, audio, video or document: its bytes, its URL, or a provider's handle."""

    kind: MediaKind
    mime: str | None = None
    data: str | None = None
    """The bytes in base64."""
    url: str | None = None
    """A URL; never fetched."""
    file_id: str | None = None
    """A provider's own handle; no other provider knows it."""
    origin: str | None = None
    """The format whose provider gave the handle."""
    name: str | None = None
    extra: Extra = {}

    def __post_init__(self) -> None:
        if isinstance(self.data, bytes | bytearray | memoryview):  # raw bytes are accepted too
            text = base64.b64encode(self.data).decode()
            msgspec.structs.force_setattr(self, "data", text)

    @classmethod
    def from_bytes(
        cls, kind: MediaKind, content: bytes, mime: str, *, name: str | None = None
    ) -> Media:
        """Make media from raw bytes."""
        return cls(kind, mime, base64.b64encode(content).decode(), name=name)


@final
class Opaque(Struct, frozen=True, tag="opaque", omit_defaults=True, forbid_unknown_fields=True):
    """A provider's own block, which may only be sent back to that provider."""

    format: str
    data: dict[str, Any]
    text: str | None = None
    """Its content as text, for other formats."""


@final
class ToolResult(
    Struct, frozen=True, tag="tool_result", omit_defaults=True, forbid_unknown_fields=True
):
    """The result of a tool call: text, a JSON object, or several parts."""

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
        """The text of the result; an object as JSON."""
        content = self.content
        if isinstance(content, str):
            return content
        if isinstance(content, dict):
            return json_text(content)
        return "\n".join(
            part.text for part in content if not isinstance(part, Media) and part.text is not None
        )


Part: TypeAlias = Text | Thinking | ToolCall | ToolResult | Media | Opaque
