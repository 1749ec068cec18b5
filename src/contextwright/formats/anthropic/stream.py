"""A streamed Messages reply, put together from its events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from contextwright.changes import Change
from contextwright.messages import ToolCall

__all__ = ["accumulate"]

DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
"""Deltas that grow a field of their block: kind → field."""


def accumulate(events: Iterable[Any]) -> tuple[dict[str, Any], list[Change]]:
    """The whole reply, and a change where the stream broke off before its end."""
    reply: dict[str, Any] = {"content": []}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, list[str]] = {}
    complete = False
    for event in events:
        event = as_dict(event)
        match event.get("type"):
            case "message_start":
                reply.update(as_dict(event.get("message")), content=[])
            case "content_block_start":
                index = int(event.get("index", len(blocks)))
                blocks[index] = dict(as_dict(event.get("content_block")))
                inputs[index] = []
            case "content_block_delta":
                index = int(event.get("index", 0))
                grow(
                    blocks.setdefault(index, {}),
                    as_dict(event.get("delta")),
                    inputs.setdefault(index, []),
                )
            case "message_delta":
                reply.update(as_dict(event.get("delta")))
                usage = {**as_dict(reply.get("usage")), **as_dict(event.get("usage"))}
                reply["usage"] = usage
            case "message_stop":
                complete = True
            case _:
                pass  # pings, and kinds of events yet to come
    changes: list[Change] = []
    for index in sorted(blocks):
        block = finished(blocks[index], "".join(inputs.get(index, ())), index, changes)
        reply["content"].append(block)
    if not complete:
        changes.append(Change("repair.interrupted", "", "the stream broke off; what came is kept"))
    return reply, changes


def grow(block: dict[str, Any], delta: dict[str, Any], json_pieces: list[str]) -> None:
    """Add a delta to the block it belongs to (ours alone until the stream ends)."""
    kind = delta.get("type")
    field = DELTAS.get(str(kind))
    if field is not None:
        block[field] = str(block.get(field) or "") + str(delta.get(field) or "")
    elif kind == "input_json_delta":
        json_pieces.append(str(delta.get("partial_json") or ""))
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta.get("citation")]


def finished(
    block: dict[str, Any], arguments: str, index: int, changes: list[Change]
) -> dict[str, Any]:
    """A block with its streamed arguments read; half an object is kept as text."""
    if not arguments:
        return block
    call = ToolCall.from_json("", arguments)
    if "_raw" in call.arguments and call.raw is not None:
        path = f"content[{index}].input"
        changes.append(Change("repair.arguments", path, "the arguments broke off; kept as text"))
    return {**block, "input": call.arguments}


def as_dict(value: Any) -> dict[str, Any]:
    """An event as a dict: decoded JSON, or an SDK's own object."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        value = dump(mode="json", exclude_none=True)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
