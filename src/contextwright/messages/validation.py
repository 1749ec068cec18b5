"""Which value of a message is not what its field takes: looked for only when something failed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from contextwright.errors import ContextwrightError, UsageError, in_one_line, require
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.text.json import convert

__all__ = ["naming_faults", "refuse_faults"]

UNEXPECTED = (
    ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError
)  # fmt: skip
"""What Python raises where a value is of another type than its field says."""


@contextmanager
def naming_faults(given: Conversation | Sequence[Message]) -> Generator[None]:
    """Name the value that is wrong, where a wrong value made something fail.

    Values are not checked one by one beforehand, because nearly all of them are right.

    Raises:
        UsageError: a field of a message, a tool or the settings holds another type's value.
    """
    try:
        yield
    except ContextwrightError:
        raise
    except UNEXPECTED as error:
        conversation = given if isinstance(given, Conversation) else Conversation(tuple(given))
        refuse_faults(conversation.messages, error)
        refuse(msgspec.structs.replace(conversation, messages=()), Conversation, "", error)
        raise


def refuse_faults(messages: Sequence[Message], error: Exception | None = None) -> None:
    """Refuse the first message with a field that holds another type's value."""
    require(messages, tuple | list, "messages")
    for index, message in enumerate(messages):
        refuse(message, Message, f"messages[{index}]", error)


def refuse(value: Any, type: Any, path: str, error: Exception | None) -> None:
    """Refuse a value with a field that holds another type's value."""
    try:
        plain = msgspec.to_builtins(value)
    except (TypeError, ValueError, RecursionError) as fault:
        reason = (
            f"{path or 'the conversation'} holds a value that is not JSON: {in_one_line(fault)}"
        )
        raise UsageError(reason) from error
    try:
        convert(plain, type)
    except msgspec.ValidationError as fault:
        reason, _, place = str(fault).partition(" - at `$")
        where = f"{path}{place.rstrip('`')}".lstrip(".")
        raise UsageError(f"{where}: {reason[:1].lower()}{reason[1:]}") from error
