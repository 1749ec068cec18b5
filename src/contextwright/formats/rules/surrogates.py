"""Lone surrogates: text that cannot be sent, because it cannot be encoded as UTF-8.

They come from cutting text by UTF-16 code units, in the middle of an emoji.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.text.json import convert

__all__ = ["without_halves"]


def without_halves(conversation: Conversation) -> tuple[Conversation, tuple[Change, ...]]:
    """Replace each lone surrogate with U+FFFD; return a change for each place."""
    changes: list[Change] = []
    mended = mend(msgspec.to_builtins(conversation), "", changes)
    return convert(mended, Conversation), tuple(changes)


def mend(value: Any, path: str, changes: list[Change]) -> Any:
    """Return a JSON value without lone surrogates."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            changes.append(Change("repair.surrogate", path, "a lone surrogate became U+FFFD"))
            # A bad decoding may have split a pair: join the halves where possible.
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
