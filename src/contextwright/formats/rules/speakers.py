"""Who speaks: people by name, and the developer in mid-conversation."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.changes import Change
from contextwright.formats.rules.draft import (
    Draft,
    Ruled,
    clean_name,
    replace,
    rewritten,
)
from contextwright.formats.rules.turns import joined
from contextwright.formats.target import Speller, Spelling, Target
from contextwright.messages import (
    Author,
    Message,
    Part,
    Text,
    ToolResult,
)

__all__ = ["name_speakers", "place_system"]


def name_speakers(draft: Draft, target: Target) -> Ruled:
    """Who said it: in the field for it, else in the words, else (one speaker) not at all."""
    labels = {
        message.author.label: None
        for _, message in draft
        if message.role == "user" and message.author
    }
    if not labels:
        return draft, []
    wanted = target.options.speaker_prefix
    names: dict[str, str] = {}
    if target.traits.names and not wanted:
        names = field_names(labels)
    prefix = (len(labels) > 1 or target.traits.names) if wanted is None else wanted
    spelled: Draft = []
    for place, message in draft:
        if message.role == "user" and message.author and message.results != message.parts:
            label = message.author.label
            if label in names:
                message = replace(message, author=Author(name=names[label]))
            elif prefix:
                message = replace(prefixed(message, label), author=None)
        spelled.append((place, message))
    return spelled, author_changes(labels, names, target, prefix=prefix)


def field_names(labels: Iterable[str]) -> dict[str, str]:
    """Labels as OpenAI's `name` field takes them; those of other scripts have no such spelling."""
    speller = Speller(Spelling(longest=64), otherwise="")
    latin = [label for label in labels if any(speller.fits(letter) for letter in label)]
    return {label: speller.spell(label) for label in latin}


def author_changes(
    labels: Iterable[str], names: dict[str, str], target: Target, *, prefix: bool
) -> list[Change]:
    """What became of the speakers' names."""
    changes: list[Change] = []
    for label in labels:
        shown_as = names.get(label)
        if shown_as is not None and shown_as != label:
            reason = f"{clean_name(label)!r} is named {shown_as!r}"
            changes.append(Change("repair.author", "messages", reason))
        elif shown_as is None and prefix:
            reason = f"{clean_name(label)!r} stands before the words"
            changes.append(Change("repair.author", "messages", reason))
        elif shown_as is None:
            changes.append(Change("loss.author", "messages", f"{target.format} names no speakers"))
    return changes


def prefixed(message: Message, label: str) -> Message:
    """The message with its author's name before its first words."""
    name = clean_name(label)
    parts = list(message.parts)
    for index, part in enumerate(parts):
        if isinstance(part, Text):
            parts[index] = replace(part, text=f"{name}: {part.text}")
            return rewritten(message, parts)
    results = sum(isinstance(part, ToolResult) for part in parts)
    parts.insert(results, Text(f"{name}:"))
    return rewritten(message, parts)


def place_system(draft: Draft, target: Target) -> Ruled:
    """System text in mid-conversation, where the target has no place for it as it stands.

    It goes directly behind the user turn it precedes: as a system message on models that take
    one, else as a note that says what it is.
    """
    if target.traits.system == "anywhere":
        return draft, []
    changes: list[Change] = []
    placed: Draft = []
    held: Draft = []
    leading = True
    for place, message in draft:
        if message.role == "system":
            (placed if leading else held).append((place, message))
            continue
        leading = False
        if message.role == "assistant" and held:
            placed.extend(system_notes(held, target, changes, placed[-1]))
            held = []
        placed.append((place, message))
    if held:
        placed.extend(system_notes(held, target, changes, placed[-1]))
    return placed, changes


def system_notes(
    held: Draft, target: Target, changes: list[Change], behind: tuple[int, Message]
) -> Draft:
    """System messages as the target can take them in mid-conversation, behind some message."""
    if target.model.mid_system and behind[1].role in ("user", "tool"):
        for place, _ in held:
            if place < behind[0]:
                changes.append(
                    Change("repair.system", f"messages[{place}]", "moved behind the user turn")
                )
        if target.faithful:
            return held
        return [(held[0][0], joined([message for _, message in held]))]
    notes: Draft = []
    for place, message in held:
        reason = f"{target.model.id} takes no system message here; a marked user note"
        changes.append(Change("repair.system", f"messages[{place}]", reason))
        parts: list[Part] = [
            replace(part, text=f"[System note: {part.text}]") if isinstance(part, Text) else part
            for part in message.parts
        ]
        notes.append((place, rewritten(replace(message, role="user", author=None), parts)))
    return notes
