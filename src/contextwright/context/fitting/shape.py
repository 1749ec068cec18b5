"""The shape of a message: everything that rendering makes of it, apart from its texts.

The messages of a history share a few shapes, so one sample of each is rendered instead of all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, TypeAlias

from msgspec import Struct

from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Part, Text, ToolCall, ToolResult
from contextwright.text.json import encode_json
from contextwright.text.utf8 import is_utf8
from contextwright.tokens.pieces.piece import Kind, Piece, compact
from contextwright.tokens.pricer import Price

__all__ = ["Shape", "Template", "output_of", "sample_of", "shape_of", "template_of"]

Shape: TypeAlias = tuple[Role, tuple[str, ...]]
"""The role of a message and the kinds of its parts."""
Slot: TypeAlias = tuple[Kind, int, bool]
"""The kind of a piece, which text of the message its value is, and whether as the field `output`.
"""

ONE_TEXT = ("text",)
"""The kinds of the parts of nearly all messages."""
MAX_PARTS = 8
"""Messages with more parts are rendered themselves, so that there are few shapes."""

is_plain_name = re.compile("[A-Za-z][A-Za-z0-9_]{0,31}").fullmatch
"""Matches names that every provider takes as they are."""


def shape_of(message: Message) -> tuple[Shape, list[str]] | None:
    """Return the shape of a message and its texts in order; None if anything else matters."""
    if message.author is not None or message.extra or message.visibility != "public":
        return None
    parts, role = message.parts, message.role
    if len(parts) == 1 and type(only := parts[0]) is Text:  # nine of ten
        if only.extra or role == "tool" or not is_plain(only.text):
            return None
        return (role, ONE_TEXT), [only.text]
    if len(parts) > MAX_PARTS:
        return None
    kinds: list[str] = []
    texts: list[str] = []
    ids: set[str | None] = {None}
    for part in parts:
        kind, id, found = read(part, role)
        if kind == "text":
            if kinds:  # adjacent texts may be read as one
                return None
        elif id in ids:
            return None
        if not found or not all(map(is_plain, found)):
            return None
        ids.add(id)
        kinds.append(kind)
        texts += found
    return ((role, tuple(kinds)), texts) if kinds else None


def read(part: Part, role: Role) -> tuple[str, str | None, list[str]]:
    """Return the kind of a part, its id, and its texts; none if more than these matters."""
    if type(part) is Text and role != "tool" and not part.extra:
        return "text", None, [part.text]
    if type(part) is ToolCall and role == "assistant" and not part.extra:
        if part.raw is None and part.arguments and is_plain_name(part.name):
            return "call", part.id, [part.name, json_of(part.arguments)]
    if type(part) is ToolResult and role == "tool" and not part.extra and not part.is_error:
        content, name = part.content, part.name
        if isinstance(content, str) and name is None:
            return "result", part.call_id, [content]
        if isinstance(content, str) and is_plain_name(name or ""):
            return "named result", part.call_id, [name or "", content]
    return "", None, []


def is_plain(text: str) -> bool:
    """Whether a text is sent as it is: not blank, and valid Unicode."""
    return bool(text) and not text.isspace() and (text.isascii() or is_utf8(text))


def json_of(value: dict[str, Any]) -> str:
    """Return a value as JSON; empty if another program might spell it in another way."""
    try:
        text = encode_json(value).decode()
    except UnicodeEncodeError:
        return ""
    return text if compact(text) == text else ""


def sample_of(shape: Shape) -> Message:
    """Return a message of a shape; the number of each text is in it."""
    role, kinds = shape
    numbers = count()
    parts: list[Part] = []
    for kind in kinds:
        if kind == "text":
            parts.append(Text(sample_text(next(numbers))))
        elif kind == "call":
            name, arguments = sample_name(next(numbers)), {"sample": next(numbers)}
            parts.append(ToolCall(name, arguments, id=f"c{len(parts)}"))
        else:
            name = sample_name(next(numbers)) if kind == "named result" else None
            parts.append(ToolResult(f"c{len(parts)}", sample_text(next(numbers)), name))
    return Message(role, tuple(parts))


def sample_text(number: int) -> str:
    """Return a text that stands for another one."""
    return f"text {number} in the place of any other"


def sample_name(number: int) -> str:
    """Return a tool's name that stands for another one."""
    return f"sample_{number}"


class Template(Struct, frozen=True):
    """What all messages of a shape cost, apart from their texts."""

    tokens: float
    doubted: float
    """By how much those tokens may be off."""
    slots: list[Slot]
    """The pieces that are texts of the message."""


def template_of(pieces: Iterable[Piece], texts: int, price: Callable[[Piece], Price]) -> Template:
    """Return the template of a sample's pieces, given how many texts it has."""
    numbers: dict[str, tuple[int, bool]] = {}
    for number in range(texts):
        text = sample_text(number)
        for value in (text, sample_name(number), json_of({"sample": number})):
            numbers[value] = number, False
        numbers[output_of(text)] = number, True
    slots: list[Slot] = []
    tokens = doubted = 0.0
    for piece in pieces:
        if piece.value in numbers:
            slots.append((piece.kind, *numbers[piece.value]))
        else:
            cost, doubt, _ = price(piece)
            tokens += cost
            doubted += abs(cost) * doubt
    return Template(tokens, doubted, slots)


def output_of(text: str) -> str:
    """Return a tool's output as Gemini gets it."""
    return encode_json({"output": text}).decode()
