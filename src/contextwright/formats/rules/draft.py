"""The draft that rules work on, and steps that several rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.exchanges import At
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text, ToolResult
from contextwright.text.graphemes import cut

__all__ = [
    "Draft",
    "Place",
    "Placed",
    "Rule",
    "Ruled",
    "clean_name",
    "is_plain_text",
    "keeping",
    "messages_of",
    "path_in",
    "path_to",
    "replace",
    "rewritten",
    "with_content",
]


class Place(Struct, frozen=True):
    """The place of a message in the input; an invented message has its neighbour's."""

    origin: int
    parts: tuple[At, ...] | None = None
    """Message and index of each part in the input, where some are gone or come from elsewhere."""

    def part(self, index: int) -> At:
        """Return where a part of the message stood in the input."""
        return (self.origin, index) if self.parts is None else self.parts[index]


Placed: TypeAlias = tuple[Place, Message]
"""A message of a draft, and where it stood in the input."""
Draft: TypeAlias = list[Placed]
Ruled: TypeAlias = tuple[Draft, list[Change]]
Rule: TypeAlias = Callable[[Draft, Target], Ruled]

LONGEST_NAME = 128

replace = msgspec.structs.replace


def path_to(place: Place, part: int | None = None) -> str:
    """Return the path that a message, or one of its parts, had in the input."""
    if part is None:
        return f"messages[{place.origin}]"
    message, part = place.part(part)
    return f"messages[{message}].parts[{part}]"


def path_in(draft: Draft, at: At) -> str:
    """Return the path that a part of a draft had in the input."""
    position, part = at
    return path_to(draft[position][0], part)


def messages_of(draft: Draft) -> list[Message]:
    """Return the messages of a draft."""
    return [message for _, message in draft]


def keeping(placed: Placed, kept: Sequence[tuple[int, Part]]) -> Placed:
    """Return the message with these parts, each with the index of the one it was made from."""
    place, message = placed
    indices, parts = [index for index, _ in kept], tuple(part for _, part in kept)
    if indices != [*range(len(message.parts))]:
        place = Place(place.origin, tuple(map(place.part, indices)))
    return (place, rewritten(message, parts))


def is_plain_text(message: Message) -> bool:
    """Whether a message is nothing but plain text, which every API takes as it is."""
    if message.extra:
        return False
    for part in message.parts:
        if type(part) is not Text or part.extra:
            return False
    return True


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
