"""A content that arrives as lists of pieces, as Mistral streams thinking before its answer."""

from __future__ import annotations

from typing import Any

from contextwright.formats.openai_chat.read import words_of
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["Pieces"]

FIELDS = {"text": "text", "thinking": "thinking"}
"""The kinds of pieces that are continued, and the field with their words."""
PLAIN = ("type", "closed")


class Pieces:
    """The parts of a content so far. Pieces of one kind in a row are one; words are joined once."""

    def __init__(self) -> None:
        self.heads: list[Any] = []
        self.words: list[list[str]] = []

    def add(self, piece: Any) -> tuple[int, str]:
        """Add a piece; return the number of its part, and the words that it brings."""
        if isinstance(piece, str):
            piece = {"type": "text", "text": piece}
        kind = piece.get("type") if is_object(piece) else None
        words = words_in(piece) if kind in FIELDS else None
        last = self.heads[-1] if self.heads else None
        if words is not None and is_object(last) and last.get("type") == kind and self.words[-1]:
            self.words[-1].append(words)
            last.update({name: piece[name] for name in PLAIN if name in piece})
        else:
            self.heads.append(dict(piece) if is_object(piece) else piece)
            self.words.append([words] if words is not None else [])
        return len(self.heads) - 1, words or ""

    def whole(self, number: int) -> Any:
        """Return a part as received so far."""
        head = self.heads[number]
        if not self.words[number]:
            return head
        text = "".join(self.words[number])
        if head["type"] == "text":
            return {**head, "text": text}
        return {**head, "thinking": [{"type": "text", "text": text}]}

    def value(self) -> list[Any]:
        """Return the content."""
        return [self.whole(number) for number in range(len(self.heads))]


def words_in(piece: Object) -> str | None:
    """Return the words of a piece; None if it holds more, so that it stays as it is."""
    kind: Any = piece["type"]
    field = FIELDS[kind]
    held = piece.get(field)
    if piece.keys() - {*PLAIN, field}:
        return None
    if kind == "text":
        return held if isinstance(held, str) else None
    if not is_list(held):
        return None
    plain = all(is_object(one) and one.keys() == {"type", "text"} for one in held)
    return "".join(words_of(held)) if plain else None
