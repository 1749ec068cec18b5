"""A generateContent stream, written chunk by chunk."""

from __future__ import annotations

from contextwright.formats.gemini.read import NAME, SIGNATURE
from contextwright.formats.gemini.reply import end_wire, part_wire
from contextwright.formats.replies.events import (
    ErrorEvent,
    Event,
    Finish,
    PartEnd,
    ReplyStart,
    TextDelta,
    ThinkingDelta,
    place_in,
)
from contextwright.formats.replies.failures import error_body
from contextwright.formats.replies.writer import Frame, InOrder, StreamWriter
from contextwright.messages.parts import Part, Text, Thinking
from contextwright.wire.values import Object

__all__ = ["GeminiWriter"]


class GeminiWriter(StreamWriter):
    """Writes the chunks that `:streamGenerateContent` streams; calls come whole."""

    format = NAME

    def __init__(self, model: str = "", *, id: str | None = None, created: int = 0) -> None:
        super().__init__(model, id=id, created=created)
        self.order = InOrder()
        self.streamed = False
        self.failed = False

    def start(self, event: ReplyStart) -> None:
        """Write nothing, because this API opens with its first part."""

    def put(self, event: Event) -> None:
        """Write any event after the first."""
        for ready in self.order.pass_on(event):
            self.put_in_order(ready)

    def put_in_order(self, event: Event) -> None:
        """Write an event of the open part, or one between parts."""
        if type(event) is TextDelta:
            self.piece({"text": event.text}, event.slot)
        elif type(event) is ThinkingDelta:
            self.piece({"text": event.text, "thought": True}, event.slot)
        elif type(event) is PartEnd:
            self.end(self.carried(event))
        elif type(event) is ErrorEvent:
            self.failed = True
            self.out.append(Frame(error_body(event.error, NAME)))
        elif type(event) is Finish:
            self.finish(event)

    def piece(self, part: Object, slot: str) -> None:
        """Send a piece of text, unless its part is sent as a whole."""
        if place_in(NAME, slot) != "whole":
            self.streamed = True
            self.chunk([part])

    def end(self, part: Part | None) -> None:
        """End a part. A part that had no deltas is written as a whole."""
        streamed, self.streamed = self.streamed, False
        if part is None:
            return
        if not streamed:
            self.chunk([part_wire(part)])
        elif isinstance(part, Text | Thinking):
            signature = part_wire(part).get(SIGNATURE)
            if signature:
                flag = {"thought": True} if isinstance(part, Thinking) else {}
                self.chunk([{"text": "", **flag, SIGNATURE: signature}])

    def finish(self, event: Finish) -> None:
        """Write the last chunk, except after an error or an interrupted stream."""
        if self.failed or event.reason == "interrupted":
            return
        candidate, rest = end_wire(event)
        # Google's SDKs forget an answer of which one chunk has no part.
        self.chunk([{"text": ""}], candidate, rest)

    def chunk(
        self, parts: list[Object], candidate: Object | None = None, rest: Object | None = None
    ) -> None:
        """Send a chunk."""
        content: Object = {"role": "model", "parts": parts}
        own: Object = {"content": content, **(candidate or {}), "index": 0}
        body: Object = {"candidates": [own], **(rest or {})}
        if self.model:
            body["modelVersion"] = self.model
        if self.id:
            body["responseId"] = self.id
        self.out.append(Frame(body))
