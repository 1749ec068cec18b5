"""Forge messages, rendered: one message per result, calls and thinking as text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from contextwright.errors import require
from contextwright.formats.base import Options, Rendered
from contextwright.formats.file_formats import drafted, no_media, unsaid
from contextwright.formats.forge.markup import (
    HEADER,
    UNKNOWN,
    result_of,
    result_text,
    same_parts,
    text_of,
)
from contextwright.formats.forge.read import NAME, scan
from contextwright.formats.rules import (
    Draft,
    drop_blank,
    keeping,
    leave_out_foreign,
    leave_out_hidden,
    messages_of,
    name_speakers,
    path_in,
    path_to,
    place_media,
    settle_roles,
    speak_reply_tools,
    spell_tool_names,
)
from contextwright.formats.rules.calls import answered
from contextwright.formats.target import Spelling, Target, Traits
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.exchanges import Answer, Matching, match_results
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text, ToolCall, ToolResult
from contextwright.models import Model

__all__ = ["REPLY_TOOLS", "from_wire", "on_wire", "render"]

Entry: TypeAlias = dict[str, Any]

REPLY_TOOLS: dict[str, str | None] = {
    "task_completion": "result",
    "ask_question": "question",
    "converse": "message",
}
"""The tools that end Forge's loop: their argument is shown to the user, and they get no result."""

TRAITS = Traits(
    format=NAME,
    # a result names its tool on its first line
    tool_names=Spelling(allowed=r"!-~\u00a1-\U0010ffff"),
    supports_media=no_media,
    supports_thinking=lambda thinking, model: not thinking.redacted,
)

RULES = (
    leave_out_hidden,
    leave_out_foreign,
    settle_roles,
    speak_reply_tools,
    spell_tool_names,
    place_media,
    drop_blank,
)

MARK = "User: "
RESULT_LIKE = re.compile(r"(?:User: )*\s*Tool:")
"""User text that would read as a tool result, or as user text with a mark, once it is sent."""

replace = msgspec.structs.replace


def render(conversation: Conversation, model: Model, options: Options) -> Rendered:
    """Render the messages as a list, or in the object they came in."""
    draft, target, changes = drafted(conversation, TRAITS, model, options, RULES, REPLY_TOOLS)
    for rule in (name_speakers, leave_out_orphans, pair_by_order):
        draft, made = rule(draft, target)
        changes.extend(made)
    envelope = ("reply_to", "turn") if target.same_format else ("sent_at", "reply_to", "turn")
    changes.extend(unsaid(conversation, NAME, envelope))
    called = {call.id: call.name for _, message in draft for call in message.calls}
    messages: list[Entry] = []
    origins: list[int] = []
    for place, message in draft:
        entries = entries_of(message, called, path_to(place), changes)
        if target.same_format and message.sent_at is not None:
            entries = [{**entry, "timestamp": message.sent_at} for entry in entries]
        if not all(entry["content"] for entry in entries):
            entries = [entry for entry in entries if entry["content"]]
            changes.append(Change("loss.blank", path_to(place), "content cannot be empty"))
        messages.extend(entries)
        origins.extend([place.origin] * len(entries))
    extra = conversation.extra.get(NAME)
    if extra is None:
        return Rendered(messages, tuple(changes), origins=tuple(origins))
    rest = {name: value for name, value in extra.items() if name != "messages"}
    return Rendered({"messages": messages, **rest}, tuple(changes), origins=tuple(origins))


def leave_out_orphans(draft: Draft, target: Target) -> tuple[Draft, list[Change]]:
    """Drop results that answer no call, because Forge would assign them to any open call."""
    orphans = match_results(messages_of(draft)).orphans
    if not orphans or not target.options.repair or target.same_format:
        return draft, []
    lost = set(orphans)
    changes = [Change("loss.orphan", path_in(draft, at), "answers no call") for at in orphans]
    kept: Draft = []
    for position, (place, message) in enumerate(draft):
        parts = enumerate(message.parts)
        rest = [(index, part) for index, part in parts if (position, index) not in lost]
        if rest:
            kept.append(keeping((place, message), rest))
    return kept, changes


def pair_by_order(draft: Draft, target: Target) -> tuple[Draft, list[Change]]:
    """Order results so that name and order identify their calls, because the text has no ids."""
    matching = match_results(messages_of(draft))
    if not target.options.repair or matching.orphans:
        return draft, []
    answers = {answer.result_at: answer for answer in matching.answers if answer.result_at}
    waiting: dict[str, deque[tuple[int, int]]] = {}
    for position, (_, message) in enumerate(draft):
        for index, part in enumerate(message.parts):
            if type(part) is ToolCall:
                waiting.setdefault(part.name, deque()).append((position, index))
            elif type(part) is ToolResult:
                answer = answers[position, index]
                if waiting[answer.call.name].popleft() != answer.at:
                    return in_call_order(draft, matching)
    return draft, []


def in_call_order(draft: Draft, matching: Matching) -> tuple[Draft, list[Change]]:
    """Put all results directly after their calls, in call order, with none missing."""
    reason = "results follow the order of their calls, which have no ids in Forge"
    changes = [Change("repair.order", "messages", reason)]
    by_message: dict[int, list[Answer]] = {}
    for answer in matching.answers:
        by_message.setdefault(answer.at[0], []).append(answer)
    ordered: Draft = []
    for position, (place, message) in enumerate(draft):
        parts = enumerate(message.parts)
        kept = [(index, part) for index, part in parts if type(part) is not ToolResult]
        if kept:
            ordered.append(keeping((place, message), kept))
        results = [answered(answer, draft, changes) for answer in by_message.get(position, ())]
        ordered.extend((place, Message("tool", (one,))) for one in results)
    return ordered, changes


def entries_of(
    message: Message, called: dict[str | None, str], path: str, changes: list[Change]
) -> list[Entry]:
    """Write one message as Forge's entries: each result is its own entry."""
    entries: list[Entry] = []
    said: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            if said:
                entries.append(spoken(message, said, path, changes))
                said = []
            content = tool_content(message, part, called, path, changes)
            entries.append({"role": "tool", "content": content})
        else:
            said.append(part)
    if said:
        entries.append(spoken(message, said, path, changes))
    return [with_held(entry, message) for entry in entries]


def spoken(message: Message, parts: list[Part], path: str, changes: list[Change]) -> Entry:
    """Write the parts of a message that are not results."""
    if message.role == "assistant":
        content = assistant_content(message.with_parts(parts), path, changes)
    else:
        said = (part.text for part in parts if isinstance(part, Text))
        content = "\n\n".join(words for words in said if words)
    return {"role": message.role, "content": content}


def with_held(entry: Entry, message: Message) -> Entry:
    """Add the message's leftover fields to its entry."""
    for name, value in message.extra.get(NAME, {}).items():
        if name != "raw":
            entry.setdefault(name, value)
    return entry


def assistant_content(message: Message, path: str, changes: list[Change]) -> str:
    """Return the text of an assistant message: the original if it still says the same, else new."""
    raw = message.extra.get(NAME, {}).get("raw")
    if isinstance(raw, str) and same_parts(scan(raw).parts, message.parts):
        return raw
    content, made_inert = text_of(message.parts)
    if made_inert:
        reason = "text that Forge would read as a call or as thinking is escaped"
        changes.append(Change("repair.inert", path, reason))
    return content


def tool_content(
    message: Message,
    result: ToolResult,
    called: dict[str | None, str],
    path: str,
    changes: list[Change],
) -> str:
    """Write a tool result with its tool's name."""
    raw = message.extra.get(NAME, {}).get("raw")
    if isinstance(raw, str) and len(message.parts) == 1:
        if result_of(raw) == replace(result, call_id=None, extra={}):
            return raw
    name = result.name or called.get(result.call_id)
    content = result_text(result, name)
    if result.is_error and not result.text.startswith("Error:"):
        changes.append(Change("repair.error_flag", path, "marked in the text: Error: …"))
    elif not result.is_error and result.text.startswith("Error:"):
        changes.append(Change("repair.error_flag", path, "reads as an error in Forge"))
    return content


def on_wire(messages: Iterable[Entry]) -> list[Entry]:
    """Convert the messages to what Forge sends to a model: a tool result is a user message there.

    User text that begins like a tool result is marked as the user's, and a result that does not
    name its tool as a result, because neither must pass for the other.
    """
    sent: list[Entry] = []
    require(messages, Iterable, "messages")
    for message in messages:
        require(message, Mapping, "a message")
        require(message.get("content"), str, "the content of a message")
        role, content = message.get("role"), message["content"]
        if role == "user" and RESULT_LIKE.match(content):
            content = MARK + content
        elif role == "tool":
            role = "user"
            content = content if content.startswith(HEADER) else f"{HEADER}{UNKNOWN}\n{content}"
        sent.append({"role": role, "content": content})
    return sent


def from_wire(messages: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Read messages as Forge sends them to a model: the inverse of `on_wire`.

    A user message that begins with `Tool:` is a tool result; `User: Tool:` marks a user who wrote
    that text.
    """
    read: list[Entry] = []
    require(messages, Iterable, "messages")
    for message in messages:
        require(message, Mapping, "a message")
        role, content = message.get("role"), message.get("content")
        if role == "user" and isinstance(content, str):
            if content.startswith(HEADER):
                role = "tool"
            elif content.startswith(MARK) and RESULT_LIKE.match(content, len(MARK)):
                content = content.removeprefix(MARK)
        read.append({**message, "role": role, "content": content})
    return read
