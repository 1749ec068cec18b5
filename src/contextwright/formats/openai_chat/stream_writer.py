"""A chat stream, written chunk by chunk."""

from __future__ import annotations

from contextwright.formats.openai_chat.reply import (
    NAME,
    finish_wire,
    thinking_fields,
    usage_wire,
)
from contextwright.formats.openai_chat.rules import is_old_style
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
    Usage,
    place_in,
)
from contextwright.formats.replies.failures import error_body
from contextwright.formats.replies.parts import own_id, spelled_id
from contextwright.formats.replies.sse import DONE
from contextwright.formats.replies.writer import Frame, StreamWriter
from contextwright.messages.parts import Opaque, Part, Thinking
from contextwright.wire.values import Object, is_list

__all__ = ["ChatWriter"]

LISTS = ("reasoning_details", "thinking_blocks")
"""Reasoning that hosts send as entries; written as a whole when it ends."""
BESIDE = ("content", "refusal")
"""Fields of a message that its text deltas already carry."""


class ChatWriter(StreamWriter):
    """Writes the chunks that `POST /v1/chat/completions` streams; the last has the usage."""

    format = NAME

    def __init__(self, model: str = "", *, id: str | None = None, created: int = 0) -> None:
        super().__init__(model, id=id, created=created)
        self.calls: dict[int, tuple[int, bool]] = {}
        self.thought: dict[int, str] = {}
        self.failed = False
        self.refused = False

    def start(self, event: ReplyStart) -> None:
        """Write the events that open the stream."""
        self.delta({"role": "assistant", "content": ""})

    def put(self, event: Event) -> None:
        """Write any event after the first."""
        if type(event) is TextDelta:
            self.refused = self.refused or event.refusal
            self.delta({"refusal" if event.refusal else "content": event.text})
        elif type(event) is ThinkingDelta:
            field = place_in(NAME, event.slot) or "reasoning_content"
            another = event.index not in self.thought and field in self.thought.values()
            self.thought[event.index] = field
            if field not in LISTS:
                self.delta({field: f"\n{event.text}" if another else event.text})
        elif type(event) is CallStart:
            self.begin_call(event)
        elif type(event) is ArgumentsDelta:
            self.grow_call(event)
        elif type(event) is PartEnd:
            self.end(event.index, self.carried(event))
        elif type(event) is ErrorEvent:
            self.failed = True
            self.out.append(Frame(error_body(event.error, NAME)))
        elif type(event) is Finish:
            self.finish(event)

    def begin_call(self, event: CallStart) -> None:
        """Open a tool call."""
        if is_old_style(event):
            self.delta({"function_call": {"name": event.name, "arguments": ""}})
            return
        number = len(self.calls)
        self.calls[event.index] = (number, event.custom)
        id = spelled_id(event.id, event.index, NAME, self.id or "")
        held = event.extra.get(NAME, {})
        body: Object = {"name": event.name, "input" if event.custom else "arguments": ""}
        kind = "custom" if event.custom else "function"
        inner = held.get(kind)
        body = {**(inner if isinstance(inner, dict) else {}), **body}
        self.call(number, {**held, "id": id, "type": kind, kind: body})

    def grow_call(self, event: ArgumentsDelta) -> None:
        """Send a piece of the arguments of a call."""
        if event.index not in self.calls:
            self.delta({"function_call": {"arguments": event.text}})
            return
        number, custom = self.calls[event.index]
        piece: Object = {"input": event.text} if custom else {"arguments": event.text}
        self.call(number, {"custom" if custom else "function": piece})

    def call(self, number: int, fields: Object) -> None:
        """Send a piece of a call."""
        self.delta({"tool_calls": [{"index": number, **fields}]})

    def end(self, index: int, part: Part | None) -> None:
        """Write what the deltas of a part did not carry: further reasoning fields, audio."""
        if type(part) is Thinking:
            streamed = self.thought.get(index)
            for name, value in thinking_fields(part).items():
                if name != streamed or name in LISTS:
                    entries = numbered(value) if is_list(value) else value
                    self.delta({name: entries})
        elif type(part) is Opaque:
            self.delta({key: part.data[key] for key in part.data if key != "type"})

    def finish(self, event: Finish) -> None:
        """Write the closing chunks, except after an error or an interrupted stream."""
        if self.failed or event.reason == "interrupted":
            return
        held = event.extra.get(NAME, {})
        message = event.message_extra.get(NAME, {})
        others = {key: value for key, value in message.items() if key not in BESIDE}
        if others:
            self.delta(others)
        if event.refusal and message.get("refusal") and not self.refused:  # blank: no part has it
            self.refused = True
            self.delta({"refusal": event.refusal})
        tier = {"service_tier": held["service_tier"]} if held.get("service_tier") else {}
        rest, choice = beside(event.extra, NAME)
        reason = finish_wire(event, refused=self.refused)
        self.chunk([{"index": 0, "delta": {}, **choice, "finish_reason": reason}], **tier, **rest)
        if held.get("usage") or event.usage:
            self.chunk([], usage=held.get("usage") or usage_wire(event.usage or Usage()))
        self.out.append(Frame(DONE))

    def delta(self, delta: Object) -> None:
        """Send one delta."""
        self.chunk([{"index": 0, "delta": delta, "finish_reason": None}])

    def chunk(self, choices: list[Object], /, **fields: object) -> None:
        """Send a chunk; its fields may have any name."""
        head: Object = {
            "id": own_id(self.id, "chatcmpl-"),
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
        }
        self.out.append(Frame({**head, "choices": choices, **fields}))


def numbered(entries: list[object]) -> list[object]:
    """Return the entries with the index that identifies each in a stream."""
    return [
        {"index": number, **entry} if isinstance(entry, dict) else entry  # pyright: ignore
        for number, entry in enumerate(entries)
    ]
