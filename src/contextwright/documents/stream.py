"""One JSON document read piece by piece, whatever its size.

A forward scan finds the end of each piece without building values. The piece then goes through
`documents.decode`, so that it is validated like a small file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from contextwright.documents.faults import (
    Fault,
    characters,
    find_fault,
    refuse_other_encodings,
    step,
)
from contextwright.documents.read import CHUNK, DEPTH, LINE_LIMIT, Mend, decode, too_large
from contextwright.errors import ParseError, shown
from contextwright.text.json import decoder, string_end

__all__ = ["Document"]

BLANK = re.compile(rb"[ \t\r\n]*+")
INSIDE = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+"[^"\[\]{}]*+){0,200}')
"""Everything up to a bracket, including strings without escapes. The number of strings is limited
because the regular expression keeps a backtracking point for each.
"""
WORD = re.compile(rb"[-+.0-9A-Za-z]*+")
QUOTE = ord('"')
OPENING = b"{["
SKIP = decoder(msgspec.Raw)
FOLLOWED = re.compile(r"trailing characters \(byte (\d+)\)")
CUT_OFF, MALFORMED = -1, -2
SPACE = b" \t\r\n"
MARK = b"\xef\xbb\xbf"


class Document:
    """Walks a document: `fields` of an object, `entries` of a list, `value` for a whole piece.

    Between two steps the caller may take the current piece; a piece that is not taken is checked
    and skipped. A piece has at most `limit` bytes.
    """

    def __init__(
        self, stream: BinaryIO, *, limit: int = LINE_LIMIT, mend: Mend | None = None
    ) -> None:
        self.stream = stream
        self.mend = mend
        self.limit = limit
        self.data = b""
        self.offset = 0
        self.line = 1
        self.counted = 0
        """The offset of `line`."""
        self.passed = 0
        """The bytes of the current line that are no longer held."""
        self.places: list[str | int] = []
        self.taken = 0
        """The number of pieces begun."""
        self.cut = False
        """Whether the data ended within brackets."""
        self.more()
        self.data = self.data.removeprefix(MARK)

    @property
    def path(self) -> str:
        """The path to the current piece."""
        return "".join(step(place) for place in self.places).removeprefix(".")

    def peek(self) -> bytes:
        """Return the first byte of the next piece; empty at the end."""
        while True:
            self.offset = BLANK.match(self.data, self.offset).end()  # pyright: ignore
            if self.offset < len(self.data):
                return self.data[self.offset : self.offset + 1]
            if not self.more():
                return b""

    def value(self) -> Any:
        """Return the next piece as a value."""
        self.taken += 1
        if not self.peek() and self.places:
            raise self.fault("the document ends in the middle", "is it complete?")
        end = self.extent()
        piece = self.data[self.offset : end]
        piece = self.mend(piece) if self.mend else piece
        try:
            value = decode(piece)
        except ParseError as error:
            place = {"first_line": self.here(), "first_column": self.column()}
            found = find_fault(piece, depth=DEPTH, **place)
            raise (found or error.within(line=self.here())).within(self.path) from None
        self.offset = end
        return value

    def entries(self) -> Iterator[int]:
        """Walk the next list; yield the index of each entry."""
        self.taken += 1
        self.open(b"[", "a list")
        self.places.append(0)
        number = 0
        if self.peek() != b"]":
            while True:
                self.places[-1] = number
                yield from self.stop(number)
                if self.closing(b"]"):
                    break
                number += 1
        else:
            self.offset += 1
        self.places.pop()

    def fields(self) -> Iterator[str]:
        """Walk the next object; yield each key."""
        self.taken += 1
        self.open(b"{", "an object")
        seen: set[str] = set()
        if self.peek() == b"}":
            self.offset += 1
            return
        is_last = False
        while not is_last:
            key = self.key()
            self.places.append(key)
            if key in seen:
                raise self.fault("the key occurs twice", "keep one of them")
            seen.add(key)
            self.expect(b":", "a colon after the key")
            yield from self.stop(key)
            is_last = self.closing(b"}")
            self.places.pop()

    def stop(self, place: Any) -> Iterator[Any]:
        """Let the caller take the piece at this place; otherwise skip it."""
        before = self.taken
        yield place
        if self.taken == before:
            self.value()

    def end(self) -> None:
        """Raise if anything follows."""
        if self.peek():
            raise self.fault("something follows the document", "one document a file")

    def is_whole(self) -> bool:
        """Whether the text is exactly one list or object."""
        if self.peek() not in (b"{", b"["):
            return False
        self.offset = self.bracketed()
        return not self.cut and not self.peek()

    # --- steps -------------------------------------------------------------------------------

    def more(self) -> bool:
        """Read more data and discard what has been passed. Return False at the end."""
        # Double what is held, so that a long piece is scanned a bounded number of times.
        chunk = self.stream.read(max(CHUNK, len(self.data) - self.offset))
        if not chunk:
            return False
        self.here()
        line_start = self.line_start()
        self.passed = self.offset - line_start + (0 if line_start else self.passed)
        self.data = self.data[self.offset :] + chunk
        self.offset = self.counted = 0
        return True

    def extent(self) -> int:
        """Return the end of the piece that begins at `offset`; the end of the data if it is cut."""
        first = self.data[self.offset : self.offset + 1]
        if first and first in OPENING:
            return self.bracketed()
        while True:
            if first == b'"':
                end = string_end(self.data, self.offset + 1)
            else:
                end = WORD.match(self.data, self.offset).end()  # pyright: ignore
            if self.offset < end < len(self.data):
                return end
            # No value begins here: take enough for the decoder to report it.
            if end == self.offset or not self.room():
                return len(self.data)

    def bracketed(self) -> int:
        """Return the end of a list or an object."""
        while (end := sound_end(self.data, self.offset)) == CUT_OFF:
            if not self.room():
                break
        return self.scanned() if end < 0 else end

    def scanned(self) -> int:
        """Return the end of a list or an object that may be malformed, bracket by bracket."""
        depth = 0
        place = self.offset
        while True:
            place = INSIDE.match(self.data, place).end()  # pyright: ignore
            in_string = place < len(self.data) and self.data[place] == QUOTE
            if in_string and (end := string_end(self.data, place + 1)) > 0:
                place = end
                continue
            if in_string or place == len(self.data):
                held = place - self.offset
                if not self.room():
                    self.cut = True
                    return len(self.data)
                place = self.offset + held
                continue
            depth += 1 if self.data[place] in OPENING else -1
            place += 1
            if depth == 0:
                return place

    def room(self) -> bool:
        """Read more of a piece; raise if it gets too long."""
        if len(self.data) - self.offset > self.limit:
            raise too_large("entry", self.limit, line=self.here()).within(self.path)
        return self.more()

    def key(self) -> str:
        """Return the next key."""
        if self.peek() != b'"':
            raise self.fault("expected a key in double quotes", "is it complete?")
        key = self.value()
        assert isinstance(key, str)
        return key

    def open(self, bracket: bytes, name: str) -> None:
        """Skip an opening bracket; for anything else raise what is wrong with it."""
        if not self.places:
            try:
                refuse_other_encodings(self.data)
            except Fault as fault:
                raise self.fault(f"{fault} at column 1", fault.hint) from None
        if self.peek() != bracket:
            value = self.value()
            raise self.fault(f"must be {name}, not {shown(value)}", "is it the right file?")
        self.offset += 1

    def expect(self, wanted: bytes, name: str) -> None:
        """Skip a punctuation mark."""
        if self.peek() != wanted:
            raise self.fault(f"expected {name}", "is it complete?")
        self.offset += 1

    def closing(self, closer: bytes) -> bool:
        """Skip what follows an entry: a comma (False) or the closing bracket (True)."""
        mark = self.peek()
        if mark not in (b",", closer) or not mark:
            raise self.fault(f"expected a comma or {closer.decode()}", "is it complete?")
        self.offset += 1
        return mark == closer

    def here(self) -> int:
        """Return the current line number."""
        # An export is often one long line, and a search is many times as fast as a count.
        if self.data.find(b"\n", self.counted, self.offset) >= 0:
            self.line += self.data.count(b"\n", self.counted, self.offset)
        self.counted = self.offset
        return self.line

    def column(self) -> int:
        """Return the current column; of a line longer than a chunk, the beginning counts in bytes.

        To count its characters would take a twentieth of the time of an import.
        """
        line_start = self.line_start()
        passed = 0 if line_start else self.passed
        return passed + characters(self.data[line_start : self.offset]) + 1

    def line_start(self) -> int:
        """Return the offset at which the current line begins; 0 if it began earlier."""
        return self.data.rfind(b"\n", 0, self.offset) + 1

    def fault(self, message: str, hint: str) -> ParseError:
        """Return an error at the current position."""
        return ParseError(message, path=self.path, line=self.here(), hint=hint)


def sound_end(data: bytes, start: int) -> int:
    """Return the end of the list or object that begins at `start`.

    The decoder skips a value at a hundred times the speed of a scan, and names the byte at which
    something follows. `CUT_OFF` if the data end before the value does, `MALFORMED` if it is not
    JSON, or if the decoder says anything else.
    """
    end = len(data)
    try:
        SKIP.decode(memoryview(data)[start:])
    except (msgspec.DecodeError, RecursionError) as error:
        if "truncated" in str(error):
            return CUT_OFF
        found = FOLLOWED.search(str(error))
        if found is None:
            return MALFORMED
        end = start + int(found[1]) - 1
    while data[end - 1] in SPACE:
        end -= 1
    return end
