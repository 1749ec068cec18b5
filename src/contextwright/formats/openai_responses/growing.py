"""Items of a Responses stream under construction."""

from __future__ import annotations

from typing import Any, NamedTuple

from contextwright.formats.replies.reader import as_object
from contextwright.wire.values import Object

__all__ = ["PARTS", "PIECES", "Growing", "number"]


class Piece(NamedTuple):
    """The place of an event's text within its item."""

    field: str
    holder: str = ""
    """The list whose part grows; empty if a field of the item itself grows."""
    place: str = ""
    """The event's field with the index of the part."""
    type: str = ""


PIECES = {
    "response.function_call_arguments": Piece("arguments"),
    "response.mcp_call_arguments": Piece("arguments"),
    "response.custom_tool_call_input": Piece("input"),
    "response.code_interpreter_call_code": Piece("code"),
    "response.output_text": Piece("text", "content", "content_index", "output_text"),
    "response.refusal": Piece("refusal", "content", "content_index", "refusal"),
    "response.reasoning_text": Piece("text", "content", "content_index", "reasoning_text"),
    "response.reasoning_summary_text": Piece("text", "summary", "summary_index", "summary_text"),
}
"""Events that carry text: `….delta` a piece of it, `….done` all of it."""
PARTS = {
    "response.content_part": Piece("part", "content", "content_index"),
    "response.reasoning_summary_part": Piece("part", "summary", "summary_index"),
}
"""Events that open and close a part."""


class Growing:
    """An item under construction. Its text is joined once, at the end."""

    def __init__(self, item: Object) -> None:
        self.item = item
        self.texts: dict[str, list[str]] = {}
        self.parts: dict[tuple[str, int], Object] = {}
        self.part_texts: dict[tuple[str, int], tuple[str, list[str]]] = {}
        self.notes: dict[tuple[str, int], list[Object]] = {}

    def grow(self, piece: Piece, event: Object) -> None:
        """Add the text of an event: a piece, or all of it."""
        if piece.holder:
            key = (piece.holder, number(event.get(piece.place)))
            self.parts.setdefault(key, {"type": piece.type})
            texts = self.part_texts.setdefault(key, (piece.field, []))[1]
        else:
            texts = self.texts.setdefault(piece.field, [])
        delta, whole = event.get("delta"), event.get(piece.field)
        if isinstance(delta, str):
            texts.append(delta)
        elif isinstance(whole, str):
            texts[:] = [whole]

    def open(self, piece: Piece, event: Object) -> None:
        """Open a part, or replace it by the complete one."""
        key = (piece.holder, number(event.get(piece.place)))
        self.parts[key] = as_object(event.get("part"))
        if str(event.get("type")).endswith(".done"):
            self.part_texts.pop(key, None)
            self.notes.pop(key, None)

    def annotate(self, event: Object) -> None:
        """Add a citation to a part that is still open."""
        key = ("content", number(event.get("content_index")))
        self.parts.setdefault(key, {"type": "output_text"})
        self.notes.setdefault(key, []).append(as_object(event.get("annotation")))

    def finished(self) -> Object:
        """Return the item as received so far."""
        item = dict(self.item)
        for field, texts in self.texts.items():
            item[field] = "".join(texts)
        grown: dict[str, list[Object]] = {}
        for key in sorted(self.parts):
            part = dict(self.parts[key])
            if key in self.part_texts:
                field, texts = self.part_texts[key]
                part[field] = "".join(texts)
            if key in self.notes:
                part["annotations"] = self.notes[key]
            grown.setdefault(key[0], []).append(part)
        return {**item, **grown}


def number(value: Any) -> int:
    """Return an index, 0 if the event lacks it."""
    return value if isinstance(value, int) else 0
