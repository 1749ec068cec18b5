"""Thinking that its provider binds to the exact text before it."""

from __future__ import annotations

from collections.abc import Sequence

from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Thinking
from contextwright.models import Model

__all__ = ["open_turn", "strip_thinking", "without_thinking"]


def strip_thinking(
    messages: list[Message],
    places: Sequence[int | str],
    first_changed: int | None,
    model: Model,
    changes: list[Change],
) -> None:
    """Remove thinking that is bound to text which is no longer before it.

    An open tool loop keeps its thinking for models whose API requires it.
    """
    if first_changed is None:
        return
    demanded = open_turn(messages) if model.legacy_thinking else len(messages)
    for place, message in enumerate(messages[:demanded]):
        bare, index = without_thinking(message), places[place]
        if bare is not message and isinstance(index, int) and index > first_changed:
            messages[place] = bare
            reason = "the messages before it have changed"
            changes.append(Change("loss.thinking", f"messages[{index}]", reason))


def without_thinking(message: Message) -> Message:
    """Return a message without thinking that was signed for a prefix that has changed."""
    for part in message.parts:
        if type(part) is Thinking:
            break
    else:  # nearly all, and a build asks for each that it sends
        return message
    parts = [part for part in message.parts if not is_bound(part)]
    return message if len(parts) == len(message.parts) else message.with_parts(parts)


def is_bound(part: Part) -> bool:
    """Whether a part is thinking that is bound to its prefix."""
    return type(part) is Thinking and part.signature is not None and part.origin == "anthropic"


def open_turn(messages: Sequence[Message]) -> int:
    """Return where the assistant's turn of an open tool loop begins; the end if there is none.

    Models with thinking enabled refuse results whose calls lost the thinking before them.
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
