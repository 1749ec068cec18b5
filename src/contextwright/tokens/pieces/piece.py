"""A countable piece of a request, and how to read unvalidated JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache
from itertools import chain, repeat
from typing import Any, Literal, TypeAlias

from msgspec import DecodeError, Struct
from msgspec.json import decode as decode_json

from contextwright.text.json import encode_json

__all__ = [
    "Blob",
    "Fields",
    "Found",
    "Kind",
    "Outline",
    "Piece",
    "Turn",
    "compact",
    "definition",
    "fields",
    "items",
    "json_of",
    "media",
    "numbered",
    "text_of",
    "turns",
    "unread",
]

Kind: TypeAlias = Literal[
    "request",  # one per request: what primes the answer
    "message",  # one per message; the value is its role
    "name",  # who speaks, beside the role
    "answer",  # one per message with text from the model
    "system",  # instructions outside the messages
    "text",
    "thinking",  # reasoning sent back as text
    "sealed",  # reasoning sent back encrypted: signatures, encrypted content
    "compaction",  # a history that the provider has summarised and encrypted
    "past_thinking",  # the same as "thinking", from before the newest question
    "past_sealed",  # the same as "sealed", from before the newest question
    "call",  # a tool call; the value is the tool's name
    "arguments",
    "parallel",  # one per message with several calls
    "result",  # a tool result; its content follows
    "response",  # the JSON value of a Gemini tool result
    "image",
    "audio",
    "video",
    "document",
    "wrapping",  # around a document whose text is in the request
    "citations",  # one per request that asks for them
    "tools",  # the user's own tools; the value is a list of their definitions
    "forced",  # those tools, when the request forces a call
    "added_tools",  # tools added in mid-conversation
    "tools_beside_system",  # those tools, in a request with a system message
    "deferred",  # tools the model first has to search for
    "hosted",  # a tool the provider runs itself; the value is its type
    "schema",  # the JSON schema an answer has to follow
    "budget",  # a thinking budget, which the provider puts into words
    "edits",  # the provider may clear history; the value is the number of tokens that starts it
    "untried",  # a combination that no recording shows; costs about the sum of its parts
    "unpriced",  # a field of unknown price; the value is its name
    "opaque",  # a block of the provider's own, or an unknown one; the value is its JSON
    "unseen",  # content on the provider's side: stored turns, files, caches
]

Fields: TypeAlias = dict[str, Any]


class Piece(Struct, frozen=True, gc=False):
    """A part of a request that has a price of its own."""

    kind: Kind
    place: str
    """Its place: `messages[3]`, `system`, `tools`, `request`."""
    value: Any = ""
    """Text; for media a `Blob`; for tools the name, description and parameters of each."""


class Blob(Struct, frozen=True, gc=False):
    """The value of a media piece. Its fields are not validated."""

    data: Any = None
    """Its bytes in base64, where the request holds them."""
    url: Any = None
    mime: Any = None
    detail: Any = None
    name: Any = None


Found: TypeAlias = Iterator[Piece]
Walk: TypeAlias = Callable[[Any, str], Found]
"""Yields the pieces of a message at a place."""


class Turn(Struct, frozen=True, gc=False):
    """A message of a request (or input item, or content), which can be taken apart alone."""

    place: str
    value: Any
    walk: Walk

    def pieces(self) -> list[Piece]:
        """Take it apart."""
        try:
            return list(self.walk(self.value, self.place))
        except RecursionError:  # blocks within blocks, deeper than any provider reads
            return [Piece("opaque", self.place, json_of(self.value))]


Outline: TypeAlias = Iterator[Piece | Turn]
"""The pieces of a request, with its messages still whole."""

FIRST_TURNS = 1_024
"""Turns of a request whose places are kept."""


def turns(
    place: str, values: Sequence[Any], walk: Walk, past: Walk | None = None, question: int = 0
) -> Iterator[Turn]:
    """Yield the messages of a request; `past` takes those before index `question` apart."""
    walks = chain(repeat(past or walk, question), repeat(walk))
    return map(Turn, numbered(place, len(values)), values, walks)


def numbered(place: str, turns: int) -> Sequence[str]:
    """Return `messages[0]`, `messages[1]` …, at least as many as there are turns."""
    if turns > FIRST_TURNS:
        return [f"{place}[{index}]" for index in range(turns)]
    return first_places(place)


@cache
def first_places(place: str) -> Sequence[str]:
    """Return the places of the first turns; kept, because every request has them."""
    return tuple([f"{place}[{index}]" for index in range(FIRST_TURNS)])


def fields(value: Any) -> Fields:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def items(value: Any) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]


def unread(body: Fields, known: Set[str], place: str) -> Found:
    """Yield a piece for each field that no price is known for; unset fields are free."""
    if body.keys() <= known:
        return
    for name, value in body.items():
        if name not in known and value is not None and value != [] and value != {}:
            yield Piece("unpriced", place, name)


def text_of(value: Any) -> str:
    """Return text as it is, "" for None, and the JSON of any other value."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_of(value)


def json_of(value: Any) -> str:
    """Return a value as compact JSON; values that JSON lacks are written as by `str`."""
    try:
        return encode_json(value).decode()
    except (TypeError, ValueError, RecursionError, OverflowError):
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (TypeError, ValueError, RecursionError):
        # Nested too deeply, or containing itself: no provider accepts it either.
        return ""


def compact(text: str) -> str:
    """Return JSON text without spaces between values, as OpenAI shows arguments to a model."""
    if ": " not in text and ", " not in text:
        return text
    try:
        return json_of(decode_json(text))
    except (DecodeError, RecursionError, UnicodeEncodeError):
        return text


def definition(tool: Fields) -> Fields:
    """Return a tool's name, description and JSON schema under the same keys for every format."""
    definition = fields(tool.get("function") or tool.get("custom") or tool)
    for name in ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"):
        if isinstance(definition.get(name), dict):
            schema = definition[name]
            break
    else:
        schema = None
    return {
        "name": text_of(definition.get("name")),
        "description": text_of(definition.get("description")),
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
    """Return a media piece: with base64 data if the body contains it, else with the address."""
    data, url = (source, None) if isinstance(source, str) else (None, None)
    if isinstance(data, str) and data.startswith(DATA_URL):
        head, _, data = data.partition(",")
        mime = head.removeprefix(DATA_URL).partition(";")[0]
    elif isinstance(data, str) and "://" in data[:16]:
        data, url = None, data
    return Piece(kind, place, Blob(data, url, mime, detail, name))
