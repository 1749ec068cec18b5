"""Messages replies: stop reason, token usage, and writing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextwright.formats.anthropic.read import NAME, message_of
from contextwright.formats.anthropic.write import block_of
from contextwright.formats.reader import Reader
from contextwright.formats.replies.beside import beside, kept
from contextwright.formats.replies.events import Finish, FinishReason, ReplyError, Usage
from contextwright.formats.replies.failures import error_of
from contextwright.formats.replies.parts import carried, own_id
from contextwright.formats.replies.reply import ModelReply, finished_reply, refusal_of
from contextwright.formats.replies.usage import UNCOUNTED, count_of
from contextwright.messages.changes import Change
from contextwright.messages.parts import Thinking
from contextwright.wire.values import Object, is_object

__all__ = [
    "block_wire",
    "end_wire",
    "finish_of",
    "parse_reply",
    "usage_of",
    "usage_wire",
    "write_reply",
]

REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "max_tokens": "length",
    "model_context_window_exceeded": "context",
    "tool_use": "tool_calls",
    "refusal": "refusal",
    "pause_turn": "pause",
}
WRITTEN: dict[FinishReason, str] = {
    **{reason: name for name, reason in REASONS.items()},
    "filter": "refusal",
    "error": "end_turn",
    "interrupted": "max_tokens",
    "other": "end_turn",
}
"""The stop reason Anthropic uses for each finish reason."""


def parse_reply(reply: Any) -> ModelReply:
    """Read a whole reply: decoded JSON, or the SDK's own object."""
    reader = Reader(NAME, strict=False)
    body = reader.reply(reply)
    model = reader.optional_text(body, "model")
    message = message_of({"role": "assistant", "content": body.get("content")}, "", reader, model)
    error = error_of(body)
    finish = finish_of(body, refusal_of(message.parts), whole=error is None, error=error)
    conversation = reader.conversation([message], finish.extra.get(NAME, {}), model=model)
    return finished_reply(conversation, finish, error)


def finish_of(
    body: Object,
    refusal: str | None,
    *,
    changes: Sequence[Change] = (),
    whole: bool = True,
    error: ReplyError | None = None,
) -> Finish:
    """Read how a reply ended from its fields. `whole` is false if the stream was interrupted."""
    given = body.get("stop_reason")
    reason: FinishReason = REASONS.get(given, "other") if isinstance(given, str) else "other"
    details = body.get("stop_details")
    if reason == "refusal":
        said = details.get("explanation") if is_object(details) else None
        refusal = said if isinstance(said, str) else refusal or ""
    if error is not None:
        reason = "error" if not whole else reason
    elif not whole:
        reason = "interrupted"
    return Finish(
        reason,
        given if isinstance(given, str) else "",
        usage_of(body.get("usage")),
        refusal,
        kept(NAME, body),
        changes=tuple(changes),
    )


def usage_of(usage: Any) -> Usage | None:
    """Read the token usage. This API counts cached and cache-written input separately."""
    if not is_object(usage):
        return None
    cached = count_of(usage, "cache_read_input_tokens")
    written = count_of(usage, "cache_creation_input_tokens")
    return Usage(
        count_of(usage, "input_tokens") + cached + written,
        count_of(usage, "output_tokens"),
        cached,
        written,
        count_of(usage, "output_tokens_details", "thinking_tokens"),
    )


def usage_wire(usage: Usage | None) -> Object:
    """Write the token usage as this API counts it; clients require one."""
    usage = usage or Usage()
    wire: Object = {
        "input_tokens": max(0, usage.input - usage.cached - usage.written),
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }
    if usage.reasoning:
        wire["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return wire


def end_wire(finish: Finish) -> Object:
    """Write the fields that say how a reply ended. Anthropic's own values are kept verbatim."""
    held = finish.extra.get(NAME, {})
    wire: Object = {
        "stop_reason": held.get("stop_reason") or WRITTEN[finish.reason],
        "stop_sequence": held.get("stop_sequence"),
    }
    if "stop_details" in held:
        wire["stop_details"] = held["stop_details"]
    elif wire["stop_reason"] == "refusal":
        said = {"category": None, "explanation": finish.refusal or None}
        wire["stop_details"] = {"type": "refusal", **said}
    return wire


def block_wire(part: Any) -> Object:
    """Write one part of a reply as a block. Clients expect a signature, even an empty one."""
    if type(part) is Thinking and not part.redacted:
        block: Object = {"type": "thinking", "thinking": part.text}
        held = part.extra.get(NAME, {})
        return {**held, **block, "signature": part.signature or ""}
    return block_of(part)


def write_reply(
    reply: ModelReply, finish: Finish, model: str, id: str | None
) -> tuple[Object, list[Change]]:
    """Write the body of a reply that is not streamed; return it with what it cannot carry."""
    message = reply.answer
    parts, changes = carried(message, NAME, id or "")
    held = finish.extra.get(NAME, {})
    if finish.usage is None:
        changes.append(UNCOUNTED)
    body: Object = {
        "id": own_id(id, "msg_"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block_wire(part) for part in parts],
        **end_wire(finish),
        "usage": held.get("usage") or usage_wire(finish.usage),
        **beside(finish.extra, NAME)[0],
    }
    return body, changes
