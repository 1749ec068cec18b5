"""A long list of messages as a log that knows its end, and what no window may drop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall, ToolResult
from contextwright.messages.validation import require_roles
from contextwright.windows.log import Log, is_question

__all__ = ["load_end"]

FRONT = 64
"""The number of first messages among which the task is looked for at first."""


def load_end(messages: Sequence[Message], newest: int) -> Log:
    """Return a log of the newest messages of a list, and of those before that no window may drop.

    If one of those belongs to an exchange, the log begins with it; if need be, it has all messages.
    """
    start = len(messages) - newest
    if start <= 0:
        return Log(messages)
    require_roles(messages)
    front = front_of(messages, min(newest, FRONT))
    if front is None:
        return Log(messages)
    log = Log()
    log.hide(hidden_in(messages))
    log.erased.update(index for index in log.hidden if messages[index].visibility == "erased")
    apart = {*staying_in(messages), *newest_questions(messages, start)}
    if front.task is not None:
        apart.add(front.task)
    for index in sorted(index for index in apart - log.silent if index < start):
        if any(type(part) in (ToolCall, ToolResult) for part in messages[index].parts):
            return load_end(messages, len(messages) - index)
        log.add_apart(index, messages[index], since=None)
        log.inexact[index] = messages[index]
    log.start = start
    log.exchanges.is_partial = True
    log.extend(messages[start:])
    log.task = front.task
    return log


def hidden_in(messages: Sequence[Message]) -> list[int]:
    """Return the indexes of messages that are never sent to a model."""
    if {message.visibility for message in messages} == {"public"}:
        return []
    return [index for index, one in enumerate(messages) if one.visibility != "public"]


def staying_in(messages: Sequence[Message]) -> list[int]:
    """Return the indexes of system and pinned messages."""
    roles, pins = {one.role for one in messages}, {one.pinned for one in messages}
    if "system" not in roles and pins == {False}:  # most lists, which this tells sooner
        return []
    return [index for index, one in enumerate(messages) if one.pinned or one.role == "system"]


def newest_questions(messages: Sequence[Message], stop: int) -> Iterator[int]:
    """Yield the newest question before an index, and the newest without results."""
    has_question = False
    for index in range(stop - 1, -1, -1):
        message = messages[index]
        if message.visibility == "public" and is_question(message):
            is_plain = not message.results
            if is_plain or not has_question:
                yield index
            if is_plain:
                return
            has_question = True


def front_of(messages: Sequence[Message], count: int) -> Log | None:
    """Return a log of as many first messages as tell an agent's task, or that there is none.

    Begins with `count` of them, and takes four times as many each time; None if it takes them all.
    """
    while count < len(messages):
        front = Log(messages[:count])
        if front.task is not None or len(front.plain) > 1:
            return front
        count *= 4
    return None
