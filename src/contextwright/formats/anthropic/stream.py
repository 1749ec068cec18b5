"""A streamed Messages reply, read event by event."""

from __future__ import annotations

from typing import Any

from contextwright.errors import shown
from contextwright.formats.anthropic.read import NAME, leftover, part_of
from contextwright.formats.anthropic.reply import finish_of, usage_of
from contextwright.formats.replies.events import CallStart, Finish, ReplyStart, UsageUpdate
from contextwright.formats.replies.failures import error_of
from contextwright.formats.replies.reader import StreamReader, as_object, stream_parser
from contextwright.formats.replies.reply import refusal_of
from contextwright.messages.changes import Change
from contextwright.messages.parts import ToolCall
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["AnthropicReader", "parse_stream"]

DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "thinking"),
    "input_json_delta": ("partial_json", "tool_use"),
}
"""Deltas that carry text: type → the field with the text, and the type of block it extends."""
UNBEGUN = {"thinking": {"thinking": ""}}
"""Fields of a block whose start is missing, which its deltas may not bring."""
NOT_TEXT = ("", "")
DELTA = ("type", "delta", "usage")
"""Fields of a `message_delta` that are not the message's."""
COMPACTION = ("content", "encrypted_content", "signature", "tool_changes")
"""Fields of a compaction, which arrive in a single delta."""


class Block:
    """A content block under construction. Its text is joined once, at the end."""

    def __init__(self, block: Object) -> None:
        self.block = block
        self.pieces: dict[str, list[str]] = {}
        self.citations: list[Any] = []

    def add(self, field: str, text: str) -> None:
        self.pieces.setdefault(field, []).append(text)

    def whole(self, path: str, changes: list[Change]) -> Object:
        """Return the block as received. Incomplete arguments are kept as text."""
        block = dict(self.block)
        for field, pieces in self.pieces.items():
            if field != "partial_json":
                block[field] = str(block.get(field) or "") + "".join(pieces)
        if self.citations:
            first = block.get("citations")
            block["citations"] = [*(first if is_list(first) else ()), *self.citations]
        arguments = "".join(self.pieces.get("partial_json", ()))
        if arguments:
            call = ToolCall.from_json("", arguments)
            block["input"] = call.arguments
            if "_raw" in call.arguments and call.raw is not None:
                reason = "the arguments ended early; kept as text"
                changes.append(Change("repair.arguments", f"{path}.input", reason))
        return block


class AnthropicReader(StreamReader):
    """Reads the events of `POST /v1/messages` with `stream: true`."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.head: Object = {}
        self.blocks: dict[int, Block] = {}
        self.slots: dict[int, tuple[int, int]] = {}
        """The newest block of each index: some hosts give an index twice."""
        self.complete_reply = False

    def take(self, event: Any) -> None:
        """Read one event."""
        event = as_object(event)
        index = event.get("index")
        place = index if isinstance(index, int) else len(self.indices)
        match event.get("type"):
            case "message":
                self.take_whole(event)
            case "message_start":
                self.begin(as_object(event.get("message")))
            case "content_block_start":
                self.open(place, as_object(event.get("content_block")))
            case "content_block_delta":
                self.grow(place, as_object(event.get("delta")))
            case "content_block_stop":
                self.end_block(place)
            case "message_delta":
                self.head.update(as_object(event.get("delta")))
                self.head.update({key: event[key] for key in event if key not in DELTA})
                self.count(event.get("usage"))
            case "message_stop":
                self.complete_reply = True
                self.complete()
            case "error":
                error = error_of(event)
                if error is not None:
                    self.fail(error)
                    self.complete()  # nothing follows
            case _:
                pass  # pings, and unknown event types

    def take_whole(self, message: Object) -> None:
        """Read the whole reply of a host that was asked for a stream, and does not stream."""
        self.begin(message)
        content = message.get("content")
        for place, block in enumerate(content if is_list(content) else ()):
            self.open(place, as_object(block))
            self.end_block(place)
        self.complete_reply = True
        self.complete()

    def slot_of_text(self, event: Any) -> object:
        """Return what an event adds text to, if it does nothing else."""
        if not is_object(event) or len(event) != 3 or event.get("type") != "content_block_delta":
            return None
        delta = event.get("delta")
        if not is_object(delta) or len(delta) != 2:
            return None
        kind = str(delta.get("type"))
        field, _ = DELTAS.get(kind, NOT_TEXT)
        return (event.get("index"), kind) if isinstance(delta.get(field), str) else None

    def joined(self, events: list[Any]) -> Any:
        """Return deltas of one block as one."""
        kind = events[0]["delta"]["type"]
        field, _ = DELTAS[kind]
        text = "".join([event["delta"][field] for event in events])
        return {**events[0], "delta": {"type": kind, field: text}}

    def begin(self, message: Object) -> None:
        """Read `message_start`."""
        self.head.update({key: message[key] for key in message if key != "content"})
        usage = usage_of(self.head.get("usage"))
        self.start(ReplyStart(as_text(message.get("id")), self.model, usage))

    @property
    def model(self) -> str | None:
        """The model that answers."""
        return as_text(self.head.get("model"))

    def count(self, usage: Any) -> None:
        """Update the usage; newer counts replace older ones."""
        if usage:
            self.head["usage"] = {**as_object(self.head.get("usage")), **as_object(usage)}
            counted = usage_of(self.head["usage"])
            if counted is not None:
                self.out.append(UsageUpdate(counted))

    def open(self, place: int, block: Object) -> None:
        """Open a block. Some types arrive complete."""
        self.end_block(place)
        self.blocks[place] = Block(dict(block))
        slot = self.slots[place] = (place, self.slots[place][1] + 1 if place in self.slots else 0)
        match block.get("type"):
            case "text":
                self.index(slot)
                self.text(slot, as_text(block.get("text")) or "")
            case "thinking":
                self.index(slot)
                self.thinking(slot, as_text(block.get("thinking")) or "")
            case "tool_use":
                extra = leftover(block, "input", "name", "id")
                name, id = as_text(block.get("name")) or "", as_text(block.get("id"))
                self.call(slot, lambda index: CallStart(index, name, id, extra=extra))
            case _:
                self.index(slot)

    def grow(self, place: int, delta: Object) -> None:
        """Add a delta to its block; open the block if its start is missing."""
        kind = str(delta.get("type"))
        field, type = DELTAS.get(kind, NOT_TEXT)
        slot = self.slots.setdefault(place, (place, 0))
        if place not in self.blocks:
            if not type or self.index(slot) in self.ended:
                return
            self.blocks[place] = Block({"type": type, **UNBEGUN.get(type, {})})
        block = self.blocks[place]
        if field:
            text = as_text(delta.get(field)) or ""
            block.add(field, text)
            if kind == "text_delta":
                self.text(slot, text)
            elif kind == "thinking_delta":
                self.thinking(slot, text)
            elif kind == "input_json_delta" and block.block.get("type") == "tool_use":
                self.arguments(slot, text)
        elif kind == "citations_delta":
            block.citations.append(delta.get("citation"))
        elif kind == "compaction_delta":
            held = {name: delta[name] for name in COMPACTION if name in delta}
            block.block.update(held)
        elif delta.keys() - {"type"}:
            reason = f"unknown delta: {shown(delta.get('type'))}"
            unknown = Change("loss.extra", f"content[{place}]", reason)
            if unknown not in self.reader.changes:
                self.reader.changes.append(unknown)

    def end_block(self, place: int) -> None:
        """Close a block."""
        block = self.blocks.pop(place, None)
        if block is None:
            return
        path = f"content[{place}]"
        whole = block.whole(path, self.reader.changes)
        self.part(self.slots[place], part_of(whole, path, self.reader, self.model))

    def end(self) -> None:
        """Close the parts that are still open."""
        for place in sorted(self.blocks):
            self.end_block(place)

    def finish(self) -> Finish:
        """Return how the reply ended."""
        return finish_of(
            self.head,
            refusal_of([self.ended[index] for index in sorted(self.ended)]),
            changes=self.reader.finish(),
            whole=self.complete_reply,
            error=self.error,
        )


parse_stream = stream_parser(AnthropicReader)


def as_text(value: Any) -> str | None:
    """Return the value if it is a string, else None."""
    return value if isinstance(value, str) else None
