"""The slow, exact reader behind `contextwright.documents.read`, which locates errors in JSON text.

The fast decoder reports "malformed, byte 48211". People need `messages[3].content`, the line, and
what to do. Only text that the decoder rejected is read here, in one forward scan over tokens that
keeps the path to the current value on a stack.
"""

from __future__ import annotations

import re
from math import isinf
from sys import get_int_max_str_digits
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.errors import ParseError, shown

__all__ = ["Fault", "find_fault", "refuse_other_encodings", "step", "without_bad_text"]

Expected: TypeAlias = Literal["value", "key", "colon", "more", "nothing"]

TOKEN = re.compile(
    rb"[ \t\r\n]*+(?:"
    rb"(?P<mark>[{}\[\],:])"
    rb'|(?P<string>")'
    rb"|(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)(?![0-9A-Za-z.+-])"
    rb"|(?P<word>true|false|null)(?![0-9A-Za-z_])"
    rb"|(?P<end>\Z))"
)
BLANK = re.compile(rb"[ \t\r\n]*+")
WORD = re.compile(rb"[+-]?[0-9A-Za-z_.+-]++")
PLAIN_TEXT = re.compile(rb'[^"\\\x00-\x1f]*+')
ESCAPED = b'"\\/bfnrtu'
ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a complete pair
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\u[0-9a-fA-F]{4}|(?P<broken>\\u.{0,4})|\\.",
    re.DOTALL,
)
PLAIN_KEY = re.compile(r"[^\W\d][\w-]*", re.ASCII)
LONGEST_PATH = 120

WANTED: dict[Expected, str] = {
    "value": "a value",
    "key": "a key in double quotes",
    "colon": "a colon after the key",
    "more": "a comma or the closing bracket",
    "nothing": "nothing more",
}


def without_bad_text(data: bytes) -> tuple[bytes, int]:
    """Replace lone surrogates and NUL with U+FFFD; return the text and how many there were."""
    found = 0

    def replaced(match: re.Match[bytes]) -> bytes:
        nonlocal found
        if match["half"] is None and match[0] != rb"\u0000":
            return match[0]
        found += 1
        return rb"\ufffd"

    return (ESCAPE.sub(replaced, data), found) if b"\\u" in data else (data, 0)


WIDE = (b"\xff\xfe", b"\xfe\xff")
"""The first bytes of UTF-16 and UTF-32."""
PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of gzip, bzip2, xz, Zstandard, zip and an empty zip."""


def find_fault(
    data: bytes, *, depth: int, first_line: int = 1, first_column: int = 1
) -> ParseError | None:
    """Return the first error in JSON text with line, path and hint; None if it is valid.

    `depth` is the maximum nesting; `first_line` and `first_column` are where the text begins.
    """
    reader = Reader(data, depth)
    try:
        reader.read()
    except Fault as fault:
        line = first_line + data.count(b"\n", 0, fault.offset)
        line_start = data.rfind(b"\n", 0, fault.offset) + 1
        column = characters(data[line_start : fault.offset])
        column += first_column if line_start == 0 else 1
        message = f"{fault} at column {column}"
        return ParseError(message, path=reader.path, line=line, hint=fault.hint)
    return None


def characters(data: bytes) -> int:
    """Return the number of characters in a text, of which some may be broken."""
    return len(data.decode(errors="replace"))


class Fault(Exception):
    """Stops the reader at the first error."""

    def __init__(self, offset: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.hint = hint


class Level(Struct):
    """An open object or list, and the position in it."""

    closer: bytes
    place: str | int | None
    """A key or an index; None before the first key."""
    keys: set[str]


class Reader:
    """Reads until the first error; `path` then locates it."""

    def __init__(self, data: bytes, depth: int) -> None:
        self.data = data
        self.depth = depth
        self.levels: list[Level] = []
        self.expected: Expected = "value"
        self.opened = False
        """Whether the last token opened a bracket, so that it may close at once."""

    @property
    def path(self) -> str:
        """The path to the current value, such as `messages[3].content`."""
        path = "".join(step(level.place) for level in self.levels).removeprefix(".")
        half = LONGEST_PATH // 2
        return path if len(path) <= LONGEST_PATH else f"{path[:half]}…{path[-half:]}"

    def read(self) -> None:
        """Read token after token; return if the whole text is valid.

        Raises:
            Fault: at the first error.
        """
        refuse_other_encodings(self.data)
        offset = 0
        while match := TOKEN.match(self.data, offset):
            kind, offset = match.lastgroup, match.end()
            token, start = match[kind or 0], match.start(kind or 0)
            if kind == "string":
                offset = self._string_end(start)
                token = self.data[start:offset]
            if kind == "end":
                return self._end()
            if self.expected == "nothing":
                hint = after_document(self.data[: match.start()], self.data[match.start() : start])
                raise Fault(start, "something follows the document", hint)
            if kind == "mark":
                self._mark(token, start)
            elif kind == "string":
                self._string(token, start)
            elif self.expected == "value":
                check_number(token, start)
                self._after_value()
            else:
                raise self._unexpected(token, start)
        raise self._unreadable(BLANK.match(self.data, offset).end())  # pyright: ignore

    def _mark(self, mark: bytes, start: int) -> None:
        closes = bool(self.levels) and mark == self.levels[-1].closer
        if mark in b"{[" and self.expected == "value":
            self._open(mark, start)
        elif closes and (self.expected == "more" or self.opened):
            self.levels.pop()
            self._after_value()
        elif mark == b"," and self.expected == "more":
            self._next_place()
        elif mark == b":" and self.expected == "colon":
            self.expected = "value"
        else:
            raise self._unexpected(mark, start)

    def _open(self, mark: bytes, start: int) -> None:
        if len(self.levels) == self.depth:
            raise Fault(
                start, f"nested deeper than {self.depth} levels", "no format nests that deeply"
            )
        is_object = mark == b"{"
        self.levels.append(Level(b"}" if is_object else b"]", None if is_object else 0, set()))
        self.expected = "key" if is_object else "value"
        self.opened = True

    def _next_place(self) -> None:
        level = self.levels[-1]
        if isinstance(level.place, int):
            level.place += 1
            self.expected = "value"
        else:
            self.expected = "key"

    def _after_value(self) -> None:
        self.expected = "more" if self.levels else "nothing"
        self.opened = False

    def _string(self, token: bytes, start: int) -> None:
        if self.expected == "key":
            self._key(token, start)
        elif self.expected == "value":
            check_string(token, start)
            self._after_value()
        else:
            raise self._unexpected(token, start)

    def _key(self, token: bytes, start: int) -> None:
        level = self.levels[-1]
        check_string(token, start)
        key = msgspec.json.decode(token, type=str)
        level.place = key
        if key in level.keys:
            raise Fault(start, f"the key {shown(key)} occurs twice", "keep one of them")
        level.keys.add(key)
        self.expected = "colon"
        self.opened = False

    def _end(self) -> None:
        if self.expected == "nothing":
            return
        offset = len(self.data.rstrip(b" \t\r\n"))
        if not self.levels and self.expected == "value":
            raise Fault(offset, "the document is empty", "expected JSON")
        raise self._truncated(offset)

    def _truncated(self, offset: int) -> Fault:
        return Fault(offset, "the document ends in the middle", "is it complete?")

    def _unexpected(self, token: bytes, start: int) -> Fault:
        wanted = WANTED[self.expected]
        return Fault(start, f"unexpected {quoted(token)}", f"expected {wanted}")

    def _string_end(self, start: int) -> int:
        """Return the position after the closing quote of the string that begins at `start`."""
        stop = text_end(self.data, start + 1)
        if self.data[stop : stop + 1] == b'"':
            return stop + 1
        fault = broken_string(self.data, stop)
        if fault is None:
            raise self._truncated(stop)
        # an earlier error in the string comes first
        check_string(self.data[start:stop] + b'"', start)
        raise fault

    def _unreadable(self, start: int) -> Fault:
        """Return the error for text that is not a token: a word JSON does not have, or garbage."""
        word = WORD.match(self.data, start)
        if word is None:
            character = self.data[start : start + 4].decode(errors="replace")[:1]
            return self._unexpected(character.encode(), start)
        plain = word[0].lstrip(b"+-").lower()
        if plain in (b"nan", b"infinity", b"inf"):
            return Fault(start, f"{quoted(word[0])} is not a JSON value", "write null, or a string")
        if word.end() == len(self.data) and self.levels:
            return self._truncated(word.end())
        return self._unexpected(word[0], start)


def refuse_other_encodings(data: bytes) -> None:
    """Raise a `Fault` for a text whose first bytes are not those of JSON in UTF-8."""
    if data.startswith(PACKED):
        raise Fault(0, "this is a packed file", "unpack it; cw import reads zips as they are")
    if data.startswith(WIDE) or b"\x00" in data[:4]:
        raise Fault(0, "this is not UTF-8 text", "save it as UTF-8, not UTF-16 or binary")


def after_document(first: bytes, gap: bytes) -> str:
    """Return what to do about a second document, by the first and the white space between them."""
    if b"\n" in gap and b"\n" in first.strip():
        return "put each on one line (JSON Lines), or in a file of its own"
    if b"\n" in gap:
        return "cw batch reads JSON Lines, from a file named .jsonl"
    if b"\r" in gap:
        return r"end lines with \n: \r alone does not end one"
    return "leave it out, or put it on a line of its own"


def step(place: str | int | None) -> str:
    """Return one step of a path; a key that is not a plain word goes in brackets."""
    if place is None:
        return ""
    if isinstance(place, int):
        return f"[{place}]"
    return f".{place}" if PLAIN_KEY.fullmatch(place) else f"[{shown(place)}]"


def quoted(token: bytes) -> str:
    """Return a piece of the text as errors quote it."""
    return shown(token[:200].decode(errors="replace"))


def check_number(token: bytes, start: int) -> None:
    """Refuse numbers that are valid JSON but too large for any program.

    Raises:
        Fault: the number is too large.
    """
    digits = len(token.lstrip(b"-"))
    if token.lstrip(b"-").isdigit():
        if digits > get_int_max_str_digits() > 0:
            raise Fault(start, f"an integer of {digits:,} digits", "write it as a string")
    elif token[-1:].isdigit() and isinf(float(token)):
        raise Fault(start, f"the number {quoted(token)} is too large", "write it as a string")


def check_string(token: bytes, start: int) -> None:
    """Refuse strings that are not text.

    Raises:
        Fault: the bytes are not UTF-8, or an escape is invalid.
    """
    try:
        token.decode()
    except UnicodeDecodeError as error:
        place, byte = start + error.start, token[error.start]
        raise Fault(place, f"byte 0x{byte:02x} is not UTF-8", "save the file as UTF-8") from None
    if rb"\u" not in token:
        return
    for escape in ESCAPE.finditer(token):
        if escape.lastgroup:
            raise broken_escape(escape, start)


def broken_escape(escape: re.Match[bytes], start: int) -> Fault:
    """Return the error for an escape that is not a character."""
    place, spelling = start + escape.start(), quoted(escape[0])
    if escape["half"]:
        hint = "write both halves, or \\ufffd"
        return Fault(place, f"{spelling} is half of a surrogate pair", hint)
    return Fault(place, f"{spelling} is not a valid escape", "\\u takes four hexadecimal digits")


def text_end(data: bytes, start: int) -> int:
    """Return the position of the first byte that cannot continue a string: a quote, or an error."""
    while True:
        start = PLAIN_TEXT.match(data, start).end()  # pyright: ignore
        escape = data[start : start + 2]
        if len(escape) < 2 or escape[:1] != b"\\" or escape[1:] not in ESCAPED:
            return start
        start += 2


def broken_string(data: bytes, stop: int) -> Fault | None:
    """Return why a string stops before its closing quote; None if the data ends there."""
    byte = data[stop : stop + 1]
    if not byte or (byte == b"\\" and stop + 1 == len(data)):
        return None
    if byte == b"\\":
        escape = quoted(data[stop : stop + 2])
        return Fault(stop, f"{escape} is not a valid escape", "write \\\\ for a backslash")
    return Fault(
        stop, f"a raw control character {quoted(byte)} in a string", "write it as an escape"
    )
