"""Gemini replies: finish reason, token usage, and writing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contextwright.formats.gemini.read import NAME, message_of
from contextwright.formats.gemini.write import wire_of
from contextwright.formats.reader import Reader
from contextwright.formats.replies.beside import beside, kept
from contextwright.formats.replies.events import Finish, FinishReason, ReplyError, Usage
from contextwright.formats.replies.failures import error_of
from contextwright.formats.replies.parts import carried
from contextwright.formats.replies.reply import ModelReply, finished_reply
from contextwright.formats.replies.usage import count_of
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Thinking
from contextwright.wire.gemini.types import Reply
from contextwright.wire.spelling import camel_case
from contextwright.wire.values import Object, is_object

__all__ = [
    "end_wire",
    "finish_of",
    "parse_reply",
    "part_wire",
    "usage_of",
    "usage_wire",
    "write_reply",
]

REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
        ),
        "filter",
    ),
    **dict.fromkeys(
        (
            "MALFORMED_FUNCTION_CALL",
            "MALFORMED_RESPONSE",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
        ),
        "error",
    ),
}
WRITTEN: dict[FinishReason, str] = {
    "stop": "STOP",
    "stop_sequence": "STOP",
    "length": "MAX_TOKENS",
    "context": "MAX_TOKENS",
    "tool_calls": "STOP",
    "refusal": "SAFETY",
    "filter": "SAFETY",
    "pause": "STOP",
    "error": "OTHER",
    "interrupted": "OTHER",
    "other": "OTHER",
}
"""The finish reason Gemini uses for each of ours."""


def parse_reply(reply: Any) -> ModelReply:
    """Read a whole reply, decoded or as an SDK object; the first of several candidates."""
    reader = Reader(NAME, strict=False)
    body, problems = camel_case(reader.reply(reply), Reply)
    for problem in problems:
        reader.fault(problem.path, problem.message)
    model = reader.optional_text(body, "modelVersion")
    candidates = list(reader.objects(body, "candidates"))
    messages: list[Message] = []
    first: Object = {}
    if candidates:
        path, first = candidates[0]
        content = first.get("content")
        content = {**content, "role": "model"} if is_object(content) else {"role": "model"}
        messages.append(message_of(content, f"{path}.content", reader))
    if len(candidates) > 1:
        reason = f"{len(candidates) - 1} more candidates"
        reader.changes.append(Change("loss.candidate", "candidates[1]", reason))
    error = error_of(body)
    calls = any(message.calls for message in messages)
    finish = finish_of(body, first, calls=calls, whole=error is None, error=error)
    conversation = reader.conversation(messages, finish.extra.get(NAME, {}), model=model)
    return finished_reply(conversation, finish, error)


def finish_of(
    body: Object,
    candidate: Object,
    *,
    calls: bool,
    whole: bool,
    error: ReplyError | None,
    changes: Sequence[Change] = (),
) -> Finish:
    """Read how a reply ended from its fields and those of its candidate."""
    given, feedback = candidate.get("finishReason"), body.get("promptFeedback")
    blocked = feedback.get("blockReason") if is_object(feedback) else None
    reason: FinishReason = REASONS.get(given, "other") if isinstance(given, str) else "other"
    if reason == "stop" and calls:
        reason = "tool_calls"
    if not whole:
        reason = "error" if error is not None else "interrupted"
    elif blocked and not given:
        reason, given = "filter", blocked
    return Finish(
        reason,
        given if isinstance(given, str) else "",
        usage_of(body.get("usageMetadata")),
        refusal_words(candidate, feedback) if reason == "filter" else None,
        kept(NAME, body, candidate),
        changes=tuple(changes),
    )


def refusal_words(candidate: Object, feedback: Any) -> str:
    """Return why the filter withheld the answer, as far as the API says."""
    said = candidate.get("finishMessage")
    if not isinstance(said, str) and is_object(feedback):
        said = feedback.get("blockReasonMessage")
    return said if isinstance(said, str) else ""


def usage_of(usage: Any) -> Usage | None:
    """Read the token usage. This API counts thoughts and hosted tools separately."""
    if not is_object(usage):
        return None
    reasoning = count_of(usage, "thoughtsTokenCount")
    return Usage(
        count_of(usage, "promptTokenCount") + count_of(usage, "toolUsePromptTokenCount"),
        count_of(usage, "candidatesTokenCount") + reasoning,
        count_of(usage, "cachedContentTokenCount"),
        reasoning=reasoning,
    )


def usage_wire(usage: Usage) -> Object:
    """Write the token usage as this API counts it."""
    wire: Object = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": max(0, usage.output - usage.reasoning),
        "totalTokenCount": usage.input + usage.output,
    }
    if usage.cached:
        wire["cachedContentTokenCount"] = usage.cached
    if usage.reasoning:
        wire["thoughtsTokenCount"] = usage.reasoning
    return wire


def part_wire(part: Part) -> Object:
    """Write one part of a reply; any provider's reasoning becomes a thought."""
    if isinstance(part, Thinking):
        wire: Object = {"text": part.text, "thought": True, **part.extra.get(NAME, {})}
        return {**wire, "thoughtSignature": part.signature} if part.signature else wire
    return wire_of(part)


def end_wire(finish: Finish) -> tuple[Object, Object]:
    """Write the fields of the candidate and the reply that say how it ended."""
    held = finish.extra.get(NAME, {})
    reply, candidate = beside(finish.extra, NAME)
    if "finishReason" in held or "promptFeedback" not in held:
        candidate["finishReason"] = held.get("finishReason") or WRITTEN[finish.reason]
    said = held.get("finishMessage") or finish.refusal
    if said and "promptFeedback" not in held:
        candidate["finishMessage"] = said
    if "promptFeedback" in held:
        reply["promptFeedback"] = held["promptFeedback"]
    if held.get("usageMetadata") or finish.usage:
        reply["usageMetadata"] = held.get("usageMetadata") or usage_wire(finish.usage or Usage())
    return candidate, reply


def write_reply(
    reply: ModelReply, finish: Finish, model: str, id: str | None
) -> tuple[Object, list[Change]]:
    """Write the body of a reply that is not streamed; return it with what it cannot carry."""
    message = reply.answer
    parts, changes = carried(message, NAME, id or "")
    candidate, rest = end_wire(finish)
    content: Object = {"role": "model", "parts": [part_wire(part) for part in parts]}
    body: Object = {"candidates": [{"content": content, **candidate, "index": 0}]}
    body.update(rest)
    body["modelVersion"] = model
    if id:
        body["responseId"] = id
    return body, changes
