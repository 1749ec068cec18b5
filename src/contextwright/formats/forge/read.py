"""Forge's text protocol: `<tool>` calls and `[thinking]` in assistant text, in one forward scan.

The scan never backtracks. A tag that does not begin a call is text, a bracket that does not hold
thinking is text, and each character is read a bounded number of times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, NoReturn, TypeAlias, cast

from msgspec import Struct

from contextwright.errors import Level, UsageError, require, shown
from contextwright.formats.forge.xml import Finder, read_xml
from contextwright.messages.parts import Part, Text, Thinking, ToolCall
from contextwright.text.json import repeated_keys, string_end

__all__ = ["Note", "Scan", "is_thinking", "may_hold_structure", "scan", "validate_tool_call"]

NAME = "forge"
LOCAL = "local"
"""The server of a call that does not name one."""

TAG = re.compile(r"<tool>|<thinking>")
BLANK = re.compile(r"[ \t\r\n]*+")
TOKEN = re.compile(r'[^"<\\{}]*+(?P<mark>["{}])')
r"""Matches up to the next brace or string of a JSON object. `<` and `\` cannot appear outside
strings. Stopping there keeps the whole scan linear: two scans that began at different tags disagree
on what is inside a string, so the next tag ends one of them.
"""
XML_START = re.compile(r"<(?:server_name|tool_name|arguments)(?:\s*+/)?>")
MARGIN = re.compile(r"^(?:\[| {0,3}(?P<fence>`{3,}|~{3,}))", re.MULTILINE)
BRACKET = re.compile(r"[\[\]]")
LINE_END = re.compile(r"[ \t\r]*+(?:\n|\Z)")
ITEM = re.compile(
    r"""\s*+(?:'[^'\n]*+'|"[^"\n]*+"|[-+]?\d[\w.+-]*+|true|false|null|None|True|False)"""
    r"\s*+(?:,\s*+|\Z)"
)
"""One item of a list of numbers and quoted strings."""
VALUE_STARTS = '"[{-0123456789tfn'
"""The characters a JSON value can begin with."""
MARKERS = frozenset(
    "x,summarized,goal batch,meta,respond,reply to this,image,audio,video,document,attachment,"
    "generated,generated_image,image_generated,continue,start of conversation,"
    "no result recorded".split(",")
)
MARKER_STARTS = (
    "session context:",
    "meta ",
    "system note:",
    "media of the ",
    "image:",
    "audio:",
    "video:",
    "document:",
)
"""Markers in brackets that other tools and this package write; they are not thinking."""

Fields: TypeAlias = dict[str, Any]


class Note(Struct, frozen=True, gc=False):
    """A problem with a tag, in Forge's words."""

    message: str
    fatal: bool = True
    """Whether the tag does not begin a call and stays text."""
    level: Level = "error"


class Scan(Struct, frozen=True):
    """The parts of an assistant text in order, and the problems with its tags."""

    parts: tuple[Part, ...]
    notes: tuple[Note, ...] = ()
    brackets: tuple[int, ...] = ()
    """The offset of each thought in brackets."""


def scan(text: str) -> Scan:
    """Return the parts of an assistant text. Calls have no ids yet."""
    if not may_hold_structure(text):
        return Scan((Text(text),) if text else ())
    scanner = Scanner(text)
    return Scan(tuple(scanner.parts()), tuple(scanner.notes), tuple(scanner.brackets))


def may_hold_structure(text: str) -> bool:
    """Whether a text has a tag, or a bracket at the start of a line. Most have neither."""
    return "<tool>" in text or "<thinking>" in text or text.startswith("[") or "\n[" in text


class Scanner:
    """One scan of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.finder = Finder(text)
        self.notes: list[Note] = []
        self.brackets: list[int] = []
        self.fence = ""
        """The marks that opened the current code block; empty outside of one."""

    def parts(self) -> list[Part]:
        """Return the parts. Tags divide the text into gaps, which hold brackets and plain text."""
        parts: list[Part] = []
        structure = list(self.structure())
        done = 0
        for start, end, part in structure:
            parts.extend(self.gap(self.text[done:start], done))
            parts.append(part)
            done = end
        parts.extend(self.gap(self.text[done:], done))
        if all(type(part) is Text for part in parts):
            return [Text(self.text)] if self.text else []
        return parts

    # --- tags ----------------------------------------------------------------------------

    def structure(self) -> Iterator[tuple[int, int, Part]]:
        """Yield the calls and the tagged thinking, each with its start and end."""
        position = 0
        while tag := TAG.search(self.text, position):
            start, position = tag.span()
            if tag[0] == "<thinking>":
                close = self.finder.find("</thinking>", position)
                if close >= 0:
                    thinking = Thinking(self.text[position:close].strip(), origin=NAME)
                    position = close + len("</thinking>")
                    yield start, position, thinking
                continue
            call, position = self.call(position)
            if call:
                yield start, position, call

    def call(self, position: int) -> tuple[ToolCall | None, int]:
        """Read the call after an opening tag that ends at `position`; return it with its end."""
        inside = BLANK.match(self.text, position).end()  # pyright: ignore[reportOptionalMemberAccess]
        if self.text.startswith("{", inside):
            fields, end = self.json_fields(inside)
            return (self.made(fields), end) if fields is not None else (None, position)
        if XML_START.match(self.text, inside):
            fields, end = read_xml(self.text, inside, self.finder)
            if fields is None:
                self.note("missing </tool> tag" if end == len(self.text) else "invalid XML")
                return None, end
            return self.made(fields), end
        self.note_broken("no object", position)
        return None, position

    def json_fields(self, inside: int) -> tuple[Fields | None, int]:
        """Read the JSON object between the tags; return it with the end of the closing tag."""
        end = object_end(self.text, inside)
        if end is None:
            self.note_broken("no end", inside)
            return None, inside
        close = BLANK.match(self.text, end).end()  # pyright: ignore[reportOptionalMemberAccess]
        if not self.text.startswith("</tool>", close):
            self.note_broken("text after the object", inside)
            return None, inside
        body = self.text[inside:end]
        try:
            fields = STRICT.decode(body)
        except (ValueError, RecursionError):
            try:
                fields = LENIENT.decode(body)
            except (ValueError, RecursionError) as error:
                self.note(f"invalid JSON: {reason(error)}")
                return None, inside
            self.note("invalid JSON: raw control characters in a string", fatal=False)
        for key in repeated_keys(body, fields):
            twice = f"{shown(key)} is given twice; the last counts"
            self.notes.append(Note(twice, fatal=False, level="warning"))  # Forge reads it so too
        return fields, close + len("</tool>")

    def made(self, fields: Fields) -> ToolCall | None:
        """Build a call from its fields; return None if it has no name."""
        name = fields.pop("tool_name", None)
        named = isinstance(name, str) and bool(name.strip())
        if not named:
            self.note("missing tool_name")
        arguments = fields.pop("arguments", ...)
        if not isinstance(arguments, dict):
            wrong = "missing arguments" if arguments is ... else "arguments must be an object"
            self.note(wrong, fatal=not named)
        if not named:
            return None
        server = fields.pop("server_name", LOCAL)
        if server != LOCAL and server != "":
            fields["server_name"] = server
        if isinstance(arguments, dict):
            given = cast("Fields", arguments)
        elif arguments is ... or arguments in (None, ""):
            given = {}
        else:
            spelled = arguments if isinstance(arguments, str) else json.dumps(arguments)
            given = ToolCall.from_json(name, spelled).arguments
        try:
            return ToolCall(name, given, extra={NAME: fields} if fields else {})
        except UsageError:
            self.note("invalid JSON: nested too deeply")
            return None

    def note_broken(self, reason: str, position: int) -> None:
        """Note that no closing tag follows a JSON object: there is none, or the JSON is broken."""
        closed = self.finder.find("</tool>", position) >= 0
        self.note(f"invalid JSON: {reason}" if closed else "missing </tool> tag")

    def note(self, message: str, *, fatal: bool = True) -> None:
        self.notes.append(Note(message, fatal))

    # --- brackets ------------------------------------------------------------------------

    def gap(self, text: str, offset: int) -> Iterator[Part]:
        """Yield thinking and text of a gap between tags. A code block may continue across gaps."""
        done = position = 0
        pairs: dict[int, int] | None = None
        while mark := MARGIN.search(text, position):
            position = mark.end()
            if mark["fence"]:
                self.pass_fence(mark["fence"], text, position)
                continue
            if self.fence:
                continue
            pairs = bracket_pairs(text) if pairs is None else pairs
            close = pairs.get(mark.start())
            ending = LINE_END.match(text, close + 1) if close is not None else None
            if close is None or ending is None:
                continue
            if is_thinking(text[position:close]):
                yield from words(text[done : mark.start()])
                yield Thinking(text[position:close], origin=NAME)
                self.brackets.append(offset + mark.start())
                done = ending.end()
            position = ending.end()  # skip lists of data: brackets inside are data too
        yield from words(text[done:])

    def pass_fence(self, marks: str, text: str, end: int) -> None:
        """Open or close a code block at a line of three or more marks."""
        if not self.fence:
            self.fence = marks
        elif marks.startswith(self.fence) and LINE_END.match(text, end):
            self.fence = ""


def words(text: str) -> Iterator[Text]:
    """Yield the text between structure, without surrounding blank lines."""
    kept = text.lstrip("\r\n").rstrip()
    if kept.strip():
        yield Text(kept)


def bracket_pairs(text: str) -> dict[int, int]:
    """Map each opening bracket to its closing bracket."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for bracket in BRACKET.finditer(text):
        if bracket[0] == "[":
            opened.append(bracket.start())
        elif opened:
            pairs[opened.pop()] = bracket.start()
    return pairs


def is_thinking(inside: str) -> bool:
    """Whether bracketed text is a thought: neither data nor a known marker."""
    plain = inside.strip().casefold()
    if plain in MARKERS or plain.startswith(MARKER_STARTS):
        return False
    if not any(letter.isalpha() for letter in plain) or is_data(inside):
        return False
    if plain[0] not in VALUE_STARTS:
        return True
    try:
        STRICT.decode(f"[{inside}]")
    except (ValueError, RecursionError):
        return True
    return False


def is_data(inside: str) -> bool:
    """Whether bracketed text is a list of numbers and quoted strings."""
    position = 0
    while position < len(inside):
        item = ITEM.match(inside, position)
        if item is None:
            return False
        position = item.end()
    return True


def object_end(text: str, start: int) -> int | None:
    """Return the end of the JSON object that begins at `start`; None if its braces never close."""
    depth, position = 0, start
    while token := TOKEN.match(text, position):
        position = token.end()
        if token["mark"] == '"':
            position = string_end(text, position)
            if position < 0:
                return None
        elif token["mark"] == "{":
            depth += 1
        else:
            depth -= 1
            if not depth:
                return position
    return None


def refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


def finite(spelling: str) -> float:
    value = float(spelling)
    if not isfinite(value):
        raise ValueError(f"{spelling} is too large")
    return value


STRICT = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite)
LENIENT = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite, strict=False)


def reason(error: ValueError | RecursionError) -> str:
    """Return the reason why text is not valid JSON, in one short line."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def validate_tool_call(content: str) -> list[str]:
    """Return Forge's errors for the calls of a message, in Forge's order."""
    require(content, str, "content")
    if "<tool>" not in content:
        return ["missing <tool> tag"]
    if "</tool>" not in content:
        return ["missing </tool> tag"]
    if content.index("</tool>") < content.index("<tool>"):
        return ["</tool> stands before <tool>"]
    return [note.message for note in scan(content).notes if note.level == "error"]
