"""A streamed Responses reply, put together from its events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from contextwright.changes import Change
from contextwright.errors import shown
from contextwright.wire.values import is_object

__all__ = ["accumulate", "as_dict"]


class Piece(NamedTuple):
    """Where the text of an event belongs within its item."""

    field: str
    holder: str = ""
    """The list whose part grows; empty where a field of the item itself does."""
    place: str = ""
    """The event's field that says which part it is."""
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
"""The events that bring text: `….delta` a piece of it, `….done` the whole."""
PARTS = {
    "response.content_part": Piece("part", "content", "content_index"),
    "response.reasoning_summary_part": Piece("part", "summary", "summary_index"),
}
"""The events that open and close a part."""
ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


class Growing:
    """An item under construction; its texts come in pieces that are joined once, at the end."""

    def __init__(self, item: dict[str, Any], *, done: bool) -> None:
        self.item = item
        self.done = done
        self.texts: dict[str, list[str]] = {}
        self.parts: dict[tuple[str, int], dict[str, Any]] = {}
        self.part_texts: dict[tuple[str, int], tuple[str, list[str]]] = {}
        self.notes: dict[tuple[str, int], list[dict[str, Any]]] = {}

    def grow(self, piece: Piece, event: dict[str, Any]) -> None:
        """Add what an event brings: a piece of text, or all of it."""
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

    def open(self, piece: Piece, event: dict[str, Any]) -> None:
        """A part begins, or is there as a whole."""
        key = (piece.holder, number(event.get(piece.place)))
        self.parts[key] = as_dict(event.get("part"))
        if str(event.get("type")).endswith(".done"):
            self.part_texts.pop(key, None)
            self.notes.pop(key, None)

    def finished(self) -> dict[str, Any]:
        """The item as far as it came."""
        if self.done:
            return self.item
        item = dict(self.item)
        for field, texts in self.texts.items():
            item[field] = "".join(texts)
        grown: dict[str, list[dict[str, Any]]] = {}
        for key in sorted(self.parts):
            part = dict(self.parts[key])
            if key in self.part_texts:
                field, texts = self.part_texts[key]
                part[field] = "".join(texts)
            if key in self.notes:
                part["annotations"] = self.notes[key]
            grown.setdefault(key[0], []).append(part)
        return {**item, **grown}

    def annotate(self, event: dict[str, Any]) -> None:
        """A citation in a part that is still being written."""
        key = ("content", number(event.get("content_index")))
        self.parts.setdefault(key, {"type": "output_text"})
        self.notes.setdefault(key, []).append(as_dict(event.get("annotation")))


def accumulate(events: Iterable[Any]) -> tuple[dict[str, Any], list[Change]]:
    """The whole reply, and a change where the stream broke off before its end."""
    reply: dict[str, Any] = {}
    items: dict[int, Growing] = {}
    ended = False
    for event in map(as_dict, events):
        kind = str(event.get("type"))
        stem, _, step = kind.rpartition(".")
        place = number(event.get("output_index"))
        if stem == "response.output_item":
            items[place] = Growing(as_dict(event.get("item")), done=step == "done")
        elif kind == "error":
            reply["error"] = {key: event.get(key) for key in ("code", "message")}
        elif "response" in event:
            reply.update(as_dict(event["response"]))
            ended = ended or kind in ENDS
        elif place in items:
            if stem in PIECES:
                items[place].grow(PIECES[stem], event)
            elif stem in PARTS:
                items[place].open(PARTS[stem], event)
            elif kind == "response.output_text.annotation.added":
                items[place].annotate(event)
    changes: list[Change] = []
    if not reply.get("output"):
        reply["output"] = [items[place].finished() for place in sorted(items)]
    if not ended:
        why = f" with {shown(reply['error'])}" if "error" in reply else ""
        reason = f"the stream broke off{why}; what came is kept"
        changes.append(Change("repair.interrupted", "", reason))
    return reply, changes


def number(value: Any) -> int:
    """An index, which every event should have."""
    return value if isinstance(value, int) else 0


def as_dict(value: Any) -> dict[str, Any]:
    """An event as a dict: decoded JSON, or an SDK's own object."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        value = dump(mode="json", by_alias=True, exclude_unset=True)
    return value if is_object(value) else {}
