"""A streamed chat reply, read chunk by chunk."""

from __future__ import annotations

from typing import Any, cast

from contextwright.formats.base import without
from contextwright.formats.openai_chat.grown import Entries, Grown
from contextwright.formats.openai_chat.pieces import Pieces
from contextwright.formats.openai_chat.read import REASONING, parts_of, thinking_of, words_of
from contextwright.formats.openai_chat.reply import (
    NAME,
    finish_of,
    lost_choices,
    reply_message,
    usage_of,
)
from contextwright.formats.reader import Reader
from contextwright.formats.replies.events import CallStart, Finish, ReplyStart, UsageUpdate
from contextwright.formats.replies.failures import error_of
from contextwright.formats.replies.reader import StreamReader, as_object, stream_parser
from contextwright.formats.replies.reply import is_refusal, refusal_of
from contextwright.formats.replies.sse import DONE
from contextwright.messages.changes import Change
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["ChatReader", "parse_stream"]

THINKING, CONTENT, REFUSAL, AUDIO = "thinking", "content", "refusal", "audio"
LOGPROBS = "logprobs"


class ChatReader(StreamReader):
    """Reads the chunks of `POST /v1/chat/completions` with `stream: true`.

    Only the first choice is read. Reasoning ends when text begins, and text when a call begins.
    Calls end with the reply, because hosts may interleave parallel calls.
    """

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.head: Object = {}
        self.choice: Object = {}
        self.others: set[str] = set()
        """The indexes of the other choices."""
        self.message = Grown()
        self.pieces = Pieces()
        """The content, if it came as lists."""
        self.is_bare = False
        """Whether its first text came before them."""
        self.logprobs = Grown()
        self.reasoning = ""
        self.last_entry: object = None
        self.open: str | tuple[str, int] = ""

    def take(self, event: Any) -> None:
        """Read one event."""
        if event == DONE:
            self.complete()
            return
        chunk = as_object(event)
        error = error_of(chunk) if "error" in chunk else None
        if error is not None:
            self.fail(error)
        for key, value in chunk.items():
            if key not in ("choices", "error") and value is not None:
                self.head[key] = value
        if not self.started and chunk.get("id"):
            self.start(ReplyStart(as_text(chunk.get("id")), self.model))
        usage = usage_of(chunk["usage"]) if "usage" in chunk else None
        if usage is not None:
            self.out.append(UsageUpdate(usage))
        choices: Any = chunk.get("choices")
        for entry in choices if is_list(choices) else ():
            if is_object(entry) and entry.get("index", 0) != 0:
                self.others.add(str(entry["index"]))
            elif is_object(entry):
                # Some hosts answer with the whole message, though asked for a stream.
                self.grow(as_object(entry.get("delta") or entry.get("message")))
                self.take_choice(entry)

    def take_choice(self, choice: Object) -> None:
        """Read the fields of a choice outside its message."""
        for key, value in choice.items():
            if key == LOGPROBS and is_object(value):
                self.logprobs.add(value)  # of the tokens of this chunk
            elif key not in ("delta", "message") and value is not None:
                self.choice[key] = value

    def slot_of_text(self, event: Any) -> object:
        """Return what a chunk adds text to, if it does nothing else."""
        if not is_object(event) or event.get("usage") or event.get("error"):
            return None
        choices = event.get("choices")
        choice = choices[0] if is_list(choices) and len(choices) == 1 else None
        if not is_object(choice) or choice.get("index", 0) != 0 or choice.get(LOGPROBS):
            return None
        delta = choice.get("delta")
        if not is_object(delta) or len(delta) != 1 or choice.get("finish_reason") is not None:
            return None
        for field in (CONTENT, *REASONING):
            if isinstance(delta.get(field), str):
                names = tuple([name for name, value in event.items() if value is not None])
                return field, event.get("id"), event.get("model"), names
        return None

    def joined(self, events: list[Any]) -> Any:
        """Return chunks of one text as one; fields beside the text are those of the last."""
        deltas = [event["choices"][0]["delta"] for event in events]
        (field,) = deltas[0]
        text = "".join([delta[field] for delta in deltas])
        last = events[-1]
        return {**last, "choices": [{**last["choices"][0], "delta": {field: text}}]}

    @property
    def model(self) -> str | None:
        """The model that answers."""
        return as_text(self.head.get("model"))

    # --- pieces ----------------------------------------------------------------------------------

    def grow(self, delta: Object) -> None:
        """Add one delta of the message."""
        content = delta.get(CONTENT)
        if is_list(content) or (self.pieces.heads and isinstance(content, str)):
            self.grow_content(content)
            delta = without(delta, CONTENT)
        self.message.add(delta)
        for field in REASONING:
            if delta.get(field) and self.reasoning in ("", field):
                self.reasoning = field
                self.think(field, delta[field])
        for field in (CONTENT, REFUSAL):
            text = delta.get(field)
            if isinstance(text, str) and text:
                self.turn_to(field)
                self.text(field, text, refusal=field == REFUSAL)
        if is_object(delta.get(AUDIO)):
            self.index(AUDIO)  # its place; all of it comes with the end
        calls: Any = delta.get("tool_calls")
        if is_list(calls):
            self.turn_to("tool_calls")
            self.grow_calls(calls)

    def grow_content(self, content: list[Any] | str) -> None:
        """Add pieces of a content that comes as lists; some of its texts may be bare."""
        if self.message.fields.get(CONTENT) not in (None, [""]):
            self.turn_to("")
            self.is_bare = True
            self.pieces.add(str(self.grown(CONTENT)))
        self.message.fields.pop(CONTENT, None)
        for piece in [content] if isinstance(content, str) else content:
            number, words = self.pieces.add(piece)
            slot = self.slot_of_piece(number)
            self.turn_to(slot)
            if as_object(self.pieces.heads[number]).get("type") == THINKING:
                self.thinking(slot, words)
            else:
                self.text(slot, words)

    def slot_of_piece(self, number: int) -> str | tuple[str, int]:
        """Return the slot of a part of a content that came as lists."""
        return CONTENT if number == 0 and self.is_bare else (CONTENT, number)

    def think(self, field: str, value: Any) -> None:
        """Add reasoning, as text or as entries; entries are joined by line breaks."""
        self.turn_to(THINKING)
        if isinstance(value, str):
            self.thinking(THINKING, value, field)
            return
        for entry in value if is_list(value) else ():
            key = as_object(entry).get("index")
            for word in words_of([entry]):
                again = self.last_entry in (None, (key,)) and key is not None
                first = self.last_entry is None
                self.thinking(THINKING, word if again or first else f"\n{word}", field)
                self.last_entry = (key,)

    def turn_to(self, slot: str | tuple[str, int]) -> None:
        """Begin another part, and end the reasoning or text before it.

        A part that continued after its end is ended again only with the reply, because a stream
        that alternates would otherwise make every end cost as much as all text before it.
        """
        if self.open == slot:
            return
        if self.indices.get(self.open) in self.ended:
            pass
        elif self.open == THINKING:
            fields = {name: self.grown(name) for name in REASONING if name in self.message.fields}
            self.part(THINKING, thinking_of(fields, NAME, self.model))
        elif self.open == CONTENT:
            self.part(CONTENT, Text(str(self.grown(CONTENT))))
        elif self.open == REFUSAL:
            self.part(REFUSAL, Text(str(self.grown(REFUSAL)), {NAME: {"type": "refusal"}}))
        elif isinstance(self.open, tuple):
            piece = self.pieces.whole(self.open[1])
            for part in parts_of([piece], "", Reader(NAME, strict=False), self.model):
                self.part(self.open, part)
        self.open = slot

    def grown(self, field: str) -> Any:
        """Return a field of the message as received so far."""
        return self.message.settled(field)

    def grow_calls(self, pieces: list[Any]) -> None:
        """Add pieces of calls, under the indices of the accumulated entries."""
        entries = self.message.fields.get("tool_calls")
        numbers = entries.last_numbers if isinstance(entries, Entries) else []
        found = [piece for piece in pieces if is_object(piece)]
        for number, piece in zip(numbers, found, strict=False):
            slot = ("call", number)
            entry = cast("Entries", entries).entries[number]
            held = entry.fields.get("custom") or entry.fields.get("function")
            name = held.settled("name") if isinstance(held, Grown) else None
            if not isinstance(name, str):
                continue
            custom = "custom" in entry.fields
            id = as_text(entry.settled("id"))
            extra = call_extra(entry, custom=custom)
            self.call(
                slot,
                lambda index, name=name, id=id, custom=custom, extra=extra: CallStart(
                    index, name, id, custom, extra
                ),
            )
            body = as_object(piece.get("custom" if custom else "function"))
            text = body.get("input" if custom else "arguments")
            self.arguments(slot, text if isinstance(text, str) else "")

    # --- the end ---------------------------------------------------------------------------------

    def end(self) -> None:
        """Read the whole message, and end every part that has not ended with the same value."""
        said = self.message.value()
        if self.pieces.heads:
            said[CONTENT] = self.pieces.value()
        entries = self.message.fields.get("tool_calls")
        numbers: list[Any] = sorted(entries.entries) if isinstance(entries, Entries) else []
        given = said.get("tool_calls")
        if is_list(given):
            calls = [as_object(call) for call in given]
            numbers = [n for n, call in zip(numbers, calls, strict=False) if is_named(call)]
            said["tool_calls"] = [call for call in calls if is_named(call)]
            if len(said["tool_calls"]) < len(calls):
                reason = "the beginning of a call is missing"
                self.reader.changes.append(Change("loss.call", "tool_calls", reason))
        if self.others:
            self.reader.changes.append(lost_choices(len(self.others)))
        self.whole = reply_message(said, "choices[0].message", self.reader, self.model)
        slots = iter(numbers)
        for place, part in enumerate(self.whole.parts):
            self.part(self.slot_of(part, place, next(slots, None) if is_call(part) else None), part)

    def slot_of(self, part: Part, place: int, number: Any) -> object:
        """Return the slot under which the pieces of a part arrived."""
        piece = place - (1 if self.reasoning else 0)
        if 0 <= piece < len(self.pieces.heads):
            return self.slot_of_piece(piece)
        if isinstance(part, Thinking) and self.reasoning:
            return THINKING
        if isinstance(part, Text) and is_refusal(part):
            return REFUSAL
        if isinstance(part, Text) and isinstance(self.grown(CONTENT), str):
            return CONTENT
        if isinstance(part, Opaque) and part.data.get("type") == AUDIO:
            return AUDIO
        return ("call", number) if isinstance(part, ToolCall) else ("part", place)

    def finish(self) -> Finish:
        """Return how the reply ended."""
        probabilities = self.logprobs.value()
        return finish_of(
            self.head,
            {**self.choice, LOGPROBS: probabilities} if probabilities else self.choice,
            refusal_of(self.whole.parts),
            calls=bool(self.whole.calls),
            message_extra=self.whole.extra,
            changes=self.reader.finish(),
            whole="finish_reason" in self.choice,
            error=self.error,
        )


parse_stream = stream_parser(ChatReader)


def call_extra(entry: Grown, *, custom: bool) -> dict[str, dict[str, Any]]:
    """Return the leftover fields of a call that came with its first piece."""
    known = ("id", "type", "index", "function", "custom")
    held = {key: entry.settled(key) for key in entry.fields if key not in known}
    if custom:
        held = {"type": "custom", **held}
    return {NAME: held} if held else {}


def is_call(part: Part) -> bool:
    """Whether a part is a call."""
    return isinstance(part, ToolCall)


def is_named(call: Object) -> bool:
    """Whether enough of a call arrived to know its tool."""
    match call:
        case {"function": {"name": str()}} | {"custom": {"name": str()}}:
            return True
        case _:
            return False


def as_text(value: Any) -> str | None:
    """Return the value if it is a string, else None."""
    return value if isinstance(value, str) else None
