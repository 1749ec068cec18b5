"""Validation of text before it is stored: invalid text is refused with its position.

A NUL and a lone surrogate are text in Python, but PostgreSQL refuses the one and UTF-8 the other.
Messages are also decoded once before they are stored, so that whatever is stored can be read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast
from unicodedata import category

import msgspec
from msgspec import structs

from contextwright.errors import UsageError, require, shown
from contextwright.messages.changes import Change
from contextwright.messages.conversation import as_conversation
from contextwright.messages.message import Message
from contextwright.messages.validation import refuse
from contextwright.recall.memories import Memory
from contextwright.text.json import UNFIT, convert, decoder, encode_json, require_json

__all__ = [
    "NUL",
    "bodies_of",
    "body_of",
    "decode_memory",
    "decode_message",
    "memory_body",
    "replace_invalid",
    "require_name",
    "require_number",
    "require_text",
    "require_visible",
    "settings_text",
]

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
JOINERS = "\u200c\u200d"
"""Persian words and many emoji are not the same without them."""
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters that show nothing."""
LONGEST_NAME = 256
REMEDY = "remove it, or replace it with contextwright.store.replace_invalid"

NUL = rb"\u0000"
"""A NUL in JSON, perhaps: a backslash before u0000 looks the same."""

decode_message = decoder(Message).decode
decode_memory = decoder(Memory).decode


def require_name(name: object, what: str, *, empty: bool = False) -> str:
    """Validate an id, a key or a tenant: 1 to 256 bytes on one line; a value, never a path.

    Raises:
        UsageError: the value is anything else.
    """
    if not isinstance(name, str):
        raise UsageError(f"the {what} has to be text, not {shown(name)}")
    found = CONTROL.search(name)
    if found:
        place = f"character {found.start() + 1}"
        raise UsageError(f"the {what} {shown(name)} has {described(found[0])} at {place}")
    if len(name.encode()) > LONGEST_NAME or not (name or empty):
        hint = f"1 to {LONGEST_NAME} bytes"
        raise UsageError(
            f"the {what} {shown(name)} is too {'long' if name else 'short'}", hint=hint
        )
    return name


def require_number(seq: object) -> None:
    """Refuse a value that is not the number of a message."""
    if type(seq) is not int:
        hint = "add returns the numbers of the messages"
        raise UsageError(f"{shown(seq)} is not the number of a message", hint=hint)


def require_visible(name: str, what: str) -> None:
    """Refuse a new name with invisible characters, because two names would look the same.

    Raises:
        UsageError: with the character and its position.
    """
    if name.isascii():  # as nearly all names are: no such character is invisible
        return
    for place, character in enumerate(name, 1):
        if character in FILLERS or (category(character) == "Cf" and character not in JOINERS):
            invisible = f"the invisible character U+{ord(character):04X}"
            raise UsageError(f"the {what} {shown(name)} has {invisible} at character {place}")


def require_text(text: str | None, what: str) -> str | None:
    """Validate a text about a conversation, which may be missing."""
    require(text, str | None, f"a {what}")
    if text is not None:
        for path, place, character in faults_of(text, what):
            raise refusal(path, place, character)
    return text


def settings_text(settings: dict[str, Any]) -> str:
    """Settings as the JSON text that is stored."""
    require_json(settings)
    try:
        body = encoded(settings, "settings")
    except UnicodeEncodeError:
        body = NUL
    if NUL in body:  # perhaps: only a walk tells, and large tools take long to walk
        for path, place, character in faults_of(settings, "settings"):
            raise refusal(path, place, character)
    return body.decode()


def bodies_of(messages: Sequence[Message]) -> list[bytes]:
    """Messages as the JSON that is stored.

    Raises:
        UsageError: with the path and the character, if one of them cannot be stored.
    """
    return [body_of(message, f"messages[{index}]") for index, message in enumerate(messages)]


def body_of(message: Message, path: str) -> bytes:
    """Return one message as JSON that can be read again."""
    if type(message) is not Message:
        raise UsageError(
            f"{path}: {shown(message)} is not a message",
            hint="make messages with user(…), assistant(…) and so on",
        )
    try:
        body = encoded(message, path)
        if NUL in body:
            refuse_unfit(message, path)
        if decode_message(body) != message:
            require_plain(message, path)
    except (UnicodeEncodeError, UnicodeDecodeError):
        refuse_unfit(message, path)
        raise
    except (msgspec.ValidationError, TypeError) as error:
        refuse(message, Message, path, error)
        raise UsageError(f"{path}: {shorter(str(error))}") from None
    except RecursionError:
        raise UsageError(f"{path}: nested too deeply") from None
    return body


def encoded(value: object, path: str) -> bytes:
    """Return a value as JSON.

    Raises:
        UsageError: a number in it has more digits than can be read again.
    """
    try:
        return encode_json(value)
    except UnicodeEncodeError:
        raise
    except (ValueError, OverflowError):
        raise UsageError(f"{path}: a number has too many digits", hint="store it as text") from None


def memory_body(memory: Memory) -> str:
    """Return a memory as the JSON text that is stored.

    Raises:
        UsageError: with the field and the character, if it cannot be stored.
    """
    require_json(memory.meta)
    for path, place, character in faults_of(structs.asdict(memory), "memory"):
        raise refusal(path, place, character)
    try:
        body = encoded(memory, "memory")
        if decode_memory(body) != memory:
            raise UsageError("memory: it would change when it is read again")
    except (msgspec.ValidationError, TypeError) as error:
        refuse(memory, Memory, "memory", error)
        raise UsageError(f"memory: {shorter(str(error))}") from None
    return body.decode()


def require_plain(message: Message, path: str) -> None:
    """Refuse values that JSON would change: NaN, times, bytes, keys that are not text."""
    try:
        require_json(free_fields(message))
    except UsageError as error:
        raise UsageError(f"{path}: {error.args[0]}", hint=error.hint) from None


def free_fields(message: Message) -> list[Any]:
    """Whatever of a message is a caller's own JSON."""
    fields: list[Any] = [message.meta, message.extra]
    for part in message.parts:
        for name in ("extra", "arguments", "data", "content"):
            value = getattr(part, name, None)
            if isinstance(value, dict):
                fields.append(cast("Any", value))
            elif name == "content" and isinstance(value, tuple):
                pieces = cast("tuple[Any, ...]", value)
                fields.extend(getattr(piece, "extra", {}) for piece in pieces)
                fields.extend(getattr(piece, "data", None) for piece in pieces)
    return fields


def refuse_unfit(message: Message, path: str) -> None:
    """Raise with the first character of a message that cannot be stored."""
    for place, index, character in faults_of(msgspec.to_builtins(message), path):
        raise refusal(place, index, character)


def refusal(path: str, index: int, character: str) -> UsageError:
    """Return the error about a character, the same on every engine."""
    message = f"{path}, character {index + 1}: {described(character)} cannot be stored"
    return UsageError(message, hint=REMEDY)


def described(character: str) -> str:
    """Describe an invisible character."""
    if character == "\x00":
        return "a NUL"
    if "\ud800" <= character <= "\udfff":
        return "half a surrogate pair"
    return f"the control character U+{ord(character):04X}"


def faults_of(value: Any, path: str) -> Iterator[tuple[str, int, str]]:
    """Yield the path, index and character of everything in a JSON value that cannot be stored."""
    if isinstance(value, str):
        for found in UNFIT.finditer(value):
            yield path, found.start(), found[0]
    elif isinstance(value, dict):
        for key, item in cast("dict[Any, Any]", value).items():
            yield from faults_of(key, f"{path}.(key)")
            yield from faults_of(item, f"{path}.{shorter(str(key))}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from faults_of(item, f"{path}[{index}]")


def replace_invalid(messages: Sequence[Message]) -> tuple[list[Message], list[Change]]:
    """Replace characters that cannot be stored with U+FFFD; return a change for each text.

    The two halves of a split surrogate pair are joined again.
    """
    messages = as_conversation(messages).messages
    clean: list[Message] = []
    changes: list[Change] = []
    for index, message in enumerate(messages):
        if not is_clean(message):
            fields, path = msgspec.to_builtins(message), f"messages[{index}]"
            message = convert(replaced(fields, path, changes), Message)
        clean.append(message)
    return clean, changes


def is_clean(message: Message) -> bool:
    """Whether the JSON of a message shows that all of its text can be stored."""
    try:
        return NUL not in encode_json(message)
    except TypeError:
        return True  # it holds what is not JSON: storing it says where
    except (ValueError, OverflowError):  # half a surrogate pair, a number that JSON does not have
        return False


def replaced(value: Any, path: str, changes: list[Change]) -> Any:
    """Return a JSON value in which every text can be stored."""
    if isinstance(value, str):
        if not UNFIT.search(value):
            return value
        changes.append(
            Change("repair.text", path, "characters that cannot be stored became U+FFFD")
        )
        joined = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return joined.replace("\x00", "\ufffd")
    if isinstance(value, dict):
        return {
            replaced(key, f"{path}.(key)", changes): replaced(
                item, f"{path}.{shorter(str(key))}", changes
            )
            for key, item in cast("dict[Any, Any]", value).items()
        }
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return [replaced(item, f"{path}[{index}]", changes) for index, item in enumerate(items)]
    return value


def shorter(text: str) -> str:
    """Text for a path or a reason: safe to show, and no longer than errors may be."""
    clean = CONTROL.sub("\ufffd", text)
    return clean if len(clean) <= 80 else clean[:79] + "…"
