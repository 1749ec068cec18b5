"""Rules only Gemini needs: the kind of media follows their type, signatures follow their model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from contextwright.formats.base import keep_extra
from contextwright.formats.gemini.read import NAME, SIGNATURE, kind_of
from contextwright.formats.media import sniffed_mime
from contextwright.formats.rules import (
    RULES,
    Draft,
    Rule,
    Ruled,
    clean_name,
    pair_results,
    place_media,
    rewritten,
)
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, replaced
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, Thinking, ToolResult
from contextwright.models import Model, find
from contextwright.wire.gemini.types import STAND_IN

__all__ = ["CACHED_RULES", "GEMINI_RULES", "last_question", "leave_signatures"]

AnyPart = TypeVar("AnyPart", Part, Text | Media | Opaque)


def leave_signatures(conversation: Conversation, model: Model) -> tuple[Conversation, list[Change]]:
    """Remove signatures of another model, if the conversation says which model it was for."""
    if conversation.model is None or find(conversation.model).known_as == model.known_as:
        return conversation, []
    changes: list[Change] = []
    messages: list[Message] = []
    for index, message in enumerate(conversation.messages):
        parts = [unsigned(part) for part in message.parts]
        if any(new is not old for new, old in zip(parts, message.parts, strict=True)):
            reason = f"signed by {clean_name(conversation.model)}, not by {model.id}"
            changes.append(Change("loss.signature", f"messages[{index}]", reason))
            message = message.with_parts(parts)
        messages.append(message)
    return replaced(conversation, messages=tuple(messages)), changes


def unsigned(part: Part) -> Part:
    """Return the part without its signature."""
    if isinstance(part, Thinking):
        signed = part.origin == NAME and part.signature is not None
        return msgspec.structs.replace(part, signature=None) if signed else part
    if isinstance(part, Opaque):
        if part.format != NAME or SIGNATURE not in part.data:
            return part
        data = {key: value for key, value in part.data.items() if key != SIGNATURE}
        return Opaque(NAME, data, part.text)
    own = part.extra.get(NAME, {}) if part.extra else {}
    if SIGNATURE not in own or own[SIGNATURE] == STAND_IN:
        return part
    rest = {key: value for key, value in own.items() if key != SIGNATURE}
    others = {name: fields for name, fields in part.extra.items() if name != NAME}
    return msgspec.structs.replace(part, extra={**others, **keep_extra(NAME, rest)})


def tell_kinds(draft: Draft, target: Target) -> Ruled:
    """Set the kind of media from their MIME type, because the API knows only the type."""
    written: Draft = []
    for place, message in draft:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolResult) and isinstance(part.content, tuple):
                pieces = tuple(map(of_its_kind, part.content))
                same = pieces == part.content
                parts.append(part if same else msgspec.structs.replace(part, content=pieces))
            else:
                parts.append(of_its_kind(part))
        written.append((place, rewritten(message, parts)))
    return written, []


def of_its_kind(part: AnyPart) -> AnyPart:
    """Return media with the kind of their bytes or type; any other part unchanged."""
    if not isinstance(part, Media) or part.data is None:
        return part
    mime = sniffed_mime(part.data) or part.mime
    kind = kind_of(mime, "") if mime is not None else part.kind
    return part if kind == part.kind else msgspec.structs.replace(part, kind=kind)


def last_question(messages: Sequence[Message]) -> int:
    """Return the index of the last user message that is not a tool result."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if message.role == "user" and message.results != message.parts:
            return position
    return 0


def pair_after_cache(draft: Draft, target: Target) -> Ruled:
    """Pair results as `pair_results` does, but keep those before the first model turn.

    Their calls may be in the cached content.
    """
    roles = [message.role for _, message in draft]
    first = roles.index("assistant") if "assistant" in roles else len(roles)
    paired, changes = pair_results(draft[first:], target)
    return [*draft[:first], *paired], changes


PLACING = RULES.index(place_media)
GEMINI_RULES: tuple[Rule, ...] = (*RULES[:PLACING], tell_kinds, *RULES[PLACING:])
CACHED_RULES = tuple(pair_after_cache if rule is pair_results else rule for rule in GEMINI_RULES)
"""For requests that continue cached content, which may end in a user turn or in calls."""
