"""A streamed Responses reply, read event by event."""

from __future__ import annotations

from typing import Any

from contextwright.formats.openai_responses.growing import PARTS, PIECES, Growing, number
from contextwright.formats.openai_responses.read import BREAK, NAME, Gatherer, leftover
from contextwright.formats.openai_responses.reply import finish_of, usage_of
from contextwright.formats.replies.events import CallStart, Finish, ReplyStart, UsageUpdate
from contextwright.formats.replies.failures import error_of
from contextwright.formats.replies.reader import StreamReader, as_object, stream_parser
from contextwright.messages.parts import Part
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["ResponsesReader", "parse_stream"]

PLACES = ("output_index", "content_index", "summary_index")
"""Fields of an event that name the part it belongs to."""
ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that are calls of the caller's tools, and the field with their input."""


class ResponsesReader(StreamReader):
    """Reads the events of `POST /v1/responses` with `stream: true`."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.reply: Object = {}
        self.items: dict[int, Growing] = {}
        self.done: set[int] = set()
        self.complete_reply = False
        self.reasoned: dict[int, str] = {}
        self.summary_index: dict[int, int] = {}

    def take(self, event: Any) -> None:
        """Read one event."""
        event = as_object(event)
        kind = str(event.get("type"))
        stem, _, step = kind.rpartition(".")
        place = number(event.get("output_index"))
        if stem == "response.output_item":
            self.take_item(place, as_object(event.get("item")), done=step == "done")
        elif kind == "error":
            # OpenAI's reference has its fields in the event, and its servers put them in an object.
            error = error_of(event) or error_of({"error": event})
            if error is not None:
                self.fail(error)
        elif "response" in event:
            self.take_response(kind, as_object(event["response"]))
        elif event.get("object") == "response":  # of a host that does not stream
            self.take_response("response.completed", event)
        elif place in self.items and place not in self.done:
            self.grow(place, stem, kind, event)

    def slot_of_text(self, event: Any) -> object:
        """Return what an event adds text to, if it does nothing else."""
        if not is_object(event) or not isinstance(event.get("delta"), str):
            return None
        kind = event.get("type")
        if not isinstance(kind, str) or kind.removesuffix(".delta") not in PIECES:
            return None
        return None if "response" in event else (kind, *map(event.get, PLACES))

    def joined(self, events: list[Any]) -> Any:
        """Return deltas of one part as one."""
        return {**events[0], "delta": "".join([event["delta"] for event in events])}

    @property
    def model(self) -> str | None:
        """The model that answers."""
        model = self.reply.get("model")
        return model if isinstance(model, str) else None

    def take_response(self, kind: str, response: Object) -> None:
        """Read an event with the whole reply; only the last has its output."""
        if kind in ENDS:
            self.reply["status"] = kind.removeprefix("response.")  # some hosts say it here alone
        self.reply.update(response)
        id = response.get("id")
        self.start(ReplyStart(id if isinstance(id, str) else None, self.model))
        if kind not in ENDS:
            return
        self.complete_reply = True
        usage = usage_of(self.reply.get("usage"))
        if usage is not None:
            self.out.append(UsageUpdate(usage))
        error = error_of(response)
        if error is not None and self.error is None:
            self.fail(error)
        self.complete()

    def take_item(self, place: int, item: Object, *, done: bool) -> None:
        """Begin an item, or take the complete one."""
        if place not in self.items:
            self.items[place] = Growing(item)
            self.begin(place, item)
        if done and place not in self.done:
            self.end_item(place, item)

    def begin(self, place: int, item: Object) -> None:
        """Begin a call, whose name comes first; other items begin with their first piece."""
        field = CALLS.get(str(item.get("type")))
        name, id = item.get("name"), item.get("call_id")
        if field is None or not isinstance(name, str):
            return
        custom = field == "input"
        known = ("name", "call_id", field, "status", *(() if custom else ("type",)))
        id = id if isinstance(id, str) else None
        extra = leftover(item, *known)
        self.call((place, 0), lambda index: CallStart(index, name, id, custom, extra))

    def grow(self, place: int, stem: str, kind: str, event: Object) -> None:
        """Add a piece of an item."""
        item = self.items[place]
        if stem in PIECES:
            item.grow(PIECES[stem], event)
            delta = event.get("delta")
            if isinstance(delta, str):
                self.hand_on(place, stem.removeprefix("response."), event, delta)
        elif stem in PARTS:
            item.open(PARTS[stem], event)
        elif kind == "response.output_text.annotation.added":
            item.annotate(event)

    def hand_on(self, place: int, stem: str, event: Object, delta: str) -> None:
        """Send a piece of text as an event, under the id of its item."""
        id = self.items[place].item.get("id")
        id = id if isinstance(id, str) else ""
        if stem in ("output_text", "refusal"):
            slot = (place, number(event.get("content_index")))
            self.text(slot, delta, refusal=stem == "refusal", place=id)
        elif stem in ("function_call_arguments", "custom_tool_call_input"):
            if self.indices.get((place, 0)) in self.begun:
                self.arguments((place, 0), delta)
        elif stem in ("reasoning_summary_text", "reasoning_text"):
            # Either the summary or the reasoning itself is sent: whichever came first.
            if self.reasoned.setdefault(place, stem) == stem:
                field = "summary" if stem.endswith("summary_text") else "content"
                here = number(event.get(f"{field}_index"))
                if self.summary_index.setdefault(place, here) != here:
                    self.summary_index[place] = here
                    delta = f"{BREAK}{delta}"
                self.thinking((place, 0), delta, f"{id}/{field}/{here}")

    def end_item(self, place: int, item: Object) -> None:
        """Read the parts of a complete item."""
        self.done.add(place)
        id = item.get("id")
        for offset, part in enumerate(self.parts_of(item, f"output[{place}]")):
            self.part((place, offset), part, id if isinstance(id, str) else "")

    def parts_of(self, item: Object, path: str) -> list[Part]:
        """Return the parts of an item, as for a reply that is not streamed."""
        gatherer = Gatherer(self.reader, model=self.model, reply=True)
        messages = gatherer.gather([(path, item)])
        return [part for message in messages for part in message.parts]

    def end(self) -> None:
        """Close the parts that are still open."""
        output = self.reply.get("output")
        for place, item in enumerate(output if is_list(output) else ()):
            self.take_item(place, as_object(item), done=True)
        for place in sorted(self.items):
            if place not in self.done:
                self.end_item(place, self.items[place].finished())

    def finish(self) -> Finish:
        """Return how the reply ended."""
        parts = [self.ended[index] for index in sorted(self.ended)]
        return finish_of(
            self.reply,
            parts,
            changes=self.reader.finish(),
            whole=self.complete_reply,
            error=self.error,
        )


parse_stream = stream_parser(ResponsesReader)
