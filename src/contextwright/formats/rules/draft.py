"""The draft that rules work on, and steps that several rules share."""

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
    """A message and its index in the input; an invented message has its neighbour's index."""

    origin: int
    message: Message


Draft: TypeAlias = list[Placed]
Ruled: TypeAlias = tuple[Draft, list[Change]]
Rule: TypeAlias = Callable[[Draft, Target], Ruled]

LONGEST_NAME = 128

replace = msgspec.structs.replace


def path_to(origin: int, part: int | None = None) -> str:
    """Return the path of an input message, or of one of its parts."""
    return f"messages[{origin}]" if part is None else f"messages[{origin}].parts[{part}]"


def rewritten(message: Message, parts: Iterable[Part]) -> Message:
    """Return the message with these parts; the same object if they are unchanged."""
    parts = tuple(parts)
    return message if parts == message.parts else message.with_parts(parts)


def with_content(result: ToolResult, content: list[Part]) -> ToolResult:
    """Return the result with this content; a single plain text becomes a string."""
    if all(type(piece) is Text and not piece.extra for piece in content) and len(content) < 2:
        words = content[0].text if content and isinstance(content[0], Text) else ""
        return replace(result, content=words)
    return replace(result, content=tuple(content))


def clean_name(name: str) -> str:
    """Return a name as one short line, without control characters or line breaks."""
    line = "".join(letter if letter.isprintable() else " " for letter in name)
    return cut(" ".join(line.split()), LONGEST_NAME) or "unknown"
