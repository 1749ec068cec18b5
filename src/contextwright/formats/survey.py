"""One quick look that tells whether a history needs any rule at all.

Most histories do not, and must not pay for repairs they do not need. The promise, held by a
property test: where `survey` finds nothing to do, the rules change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from contextwright.changes import Change
from contextwright.formats.base import Conversation, Options
from contextwright.formats.media import is_mislabelled
from contextwright.formats.rules import RULES, Rule, apply_rules, is_blank
from contextwright.formats.target import Spelling, Target, Traits, respelled
from contextwright.messages import (
    Media,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
)
from contextwright.models import Model

__all__ = ["is_clean", "made_legal"]

ENVELOPE = ("sent_at", "reply_to", "turn")
"""Fields of a message that no provider has a place for."""
SPEAKER = Spelling(longest=64).fits

Holder: TypeAlias = Text | Thinking | ToolCall | ToolResult | Media
"""Parts that may hold fields of a format."""


class Calls(Struct):
    """The calls met so far: those without a result, and how all of them are spelled."""

    pending: set[str]
    ids: set[str]
    names: set[str]

    def fit(self, traits: Traits) -> bool:
        """Whether names and ids may be written as they are."""
        if traits.ids is not None and not all(map(traits.ids.fits, self.ids)):
            return False
        return all(map(traits.tool_names.fits, self.names))


def made_legal(
    conversation: Conversation,
    traits: Traits,
    model: Model,
    options: Options,
    rules: tuple[Rule, ...] = RULES,
) -> tuple[Sequence[Message], Target, list[Change], Sequence[int]]:
    """The messages as the target takes them, the target, what had to change, and where from.

    The last holds the place of each message in the input; what is invented has its neighbour's.
    """
    faithful = conversation.source == traits.format
    target = Target(traits, model, options, faithful, conversation.reply_tools)
    messages = conversation.messages
    tools = [tool.name for tool in conversation.tools if isinstance(tool, Tool)]
    unsaid: set[str] = set()
    if is_clean(messages, target, unsaid) and all(map(traits.tool_names.fits, tools)):
        return messages, target, envelope_changes(unsaid, traits), range(len(messages))
    called = (call.name for message in messages for call in message.calls)
    names = respelled([*tools, *called], traits.tool_names)
    target = Target(traits, model, options, faithful, conversation.reply_tools, names)
    unsaid = {name for name in ENVELOPE for one in messages if getattr(one, name) is not None}
    draft, changes = apply_rules(messages, target, rules)
    places, legal = [place for place, _ in draft], [message for _, message in draft]
    return legal, target, [*changes, *envelope_changes(unsaid, traits)], places


def envelope_changes(unsaid: set[str], traits: Traits) -> list[Change]:
    """One change for each field of the messages that stays behind."""
    return [
        Change("loss.envelope", f"messages[].{name}", f"{traits.format} has no place for it")
        for name in ENVELOPE
        if name in unsaid
    ]


def is_clean(messages: Sequence[Message], target: Target, unsaid: set[str]) -> bool:
    """Whether the history is legal as it stands; notes in `unsaid` what stays behind anyway."""
    traits = target.traits
    alone = traits.merges and not target.faithful
    user_first, refuses_blank = traits.user_first, not traits.blank_text
    calls = Calls(set(), set(), set())
    pending = calls.pending
    previous = ""
    for message in messages:
        role, parts = message.role, message.parts
        if message.visibility != "public" or (message.extra and not fits(message, role, target)):
            return False
        if message.sent_at is not None:
            unsaid.add("sent_at")
        if message.reply_to is not None:
            unsaid.add("reply_to")
        if message.turn is not None:
            unsaid.add("turn")
        if role == "user":
            if (alone and previous == "user") or (message.author and not named(message, traits)):
                return False
        elif role == "assistant":
            if pending or (alone and previous == "assistant"):
                return False
            if user_first and previous in ("", "system"):
                return False
        elif role == "system":
            if pending or (previous and previous != "system" and traits.system == "top"):
                return False
        previous = role
        if len(parts) == 1 and type(parts[0]) is Text and role != "tool" and not pending:
            only = parts[0]  # by far the most common message: words alone
            if only.extra and not fits(only, role, target):
                return False
            if refuses_blank and (not only.text or only.text.isspace()):
                return False
        elif not parts or not are_clean(message, target, calls):
            return False
    return not pending and calls.fit(traits) and ends_well(messages, target)


def named(message: Message, traits: Traits) -> bool:
    """Whether the speaker's name can be written as it is."""
    author = message.author
    return traits.names and author is not None and SPEAKER(author.label) is not None


def are_clean(message: Message, target: Target, calls: Calls) -> bool:
    """Whether each part of a message may stand where it is; keeps account of open calls."""
    traits = target.traits
    role = message.role
    spoken = False
    for part in message.parts:
        if type(part) is ToolResult:
            if spoken or role not in ("tool", "user"):
                return False
            if not result_is_clean(part, role, target, calls.pending):
                return False
            continue
        if role == "tool" or (calls.pending and role != "assistant"):
            return False
        if type(part) is Text:
            if not traits.blank_text and (not part.text or part.text.isspace()):
                return False
        elif type(part) is ToolCall:
            if role != "assistant" or not call_is_clean(part, target, calls):
                return False
        elif type(part) is Thinking:
            if role != "assistant" or target.options.thinking == "drop":
                return False
            if not traits.carries_thinking(part, target.model):
                return False
        elif type(part) is Media:
            if role != "user" and not (role == "assistant" and traits.assistant_media):
                return False
            if is_mislabelled(part) or not traits.carries_media(part, target.model):
                return False
        if type(part) is Opaque:
            if part.format != traits.format or not traits.takes_extra(part, role, target.model):
                return False
        elif part.extra and not fits(part, role, target):
            return False
        spoken = True
    return True


def fits(holder: Message | Holder, role: Role, target: Target) -> bool:
    """Whether the leftover fields are the target's own, and right."""
    traits = target.traits
    return list(holder.extra) == [traits.format] and traits.takes_extra(holder, role, target.model)


def call_is_clean(call: ToolCall, target: Target, calls: Calls) -> bool:
    """Whether a call can be written as it is; it then waits for its result."""
    id = call.id
    if not id or id in calls.pending or call.name in target.reply_tools:
        return False
    if id in calls.ids and not target.traits.reuses_ids:
        return False
    calls.pending.add(id)
    calls.ids.add(id)
    calls.names.add(call.name)
    return True


def result_is_clean(result: ToolResult, role: Role, target: Target, pending: set[str]) -> bool:
    """Whether a result answers an open call and can be written as it is."""
    traits = target.traits
    if result.call_id not in pending:
        return False
    pending.discard(result.call_id)
    if result.is_error and not traits.error_flag:
        return False
    if result.extra and not fits(result, role, target):
        return False
    content = result.content
    if isinstance(content, str):
        return traits.blank_text or not content.isspace()
    if isinstance(content, dict):
        return True
    return all(piece_is_clean(piece, role, target) for piece in content)


def piece_is_clean(piece: Text | Media | Opaque, role: Role, target: Target) -> bool:
    """Whether one piece of a tool result can be written as it is."""
    traits = target.traits
    if isinstance(piece, Opaque):
        return piece.format == traits.format and traits.takes_extra(piece, role, target.model)
    if piece.extra and not fits(piece, role, target):
        return False
    if isinstance(piece, Media):
        carried = traits.result_media and traits.carries_media(piece, target.model)
        return carried and not is_mislabelled(piece)
    return traits.blank_text or not is_blank(piece)


def ends_well(messages: Sequence[Message], target: Target) -> bool:
    """Whether the conversation ends, and has anything in it, as the target wants."""
    if not messages:
        return False
    last = messages[-1].role
    if last == "system":
        return not target.traits.needs_user or any(m.role == "user" for m in messages)
    if last != "assistant":
        return True
    return target.model.prefill and target.traits.final_space
