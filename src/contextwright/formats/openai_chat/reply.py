"""Chat replies: finish reason, token usage, and writing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextwright.errors import shown
from contextwright.formats.openai_chat.read import message_of
from contextwright.formats.openai_chat.rules import is_old_style
from contextwright.formats.reader import Reader
from contextwright.formats.replies.beside import beside, kept
from contextwright.formats.replies.events import Finish, FinishReason, ReplyError, Usage
from contextwright.formats.replies.failures import error_of
from contextwright.formats.replies.parts import carried, own_id
from contextwright.formats.replies.reply import (
    ModelReply,
    custom_input,
    finished_reply,
    is_custom,
    is_refusal,
    refusal_of,
)
from contextwright.formats.replies.usage import count_of
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Extra, Opaque, Part, Text, Thinking, ToolCall
from contextwright.wire.values import Object, is_object

__all__ = [
    "NAME",
    "call_wire",
    "finish_of",
    "finish_wire",
    "lost_choices",
    "parse_reply",
    "reply_message",
    "thinking_fields",
    "usage_of",
    "usage_wire",
    "write_reply",
]

NAME = "openai-chat"
REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filter",
}
WRITTEN: dict[FinishReason, str] = {
    "stop": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "context": "length",
    "tool_calls": "tool_calls",
    "refusal": "stop",
    "filter": "content_filter",
    "pause": "stop",
    "error": "stop",
    "interrupted": "length",
    "other": "stop",
}
"""The finish reason this API uses for each of ours."""


def parse_reply(reply: Any) -> ModelReply:
    """Read a whole reply: decoded JSON, or an SDK object. Only the first choice is read."""
    reader = Reader(NAME, strict=False)
    body = reader.reply(reply)
    model = reader.optional_text(body, "model")
    choices = list(reader.objects(body, "choices"))
    path, choice = choices[0] if choices else ("", {"message": body})
    given = choice.get("message")
    if not is_object(given):
        reader.fault(f"{path}.message", f"must be an object, not {shown(given)}")
        given = {}
    if len(choices) > 1:
        reader.changes.append(lost_choices(len(choices) - 1))
    message = reply_message(given, f"{path}.message" if choices else "", reader, model)
    error = error_of(body)
    finish = finish_of(
        body if choices else {},
        choice,
        refusal_of(message.parts),
        calls=bool(message.calls),
        message_extra=message.extra,
        whole=error is None,
        error=error,
    )
    conversation = reader.conversation([message], finish.extra.get(NAME, {}), model=model)
    return finished_reply(conversation, finish, error)


def lost_choices(number: int) -> Change:
    """Return the change for choices that are not read."""
    return Change("loss.candidate", "choices[1]", f"{number} more choices")


def reply_message(message: Object, path: str, reader: Reader, model: str | None) -> Message:
    """Read the message of a reply; null fields count as missing."""
    said = {key: value for key, value in message.items() if value}
    return message_of({"content": None, **said, "role": "assistant"}, path, reader, model)


def finish_of(
    body: Object,
    choice: Object,
    refusal: str | None,
    *,
    calls: bool = False,
    message_extra: Extra | None = None,
    changes: Sequence[Change] = (),
    whole: bool = True,
    error: ReplyError | None = None,
) -> Finish:
    """Read how a reply ended from its fields and those of its choice."""
    given = choice.get("finish_reason", body.get("finish_reason"))
    reason: FinishReason = REASONS.get(given, "other") if isinstance(given, str) else "other"
    if reason == "stop" and refusal is not None:
        reason = "refusal"
    elif reason == "stop" and calls:
        reason = "tool_calls"  # a forced call ends with "stop"
    if not whole:
        reason = "error" if error is not None else "interrupted"
    return Finish(
        reason,
        given if isinstance(given, str) else "",
        usage_of(body.get("usage")),
        refusal,
        kept(NAME, body, choice),
        message_extra or {},
        tuple(changes),
    )


def usage_of(usage: Any) -> Usage | None:
    """Read the token usage."""
    if not is_object(usage):
        return None
    return Usage(
        count_of(usage, "prompt_tokens"),
        count_of(usage, "completion_tokens"),
        count_of(usage, "prompt_tokens_details", "cached_tokens"),
        count_of(usage, "prompt_tokens_details", "cache_write_tokens"),
        count_of(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def usage_wire(usage: Usage) -> Object:
    """Write the token usage as this API counts it."""
    prompt: Object = {"cached_tokens": usage.cached}
    if usage.written:
        prompt["cache_write_tokens"] = usage.written
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": prompt,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def finish_wire(finish: Finish, *, refused: bool) -> str:
    """Return this API's finish reason; its own value is kept verbatim.

    A refusal is text of the model here (`refused`); without text it is a `content_filter`.
    """
    given = finish.extra.get(NAME, {}).get("finish_reason")
    if isinstance(given, str):
        return given
    silent = finish.reason == "refusal" and not refused
    return WRITTEN["filter" if silent else finish.reason]


def write_reply(
    reply: ModelReply, finish: Finish, model: str, id: str | None, created: int
) -> tuple[Object, list[Change]]:
    """Write the body of a reply that is not streamed; return it with what it cannot carry."""
    message = reply.answer
    parts, changes = carried(message, NAME, id or "")
    held = finish.extra.get(NAME, {})
    rest, choice = beside(finish.extra, NAME)
    body: Object = {
        "id": own_id(id, "chatcmpl-"),
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": message_wire(parts, message.extra.get(NAME, {})),
                "logprobs": None,
                "finish_reason": finish_wire(finish, refused=refusal_of(parts) is not None),
                **choice,
            }
        ],
        **rest,
    }
    if held.get("usage") or finish.usage:
        body["usage"] = held.get("usage") or usage_wire(finish.usage or Usage())
    if held.get("service_tier"):
        body["service_tier"] = held["service_tier"]
    return body, changes


def message_wire(parts: Sequence[Part], held: Object) -> Object:
    """Write the message of a reply: reasoning, text, refusal and calls in separate fields."""
    said = [part.text for part in parts if isinstance(part, Text) and not is_refusal(part)]
    refused = [part.text for part in parts if isinstance(part, Text) and is_refusal(part)]
    wire: Object = {"role": "assistant", "content": "".join(said) if said else None}
    wire["refusal"] = "".join(refused) if refused else None
    for part in parts:
        if isinstance(part, Thinking):
            join_fields(wire, thinking_fields(part))
        elif isinstance(part, Opaque):
            wire.update({key: part.data[key] for key in part.data if key != "type"})
    calls = [part for part in parts if isinstance(part, ToolCall)]
    for call in filter(is_old_style, calls):
        wire["function_call"] = {"name": call.name, "arguments": call.json}
    called = [call_wire(call) for call in calls if not is_old_style(call)]
    if called:
        wire["tool_calls"] = called
    return {**{key: value for key, value in held.items() if key not in wire}, **wire}


def join_fields(wire: Object, fields: Object) -> None:
    """Add fields of reasoning; several thoughts are joined into one text."""
    for name, value in fields.items():
        before = wire.get(name)
        if isinstance(before, str) and isinstance(value, str):
            value = f"{before}\n{value}"
        elif isinstance(before, list) and isinstance(value, list):
            value = [*before, *value]  # pyright: ignore[reportUnknownVariableType]
        wire[name] = value


def thinking_fields(thinking: Thinking) -> Object:
    """Write reasoning in its original fields; other providers' as compatible hosts spell it."""
    held = thinking.extra.get(NAME, {})
    if held.get("type") == "thinking":  # a part of the content, which clients want as one text
        held = {}
    return held or ({"reasoning_content": thinking.text} if thinking.text else {})


def call_wire(call: ToolCall) -> Object:
    """Write a call of a function or a custom tool."""
    held = call.extra.get(NAME, {})
    if is_custom(call):
        body: Object = {"name": call.name, "input": custom_input(call)}
        return {**held, "id": call.id, "type": "custom", "custom": body}
    inner = held.get("function")
    body = {**(inner if is_object(inner) else {}), "name": call.name, "arguments": call.json}
    return {**held, "id": call.id, "type": "function", "function": body}
