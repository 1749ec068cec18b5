"""JSON and JSON Lines from files, standard input and bytes, valid or refused.

Broken or foreign encodings, duplicate keys, lone surrogates, NaN, deep nesting and endless lines
are refused with line, path and hint. Valid data costs one decode and one encode at C speed, and one
walk over the values.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import msgspec

from contextwright.documents.faults import find_fault
from contextwright.errors import ParseError, UsageError, shown
from contextwright.text.json import encode_json

__all__ = [
    "DEPTH",
    "DOCUMENT_LIMIT",
    "LINE_LIMIT",
    "Mend",
    "ReadLine",
    "Source",
    "decode",
    "decode_line",
    "decode_row",
    "lines_of",
    "read_bytes",
    "read_document",
    "read_lines",
    "reason_of",
    "skip_line",
    "too_large",
]

Source: TypeAlias = str | Path | bytes
"""A file's path, `-` for standard input, or the bytes themselves."""

Mend: TypeAlias = Callable[[bytes], bytes]
"""Replaces text that JSON may not hold before it is read."""

ReadLine: TypeAlias = Callable[[bytes, int], Any]
"""Returns the value of a line, given with its number; the `ParseError` if it cannot be read."""

NESTING = frozenset((dict, list))

DEPTH = 200
"""Maximum nesting. Real requests stay under 30, including schemas. Python's own stack holds about
1,000 calls, so all code that uses these values may recurse.
"""

LINE_LIMIT = 48 * 2**20
"""Maximum bytes of a line: the largest request any provider accepts is 50 MB."""

DOCUMENT_LIMIT = 128 * 2**20
"""Maximum bytes of a document: a history of 100,000 messages is about 50 MB."""

CHUNK = 2**20
ESCAPED_COLON = re.compile(rb"\\u003[aA]").search


def read_document(source: Source, *, limit: int = DOCUMENT_LIMIT) -> Any:
    """Return the JSON value of a source.

    Raises:
        UsageError: the source cannot be opened or read.
        ParseError: it is not one valid JSON document of at most `limit` bytes.
    """
    return decode(read_bytes(source, limit=limit))


def read_bytes(source: Source, *, limit: int = DOCUMENT_LIMIT) -> bytes:
    """Return all bytes of a source; stop reading and raise after `limit` bytes.

    Raises:
        UsageError: the source cannot be opened or read.
        ParseError: it is too large.
    """
    chunks: list[bytes] = []
    room = limit
    with opened(source) as stream:
        while chunk := stream.read(CHUNK):
            room -= len(chunk)
            if room < 0:
                raise too_large("document", limit, line=None)
            chunks.append(chunk)
    return b"".join(chunks)


def read_lines(source: Source, *, limit: int = LINE_LIMIT) -> Iterator[tuple[int, Any]]:
    """Yield the JSON value of each line with the line's number, as the lines arrive.

    For a line that cannot be read, the value is its `ParseError`. Blank lines are skipped. At most
    one line of `limit` bytes is held in memory.

    Raises:
        UsageError: the source cannot be opened or read.
    """
    with opened(source) as stream:
        yield from lines_of(stream, limit=limit)


def lines_of(
    stream: BinaryIO, read: ReadLine | None = None, *, limit: int = LINE_LIMIT
) -> Iterator[tuple[int, Any]]:
    """Yield what `read_lines` does, from an open stream; `read` may decode lines otherwise."""
    read, number = read or decode_line, 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit and not line.endswith(b"\n"):
            yield number, too_large("line", limit, line=number)
            skip_line(stream)
        elif not line.isspace():
            yield number, read(line, number)


def decode(data: bytes, *, first_line: int = 1) -> Any:
    """Decode JSON text.

    Raises:
        ParseError: the first error in it; `first_line` is where line numbers start.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        unread = ParseError("not a JSON document that can be read", line=first_line)
        raise find_fault(data, depth=DEPTH, first_line=first_line) or unread from None
    if is_too_deep(value) or may_lack_keys(value, data):
        fault = find_fault(data, depth=DEPTH, first_line=first_line)
        if fault is not None:
            raise fault
    return value


def decode_line(line: bytes, number: int) -> Any:
    """Decode a line; return the error if it is not valid."""
    try:
        return decode(line, first_line=number)
    except ParseError as error:
        return error


def decode_row(row: bytes) -> Any:
    """Decode a row of a data set, whose number is not known.

    Raises:
        ParseError: it is not valid; its line is named only where the row has several.
    """
    try:
        return decode(row)
    except ParseError as error:
        if b"\n" in row.strip():
            raise
        raise ParseError(error.message, path=error.path, hint=error.hint) from None


def is_too_deep(value: Any) -> bool:
    """Whether a value nests deeper than `DEPTH`."""
    level: list[dict[str, Any] | list[Any]] = [value] if type(value) in NESTING else []
    for _ in range(DEPTH):
        if not level:
            return False
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if type(child) in NESTING
        ]
    return bool(level)


def may_lack_keys(value: object, data: bytes) -> bool:
    """Whether keys may have been lost: the decoder silently keeps the last of two equal ones.

    A lost key takes its colon with it, so the value encoded again has fewer colons than the data.
    That is certain if no colon is written as an escape. Many programs write JSON as we do; then the
    whole is compared at once.
    """
    again = encode_json(value)
    if data.startswith(again):
        return False
    # The first is quicker, and quicker still from the end: few bytes are a backslash.
    if data.rfind(b"\\u003") >= 0 and ESCAPED_COLON(data):
        return True
    return data.count(b":") != again.count(b":")


def skip_line(stream: BinaryIO) -> int:
    """Read past the end of the current line without keeping it; return how many bytes that were."""
    skipped = 0
    while piece := stream.readline(CHUNK):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def too_large(what: str, limit: int, *, line: int | None) -> ParseError:
    """Return the error for input that is too large to hold in memory."""
    size = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit:,} bytes"
    return ParseError(f"the {what} is longer than {size}", line=line, hint="split it")


@contextmanager
def opened(source: Source) -> Generator[BinaryIO]:
    """Open the bytes of a source as a stream; errors of the system become a `UsageError`."""
    try:
        if isinstance(source, bytes):
            yield BytesIO(source)
        elif source == "-":
            yield standard_input()
        else:
            with open(source, "rb") as stream:
                yield stream
    except (OSError, ValueError) as error:
        raise unreadable(source, error) from None


def standard_input() -> BinaryIO:
    """Return standard input as bytes."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise UsageError("there is no standard input", hint="name a file")
    return sys.stdin.buffer


def unreadable(source: Source, error: OSError | ValueError) -> UsageError:
    """Return the error for a source that the system refuses."""
    name = "standard input" if source == "-" else shown(str(source))
    hint = "name a file, or - for standard input"
    return UsageError(f"cannot read {name}: {reason_of(error)}", hint=hint)


def reason_of(error: OSError | ValueError) -> str:
    """Return why something cannot be read, in lower case and the same in every Python."""
    if isinstance(error, UnicodeEncodeError) or "embedded null" in str(error):
        return "not a path"
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or str(error)).lower()
