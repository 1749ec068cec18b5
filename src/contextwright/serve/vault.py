"""Signatures that a client of another API cannot keep, by the calls they belong to.

Providers sign the thinking before a tool call, or the call itself, and want the signature back
with the history. A client of another API sends the history back without it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from msgspec.structs import replace

from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Thinking, ToolCall

__all__ = ["Vault"]

MOST = 10_000
"""Messages that are remembered; the ones longest unused are forgotten."""


class Vault:
    """Parts that were signed, by the id of the first call of their message."""

    def __init__(self, most: int = MOST) -> None:
        self._parts: OrderedDict[tuple[str, str], tuple[Part, ...]] = OrderedDict()
        self._most = most

    def keep(self, owner: str, message: Message) -> None:
        """Remember the parts of an answer; `owner` tells clients apart."""
        calls = message.calls
        if calls and calls[0].id and any(map(is_signed, message.parts)):
            self._parts[owner, calls[0].id] = message.parts
            while len(self._parts) > self._most:
                self._parts.popitem(last=False)

    def restored(self, owner: str, conversation: Conversation) -> Conversation:
        """The conversation with what its client left out of answers it was given."""
        messages = tuple(self._whole(owner, message) for message in conversation.messages)
        return replace(conversation, messages=messages)

    def _whole(self, owner: str, message: Message) -> Message:
        calls = message.calls
        if message.role != "assistant" or not calls or any(map(is_signed, message.parts)):
            return message
        kept = self._parts.get((owner, calls[0].id or ""))
        if kept is None or not same_calls(calls, kept):
            return message
        self._parts.move_to_end((owner, calls[0].id or ""))
        return message.with_parts(merged(message.parts, kept))


def is_signed(part: Part) -> bool:
    """Whether a provider wants this part back as it gave it."""
    if isinstance(part, ToolCall):
        return any("thoughtSignature" in held for held in part.extra.values())
    if isinstance(part, Thinking):
        return part.signature is not None or bool(part.extra)
    return isinstance(part, Opaque) and "encrypted_content" in part.data


def same_calls(calls: Sequence[ToolCall], kept: Sequence[Part]) -> bool:
    """Whether a client sends the calls back that it was given, with their arguments."""
    given = [part for part in kept if isinstance(part, ToolCall)]
    return [(call.id, call.arguments) for call in calls] == [
        (call.id, call.arguments) for call in given
    ]


def merged(parts: Sequence[Part], kept: Sequence[Part]) -> list[Part]:
    """The client's words, and signed thinking and calls as they were given."""
    words = [part for part in parts if not isinstance(part, ToolCall | Thinking)]
    signed = [part for part in kept if isinstance(part, Thinking | Opaque) and is_signed(part)]
    calls = [part for part in kept if isinstance(part, ToolCall)]
    return [*signed, *words, *calls]
