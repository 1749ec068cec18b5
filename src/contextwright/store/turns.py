"""Turns before they are stored: validated first, then stored whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contextwright.errors import ContextwrightError, UsageError, require
from contextwright.formats.given import Given, as_given
from contextwright.messages.conversation import as_conversation
from contextwright.messages.message import Message
from contextwright.messages.speech import with_speech
from contextwright.messages.times import now_text
from contextwright.store.engines.base import Connection, Work
from contextwright.store.records import Turn
from contextwright.store.rows import turns
from contextwright.store.rows.validation import bodies_of, require_name
from contextwright.store.state import State

__all__ = [
    "add_work",
    "add_work_or_error",
    "each_turn",
    "messages_of",
    "replace_all",
]


def messages_of(turn: Given) -> tuple[Message, ...]:
    """Return the messages of a turn as a tuple.

    Raises:
        UsageError: it is no turn, or reading it would change it.
    """
    given = as_given(turn)
    if given is not turn and given.changes:
        reason = f"a turn is stored as it is, and this one would change: {given.changes[0]}"
        raise UsageError(reason, hint="parse() or parse_reply() reads it, and lists the changes")
    messages = as_conversation(given.messages).messages
    if not given.reply_tools:
        return messages
    return tuple(with_speech(message, given.reply_tools) for message in messages)


def each_turn(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Yield the turns of a call that adds several.

    Raises:
        UsageError: one of them is something else.
    """
    require(turns, Iterable, "turns", "a list of Turn(conversation, messages)")
    for turn in turns:
        require(turn, Turn, "a turn", "Turn(conversation, messages)")
        yield turn


def add_work(state: State, turn: Turn) -> tuple[str, Work[list[int]]]:
    """Validate a turn; return the id that orders its work, and the work of storing it.

    Raises:
        UsageError: the turn is not valid.
    """
    id = require_name(turn.conversation, "conversation's id")
    if isinstance(turn.key, Message):
        raise UsageError("pass the messages of a turn as one list", hint="add([first, second])")
    key = turn.key if turn.key is None else require_name(turn.key, "key")
    messages = tuple(turn.messages)
    if not messages:
        raise UsageError("a turn has at least one message")
    if key is None and state.engine.names_turns:
        key = turns.new_name()
    tenant, builds = state.tenant, state.builds
    encoded = turns.EncodedTurn(messages, bodies_of(messages), key)
    included = builds.take_included((tenant, id))
    now = now_text()
    return id, lambda connection: turns.add(connection, tenant, id, encoded, included, now)


def replace_all(state: State, turn: Turn) -> None:
    """Replace all messages of a conversation with a turn, or change nothing.

    Raises:
        UsageError: the turn is not valid.
        Conflict: other conversations were forked from it.
    """
    id, add = add_work(state, turn)

    def work(connection: Connection) -> int | None:
        number = turns.remove(connection, state.tenant, id)
        add(connection)
        return number

    number = state.engine.write(work, id)
    if number is not None:
        state.index.forget(number)


def add_work_or_error(state: State, turn: Turn) -> tuple[str, Work[list[int]]]:
    """Return the work of storing a turn; for a turn that is not valid, work that raises."""
    try:
        return add_work(state, turn)
    except ContextwrightError as error:
        return "", raising(error)


def raising(error: ContextwrightError) -> Work[Any]:
    """Return work that raises an error."""

    def work(connection: Connection) -> Any:
        raise error

    return work
