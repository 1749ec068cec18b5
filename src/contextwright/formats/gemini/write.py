"""Our messages, written as Gemini's contents. All wire values here are in camelCase."""

from __future__ import annotations

from collections.abc import Sequence

from contextwright.formats.gemini.read import NAME, SIGNATURE
from contextwright.formats.media import standard_base64
from contextwright.formats.target import Target
from contextwright.messages.message import Message
from contextwright.messages.parts import (
    Extra,
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextwright.wire.gemini.types import STAND_IN
from contextwright.wire.values import Object, is_object

__all__ = ["Writer", "is_response", "wire_of"]

UNKNOWN = (-1, "")
"""The position and name for a result whose call is missing."""


class Writer:
    """Writes message after message; function responses get contents of their own.

    `signs_from` is the first message whose calls need a signature; None if none does. Only the
    first call of a step needs one, and gets the placeholder if no model signed it.
    """

    def __init__(self, target: Target, *, signs_from: int | None = None) -> None:
        self.same_format = target.same_format
        self.signs_from = signs_from
        self.system: Object = {}
        self.contents: list[Object] = []
        self.places: list[int] = []
        """The index of the message that each content begins with."""
        self.stood_in: list[tuple[int, int]] = []
        """The calls that got the placeholder: message and part index."""
        self.calls: dict[str | None, tuple[int, str]] = {}
        """The position and function name of each call, by id."""
        self.called = 0
        self.answers: Object = {}
        """The content to which further results are added."""
        self.answered = 0
        """The position of the call that the latest result answers."""
        self.in_order = True
        """Whether the results in `answers` are in the order of their calls."""
        self.fresh = True
        """Whether no call has been made since the last other message."""

    def write(self, messages: Sequence[Message]) -> None:
        """Write all messages: leading system text as the instruction, the rest as contents."""
        contents, places = self.contents, self.places
        for index, message in enumerate(messages):
            role, parts = message.role, message.parts
            if role == "system" and not contents:
                self.instruct(message)
                continue
            if role != "assistant":
                self.fresh = True
            if len(parts) == 1 and not message.extra:
                only = parts[0]
                if type(only) is Text and not only.extra:
                    side = "model" if role == "assistant" else "user"
                    contents.append({"role": side, "parts": [{"text": only.text}]})
                    places.append(index)
                    continue
            self.content(message, index)
            while len(places) < len(contents):
                places.append(index)
        self.settle()

    def instruct(self, message: Message) -> None:
        """Add a leading system message to the instruction."""
        texts = [wire_of(part) for part in message.parts if type(part) is Text]
        if texts:
            self.system.update(message.extra.get(NAME, {}))
            self.system.setdefault("parts", []).extend(texts)

    def content(self, message: Message, index: int) -> None:
        """Write a message. Its results come first, in a content of their own."""
        results: list[Object] = []
        parts: list[Object] = []
        for place, part in enumerate(message.parts):
            if type(part) is ToolResult:
                results.append(self.result(part))
            elif type(part) is ToolCall:
                parts.append(self.call(part, index, place))
            else:
                parts.append(wire_of(part))
        if results:
            self.answer(results, message)
        if parts:
            side = "model" if message.role == "assistant" else "user"
            self.contents.append(content_of(side, parts, message))

    def call(self, call: ToolCall, index: int, place: int) -> Object:
        """Write a call, signed where required."""
        if self.answers:
            self.settle()  # before a reused id replaces an earlier one
        if call.id is not None:
            self.called += 1
            self.calls[call.id] = (self.called, call.name)
        wire = call_wire(call)
        if self.fresh and self.signs_from is not None and index >= self.signs_from:
            if not wire.get(SIGNATURE):
                wire[SIGNATURE] = STAND_IN
                self.stood_in.append((index, place))
        self.fresh = False
        return wire

    def result(self, result: ToolResult) -> Object:
        """Write a result with the name of its call, and note whether it is in call order."""
        if self.answers and self.contents[-1] is not self.answers:
            self.settle()
        position, name = self.calls.get(result.call_id, UNKNOWN)
        if not result.call_id and result.name:
            name = result.name  # parallel calls may all have an empty id
        if position < self.answered:
            self.in_order = False
        self.answered = position
        return result_wire(result, name)

    def answer(self, results: list[Object], message: Message) -> None:
        """Add results to the content of the preceding results, or start one."""
        if self.answers:
            self.answers["parts"].extend(results)
            return
        self.contents.append(content_of("user", results, message))
        if not self.same_format:
            self.answers = self.contents[-1]

    def settle(self) -> None:
        """Sort the results of parallel calls into call order, if ids tell it."""
        results: list[Object] = self.answers.get("parts", [])
        if not self.in_order and all(id_of(part) in self.calls for part in results):
            results.sort(key=lambda part: self.calls.get(id_of(part), UNKNOWN))
        self.answers, self.answered, self.in_order = {}, 0, True


def id_of(part: Object) -> str | None:
    """Return the id of the call that a function response answers."""
    return part["functionResponse"].get("id")


def content_of(role: str, parts: list[Object], message: Message) -> Object:
    """Write one content, without a role if it came without one."""
    if message.extra and role == "user" and message.extra.get(NAME, {}).get("role", "") is None:
        return {"parts": parts}
    return {"role": role, "parts": parts}


def wire_of(part: Part, name: str = "") -> Object:
    """Write one part; `name` is the function that a result answers."""
    if type(part) is Text:
        wire: Object = {"text": part.text}
    elif type(part) is ToolCall:
        return call_wire(part)
    elif type(part) is ToolResult:
        return result_wire(part, name)
    elif type(part) is Media:
        wire = media_wire(part)
    elif type(part) is Thinking:
        wire = {"text": part.text, "thought": True}
        if part.signature is not None:
            wire[SIGNATURE] = part.signature
    else:
        return part.data
    return with_fields(wire, part.extra) if part.extra else wire


def with_fields(wire: Object, extra: Extra) -> Object:
    """Add the leftover fields that are not written yet."""
    fields = extra.get(NAME, {})
    wire.update({key: fields[key] for key in fields if key not in wire})
    return wire


def call_wire(call: ToolCall) -> Object:
    """Write a call; its id is optional."""
    function: Object = {"name": call.name, "args": call.arguments}
    if call.id is not None:
        function["id"] = call.id
    wire: Object = {"functionCall": function}
    if not call.extra:
        return wire
    rest = fields_inside(call.extra, "functionCall")
    function.update({key: rest[key] for key in rest if key not in function})
    if "args" in rest and not call.arguments:
        del function["args"]
    return with_fields(wire, call.extra)


def result_wire(result: ToolResult, name: str) -> Object:
    """Write a result: text under `output` or `error`, media in `parts`."""
    function: Object = {"name": name or result.name or "", "response": response_of(result)}
    if result.call_id is not None:
        function["id"] = result.call_id
    if isinstance(result.content, tuple):
        parts = [piece_wire(piece) for piece in result.content if not has_words(piece)]
        if parts:
            function["parts"] = parts
    wire: Object = {"functionResponse": function}
    if not result.extra:
        return wire
    rest = fields_inside(result.extra, "functionResponse")
    function.update({key: rest[key] for key in rest if key not in function})
    return with_fields(wire, result.extra)


def fields_inside(extra: Extra, key: str) -> Object:
    """Return the leftover fields from inside the function object; others belong next to it."""
    rest = extra.get(NAME, {}).get(key)
    return rest if is_object(rest) else {}


def response_of(result: ToolResult) -> Object:
    """Return the response object: an object as it is, text under `output` or `error`."""
    content = result.content
    key = "error" if result.is_error else "output"
    if isinstance(content, str):
        return {key: content}
    if isinstance(content, dict):
        return {key: content} if result.is_error and "error" not in content else content
    for piece in content:
        if isinstance(piece, Opaque) and is_response(piece.data):
            return piece.data["functionResponse"]["response"]
    words = [piece.text for piece in content if isinstance(piece, Text)]
    return {key: "\n".join(words)} if words else {}


def has_words(piece: Text | Media | Opaque) -> bool:
    """Whether a piece of a result goes into the response object."""
    return isinstance(piece, Text) or (isinstance(piece, Opaque) and is_response(piece.data))


def is_response(data: Object) -> bool:
    """Whether a block is the response object of a result that also has media."""
    function = data.get("functionResponse")
    return (
        is_object(function) and function.keys() == {"response"} and is_object(function["response"])
    )


def piece_wire(piece: Text | Media | Opaque) -> Object:
    """Write media inside a function response."""
    if isinstance(piece, Media):
        return {**media_wire(piece), **piece.extra.get(NAME, {})}
    return piece.data if isinstance(piece, Opaque) else {}


def media_wire(media: Media) -> Object:
    """Write data inline, anything else by its URI."""
    fields: Object = {}
    if media.mime is not None:
        fields["mimeType"] = media.mime
    if media.name is not None:
        fields["displayName"] = media.name
    if media.data is not None:
        return {"inlineData": {**fields, "data": standard_base64(media.data)}}
    return {
        "fileData": {**fields, "fileUri": media.url if media.url is not None else media.file_id}
    }
