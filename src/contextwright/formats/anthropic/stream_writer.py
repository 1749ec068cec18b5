"""A Messages stream, written event by event."""

from __future__ import annotations

from contextwright.formats.anthropic.read import NAME
from contextwright.formats.anthropic.reply import block_wire, end_wire, usage_wire
from contextwright.formats.replies.beside import beside
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    ErrorEvent,
    Event,
    Finish,
    PartEnd,
    ReplyStart,
    TextDelta,
    ThinkingDelta,
)
from contextwright.formats.replies.failures import error_body
from contextwright.formats.replies.parts import own_id, spelled_id
from contextwright.formats.replies.usage import UNCOUNTED
from contextwright.formats.replies.writer import Frame, InOrder, StreamWriter
from contextwright.messages.parts import Part, Text, Thinking, ToolCall
from contextwright.text.json import json_text
from contextwright.wire.values import Object, is_list

__all__ = ["AnthropicWriter"]

IN_DELTA = ("container",)
"""Fields of a message that come within the `delta` at its end; others come next to it."""


class AnthropicWriter(StreamWriter):
    """Writes the events that `POST /v1/messages` streams."""

    format = NAME

    def __init__(self, model: str = "", *, id: str | None = None, created: int = 0) -> None:
        super().__init__(model, id=id, created=created)
        self.order = InOrder()
        self.count = 0
        self.open: str | None = None
        self.custom = False
        self.failed = False

    def start(self, event: ReplyStart) -> None:
        """Write the events that open the stream."""
        message: Object = {
            "id": own_id(self.id, "msg_"),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_wire(event.usage),
        }
        self.send("message_start", message=message)

    def put(self, event: Event) -> None:
        """Write any event after the first; an error is the last."""
        if self.failed:
            return
        for ready in self.order.pass_on(event):
            self.put_in_order(ready)

    def put_in_order(self, event: Event) -> None:
        """Write an event of the open block, or one between blocks."""
        if type(event) is TextDelta:
            self.begin("text", {"type": "text", "text": ""})
            self.delta("text_delta", text=event.text)
        elif type(event) is ThinkingDelta:
            self.begin("thinking", {"type": "thinking", "thinking": "", "signature": ""})
            self.delta("thinking_delta", thinking=event.text)
        elif type(event) is CallStart:
            self.begin_call(event)
        elif type(event) is ArgumentsDelta:
            # A custom tool's free text becomes the argument `input`, escaped piece by piece.
            text = json_text(event.text)[1:-1] if self.custom else event.text
            self.delta("input_json_delta", partial_json=text)
        elif type(event) is PartEnd:
            self.end(self.carried(event))
        elif type(event) is ErrorEvent:
            self.failed = True
            self.out.append(Frame(error_body(event.error, NAME), "error"))
        elif type(event) is Finish:
            self.finish(event)

    def begin(self, kind: str, block: Object) -> None:
        """Open a block unless it is already open."""
        if self.open is None:
            self.open = kind
            self.send("content_block_start", index=self.count, content_block=block)

    def begin_call(self, event: CallStart) -> None:
        """Open a tool call."""
        id = spelled_id(event.id, event.index, NAME, self.id or "")
        block: Object = {"type": "tool_use", "id": id, "name": event.name, "input": {}}
        self.begin("tool_use", {**event.extra.get(NAME, {}), **block})
        self.custom = event.custom
        if event.custom:
            self.delta("input_json_delta", partial_json='{"input":"')

    def delta(self, kind: str, **fields: object) -> None:
        """Send one delta."""
        self.send("content_block_delta", index=self.count, delta={"type": kind, **fields})

    def end(self, part: Part | None) -> None:
        """Close the block of a part. A part that had no deltas is written as a whole."""
        if self.open is None:
            if part is None:
                return
            self.begin("whole", block_wire(part))
        elif type(part) is Thinking and part.signature:
            self.delta("signature_delta", signature=part.signature)
        elif type(part) is Text:
            citations = part.extra.get(NAME, {}).get("citations")
            for citation in citations if is_list(citations) else ():
                self.delta("citations_delta", citation=citation)
        elif type(part) is ToolCall and self.custom:
            self.delta("input_json_delta", partial_json='"}')
        self.send("content_block_stop", index=self.count)
        self.open, self.custom = None, False
        self.count += 1

    def finish(self, event: Finish) -> None:
        """Write the closing events, except after an error or an interrupted stream."""
        if self.failed or event.reason == "interrupted":
            return
        usage = event.extra.get(NAME, {}).get("usage") or usage_wire(event.usage)
        if event.usage is None:
            self.changes.append(UNCOUNTED)
        rest, _ = beside(event.extra, NAME)
        delta = {**end_wire(event), **{key: rest.pop(key) for key in IN_DELTA if key in rest}}
        self.send("message_delta", **{**rest, "delta": delta, "usage": usage})
        self.send("message_stop")

    def send(self, kind: str, /, **fields: object) -> None:
        """Send an event; its fields may have any name."""
        self.out.append(Frame({"type": kind, **fields}, kind))
