"""Thinking that its provider ties to the exact words before it."""

from __future__ import annotations

from collections.abc import Sequence

from contextwright.messages import Message, Part, Thinking

__all__ = ["open_turn", "without_thinking"]


def without_thinking(message: Message) -> Message:
    """A message without the thinking that was signed for words which are no longer before it."""
    if message.role != "assistant":
        return message
    parts = [part for part in message.parts if not is_bound(part)]
    return message if len(parts) == len(message.parts) else message.with_parts(parts)


def is_bound(part: Part) -> bool:
    """Whether a part is thinking that is tied to what stood before it."""
    return isinstance(part, Thinking) and part.signature is not None and part.origin == "anthropic"


def open_turn(messages: Sequence[Message]) -> int:
    """Where the assistant's turn of an unfinished tool loop begins; the end if there is none.

    Models that are told to think refuse results whose calls have lost the thinking before them.
    """
    stop = len(messages)
    answered = False
    while stop and messages[stop - 1].role != "assistant":
        stop -= 1
        answered = answered or bool(messages[stop].results)
    if not answered:
        return len(messages)
    while stop and messages[stop - 1].role == "assistant":
        stop -= 1
    return stop
