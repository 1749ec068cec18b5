"""Finds the value of a message that has the wrong type, once something has failed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, get_args
from uuid import UUID

import msgspec
from msgspec import Struct

from contextwright.errors import ContextwrightError, UsageError, in_one_line, require
from contextwright.messages.conversation import Conversation, Settings
from contextwright.messages.message import Message, Role
from contextwright.text.fields import require_struct, wrong_value
from contextwright.text.json import convert

__all__ = ["naming_faults", "naming_faults_of", "refuse", "refuse_faults", "require_roles"]

ROLES = frozenset(get_args(Role))
NO_SETTINGS = Conversation(()).settings
UNEXPECTED = (
    ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError
)  # fmt: skip
"""The errors that Python raises for a value of the wrong type."""
NOT_TEXT = (bytes, bytearray, date, datetime, time, timedelta, Decimal, UUID)
"""What msgspec would take for the text that it writes for them."""


@contextmanager
def naming_faults(given: Conversation | Sequence[Message]) -> Generator[None]:
    """Name the wrong value if one made the block fail.

    Messages and tools are not checked beforehand, because nearly all of them are right. Settings
    are, because most wrong ones would be sent: a text as stop sequences, letter by letter.

    Raises:
        UsageError: a field of a message, a tool or the settings has a value of the wrong type.
    """
    if isinstance(given, Conversation) and given.settings is not NO_SETTINGS:
        refuse(given.settings, Settings, "settings", None)
    try:
        yield
    except ContextwrightError:
        raise
    except UNEXPECTED as error:
        conversation = given if isinstance(given, Conversation) else Conversation(tuple(given))
        refuse_faults(conversation.messages, error)
        refuse(msgspec.structs.replace(conversation, messages=()), Conversation, "", error)
        raise


@contextmanager
def naming_faults_of(*values: Struct) -> Generator[None]:
    """Name the wrong field of a value that made the block fail.

    Raises:
        UsageError: a field of one of the values has a value of the wrong type.
    """
    try:
        yield
    except ContextwrightError:
        raise
    except UNEXPECTED as error:
        for value in values:
            refuse(value, type(value), type(value).__name__, error)
        raise


def refuse_faults(messages: Sequence[Message], error: Exception | None = None) -> None:
    """Raise for the first message that has a field with a value of the wrong type."""
    require(messages, tuple | list, "messages")
    for index, message in enumerate(messages):
        refuse(message, Message, f"messages[{index}]", error)


def require_roles(messages: Sequence[Message]) -> None:
    """Raise for a message with an unknown role, because nothing else would fail: it would be sent.

    Call it within `naming_faults`, which names a role that is not even text.
    """
    if not ROLES.issuperset({message.role for message in messages}):
        refuse_faults(messages)


def refuse(value: Any, kind: Any, path: str, error: Exception | None) -> None:
    """Raise if a field of the value has the wrong type."""
    try:
        plain = msgspec.to_builtins(value, builtin_types=NOT_TEXT)
    except (TypeError, ValueError, RecursionError) as fault:
        too_deep = isinstance(fault, RecursionError)
        what = "nested too deeply" if too_deep else f"not JSON: {in_one_line(fault)}"
        place = path or "the conversation"
        raise UsageError(f"{place} holds a value that is {what}") from error
    try:
        require_struct(value, convert(plain, kind))
    except msgspec.ValidationError as fault:
        raise wrong_value(value, kind, fault, path) from error
