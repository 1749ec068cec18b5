"""Halves of surrogate pairs: text that cannot be sent, because it cannot be written as UTF-8.

They come from cutting text by code units, through the middle of an emoji.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.text.json import convert

__all__ = ["without_halves"]


def without_halves(conversation: Conversation) -> tuple[Conversation, tuple[Change, ...]]:
    """The conversation with each stray half replaced by U+FFFD, and a change for each place."""
    changes: list[Change] = []
    mended = mend(msgspec.to_builtins(conversation), "", changes)
    return convert(mended, Conversation), tuple(changes)


def mend(value: Any, path: str, changes: list[Change]) -> Any:
    """A JSON value with whole text only."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            changes.append(Change("repair.surrogate", path, "a lone surrogate became U+FFFD"))
            # Both halves of a pair may stand apart by one bad decoding: join what can be joined.
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
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
