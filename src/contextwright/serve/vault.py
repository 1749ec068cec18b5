"""Signatures that a client of another API cannot keep, by the calls they belong to.

Providers sign the thinking before a tool call, or the call itself, and want the signature back
with the history. A client of another API sends the history back without it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from contextwright.formats.gemini.write import STAND_IN
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Thinking, ToolCall
from contextwright.text.json import encode_json

__all__ = ["Vault"]

MOST = 10_000
"""Messages that are remembered; the ones longest unused are forgotten."""


class Vault:
    """Parts that were signed, by the id of their message's first call, and by its place.

    Not every client keeps ids; those that do not are known by all that was said before.
    """

    def __init__(self, most: int = MOST) -> None:
        self._parts: OrderedDict[tuple[str, str], tuple[Part, ...]] = OrderedDict()
        self._most = most

    def keep(self, owner: str, format: str, before: Conversation, message: Message) -> None:
        """Remember the parts of an answer that an upstream of a format gave to a conversation.

        `owner` tells clients apart.
        """
        if not message.calls or not any(is_signed(part, format) for part in message.parts):
            return
        *_, place = places_of(before.messages)
        for key in (message.calls[0].id, place):
            if key:
                self._parts[owner, key] = message.parts
        while len(self._parts) > self._most:
            self._parts.popitem(last=False)

    def restored(self, owner: str, format: str, conversation: Conversation) -> Conversation:
        """The conversation with what its client left out of answers of an upstream."""
        if not self._parts:
            return conversation
        places = places_of(conversation.messages)
        messages = [
            self._whole(owner, format, message, place)
            for message, place in zip(conversation.messages, places, strict=False)
        ]
        return replace(conversation, messages=tuple(messages))

    def _whole(self, owner: str, format: str, message: Message, place: str) -> Message:
        calls = message.calls
        if not calls or any(is_signed(part, format) for part in message.parts):
            return message
        for key in ((owner, calls[0].id or ""), (owner, place)):
            kept = self._parts.get(key, ())
            if same_calls(calls, kept):
                self._parts.move_to_end(key)
                return message.with_parts(merged(message.parts, kept, format))
        return message


def places_of(messages: Sequence[Message]) -> Iterator[str]:
    """The place before each message, and behind the last: a digest of all that was said there."""
    digest = blake2b(digest_size=16)
    yield digest.hexdigest()
    for message in messages:
        calls = [(call.name, call.arguments) for call in message.calls]
        results = [result.text for result in message.results]
        digest.update(encode_json([message.role, message.text, calls, results]))
        yield digest.hexdigest()


def is_signed(part: Part, format: str) -> bool:
    """Whether a provider of a format wants this part back as it gave it."""
    if isinstance(part, ToolCall):
        return part.extra.get(format, {}).get("thoughtSignature", STAND_IN) != STAND_IN
    if isinstance(part, Thinking):
        return part.origin == format and part.signature is not None
    return isinstance(part, Opaque) and part.format == format


def same_calls(calls: Sequence[ToolCall], kept: Sequence[Part]) -> bool:
    """Whether a client sends the calls back that it was given, with their arguments."""
    given = [part for part in kept if isinstance(part, ToolCall)]
    return [(call.name, call.arguments) for call in calls] == [
        (call.name, call.arguments) for call in given
    ]


def merged(parts: Sequence[Part], kept: Sequence[Part], format: str) -> list[Part]:
    """The client's words, and signed thinking and calls as they were given."""
    words = [part for part in parts if not isinstance(part, ToolCall | Thinking)]
    signed = [part for part in kept if not isinstance(part, ToolCall) and is_signed(part, format)]
    own = [part for part in parts if isinstance(part, ToolCall)]
    given = [part for part in kept if isinstance(part, ToolCall)]
    # The client's results name its own ids.
    calls = [replace(call, id=mine.id) for call, mine in zip(given, own, strict=True)]
    return [*signed, *words, *calls]
