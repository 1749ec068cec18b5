"""Rules for turns: no empty ones, same roles merged, first and last turn legal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import groupby, takewhile

from contextwright.formats.rules.draft import (
    Draft,
    Place,
    Placed,
    Ruled,
    keeping,
    messages_of,
    path_to,
    replace,
    rewritten,
    with_content,
)
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Opaque, Part, Text, ToolResult

__all__ = [
    "CONTINUE",
    "START",
    "drop_blank",
    "end_with_user",
    "ends_well",
    "has_turn",
    "is_blank",
    "joined",
    "merge_same_role",
    "roles_after",
    "start_with_user",
    "wants_user",
]

START = "[start of conversation]"
CONTINUE = "[continue]"
NO_WORDS = "[error without a message]"


def drop_blank(draft: Draft, target: Target) -> Ruled:
    """Drop empty text and empty messages, and fill empty errors, where the target refuses them."""
    changes: list[Change] = []
    kept: Draft = []
    for place, message in draft:
        parts = [*enumerate(message.parts)]
        if not target.traits.blank_text:
            parts = [
                (index, filled(part))
                for index, part in parts
                if not is_blank(part) or is_signed(part, target)
            ]
            if tuple(part for _, part in parts) != message.parts:
                changes.append(Change("loss.blank", path_to(place), "empty texts are not sent"))
        if not target.traits.blank_errors and any(is_blank_error(part) for _, part in parts):
            parts = [(at, worded(part) if is_blank_error(part) else part) for at, part in parts]
            reason = f"{target.title} refuses an error without text"
            changes.append(Change("invent.error", path_to(place), reason))
        if parts:
            kept.append(keeping((place, message), parts))
        elif not message.parts:
            changes.append(Change("loss.blank", path_to(place), "empty messages are not sent"))
    return kept, changes


def is_blank(part: Part) -> bool:
    """Whether a part is blank text."""
    return type(part) is Text and (not part.text or part.text.isspace())


def is_signed(part: Part, target: Target) -> bool:
    """Whether a text is the target's own signature: Gemini sends some behind the last word."""
    return type(part) is Text and bool(part.extra.get(target.format, {}).get("thoughtSignature"))


def is_blank_error(part: Part) -> bool:
    """Whether a part is an error result without text."""
    return type(part) is ToolResult and part.is_error and not part.content


def worded(part: Part) -> Part:
    """Return a result with a text for an empty error."""
    return replace(part, content=NO_WORDS) if isinstance(part, ToolResult) else part


def filled(part: Part) -> Part:
    """Return a tool result without blank pieces."""
    if not isinstance(part, ToolResult):
        return part
    if isinstance(part.content, tuple):
        content: list[Part] = [piece for piece in part.content if not is_blank(piece)]
        return with_content(part, content) if len(content) < len(part.content) else part
    blank = isinstance(part.content, str) and part.content.isspace()
    return replace(part, content="") if blank else part


def merge_same_role(draft: Draft, target: Target) -> Ruled:
    """Merge adjacent messages of the same role; their parts stay separate."""
    if not target.traits.merges or target.same_format:
        return draft, []
    merged: Draft = []
    changes: list[Change] = []
    for role, run in groupby(draft, lambda placed: placed[1].role):
        if role == "system":
            merged.extend(run)
            continue
        turn = list(run)
        merged.append(joined(turn))
        if role != "tool":
            changes.extend(
                Change("repair.merged", path_to(place), "merged with the previous turn")
                for place, _ in turn[1:]
            )
    return merged, changes


def joined(draft: Draft) -> Placed:
    """Join several messages of one role into one."""
    place, first = draft[0]
    if len(draft) == 1:
        return draft[0]
    places = tuple(one.part(n) for one, message in draft for n in range(len(message.parts)))
    parts = (part for _, message in draft for part in message.parts)
    return Place(place.origin, places), first.with_parts(parts)


def start_with_user(draft: Draft, target: Target) -> Ruled:
    """Insert a user turn at the start if the target requires one."""
    if not target.options.repair:
        return draft, []
    first = next(
        (index for index, (_, message) in enumerate(draft) if message.role != "system"), None
    )
    if first is None:
        if draft and not target.traits.needs_user:
            return draft, []
        draft = [*draft, (Place(len(draft)), Message("user", (Text(START),)))]
        return draft, [Change("invent.user_turn", "messages", "there is no user turn")]
    place, message = draft[first]
    wanted = target.traits.user_first and (not target.same_format or calls_first(draft[first:]))
    if message.role == "user" or not wanted:
        return draft, []
    opening = (Place(place.origin), Message("user", (Text(START),)))
    change = Change("invent.user_turn", path_to(place), f"{target.title} starts with a user turn")
    return [*draft[:first], opening, *draft[first:]], [change]


def calls_first(draft: Draft) -> bool:
    """Whether the assistant's first turn, merged as providers merge it, calls a tool."""
    leading = takewhile(lambda message: message.role == "assistant", messages_of(draft))
    return any(message.calls for message in leading)


def end_with_user(draft: Draft, target: Target) -> Ruled:
    """Add a user turn at the end if the model refuses to continue an assistant turn."""
    if not draft or not target.options.repair:
        return draft, []
    place, message = draft[-1]
    if message.role != "assistant":
        return draft, []
    if not wants_user(message, target):
        last = message.parts[-1]
        if target.traits.final_space or type(last) is not Text or last.text == last.text.rstrip():
            return draft, []
        stripped = replace(last, text=last.text.rstrip())
        change = Change("loss.blank", path_to(place), "trailing white space is removed")
        stripped = rewritten(message, (*message.parts[:-1], stripped))
        return [*draft[:-1], (place, stripped)], [change]
    change = Change(
        "invent.user_turn", path_to(place), f"{target.model.id} needs a user turn at the end"
    )
    return [*draft, (Place(place.origin), Message("user", (Text(CONTINUE),)))], [change]


def wants_user(last: Message, target: Target) -> bool:
    """Whether the model refuses to continue a history that ends with this assistant message."""
    end = last.parts[-1]
    if type(end) is Opaque and target.traits.continues(end):
        return False
    return not target.model.prefill


# --- whether a history needs these rules -----------------------------------------------------

ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


def roles_after(target: Target) -> Mapping[str, Collection[str]]:
    """Return the roles that may follow each role; `""` is the start.

    In a history that keeps to these, nothing has to be inserted at the start, and no system message
    is in a place where the target refuses it.
    """
    return role_order(target.traits.user_first, target.traits.system == "top")


@cache
def role_order(user_first: bool, system_first: bool) -> Mapping[str, Collection[str]]:
    """Return which roles may follow which, given the provider's requirements."""
    followers: dict[str, set[str]] = {role: set(ROLES) for role in ("", *ROLES)}
    if user_first:
        followers[""].remove("assistant")
        followers["system"].remove("assistant")
    if system_first:
        for role in ("user", "assistant", "tool"):
            followers[role].remove("system")
    return followers


def has_turn(messages: Sequence[Message], target: Target) -> bool:
    """Whether there is a turn to answer, if the target requires one."""
    if messages and (messages[-1].role != "system" or not target.traits.needs_user):
        return True
    return any(message.role == "user" for message in messages)


def ends_well(messages: Sequence[Message], target: Target) -> bool:
    """Whether the model continues after the last turn."""
    if messages[-1].role != "assistant":
        return True
    return target.model.prefill and target.traits.final_space
