"""A stream's bytes, decoded into events: server-sent events, or a JSON array.

The time is linear in the number of bytes: each byte is read once, and pieces are joined once.
"""

from __future__ import annotations

import re
from typing import Any

from contextwright.errors import ParseError, shown
from contextwright.text.json import decode_halves, encode_json

__all__ = ["DONE", "Decoder", "encode_event"]

DONE = "[DONE]"
"""OpenAI's end-of-stream mark; decoded as this text."""
DONE_BYTES = DONE.encode()
LINE_END = re.compile(rb"\r\n|\n|\r")
PLAIN = re.compile(rb"(?:event:[^\n]*\n)?data: ?([^\n ][^\n]*)\n\n")
MARK = re.compile(rb'["\\{}\[\]]')
BLANK = b" \t\r\n,"
BOM = b"\xef\xbb\xbf"
MEANT = (b"data:", BOM)
"""How lines begin that say something; the names of events are in their data too."""


class Decoder:
    """Takes a stream's bytes in any pieces and returns its decoded JSON values.

    The first byte decides: `[` or `{` begins JSON (Gemini without `alt=sse`, an error body),
    anything else server-sent events.
    """

    def __init__(self) -> None:
        self.inner: Lines | JsonValues | None = None
        self.error: ParseError | None = None

    def feed(self, piece: bytes) -> list[Any]:
        """Return the values that this piece completes.

        Raises:
            ParseError: an event is not JSON. The values before it are returned first, so that the
                error may come with the next piece, or at the end.
        """
        if self.error is not None:
            raise self.error
        if self.inner is None:
            piece = piece.lstrip()
            if not piece:
                return []
            self.inner = JsonValues() if piece[:1] in (b"[", b"{") else Lines()
        found: list[Any] = []
        try:
            self.inner.feed(piece, found)
        except ParseError as error:
            if not found:
                raise
            self.error = error
        return found

    def close(self) -> list[Any]:
        """Return the last value, if the stream ended without a closing line."""
        if self.error is not None:
            raise self.error
        return self.inner.close() if self.inner is not None else []


class Lines:
    """Server-sent events: decodes the `data` of each."""

    def __init__(self) -> None:
        self.line: list[bytes] = []
        self.data: list[bytes] = []
        self.after_return = False

    def feed(self, piece: bytes, found: list[Any]) -> None:
        if not piece:
            return
        if self.after_return:
            piece = piece.removeprefix(b"\n")
        self.after_return = piece.endswith(b"\r")
        if not self.line and not self.data and b"\r" not in piece:
            piece = piece[self.take_plain(piece, found) :]
        *ended, rest = LINE_END.split(piece) if b"\r" in piece else piece.split(b"\n")
        for line in ended:
            if self.line:
                line = b"".join((*self.line, line))
                self.line.clear()
            self.take(line, found)
        if rest:
            self.line.append(rest)

    def take_plain(self, piece: bytes, found: list[Any]) -> int:
        """Read the events that have one line of data and perhaps a name; return where they end."""
        end = 0
        while (event := PLAIN.match(piece, end)) is not None:
            found.append(decoded(event[1]))
            end = event.end()
        return end

    def take(self, line: bytes, found: list[Any]) -> None:
        """Read one line; an empty one ends the event. An event may be empty too."""
        if not line:
            data = b"\n".join(self.data)
            self.data.clear()
            if data.strip():
                found.append(decoded(data))
        elif line.startswith(MEANT):
            line = line.removeprefix(BOM)
            if line.startswith(b"data:"):
                self.data.append(line[5:].removeprefix(b" "))

    def close(self) -> list[Any]:
        found: list[Any] = []
        self.take(b"".join(self.line), found)
        self.line.clear()
        self.take(b"", found)
        return found


class JsonValues:
    """The objects of a JSON array, or a single object, each as soon as it is complete."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.depth = 0
        self.base = 0
        self.quoted = False
        self.escaped = False
        self.begun = False

    def feed(self, piece: bytes, found: list[Any]) -> None:
        start = 0
        if not self.begun:
            self.begun = True
            if piece[:1] == b"[":
                self.base = self.depth = 1
                start = 1
        at = start
        while (mark := self.next_mark(piece, at)) is not None:
            at = mark + 1
            byte = piece[mark:at]
            if byte == b'"':
                self.quoted = not self.quoted
            elif byte in b"{[":
                self.depth += 1
            else:
                self.depth -= 1
                if self.depth == self.base:
                    self.pieces.append(piece[start:at])
                    found.append(decoded(b"".join(self.pieces).strip(BLANK)))
                    self.pieces.clear()
                    start = at
        self.pieces.append(piece[start:])

    def next_mark(self, piece: bytes, at: int) -> int | None:
        """Return the next byte that opens or closes something; skip escaped characters."""
        if self.escaped:
            if at >= len(piece):
                return None
            self.escaped = False
            at += 1
        while (found := MARK.search(piece, at)) is not None:
            byte = found[0]
            if byte == b"\\":
                if found.end() >= len(piece):
                    self.escaped = True
                    return None
                at = found.end() + 1
            elif self.quoted and byte != b'"':
                at = found.end()
            else:
                return found.start()
        return None

    def close(self) -> list[Any]:
        if self.depth > self.base:
            raise ParseError("the stream ends in the middle of a value")
        return []


def decoded(data: bytes) -> Any:
    """Decode the JSON of one event, or the end-of-stream mark."""
    if data == DONE_BYTES:
        return DONE
    try:
        return decode_halves(data)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"an event of the stream is not JSON: {shown(data)}") from error


def encode_event(data: Any, name: str | None = None) -> bytes:
    """Encode one server-sent event as JSON on one line, so that content cannot end it early."""
    body = data.encode() if isinstance(data, str) else encode_json(data)
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + body + b"\n\n"
