"""Other fields of a reply than message and end: kept in their own format, or a loss.

Every field of a reply is read, or named in `FREE`, or kept here: nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from contextwright.errors import shown
from contextwright.formats.base import keep_extra
from contextwright.formats.replies.events import Finish, FinishReason
from contextwright.messages.changes import Change
from contextwright.messages.parts import Extra
from contextwright.wire.values import Object, is_object

__all__ = ["beside", "kept", "name_losses"]

FIRST = {"openai-chat": "choices[0]", "gemini": "candidates[0]"}
"""Formats whose reply is a list of which the first is read: where that has fields of its own."""
KEPT = {
    "anthropic": ("id", "stop_reason", "stop_sequence", "stop_details", "usage"),
    "gemini": ("promptFeedback", "responseId", "usageMetadata", "finishReason", "finishMessage"),
    "openai-chat": ("id", "finish_reason", "usage", "service_tier"),
    "openai-responses": ("id", "status", "incomplete_details", "error", "usage"),
}
"""Fields that say how a reply ended: read, and kept verbatim for a client of the same format."""
WORDS = {
    "anthropic": ("stop_details.category", "stop_details.explanation", "stop_sequence"),
    "gemini": ("finishMessage", "promptFeedback.blockReasonMessage"),
}
"""Those of them that say more than the reason."""
ENDS = {"anthropic": "stop_reason", "gemini": "finishReason", "openai-chat": "finish_reason"}
"""The field that says why a reply ended."""
UNFINISHED: dict[FinishReason, tuple[str, ...]] = {
    "pause": ("anthropic",),
    "error": ("gemini", "openai-responses"),
    "other": ("gemini",),
}
"""Ends that only some formats can say; in others the reply reads as if it were complete."""
EXPLAINING = ("anthropic", "gemini")
"""Formats that say in words why an answer was withheld."""
READ = {
    "anthropic": ("content", "model", "error"),
    "gemini": ("candidates", "modelVersion", "error"),
    "openai-chat": ("choices", "model", "error"),
    "openai-responses": ("output", "model"),
}
"""Fields that become the message, its model, or an error."""
FREE = {
    "anthropic": ("type", "role", "request_id"),
    "gemini": (
        "createTime",
        # Of Google's SDK.
        "automaticFunctionCallingHistory",
        "parsed",
        "sdkHttpResponse",
    ),
    "openai-chat": (
        "object",
        "created",
        "system_fingerprint",
        "obfuscation",
        # Of hosts: who answered for OpenRouter, Groq's ids, ratings of Azure's filter.
        "provider",
        "x_groq",
        "prompt_filter_results",
    ),
    "openai-responses": (
        "object",
        "created_at",
        "completed_at",
        "output_text",
        # What the request said.
        "background",
        "conversation",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
        # Who pays, and how fast it was.
        "billing",
        "service_tier",
    ),
}
"""Fields that mean nothing to a client of another format."""
READ_OF_FIRST = {
    "gemini": ("content", "finishReason", "finishMessage"),
    "openai-chat": ("message", "delta", "finish_reason"),
}
FREE_OF_FIRST = {
    "gemini": ("index", "tokenCount", "safetyRatings", "avgLogprobs"),
    "openai-chat": ("index", "native_finish_reason", "content_filter_results"),
}
"""The same for the fields of the choice or candidate that is read."""
KNOWN = {
    format: frozenset((*names, *READ[format], *FREE[format])) for format, names in KEPT.items()
}
KNOWN_OF_FIRST = {
    format: frozenset((*names, *FREE_OF_FIRST[format])) for format, names in READ_OF_FIRST.items()
}


def kept(format: str, body: Object, first: Object | None = None) -> Extra:
    """Return the other fields of a reply, under the name of its format.

    `first` is the choice or candidate that is read; its own fields are kept under its place.
    """
    both = {**body, **(first or {})}
    held = {name: both[name] for name in KEPT[format] if both.get(name) is not None}
    held |= told_beside(body, KNOWN[format])
    if first:
        inner = told_beside(first, KNOWN_OF_FIRST[format])
        held |= {FIRST[format]: inner} if inner else {}
    return keep_extra(format, held)


def told_beside(fields: Object, known: Collection[str]) -> Object:
    """Return the fields that say something and are not known."""
    return {
        name: value
        for name, value in fields.items()
        if name not in known and value is not None and value not in ("", [], {})
    }


def beside(extra: Extra, format: str) -> tuple[Object, Object]:
    """Return the fields beside what is read: those of a reply, and of its first choice."""
    held = extra.get(format, {})
    place = FIRST.get(format)
    inner: Any = held.get(place) if place else None
    rest = {name: held[name] for name in held if name not in KEPT[format] and name != place}
    return rest, dict(inner) if is_object(inner) else {}


def name_losses(finish: Finish, format: str, changes: list[Change]) -> None:
    """Name the fields that a reply of another format had beside its own."""
    for source, held in finish.extra.items():
        if source == format or source not in KEPT:
            continue
        rest, inner = beside(finish.extra, source)
        said = finish.refusal if format in EXPLAINING else None
        lost = [*rest, *(f"{FIRST[source]}.{name}" for name in inner), *unsaid(held, source, said)]
        end, can_say = ENDS.get(source, ""), UNFINISHED.get(finish.reason, (format,))
        if end in held and format not in can_say:
            lost.append(f"{end} {shown(held[end])}")
        if lost:
            reason = f"{format} has no {', '.join(sorted(lost))}"
            changes.append(Change("loss.extra", "reply", reason))


def unsaid(held: Object, source: str, said: str | None) -> Iterator[str]:
    """Yield the fields whose words about the end of a reply are not those that are said."""
    for path in WORDS.get(source, ()):
        words: object = held
        for step in path.split("."):
            words = words.get(step) if is_object(words) else None
        if isinstance(words, str) and words not in ("", said):
            yield path
