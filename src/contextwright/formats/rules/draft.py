"""What a rule works on, and the small steps several rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import msgspec

from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text, ToolResult
from contextwright.text.graphemes import cut

__all__ = [
    "Draft",
    "Placed",
    "Rule",
    "Ruled",
    "clean_name",
    "path_to",
    "replace",
    "rewritten",
    "with_content",
]


class Placed(NamedTuple):
    """A message and its index in the input; an invented one has its neighbour's."""

    origin: int
    message: Message


Draft: TypeAlias = list[Placed]
Ruled: TypeAlias = tuple[Draft, list[Change]]
Rule: TypeAlias = Callable[[Draft, Target], Ruled]

LONGEST_NAME = 128

replace = msgspec.structs.replace


def path_to(origin: int, part: int | None = None) -> str:
    """The path of a message of the input, or of one of its parts."""
    return f"messages[{origin}]" if part is None else f"messages[{origin}].parts[{part}]"


def rewritten(message: Message, parts: Iterable[Part]) -> Message:
    """The message with these parts; itself if they are its own."""
    parts = tuple(parts)
    return message if parts == message.parts else message.with_parts(parts)


def with_content(result: ToolResult, content: list[Part]) -> ToolResult:
    """A result with other pieces; plain words alone are a plain string."""
    if all(type(piece) is Text and not piece.extra for piece in content) and len(content) < 2:
        words = content[0].text if content and isinstance(content[0], Text) else ""
        return replace(result, content=words)
    return replace(result, content=tuple(content))


def clean_name(name: str) -> str:
    """A name as one short line: no control characters, no line breaks of any kind."""
    line = "".join(letter if letter.isprintable() else " " for letter in name)
    return cut(" ".join(line.split()), LONGEST_NAME) or "unknown"
