"""A model's reply: its message, finish reason, token usage and error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from contextwright.errors import require
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    ErrorEvent,
    Event,
    Finish,
    FinishReason,
    PartEnd,
    ReplyError,
    ReplyStart,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    Usage,
    slot_of,
)
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall

__all__ = [
    "ModelReply",
    "deltas_of",
    "events_of",
    "finished_reply",
    "gather",
    "gather_partial",
    "is_custom",
    "part_of",
    "refusal_of",
]

CUT_OFF: dict[FinishReason, str] = {
    "length": "the output limit was reached",
    "context": "the model's context window was full",
    "filter": "the provider's filter withheld the answer",
    "error": "the provider reported an error",
    "interrupted": "the stream broke off",
}
"""Finish reasons that leave a reply incomplete."""
UNANSWERED: dict[FinishReason, str] = {**CUT_OFF, "refusal": "the model declined"}
PIECES = (TextDelta, ThinkingDelta, CallStart, ArgumentsDelta)
"""Events that bring a piece of a part."""
CUSTOM = ("custom", "custom_tool_call")
"""How the two formats with custom tools mark a custom call."""


class ModelReply(Conversation, frozen=True):
    """The reply to one request: a `Conversation` of the assistant's message, and how it ended.

    A message that was cut off or withheld has the reason in its `meta["finish"]`.
    """

    finish: FinishReason | None = None
    usage: Usage | None = None
    refusal: str | None = None
    """The text of a refusal; empty if the provider gives none. None: nothing was refused."""
    error: ReplyError | None = None

    @property
    def message(self) -> Message:
        """The assistant's message."""
        return self.messages[0]

    @property
    def answer(self) -> Message:
        """The message as the provider sent it, without the placeholder of an empty reply."""
        invented = any(change.code == "invent.text" for change in self.changes)
        return self.message.with_parts(()) if invented else self.message


def finished_reply(
    conversation: Conversation, finish: Finish, error: ReplyError | None
) -> ModelReply:
    """Return the reply of a parsed message and its end; mark it if it was cut off.

    A reply without any part gets a line with the reason, because a message cannot be empty.
    """
    messages, changes = conversation.messages or (Message("assistant"),), conversation.changes
    if finish.reason in UNANSWERED:
        messages, changes = marked(conversation, finish, error)
    fields = {name: getattr(conversation, name) for name in Conversation.__struct_fields__}
    fields.update(messages=messages, changes=changes)
    return ModelReply(
        **fields, finish=finish.reason, usage=finish.usage, refusal=finish.refusal, error=error
    )


def marked(
    conversation: Conversation, finish: Finish, error: ReplyError | None
) -> tuple[tuple[Message, ...], tuple[Change, ...]]:
    """Return the messages with the reason why they are incomplete, and the changes."""
    changes = [*conversation.changes]
    why = UNANSWERED[finish.reason]
    said = (error.message if error else "") or finish.refusal or finish.detail
    if said:
        why = f"{why}: {said}"
    if finish.reason in CUT_OFF:
        changes.append(Change("repair.interrupted", "", f"{why}; the parts received are kept"))
    messages = tuple(
        msgspec.structs.replace(message, meta={**message.meta, "finish": finish.reason})
        for message in conversation.messages or (Message("assistant"),)
    )
    if not any(says_something(part) for message in messages for part in message.parts):
        messages = (messages[0].with_parts((Text(f"[no answer: {why}]"),)),)
        changes.append(Change("invent.text", "", "the reply is empty; a line says why"))
    return messages, tuple(changes)


def says_something(part: Part) -> bool:
    """Whether a part is more than empty text, which some replies have in place of an answer."""
    return not isinstance(part, Text) or bool(part.text.strip())


def gather(events: Iterable[Event], format: str) -> ModelReply:
    """Build a whole reply from its events."""
    require(events, Iterable, "events")
    parts: dict[int, Part] = {}
    start, finish = ReplyStart(), Finish("interrupted")
    error: ReplyError | None = None
    for event in events:
        if type(event) is PartEnd:
            parts[event.index] = event.part
        elif type(event) is ReplyStart:
            start = event
        elif type(event) is ErrorEvent:
            error = event.error
        elif type(event) is Finish:
            finish = event
    message = Message(
        "assistant", tuple(parts[index] for index in sorted(parts)), extra=finish.message_extra
    )
    conversation = Conversation(
        (message,),
        model=start.model,
        source=format,
        extra=finish.extra,
        changes=finish.changes,
    )
    return finished_reply(conversation, finish, error)


def gather_partial(events: Iterable[Event], format: str) -> ModelReply:
    """Build a reply from the events so far; open parts end where they are.

    For a complete reply it returns the same as `gather`.
    """
    seen: list[Event] = []
    pieces: dict[int, list[Event]] = {}
    model: str | None = None
    for event in events:
        seen.append(event)
        if type(event) is PartEnd:
            pieces.pop(event.index, None)
        elif type(event) is ReplyStart:
            model = event.model
        elif isinstance(event, PIECES):
            pieces.setdefault(event.index, []).append(event)
    if not any(type(event) is Finish for event in seen):
        ended = {event.index for event in seen if type(event) is PartEnd}
        seen.extend(
            PartEnd(index, part_of(found, format, model))
            for index, found in pieces.items()
            if index not in ended
        )
    return gather(seen, format)


def part_of(pieces: Sequence[Event], format: str, model: str | None) -> Part:
    """Build the part from its deltas so far."""
    first = pieces[0]
    text = "".join(
        piece.text
        for piece in pieces
        if isinstance(piece, TextDelta | ThinkingDelta | ArgumentsDelta)
    )
    if type(first) is ThinkingDelta:
        return Thinking(text, origin=format, model=model)
    if type(first) is CallStart:
        if first.custom:
            return ToolCall(first.name, {"input": text}, first.id, extra=first.extra)
        return ToolCall.from_json(first.name, text, id=first.id, extra=first.extra)
    return Text(text)


def events_of(reply: ModelReply) -> Iterator[Event]:
    """Yield the events of a finished reply."""
    require(reply, ModelReply, "a reply", "parse_reply() reads one")
    held = reply.extra.get(reply.source or "", {})
    id = next((held[key] for key in ("id", "responseId") if isinstance(held.get(key), str)), None)
    yield ReplyStart(id, reply.model)
    message = reply.answer
    slots = slots_of(message.parts, reply.source or "")
    for index, (part, slot) in enumerate(zip(message.parts, slots, strict=True)):
        yield from deltas_of(index, part, slot_of(reply.source or "", slot))
        yield PartEnd(index, part)
    if reply.error is not None:
        yield ErrorEvent(reply.error)
    yield Finish(
        reply.finish or "stop",
        usage=reply.usage,
        refusal=reply.refusal,
        extra=reply.extra,
        message_extra=message.extra,
    )


def slots_of(parts: Sequence[Part], format: str) -> list[str]:
    """Return the slots of the parts in their own format; see `TextDelta.slot`."""
    slots: list[str] = []
    for part in parts:
        held = {} if isinstance(part, Opaque) else part.extra.get(format, {})
        slot = ""
        if format == "gemini":
            signed = type(part) is Thinking and part.signature
            slot = "whole" if held or signed else ""
        elif format == "openai-chat" and type(part) is Thinking:
            slot = next(iter(held), "")
        elif format == "openai-responses":
            again = held.get("continued") is True and slots
            slot = slots[-1] if again else str(held.get("id") or "")
        slots.append(slot)
    return slots


def deltas_of(index: int, part: Part, slot: str = "") -> Iterator[Event]:
    """Yield the deltas of a complete part, one of each kind it has."""
    if type(part) is Text:
        if part.text:
            yield TextDelta(index, part.text, is_refusal(part), slot)
    elif type(part) is Thinking:
        if part.text:
            yield ThinkingDelta(index, part.text, slot)
        if part.signature:
            yield SignatureDelta(index, part.signature)
    elif type(part) is ToolCall:
        custom = is_custom(part)
        yield CallStart(index, part.name, part.id, custom, part.extra)
        text = custom_input(part) if custom else part.json
        if text:
            yield ArgumentsDelta(index, text)


def is_refusal(text: Text) -> bool:
    """Whether a text is a refusal, by the mark of its format."""
    return any(
        held.get("refusal") is True or held.get("type") == "refusal" for held in text.extra.values()
    )


def is_custom(call: ToolCall) -> bool:
    """Whether a call is of a custom tool, by the mark of its format."""
    return any(held.get("type") in CUSTOM for held in call.extra.values())


def custom_input(call: ToolCall) -> str:
    """Return the free text of a custom tool's call."""
    given = call.arguments.get("input")
    return given if isinstance(given, str) else call.json


def refusal_of(parts: Sequence[Part]) -> str | None:
    """Return the text of the refusals among the parts; None if there are none."""
    words = [part.text for part in parts if type(part) is Text and is_refusal(part)]
    return "\n".join(words) if words else None
