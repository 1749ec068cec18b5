"""Turns: none empty, neighbours joined, the first and the last legal."""

from __future__ import annotations

from contextwright.changes import Change
from contextwright.formats.rules.draft import (
    Draft,
    Ruled,
    replace,
    rewritten,
    with_content,
)
from contextwright.formats.target import Target
from contextwright.messages import (
    Message,
    Opaque,
    Part,
    Text,
    ToolResult,
)

__all__ = [
    "CONTINUE",
    "START",
    "drop_blank",
    "end_with_user",
    "is_blank",
    "joined",
    "merge_same_role",
    "start_with_user",
]

START = "[start of conversation]"
CONTINUE = "[continue]"


def drop_blank(draft: Draft, target: Target) -> Ruled:
    """No empty text where the target refuses it, and no message without parts anywhere."""
    changes: list[Change] = []
    kept: Draft = []
    for place, message in draft:
        parts = message.parts
        if not target.traits.blank_text:
            parts = tuple(filled(part) for part in parts if not is_blank(part))
            if parts != message.parts:
                changes.append(Change("loss.blank", f"messages[{place}]", "empty text is not sent"))
        if parts:
            kept.append((place, rewritten(message, parts)))
        elif not message.parts:
            changes.append(
                Change("loss.blank", f"messages[{place}]", "an empty message is not sent")
            )
    return kept, changes


def is_blank(part: Part) -> bool:
    """Whether a part is text without words."""
    return type(part) is Text and (not part.text or part.text.isspace())


def filled(part: Part) -> Part:
    """A tool result without blank pieces."""
    if not isinstance(part, ToolResult):
        return part
    if isinstance(part.content, tuple):
        content: list[Part] = [piece for piece in part.content if not is_blank(piece)]
        return with_content(part, content) if len(content) < len(part.content) else part
    blank = isinstance(part.content, str) and part.content.isspace()
    return replace(part, content="") if blank else part


def merge_same_role(draft: Draft, target: Target) -> Ruled:
    """Join neighbours that speak with the same role; their parts stay apart."""
    if not target.traits.merges or target.faithful:
        return draft, []
    merged: Draft = []
    changes: list[Change] = []
    for place, message in draft:
        if merged and merged[-1][1].role == message.role != "system":
            merged[-1] = (merged[-1][0], joined([merged[-1][1], message]))
            if message.role != "tool":
                changes.append(
                    Change("repair.merged", f"messages[{place}]", "joins the turn before")
                )
        else:
            merged.append((place, message))
    return merged, changes


def joined(messages: list[Message]) -> Message:
    """Several messages of one role as one."""
    if len(messages) == 1:
        return messages[0]
    return messages[0].with_parts(part for message in messages for part in message.parts)


def start_with_user(draft: Draft, target: Target) -> Ruled:
    """The first turn is the user's, where the target wants it so."""
    if not target.options.repair:
        return draft, []
    first = next((index for index, entry in enumerate(draft) if entry[1].role != "system"), None)
    if first is None:
        if draft and not target.traits.needs_user:
            return draft, []
        draft = [*draft, (len(draft), Message("user", (Text(START),)))]
        return draft, [Change("invent.user_turn", "messages", "there is no user turn")]
    message = draft[first][1]
    wanted = target.traits.user_first and (not target.faithful or bool(message.calls))
    if message.role == "user" or not wanted:
        return draft, []
    opening = (draft[first][0], Message("user", (Text(START),)))
    path = f"messages[{draft[first][0]}]"
    change = Change("invent.user_turn", path, f"{target.format} starts with a user turn")
    return [*draft[:first], opening, *draft[first:]], [change]


def end_with_user(draft: Draft, target: Target) -> Ruled:
    """The last turn is not the assistant's, where the model refuses to go on from it."""
    if not draft or draft[-1][1].role != "assistant" or not target.options.repair:
        return draft, []
    place, message = draft[-1]
    last = message.parts[-1]
    if type(last) is Opaque:
        return draft, []  # a hosted tool at work: the provider goes on by itself
    if target.model.prefill:
        if target.traits.final_space or type(last) is not Text or last.text == last.text.rstrip():
            return draft, []
        stripped = replace(last, text=last.text.rstrip())
        change = Change("loss.blank", f"messages[{place}]", "white space at the very end")
        return [*draft[:-1], (place, rewritten(message, (*message.parts[:-1], stripped)))], [change]
    change = Change(
        "invent.user_turn", f"messages[{place}]", f"{target.model.id} answers a user turn"
    )
    return [*draft, (place, Message("user", (Text(CONTINUE),)))], [change]
