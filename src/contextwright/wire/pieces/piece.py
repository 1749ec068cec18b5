"""A countable piece of a request, and how to read JSON that nobody has checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from msgspec import DecodeError, Struct
from msgspec.json import decode as decode_json

from contextwright.messages import encode_json

__all__ = [
    "Blob",
    "Fields",
    "Found",
    "Kind",
    "Piece",
    "compact",
    "definition",
    "fields",
    "items",
    "json_of",
    "media",
    "text_of",
]

Kind: TypeAlias = Literal[
    "request",  # one per request: what primes the answer
    "message",  # one per message; the value is its role
    "name",  # who speaks, beside the role
    "answer",  # one per message in which the model said something
    "system",  # instructions that stand outside the messages
    "text",
    "thinking",  # reasoning that is sent back in words
    "sealed",  # reasoning that is sent back encrypted: signatures, encrypted content
    "call",  # a tool call; the value is the tool's name
    "arguments",
    "parallel",  # one per message with several calls
    "result",  # a tool result; its words follow as text
    "image",
    "audio",
    "video",
    "document",
    "wrapping",  # around a document whose text stands in the request
    "citations",  # one per request that asks for them
    "tools",  # the user's own tools; the value is a list of their definitions
    "forced",  # those tools, when the request forces a call
    "added_tools",  # tools that come in mid-conversation
    "tools_beside_system",  # those tools, in a request with a system message
    "deferred",  # tools the model first has to search for
    "hosted",  # a tool the provider runs itself; the value is its type
    "schema",  # the JSON schema an answer has to follow
    "budget",  # thinking with a budget, which the provider tells the model
    "untried",  # a combination that no recording shows: it costs the sum of its parts, or nearly
    "opaque",  # a block we do not know; the value is its JSON
    "unseen",  # what the provider adds from its own side: stored turns, files, caches
]

Fields: TypeAlias = dict[str, Any]


class Piece(Struct, frozen=True, gc=False):
    """One countable thing."""

    kind: Kind
    place: str
    """Where it stands: `messages[3]`, `system`, `tools`, `request`."""
    value: Any = ""
    """Text; for media a `Blob`, for tools the name, description and parameters of each."""


class Blob(Struct, frozen=True, gc=False):
    """The value of a piece of media. Nothing about its fields is checked."""

    data: Any = None
    """Its bytes in base64, where the request holds them."""
    url: Any = None
    mime: Any = None
    detail: Any = None
    name: Any = None


Found: TypeAlias = Iterator[Piece]


# These take any value and give a usable one.


def fields(value: Any) -> Fields:
    """An object's fields; none for anything else."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def items(value: Any) -> list[Any]:
    """A list's items; none for anything else."""
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]


def text_of(value: Any) -> str:
    """Text as it is, nothing as nothing, anything else as its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_of(value)


def json_of(value: Any) -> str:
    """A value as compact JSON; what JSON cannot say, as Python says it."""
    try:
        return encode_json(value).decode()
    except (TypeError, ValueError, RecursionError, OverflowError):
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (TypeError, ValueError, RecursionError):
        # Deeper than anything can be read, or containing itself: no provider takes it either.
        return ""


def compact(text: str) -> str:
    """JSON text without spaces between its values, as OpenAI shows arguments to a model."""
    if ": " not in text and ", " not in text:
        return text
    try:
        return json_of(decode_json(text))
    except (DecodeError, RecursionError, UnicodeEncodeError):
        return text


def definition(tool: Fields) -> Fields:
    """A tool's name, description and JSON schema, whatever the format calls them."""
    told = fields(tool.get("function") or tool.get("custom") or tool)
    for name in ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"):
        if isinstance(told.get(name), dict):
            schema = told[name]
            break
    else:
        schema = None
    return {
        "name": text_of(told.get("name")),
        "description": text_of(told.get("description")),
        "parameters": schema,
    }


DATA_URL = "data:"


def media(
    kind: Literal["image", "audio", "video", "document"],
    place: str,
    source: Any,
    *,
    mime: Any = None,
    detail: Any = None,
    name: Any = None,
) -> Piece:
    """A piece of media: base64 data where the body holds it, otherwise only an address."""
    data, url = (source, None) if isinstance(source, str) else (None, None)
    if isinstance(data, str) and data.startswith(DATA_URL):
        head, _, data = data.partition(",")
        mime = head.removeprefix(DATA_URL).partition(";")[0]
    elif isinstance(data, str) and "://" in data[:16]:
        data, url = None, data
    return Piece(kind, place, Blob(data, url, mime, detail, name))
