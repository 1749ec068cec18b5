"""Responses replies: status, token usage, and writing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextwright.errors import ParseError, shown
from contextwright.formats.openai_responses.media import NAME
from contextwright.formats.openai_responses.read import Gatherer
from contextwright.formats.reader import Reader
from contextwright.formats.replies.beside import beside, kept
from contextwright.formats.replies.events import Finish, FinishReason, ReplyError, Usage
from contextwright.formats.replies.failures import error_of, openai_code
from contextwright.formats.replies.parts import carried, own_id
from contextwright.formats.replies.reader import as_object
from contextwright.formats.replies.reply import (
    ModelReply,
    custom_input,
    finished_reply,
    is_custom,
    is_refusal,
    refusal_of,
)
from contextwright.formats.replies.usage import UNCOUNTED, count_of
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall, ToolResult
from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "call_item",
    "content_part",
    "end_wire",
    "finish_of",
    "item_id",
    "message_item",
    "parse_reply",
    "reasoning_item",
    "response_wire",
    "usage_of",
    "write_reply",
]

INCOMPLETE: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "filter"}
"""The finish reason for each reason of an incomplete reply."""
WRITTEN: dict[FinishReason, tuple[str, str | None]] = {
    "length": ("incomplete", "max_output_tokens"),
    "context": ("incomplete", "max_output_tokens"),
    "filter": ("incomplete", "content_filter"),
    "error": ("failed", None),
    "interrupted": ("incomplete", None),
}
"""The status for each finish reason, and why the reply is incomplete; others are `completed`."""
OWN = ("continued", "refusal")
"""Our own marks in a part's `extra`, which are not fields of an item."""
PART_FIELDS = ("annotations", "logprobs")
"""Fields of a content part; all others belong to its item."""


def parse_reply(reply: Any) -> ModelReply:
    """Read a whole reply: decoded JSON, or the SDK's own object."""
    reader = Reader(NAME, strict=False)
    body = reader.reply(as_object(reply) or reply)
    error = error_of(body)
    if not is_list(body.get("output")) and error is None:
        raise ParseError("must be a list of items", path="output")
    model = reader.optional_text(body, "model")
    messages = Gatherer(reader, model=model, reply=True).gather(reader.objects(body, "output"))
    # One message, also where a host ran tools itself and tells their results among its items.
    parts = tuple(part for message in messages for part in message.parts)
    whole = error is None or "status" in body
    finish = finish_of(body, parts, whole=whole, error=error)
    message = Message("assistant", parts)
    conversation = reader.conversation([message], finish.extra.get(NAME, {}), model=model)
    return finished_reply(conversation, finish, error)


def finish_of(
    body: Object,
    parts: Sequence[Part],
    *,
    changes: Sequence[Change] = (),
    whole: bool = True,
    error: ReplyError | None = None,
) -> Finish:
    """Read how a reply ended. A reply that calls tools has no status of its own."""
    refusal = refusal_of(parts)
    status, details = body.get("status"), body.get("incomplete_details")
    why = details.get("reason") if is_object(details) else None
    reason: FinishReason = "other"
    if not whole:
        reason = "error" if error is not None else "interrupted"
    elif status == "incomplete":
        reason = INCOMPLETE.get(str(why), "length")
    elif status == "failed":
        reason = "error"
    elif status == "cancelled":
        reason = "interrupted"
    elif status in ("completed", None):
        spoken: FinishReason = "stop" if refusal is None else "refusal"
        reason = "tool_calls" if wants_results(parts) else spoken
    said = "" if not whole or reason in ("stop", "tool_calls", "refusal") else why or status
    return Finish(
        reason,
        said if isinstance(said, str) else shown(said),
        usage_of(body.get("usage")),
        refusal,
        kept(NAME, body),
        changes=tuple(changes),
    )


def wants_results(parts: Sequence[Part]) -> bool:
    """Whether a call waits for its result; a host that ran the tool itself has sent it."""
    answered = {part.call_id for part in parts if isinstance(part, ToolResult)}
    return any(isinstance(part, ToolCall) and part.id not in answered for part in parts)


def usage_of(usage: Any) -> Usage | None:
    """Read the token usage."""
    if not is_object(usage):
        return None
    return Usage(
        count_of(usage, "input_tokens"),
        count_of(usage, "output_tokens"),
        count_of(usage, "input_tokens_details", "cached_tokens"),
        count_of(usage, "input_tokens_details", "cache_write_tokens"),
        count_of(usage, "output_tokens_details", "reasoning_tokens"),
    )


def usage_wire(usage: Usage) -> Object:
    """Write the token usage as this API counts it."""
    details = {"cached_tokens": usage.cached, "cache_write_tokens": usage.written}
    return {
        "input_tokens": usage.input,
        "input_tokens_details": details,
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def write_reply(
    reply: ModelReply, finish: Finish, model: str, id: str | None, created: int
) -> tuple[Object, list[Change]]:
    """Write the body of a reply that is not streamed; return it with what it cannot carry."""
    message = reply.answer
    parts, changes = carried(message, NAME, id or "")
    body = response_wire(model, id, created)
    body["output"] = items_of(parts, body["id"])
    refused = refusal_of(parts) is not None
    body.update(end_wire(finish, reply.error, changes, refused=refused))
    return body, changes


def response_wire(model: str, id: str | None, created: int) -> Object:
    """Write the reply before its end, with the fields that every reply has."""
    body: Object = {
        "id": own_id(id, "resp_"),
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": False,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }
    return body


def end_wire(
    finish: Finish, error: ReplyError | None, changes: list[Change], *, refused: bool
) -> Object:
    """Write the fields that say how a reply ended; its own values are kept verbatim.

    A refusal is text of the model here (`refused`); without text it is a `content_filter`.
    """
    held = finish.extra.get(NAME, {})
    silent = finish.reason == "refusal" and not refused
    reason = "filter" if silent else finish.reason
    status, why = WRITTEN.get(reason, ("completed", None))
    wire: Object = {
        "status": held.get("status") or status,
        "incomplete_details": held.get("incomplete_details") or ({"reason": why} if why else None),
        **beside(finish.extra, NAME)[0],
        "error": held.get("error"),
    }
    wire["usage"] = held.get("usage") or (usage_wire(finish.usage) if finish.usage else None)
    if wire["usage"] is None and wire["status"] != "failed":
        # Without a count, Vercel's SDK refuses a reply, and does not see the end of a stream.
        wire["usage"] = usage_wire(Usage())
        changes.append(UNCOUNTED)
    if error is not None and wire["error"] is None:
        wire["error"] = {"code": openai_code(error) or "server_error", "message": error.message}
    elif wire["status"] == "failed" and wire["error"] is None:
        message = finish.detail or "the provider reported an error"
        wire["error"] = {"code": "server_error", "message": message}
    return wire


# --- items -----------------------------------------------------------------------------------


def items_of(parts: Sequence[Part], stem: str) -> list[Object]:
    """Write the items of a reply; texts that came from one message are one message again."""
    items: list[Object] = []
    for index, part in enumerate(parts):
        if isinstance(part, Text):
            content = content_part(part)
            follows = index > 0 and isinstance(parts[index - 1], Text)
            if follows and part.extra.get(NAME, {}).get("continued") is True:
                items[-1]["content"].append(content)
            else:
                items.append(message_item(part, [content], item_id("msg_", stem, index)))
        elif isinstance(part, Thinking):
            items.append(reasoning_item(part, item_id("rs_", stem, index)))
        elif isinstance(part, ToolCall):
            items.append(call_item(part, stem, index))
        elif isinstance(part, Opaque):
            items.append(part.data)
    return items


def item_id(prefix: str, stem: str, index: int) -> str:
    """Return an id for an item that came without one."""
    return f"{prefix}{stem.removeprefix('resp_')}_{index}"


def message_item(part: Text, content: list[Object], id: str) -> Object:
    """Write a message item, with the fields its first part keeps for it."""
    held = part.extra.get(NAME, {})
    fields = {key: held[key] for key in held if key not in (*OWN, *PART_FIELDS)}
    head: Object = {"type": "message", "id": id, "status": "completed", "role": "assistant"}
    return {**head, **fields, "role": "assistant", "content": content}


def content_part(part: Text) -> Object:
    """Write one text of a message."""
    if is_refusal(part):
        return {"type": "refusal", "refusal": part.text}
    held = part.extra.get(NAME, {})
    fields = {key: held[key] for key in PART_FIELDS if key in held}
    return {"type": "output_text", "text": part.text, "annotations": [], **fields}


def reasoning_item(part: Thinking, id: str) -> Object:
    """Write a reasoning item; other providers' reasoning becomes a summary of one text."""
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    item: Object = {"type": "reasoning", "id": id, "summary": summary}
    item.update(part.extra.get(NAME, {}))
    if part.signature is not None:
        item["encrypted_content"] = part.signature
    return item


def call_item(part: ToolCall, stem: str, index: int) -> Object:
    """Write a call of a function or a custom tool."""
    held = part.extra.get(NAME, {})
    if is_custom(part):
        head: Object = {"type": "custom_tool_call", "id": item_id("ctc_", stem, index)}
        fields: Object = {"name": part.name, "input": custom_input(part)}
        return {**head, "status": "completed", "call_id": part.id, **fields, **held}
    head = {"type": "function_call", "id": item_id("fc_", stem, index), "status": "completed"}
    return {**head, "call_id": part.id, "name": part.name, "arguments": part.json, **held}
