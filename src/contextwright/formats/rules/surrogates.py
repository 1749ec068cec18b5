"""Lone surrogates: text that cannot be sent, because it cannot be encoded as UTF-8.

They come from cutting text by UTF-16 code units, in the middle of an emoji.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec

from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.text.json import convert, whole_characters

__all__ = ["LOST", "mend", "without_halves"]


LOST = "a lone surrogate became U+FFFD"
JOINED = "two halves are one character"

Kind = TypeVar("Kind", bound=Conversation)


def without_halves(conversation: Kind) -> tuple[Kind, tuple[Change, ...]]:
    """Replace each lone surrogate with U+FFFD; return a change for each place."""
    changes: list[Change] = []
    mended = mend(msgspec.to_builtins(conversation), "", changes)
    return convert(mended, type(conversation)), tuple(changes)


def mend(value: Any, path: str, changes: list[Change]) -> Any:
    """Return a JSON value without lone surrogates."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            whole = whole_characters(value)
            lost = whole.count("\ufffd") > value.count("\ufffd")
            changes.append(Change("repair.surrogate", path, LOST if lost else JOINED))
            return whole
        return value
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value).items()
        return {
            mend(key, f"{path}.(key)", changes): mend(
                item, f"{path}.{key}" if path else key, changes
            )
            for key, item in entries
        }
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return [mend(item, f"{path}[{index}]", changes) for index, item in enumerate(items)]
    return value
