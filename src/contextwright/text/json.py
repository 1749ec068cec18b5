"""The one way JSON is written and read here."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isfinite
from threading import Lock
from typing import Any, AnyStr, TypeVar, cast

import msgspec

from contextwright.errors import UsageError, shown

UNFIT = re.compile("[\x00\ud800-\udfff]")
"""Characters valid only in Python text: NUL and lone surrogates."""


HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""The escape of half a character, of which JSON writes some as pairs."""

encode_json = msgspec.json.Encoder().encode


decode_json = msgspec.json.Decoder().decode

Value = TypeVar("Value")
PREPARING = Lock()
"""Held while msgspec prepares a type, because it crashes if two threads do so at once."""
PREPARED: set[object] = set()


def decoder(type: type[Value]) -> msgspec.json.Decoder[Value]:
    """Return a decoder of JSON to a type; safe to call from any thread."""
    with PREPARING:
        return msgspec.json.Decoder(type)


def convert(value: object, type: type[Value], *, strict: bool = True) -> Value:
    """Convert a value to one of our types like `msgspec.convert`; safe to call from any thread.

    Raises:
        msgspec.ValidationError: the value does not match, or a name in it is not Unicode.
    """
    if type not in PREPARED:
        decoder(type)
        PREPARED.add(type)
    return convert_prepared(value, type, strict=strict)


def convert_prepared(value: object, type: type[Value], *, strict: bool = True) -> Value:
    """Convert a value to a type that already has a `decoder`, and that nothing here keeps alive.

    Raises:
        msgspec.ValidationError: the value does not match, or a name in it is not Unicode.
    """
    try:
        return msgspec.convert(value, type, strict=strict)
    except UnicodeEncodeError as error:  # msgspec looks for a lone surrogate among its names
        raise msgspec.ValidationError("Text with half a surrogate pair") from error


def decode_halves(text: bytes | str) -> Any:
    """Decode JSON in which characters may be cut in half, as JavaScript writes them (`\\ud83d`).

    Raises:
        ValueError: the text is not JSON; `UnicodeDecodeError` and `msgspec.DecodeError` are ones.
    """
    try:
        return decode_json(text)
    except msgspec.DecodeError:
        text = text if isinstance(text, str) else text.decode()
        if not HALF.search(text):
            raise
    return json.loads(text, parse_constant=refuse_constant)


def repeated_keys(text: str, value: object) -> list[str]:
    """Return the keys that an object in a JSON text has twice, of which `value` keeps the last.

    A lost key takes its colon with it, unless colons are written as escapes.
    """
    if "\\u003" not in text and text.count(":") == json_text(value).count(":"):
        return []
    repeated: dict[str, None] = {}

    def note(pairs: list[tuple[str, Any]]) -> None:
        times = Counter(key for key, _ in pairs)
        repeated.update({key: None for key in times if times[key] > 1})

    json.loads(text, object_pairs_hook=note, strict=False)
    return list(repeated)


def refuse_constant(name: str) -> None:
    """Refuse what Python reads and JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def decode_object(text: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object in a text from outside; None if it is not one."""
    try:
        value = decode_halves(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def with_whole_characters(value: Value) -> Value:
    """Return decoded JSON with U+FFFD instead of each half of a character."""
    try:
        encode_json(value)
    except UnicodeEncodeError:
        return json.loads(whole_characters(json.dumps(value, ensure_ascii=False)))
    return value


def join_halves(text: str) -> str:
    """Return a text in which the two halves of a character are one; a lone half stays."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def whole_characters(text: str) -> str:
    """Return a text with the halves of a character joined, and a lone half as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def json_text(value: object) -> str:
    """Return a value as compact JSON text; lone surrogates are kept, for callers to repair."""
    try:
        return encode_json(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def spelling_of(value: object) -> str | bytes:
    """Return a text that differs where values are written differently, though equal: 1 and 1.0."""
    try:
        return encode_json(value)
    except (TypeError, ValueError):  # not JSON, or a lone surrogate
        return repr(value)


def string_end(text: AnyStr, start: int) -> int:
    """Return the position after the quote that closes a JSON string, or -1 if none does.

    `start` is the position after the opening quote. Escapes are not checked. Linear, without a
    repeated group: CPython before 3.11.5 matches possessive groups wrongly, and a plain one keeps a
    backtracking point for every escape.
    """
    quote, backslash = (b'"', b"\\") if isinstance(text, bytes) else ('"', "\\")
    while (place := text.find(quote, start)) >= 0:  # pyright: ignore[reportArgumentType]
        piece = text[start:place]
        if (len(piece) - len(piece.rstrip(backslash))) % 2 == 0:  # pyright: ignore[reportArgumentType]
            return place + 1
        start = place + 1
    return -1


DEEPEST = 100
"""Maximum nesting of arguments."""


ALWAYS_JSON = frozenset((str, int, bool, type(None)))
"""Types whose every value is JSON."""


def require_json(value: object, depth: int = 0) -> None:
    """Raise for values that JSON does not have, such as NaN and keys that are not text."""
    kind = type(value)
    if kind in ALWAYS_JSON:
        return
    if kind is float and isfinite(value):  # pyright: ignore[reportArgumentType]
        return
    if depth > DEEPEST:
        raise UsageError("arguments are nested too deeply", hint=f"at most {DEEPEST} levels")
    if isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                raise UsageError(f"the key {shown(key)} is not text")
            if type(item) not in ALWAYS_JSON:
                require_json(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            if type(item) not in ALWAYS_JSON:
                require_json(item, depth + 1)
    else:
        raise UsageError(f"{shown(value)} is not JSON", hint="text, numbers, lists, objects")
