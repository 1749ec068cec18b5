"""What belongs to one provider alone, or to nobody but its owner, does not travel."""

from __future__ import annotations

from typing import TypeVar

from contextwright.changes import Change
from contextwright.formats.rules.draft import (
    Draft,
    Ruled,
    clean_name,
    replace,
    rewritten,
    with_content,
)
from contextwright.formats.target import Target
from contextwright.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

__all__ = ["leave_out_foreign", "leave_out_hidden"]

Holder = TypeVar("Holder", bound=Message | Text | Thinking | ToolCall | ToolResult | Media)
SPELLINGS = {"aya": {"content", "nested", "result"}, "forge": {"raw"}}
"""Fields of a format that only keep how something was spelled: its content is in the parts."""


def leave_out_hidden(draft: Draft, target: Target) -> Ruled:
    """Messages that are not public never reach a model."""
    changes = [
        Change("loss.hidden", f"messages[{place}]", f"the message is {message.visibility}")
        for place, message in draft
        if message.visibility != "public"
    ]
    if not changes:
        return draft, changes
    return [entry for entry in draft if entry[1].visibility == "public"], changes


def leave_out_foreign(draft: Draft, target: Target) -> Ruled:
    """Thinking, blocks and fields of one provider do not travel to another."""
    changes: list[Change] = []
    kept: Draft = []
    for place, message in draft:
        parts: list[Part] = []
        for index, part in enumerate(message.parts):
            if type(part) is Text and not part.extra:
                parts.append(part)  # words alone travel anywhere
                continue
            path = f"messages[{place}].parts[{index}]"
            parts.extend(travelling(part, message, target, path, changes))
        message = own_extra(message, message.role, target, f"messages[{place}]", changes)
        kept.append((place, rewritten(message, parts)))
    return kept, changes


def travelling(
    part: Part, message: Message, target: Target, path: str, changes: list[Change]
) -> list[Part]:
    """What of a part may go to the target: the part itself, words in its place, or nothing."""
    if isinstance(part, Thinking):
        may = message.role == "assistant" and target.traits.carries_thinking(part, target.model)
        if may and target.options.thinking != "drop":
            return [own_extra(part, message.role, target, path, changes)]
        changes.append(Change("loss.thinking", path, f"{target.format} may not get this thinking"))
        said = target.options.thinking == "text" and message.role == "assistant" and part.text
        return [Text(part.text)] if said else []
    if isinstance(part, Opaque):
        if part.format == target.format and target.traits.takes_extra(
            part, message.role, target.model
        ):
            return [part]
        changes.append(
            Change("loss.opaque", path, f"only {part.format} knows this block; its words stay")
            if part.text
            else Change("loss.opaque", path, f"only {part.format} knows this block")
        )
        return [Text(part.text)] if part.text else []
    if isinstance(part, ToolCall) and message.role != "assistant":
        changes.append(Change("loss.call", path, f"a {message.role} message cannot call tools"))
        return []
    kept: Part = own_extra(part, message.role, target, path, changes)
    if isinstance(kept, ToolResult) and isinstance(kept.content, tuple):
        content: list[Part] = []
        for index, piece in enumerate(kept.content):
            place = f"{path}.content[{index}]"
            content.extend(travelling(piece, message, target, place, changes))
        return [with_content(kept, content)]
    return [kept]


def own_extra(
    holder: Holder, role: Role, target: Target, path: str, changes: list[Change]
) -> Holder:
    """The holder with those leftover fields only that the target has a place for."""
    if not holder.extra:
        return holder
    lost = [
        field
        for format, fields in holder.extra.items()
        if format != target.format
        for field, value in fields.items()
        if value and field not in SPELLINGS.get(format, ())  # null, false and empty say nothing
    ]
    own = {name: fields for name, fields in holder.extra.items() if name == target.format}
    kept = replace(holder, extra=own)
    if own and not target.traits.takes_extra(kept, role, target.model):
        lost.extend(own[target.format])
        kept = replace(holder, extra={})
    if lost:
        names = ", ".join(clean_name(field) for field in lost)
        changes.append(Change("loss.extra", path, f"{target.format} has no place for {names}"))
    return kept
