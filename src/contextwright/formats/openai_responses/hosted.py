"""Items of Responses that are not sent: of hosted tools without a partner, or misplaced.

Items are told apart by identity, because two of them may be equal.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from contextwright.formats.openai_responses.media import NAME
from contextwright.formats.openai_responses.rules import holds_reference
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque
from contextwright.wire.openai_responses.rules import (
    CALLS,
    ID,
    LONGEST_ID,
    OUTPUTS,
    answer_id,
    awaits_client,
    is_orphan,
)
from contextwright.wire.openai_responses.types import kind_of

__all__ = ["is_call_id", "is_item_id", "unsent_items"]

NO_FIELDS: dict[str, Any] = {}


def unsent_items(messages: Sequence[Message], *, exact: bool, whole: bool) -> dict[int, str]:
    """Return the items that are not sent, by identity, with the reason.

    `exact`: the host checks ids. `whole`: the request holds both partners of every item.
    """
    misnamed = misnamed_hosted(messages) if exact else {}
    loose = loose_hosted(messages, misnamed) if whole else {}
    return misnamed | loose | early_triggers(messages)


def loose_hosted(messages: Sequence[Message], misnamed: Collection[int]) -> dict[int, str]:
    """Return the items of hosted tools without a partner, by identity, with the reason.

    `misnamed` are items that are not sent.
    """
    loose: dict[int, str] = {}
    waiting: dict[tuple[str, str | None], Opaque] = {}
    called: set[tuple[str, str | None]] = set()
    referenced = any(map(holds_reference, messages))
    elsewhere = referenced
    for message in messages:
        for part in message.parts:
            if type(part) is not Opaque or part.format != NAME or id(part) in misnamed:
                continue
            kind = kind_of(part.data)
            elsewhere = elsewhere or kind == "compaction"
            if kind in CALLS:
                key = (CALLS[kind], answer_id(part.data))
                called.add(key)
                if kind == "tool_search_call":  # the API accepts either kind of output
                    called.add(("function_call_output", key[1]))
                if awaits_client(kind, part.data):
                    waiting[key] = part
            elif kind in OUTPUTS:
                waiting.pop((kind, answer_id(part.data)), None)
                if kind == "function_call_output":
                    waiting.pop(("tool_search_output", answer_id(part.data)), None)
                if not elsewhere and is_orphan(kind, part.data, called):
                    loose[id(part)] = "it answers no call"
    if referenced:  # the output may be among the stored items
        return loose
    return loose | {id(part): "it was never answered" for part in waiting.values()}


def early_triggers(messages: Sequence[Message]) -> dict[int, str]:
    """Return the compaction triggers that something follows."""
    parts = [part for message in messages for part in message.parts]
    return {
        id(part): "a compaction_trigger must come last"
        for part in parts[:-1]
        if type(part) is Opaque and part.data.get("type") == "compaction_trigger"
    }


def misnamed_hosted(messages: Sequence[Message]) -> dict[int, str]:
    """Return the items of hosted tools whose ids the API refuses, with the reason."""
    misnamed: dict[int, str] = {}
    calls: set[Any] = {call.id for message in messages for call in message.calls}
    answers: set[Any] = {result.call_id for message in messages for result in message.results}
    item_ids: set[Any] = set()
    for part in (part for message in messages for part in message.parts):
        if type(part) is not Opaque:
            item_ids.add(part.extra.get(NAME, NO_FIELDS).get("id"))
            continue
        if part.format != NAME:
            continue
        item_id, call_id = part.data.get("id"), part.data.get("call_id")
        taken = answers if kind_of(part.data).endswith("_output") else calls
        if item_id is not None and (not is_item_id(item_id) or item_id in item_ids):
            misnamed[id(part)] = "its id is of another host, or was used before"
        elif call_id is not None and not is_call_id(call_id):
            misnamed[id(part)] = "its call_id is empty or too long"
        elif call_id is not None and call_id in taken:
            misnamed[id(part)] = "another item has its call_id"
        else:
            item_ids.add(item_id)
            taken.add(call_id)
    return misnamed


def is_item_id(value: Any) -> bool:
    """Whether a value can be the id of an item."""
    return isinstance(value, str) and ID(value) is not None


def is_call_id(value: Any) -> bool:
    """Whether a value can be the id of a call."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_ID
