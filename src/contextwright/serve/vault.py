"""Signatures that a client of another API cannot keep, by the answers they belong to.

Providers sign the thinking before an answer, or a tool call, and want the signature back with
the history. A client of another API sends the history back without it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from contextwright.formats.gemini.write import STAND_IN
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall
from contextwright.text.json import encode_json

__all__ = ["Vault", "is_signed"]

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
        if not any(is_signed(part, format) for part in message.parts):
            return
        *_, place = places_of(before.messages)
        for key in (first_id(message), place):
            if key:
                self._parts[owner, key] = message.parts
        while len(self._parts) > self._most:
            self._parts.popitem(last=False)

    def restored(self, owner: str, format: str, conversation: Conversation) -> Conversation:
        """Return the conversation with what its client left out of answers of an upstream."""
        if not self._parts:
            return conversation
        places = places_of(conversation.messages)
        messages = [
            self._whole(owner, format, message, place)
            for message, place in zip(conversation.messages, places, strict=False)
        ]
        return replace(conversation, messages=tuple(messages))

    def _whole(self, owner: str, format: str, message: Message, place: str) -> Message:
        if message.role != "assistant" or any(is_signed(part, format) for part in message.parts):
            return message
        for key in ((owner, first_id(message)), (owner, place)):
            kept = self._parts.get(key, ())
            if kept and same_answer(message, kept):
                self._parts.move_to_end(key)
                return message.with_parts(merged(message.parts, kept, format))
        return message


def first_id(message: Message) -> str:
    """Return the id of the first call; empty if there is none."""
    return message.calls[0].id or "" if message.calls else ""


def places_of(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the place before each message and after the last: a digest of all said before it."""
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


def same_answer(message: Message, kept: Sequence[Part]) -> bool:
    """Whether a client sends back what it was given: the calls, or words if there are none."""
    given = [part for part in kept if isinstance(part, ToolCall)]
    if not given and not message.calls:
        return words_of(own_words(message.parts, kept)) == words_of(kept)
    return [(call.name, call.arguments) for call in message.calls] == [
        (call.name, call.arguments) for call in given
    ]


def merged(parts: Sequence[Part], kept: Sequence[Part], format: str) -> list[Part]:
    """Return an answer as it was given, with the client's ids, and its words where they differ."""
    words = own_words(parts, kept)
    # The client's results name its own ids.
    ids = iter([part.id for part in parts if isinstance(part, ToolCall)])
    whole = [replace(part, id=next(ids)) if isinstance(part, ToolCall) else part for part in kept]
    if words_of(words) == words_of(kept) and all(isinstance(part, Text) for part in words):
        return whole
    signed = [part for part in kept if not isinstance(part, ToolCall) and is_signed(part, format)]
    return [*signed, *words, *(part for part in whole if isinstance(part, ToolCall))]


def own_words(parts: Sequence[Part], kept: Sequence[Part]) -> list[Part]:
    """Return what a client says besides calls and thinking; some send thinking back as text."""
    thoughts = {part.text.strip() for part in kept if isinstance(part, Thinking)}
    return [
        part
        for part in parts
        if not isinstance(part, ToolCall | Thinking)
        and not (isinstance(part, Text) and part.text.strip() in thoughts)
    ]


def words_of(parts: Sequence[Part]) -> str:
    """Return all text in one line of words; clients trim it as they like."""
    return " ".join(" ".join(part.text for part in parts if isinstance(part, Text)).split())
