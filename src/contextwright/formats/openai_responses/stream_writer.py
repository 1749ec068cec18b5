"""A Responses stream, written event by event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from contextwright.formats.base import without
from contextwright.formats.openai_responses.media import NAME
from contextwright.formats.openai_responses.read import BREAK
from contextwright.formats.openai_responses.reply import (
    call_item,
    content_part,
    end_wire,
    item_id,
    message_item,
    reasoning_item,
    response_wire,
)
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    ErrorEvent,
    Event,
    Finish,
    PartEnd,
    ReplyError,
    ReplyStart,
    TextDelta,
    ThinkingDelta,
    place_in,
    slot_of,
)
from contextwright.formats.replies.failures import openai_code
from contextwright.formats.replies.parts import spelled_id
from contextwright.formats.replies.writer import Frame, InOrder, StreamWriter
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["ResponsesWriter"]

FUNCTION = ("function_call", "fc_", "arguments")
CUSTOM = ("custom_tool_call", "ctc_", "input")
"""Items that are calls: their type, their id prefix, the field with their input."""
Thought: TypeAlias = tuple[str, int]
"""A part of a reasoning item: the list that holds it, and its index there."""


class Reasoning(NamedTuple):
    """How the parts of one list of a reasoning item are streamed."""

    part: str
    text: str
    place: str
    type: str


REASONING = {
    "summary": Reasoning(
        "reasoning_summary_part", "reasoning_summary_text", "summary_index", "summary_text"
    ),
    "content": Reasoning("content_part", "reasoning_text", "content_index", "reasoning_text"),
}


class ResponsesWriter(StreamWriter):
    """Writes the events that `POST /v1/responses` streams, numbered in order."""

    format = NAME

    def __init__(self, model: str = "", *, id: str | None = None, created: int = 0) -> None:
        super().__init__(model, id=id, created=created)
        self.order = InOrder()
        self.sequence = 0
        self.output: list[Object] = []
        self.item: Object | None = None
        """The open item. A message stays open until another item begins."""
        self.slot = ""
        self.texts: list[str] = []
        self.part_open = False
        self.thought: Thought = ("summary", 0)
        """The open part of a reasoning item."""
        self.thoughts: dict[Thought, str] = {}
        """The parts of the open item that were written, with their text."""
        self.ids: set[str] = set()
        """The ids of items that came without one."""
        self.error: ReplyError | None = None
        self.refused = False

    def start(self, event: ReplyStart) -> None:
        """Write the events that open the stream."""
        self.response: Object = response_wire(self.model, self.id, self.created)
        self.send("created", response=self.response)
        self.send("in_progress", response=self.response)

    def put(self, event: Event) -> None:
        """Write any event after the first."""
        for ready in self.order.pass_on(event):
            self.put_in_order(ready)

    def put_in_order(self, event: Event) -> None:
        """Write an event of the open item, or one between items."""
        if type(event) is TextDelta:
            self.refused = self.refused or event.refusal
            self.begin_text(event)
            self.texts.append(event.text)
            kind = "refusal.delta" if event.refusal else "output_text.delta"
            more: Object = {} if event.refusal else {"logprobs": []}
            self.send_part(kind, delta=event.text, **more)
        elif type(event) is ThinkingDelta:
            self.think(event)
        elif type(event) is CallStart:
            self.begin_call(event)
        elif type(event) is ArgumentsDelta:
            self.texts.append(event.text)
            self.send_item(f"{self.call_stem()}.delta", delta=event.text)
        elif type(event) is PartEnd:
            part = self.carried(event)
            if part is not None:
                self.end(part, event.index)
            elif self.part_open:
                self.end(self.open_part(), event.index)
        elif type(event) is ErrorEvent:
            self.fail(event.error)
        elif type(event) is Finish:
            self.finish(event)

    # --- beginnings ------------------------------------------------------------------------------

    def begin_text(self, event: TextDelta) -> None:
        """Open a part of a message: of the open message if the text came from the same one."""
        if self.part_open:
            return
        own = place_in(NAME, event.slot)
        same = self.item is not None and self.slot and own == self.slot
        if not same:
            id = own or self.new_id("msg_", event.index)
            item: Object = {"type": "message", "id": id, "status": "in_progress"}
            self.begin({**item, "role": "assistant", "content": []}, own)
        empty = Text("", {NAME: {"refusal": True}} if event.refusal else {})
        self.part_open = True
        self.send_part("content_part.added", part=content_part(empty))

    def think(self, event: ThinkingDelta) -> None:
        """Write a piece of reasoning; all parts of it at once wait for its end."""
        id, thought = thought_at(place_in(NAME, event.slot))
        if id and thought is None:
            return
        thought = thought or ("summary", 0)
        if (self.item or {}).get("type") != "reasoning":
            id = id or self.new_id("rs_", event.index)
            self.begin_thinking({"type": "reasoning", "id": id, "summary": []})
        text = event.text
        if self.part_open and thought != self.thought:
            self.end_thought()
            text = text.removeprefix(BREAK)
        self.grow_thought(thought, text)

    def begin_thinking(self, item: Object) -> None:
        """Open a reasoning item."""
        self.begin(item)
        self.thoughts.clear()

    def grow_thought(self, thought: Thought, text: str) -> None:
        """Add text to a part of the open reasoning item; open the part if it is a new one."""
        kind = REASONING[thought[0]]
        if not self.part_open:
            self.part_open, self.thought = True, thought
            self.send_thought(f"{kind.part}.added", part={"type": kind.type, "text": ""})
        self.texts.append(text)
        self.send_thought(f"{kind.text}.delta", delta=text)

    def begin_call(self, event: CallStart) -> None:
        """Open a call."""
        kind, prefix, field = FUNCTION if not event.custom else CUSTOM
        item: Object = {
            "type": kind,
            "id": item_id(prefix, self.response["id"], event.index),
            "status": "in_progress",
            "call_id": spelled_id(event.id, event.index, NAME, self.id or ""),
            "name": event.name,
            field: "",
        }
        self.begin({**item, **event.extra.get(NAME, {})})

    def new_id(self, prefix: str, index: int) -> str:
        """Return an id for an item of a part; another one if the part goes on after its end."""
        id = item_id(prefix, self.response["id"], index)
        if id in self.ids:
            id = f"{id}_{len(self.output)}"
        self.ids.add(id)
        return id

    def begin(self, item: Object, slot: str = "") -> None:
        """Open an item, after closing the one before."""
        self.close()
        self.item, self.slot = item, slot
        self.send("output_item.added", output_index=len(self.output), item=item)

    # --- ends ------------------------------------------------------------------------------------

    def open_part(self) -> Text | Thinking:
        """Return the open part as far as it was written."""
        text = "".join(self.texts)
        is_thinking = (self.item or {}).get("type") == "reasoning"
        return Thinking(text, origin=NAME) if is_thinking else Text(text)

    def end(self, part: Part, index: int) -> None:
        """End a part. A part that had no deltas is written as a whole."""
        if isinstance(part, Text):
            self.end_text(part, index)
        elif isinstance(part, Thinking):
            self.end_thinking(part, index)
        elif isinstance(part, ToolCall):
            self.end_call(part, index)
        elif isinstance(part, Opaque):
            self.begin(part.data)
            self.close()

    def end_text(self, part: Text, index: int) -> None:
        """Close a part of a message; the message stays open."""
        held = part.extra.get(NAME, {})
        if not self.part_open:
            id = held.get("id")
            if not isinstance(id, str):
                id = self.slot if held.get("continued") else ""
            self.begin_text(TextDelta(index, "", "refusal" in held, slot_of(NAME, id)))
        wire = content_part(Text("".join(self.texts), part.extra))
        item = self.item or {}
        notes = wire.get("annotations")
        for number, note in enumerate(notes if is_list(notes) else ()):
            added = {"annotation_index": number, "annotation": note}
            self.send_part("output_text.annotation.added", **added)
        if wire["type"] == "refusal":
            self.send_part("refusal.done", refusal=wire["refusal"])
        else:
            self.send_part("output_text.done", text=wire["text"], logprobs=[])
        self.send_part("content_part.done", part=wire)
        content = [*item["content"], wire]
        if len(content) == 1:
            self.item = message_item(part, content, item["id"])
        else:
            self.item = {**item, "content": content}
        self.texts, self.part_open = [], False

    def end_thinking(self, part: Thinking, index: int) -> None:
        """Close a reasoning item, after the parts of it that had no deltas."""
        whole = reasoning_item(part, item_id("rs_", self.response["id"], index))
        if (self.item or {}).get("type") == "reasoning":
            whole["id"] = (self.item or whole)["id"]
        else:
            self.begin_thinking({**without(whole, "content"), "summary": []})
        if self.part_open:
            self.end_thought()
        for thought, text in thoughts_in(whole):
            if thought not in self.thoughts:
                self.grow_thought(thought, text)
                self.end_thought()
        self.item = with_texts(whole, self.thoughts)
        self.close()

    def end_thought(self) -> None:
        """Close a part of the open reasoning item."""
        kind, text = REASONING[self.thought[0]], "".join(self.texts)
        self.send_thought(f"{kind.text}.done", text=text)
        self.send_thought(f"{kind.part}.done", part={"type": kind.type, "text": text})
        self.thoughts[self.thought] = text
        self.texts, self.part_open = [], False

    def end_call(self, part: ToolCall, index: int) -> None:
        """Close a call."""
        opened = self.item or {}
        whole = call_item(part, self.response["id"], index)
        whole["id"] = opened.get("id", whole["id"])
        self.item = whole
        field = "input" if whole["type"] == "custom_tool_call" else "arguments"
        whole[field] = "".join(self.texts) or whole[field]  # as its pieces spell it
        self.texts = []
        named = {} if field == "input" else {"name": part.name}
        self.send_item(f"{self.call_stem()}.done", **{field: whole[field]}, **named)
        self.close()

    def close(self) -> None:
        """Close the open item."""
        if self.item is None:
            return
        item = self.item
        self.send("output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)
        self.item, self.slot = None, ""

    def fail(self, error: ReplyError) -> None:
        """Send an error."""
        self.error = error
        code = openai_code(error) or error.type
        fields = {"code": code, "message": error.message, "param": None}
        self.number({"type": "error", **fields})

    def finish(self, event: Finish) -> None:
        """Write the closing event, unless the stream was interrupted."""
        self.close()
        if event.reason == "interrupted":
            return
        end = end_wire(event, self.error, self.changes, refused=self.refused)
        self.response = {**self.response, "output": self.output, **end}
        self.send(self.response["status"], response=self.response)

    # --- frames ----------------------------------------------------------------------------------

    def call_stem(self) -> str:
        """Return the prefix of the open call's events."""
        custom = (self.item or {}).get("type") == "custom_tool_call"
        return "custom_tool_call_input" if custom else "function_call_arguments"

    def send_part(self, kind: str, **fields: object) -> None:
        """Send an event of a part of the open message."""
        item = self.item or {}
        self.send_item(kind, content_index=len(item.get("content", ())), **fields)

    def send_thought(self, kind: str, **fields: object) -> None:
        """Send an event of a part of the open reasoning item."""
        field, number = self.thought
        self.send_item(kind, **{REASONING[field].place: number}, **fields)

    def send_item(self, kind: str, **fields: object) -> None:
        """Send an event of the open item."""
        id = (self.item or {}).get("id")
        self.send(kind, item_id=id, output_index=len(self.output), **fields)

    def send(self, kind: str, **fields: object) -> None:
        """Send an event."""
        self.number({"type": f"response.{kind}", **fields})

    def number(self, data: Object) -> None:
        """Send an event with the next sequence number."""
        self.out.append(Frame({**data, "sequence_number": self.sequence}, data["type"]))
        self.sequence += 1


def thought_at(place: str) -> tuple[str, Thought | None]:
    """Return the id of the item of some reasoning, and its part if the place names one."""
    start, _, number = place.rpartition("/")
    id, _, field = start.rpartition("/")
    if field in REASONING and number.isdecimal():
        return id, (field, int(number))
    return place, None


def thoughts_in(item: Object) -> Iterator[tuple[Thought, str]]:
    """Yield the parts of a reasoning item that have text."""
    for field in REASONING:
        held = item.get(field)
        for number, piece in enumerate(held if is_list(held) else ()):
            if is_object(piece) and isinstance(piece.get("text"), str) and piece["text"]:
                yield (field, number), piece["text"]


def with_texts(item: Object, written: dict[Thought, str]) -> Object:
    """Return a reasoning item whose parts have the text that was written.

    A part that goes on after its end is whole in its last event, and was begun in another item.
    """
    item = dict(item)
    for field in REASONING:
        held = item.get(field)
        if is_list(held):
            item[field] = [
                {**piece, "text": written[field, number]} if (field, number) in written else piece
                for number, piece in enumerate(held)
            ]
    return item
