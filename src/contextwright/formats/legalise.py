"""The messages of a conversation, made legal for a target.

Most histories need no rule and should not pay for any. One pass over the messages checks the
conditions of all `rules/` at once. A property test asserts that the rules change nothing where this
pass finds nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from contextwright.formats.base import Options
from contextwright.formats.rules import (
    RULES,
    Draft,
    OpenCalls,
    Place,
    Rule,
    Speakers,
    apply_rules,
    end_with_user,
    ends_well,
    extra_fits,
    has_turn,
    is_blank,
    media_fits,
    merge_same_role,
    messages_of,
    name_fits,
    name_speakers,
    opaque_fits,
    roles_after,
    thinking_fits,
)
from contextwright.formats.target import Target, Traits, respelled
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Author, Message, Tool
from contextwright.messages.parts import Media, Opaque, Text, Thinking, ToolCall, ToolResult
from contextwright.models import Model

__all__ = ["Legal", "legalise"]

ENVELOPE = {name: attrgetter(name) for name in ("sent_at", "reply_to", "turn")}
"""Fields of a message that no provider has a place for."""


class Legal(Struct, frozen=True):
    """Messages that are legal for a target, and the changes."""

    messages: Sequence[Message]
    target: Target
    changes: list[Change]
    unmoved: int
    """The number of first messages that no rule has looked at: they are where they were."""
    places: Sequence[Place] = ()
    """The place of each other message in the input."""

    def placed(self) -> Draft:
        """Return the messages, and where they stood in the input."""
        places = (*map(Place, range(self.unmoved)), *self.places)
        return list(zip(places, self.messages, strict=True))

    def turn_origins(self, places: Sequence[int]) -> tuple[int, ...]:
        """Return the index of the input message that each turn of a payload begins with.

        `places` has the index of the legal message that each turn begins with.
        """
        if not self.places:
            return tuple(places)
        start = self.unmoved
        return tuple(
            [place if place < start else self.places[place - start].origin for place in places]
        )


def legalise(
    conversation: Conversation,
    traits: Traits,
    model: Model,
    options: Options,
    rules: tuple[Rule, ...] = RULES,
) -> Legal:
    """Return the messages made legal for the target; only the rules that are needed run."""
    messages = conversation.messages
    same_format = conversation.source == traits.format
    target = Target(traits, model, options, same_format, conversation.reply_tools)
    tools = [tool.name for tool in conversation.tools if isinstance(tool, Tool)]
    needed, enveloped = rules, True
    if all(map(traits.tool_names.fits, tools)):
        needed, enveloped = needed_rules(messages, target, rules)
    envelope = envelope_changes(messages, target) if enveloped else []
    if not needed:
        return Legal(messages, target, envelope, len(messages))
    if needed is rules:  # where only some are needed, all names fit
        called = [call.name for message in messages for call in message.calls]
        fits, may_stay = traits.tool_names.fits, (traits.call_names or traits.tool_names).fits
        called = [name for name in called if fits(name) or not may_stay(name)]
        names = respelled([*tools, *called], traits.tool_names)
        target = Target(traits, model, options, same_format, conversation.reply_tools, names)
    # The last rule looks only at the last message.
    start = max(len(messages) - 1, 0) if needed == (end_with_user,) else 0
    draft, changes = apply_rules(messages[start:], target, needed, start=start)
    legal = [*messages[:start], *messages_of(draft)]
    return Legal(legal, target, [*changes, *envelope], start, [place for place, _ in draft])


def envelope_changes(messages: Sequence[Message], target: Target) -> list[Change]:
    """Return one change for each message field that the target cannot carry."""
    return [
        Change("loss.envelope", f"messages[].{name}", f"{target.title} has no place for it")
        for name, value_of in ENVELOPE.items()
        if any(value is not None for value in map(value_of, messages))
    ]


def needed_rules(
    messages: Sequence[Message], target: Target, rules: tuple[Rule, ...]
) -> tuple[tuple[Rule, ...], bool]:
    """Return the rules that a history needs, and whether it may have envelope fields.

    Names, adjacent messages of one role and the end of a history can be fixed alone. Any other
    problem may cause further ones, so then all rules run.
    """
    every = rules, True
    traits = target.traits
    followers, refuses_blank = roles_after(target), not traits.blank_text
    calls = OpenCalls(target)
    pending = calls.pending
    names_fit, speakers, fitting, enveloped = True, Speakers(), set[Author](), False
    before, repeated = "", False
    for message in messages:
        role, parts = message.role, message.parts
        if role not in followers[before] or message.visibility != "public":
            return every
        if role == before and (role == "user" or role == "assistant"):
            repeated = True
        before = role
        if message.extra and not extra_fits(message, role, target):
            return every
        author = message.author
        if author is not None and names_fit and (role != "user" or author not in fitting):
            names_fit = name_fits(message, author, target, speakers)
            if role == "user":
                fitting.add(author)
        if message.sent_at is not None or message.reply_to is not None or message.turn is not None:
            enveloped = True
        if pending:
            if role == "assistant" or role == "system":
                return every
        elif len(parts) == 1 and type(only := parts[0]) is Text and role != "tool":
            if only.extra and not extra_fits(only, role, target):
                return every
            if refuses_blank and (not only.text or only.text.isspace()):
                return every
            continue  # by far the most common message: text only
        if not parts or not parts_fit(message, target, calls):
            return every
    if not calls.are_legal() or not has_turn(messages, target):
        return every
    needed: list[Rule] = []
    if not names_fit:
        needed.append(name_speakers)
    if repeated and traits.merges and not target.same_format:
        needed.append(merge_same_role)
    if not ends_well(messages, target):
        needed.append(end_with_user)
    return tuple(rule for rule in rules if rule in needed), enveloped


def parts_fit(message: Message, target: Target, calls: OpenCalls) -> bool:
    """Whether each part of a message may be where it is; records open calls."""
    role = message.role
    spoken = False
    for part in message.parts:
        if type(part) is ToolResult:
            if spoken or role == "assistant" or role == "system":
                return False
            if not calls.takes_result(part, role):
                return False
            continue
        spoken = True
        if type(part) is ToolCall:
            fits = role == "assistant" and calls.takes_call(part)
        elif role == "tool" or (calls.pending and role != "assistant"):
            return False
        elif type(part) is Text:
            fits = target.traits.blank_text or not is_blank(part)
        elif type(part) is Opaque:
            if target.traits.pairs_hosted or not opaque_fits(part, role, target):
                return False
            continue
        elif type(part) is Thinking:
            fits = thinking_fits(part, role, target)
        else:
            assert type(part) is Media
            fits = media_fits(part, role, target)
        if not fits or (part.extra and not extra_fits(part, role, target)):
            return False
    return True
