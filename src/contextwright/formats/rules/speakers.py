"""Rules for speakers' names, and for system messages in mid-conversation."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.formats.rules.draft import (
    Draft,
    Placed,
    Ruled,
    clean_name,
    keeping,
    path_to,
    replace,
)
from contextwright.formats.rules.foreign import own_extra, travelling
from contextwright.formats.rules.turns import joined
from contextwright.formats.target import Speller, Spelling, Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Author, Message
from contextwright.messages.parts import Opaque, Part, Text, ToolResult

__all__ = ["Speakers", "name_fits", "name_speakers", "place_system"]

SPEAKER = Spelling(longest=64)
"""Names that every host accepts in OpenAI's `name` field."""


class Speakers:
    """The speakers so far. People with the same name are distinguished by their ids."""

    def __init__(self) -> None:
        self.ids: dict[str, str | None] = {}
        """The id of the first person with each name."""

    def is_first(self, author: Author) -> bool:
        """Whether an author is the first person with that name, as far as ids show."""
        id = author.id
        known = self.ids.setdefault(author.label, id)
        if known is None and id is not None:
            self.ids[author.label] = known = id
        return id is None or id == known

    def label(self, author: Author) -> str:
        """Return a unique label: the name, with the id if another person has the same name."""
        return author.label if self.is_first(author) else f"{author.label} ({author.id})"


def name_speakers(draft: Draft, target: Target) -> Ruled:
    """Write the speaker's name in its field, else as a prefix; omit it if only one speaks."""
    speakers = Speakers()
    authors = dict.fromkeys(message.author for _, message in draft if message.role == "user")
    labels = {author: speakers.label(author) for author in authors if author is not None}
    changes = [] if target.traits.names else unnamed_changes(draft, target)
    if not labels:
        return draft, changes
    distinct = dict.fromkeys(labels.values())
    wanted = target.options.speaker_prefix
    names: dict[str, str] = {}
    if target.traits.names and not wanted:
        names = field_names(distinct)
    prefix = (len(distinct) > 1 or target.traits.names) if wanted is None else wanted
    prefixes = {label: clean_name(label) for label in distinct} if prefix else {}
    spelled: Draft = []
    for placed in draft:
        place, message = placed
        author = message.author
        if author is not None and message.role == "user" and not message.only_results:
            label = labels[author]
            if label not in names:
                if prefix:
                    placed = prefixed(placed, prefixes[label])
            elif names[label] != author.label:
                placed = (place, replace(message, author=Author(name=names[label])))
        spelled.append(placed)
    changes.extend(author_changes(distinct, names, target, prefix=prefix))
    return spelled, changes


def unnamed_changes(draft: Draft, target: Target) -> list[Change]:
    """Return a change for each system or assistant message whose name is lost."""
    return [
        Change(
            "loss.author",
            path_to(place),
            f"{target.title} has no name for {message.role} messages",
        )
        for place, message in draft
        if message.author is not None and message.role in ("system", "assistant")
    ]


def field_names(labels: Iterable[str]) -> dict[str, str]:
    """Return labels as OpenAI's `name` field accepts them; names in other scripts have none."""
    speller = Speller(SPEAKER, otherwise="")
    latin = [label for label in labels if any(speller.fits(letter) for letter in label)]
    return {label: speller.spell(label) for label in latin}


def author_changes(
    labels: Iterable[str], names: dict[str, str], target: Target, *, prefix: bool
) -> list[Change]:
    """Return the changes to the speakers' names."""
    changes: list[Change] = []
    lost = False
    for label in labels:
        shown_as = names.get(label)
        if shown_as is not None and shown_as != label:
            reason = f"{clean_name(label)!r} is sent as {shown_as!r}"
            changes.append(Change("repair.author", "messages", reason))
        elif shown_as is None and prefix:
            reason = f"added the prefix {clean_name(label) + ': '!r} to the text"
            changes.append(Change("repair.author", "messages", reason))
        elif shown_as is None:
            lost = True
    if lost:
        reason = f"{target.title} has no field for speakers"
        changes.append(Change("loss.author", "messages", reason))
    return changes


def prefixed(placed: Placed, name: str) -> Placed:
    """Return the message with its author's name before its first text only."""
    place, message = placed
    first = message.parts[0] if len(message.parts) == 1 else None
    if type(first) is Text:
        text = Text(f"{name}: {first.text}", first.extra)
        return place, replace(message, parts=(text,), author=None)
    parts = [*enumerate(message.parts)]
    for index, part in parts:
        if type(part) is Text:
            parts[index] = (index, Text(f"{name}: {part.text}", part.extra))
            break
    else:
        results = sum(isinstance(part, ToolResult) for part in message.parts)
        parts.insert(results, (0, Text(f"{name}:")))
    return keeping((place, replace(message, author=None)), parts)


def place_system(draft: Draft, target: Target) -> Ruled:
    """Move or mark system messages in mid-conversation that the target does not accept there.

    Each goes directly after the user turn it precedes: as a system message for models that accept
    one, else as a marked user note.
    """
    if target.traits.system == "anywhere":
        return draft, []
    changes: list[Change] = []
    placed: Draft = []
    waiting: Draft = []
    leading = True
    for place, message in draft:
        if message.role == "system":
            if leading:
                placed.extend(only_texts((place, message), changes))
            else:
                waiting.append((place, message))
            continue
        leading = False
        if message.role == "assistant" and waiting:
            placed.extend(system_notes(waiting, target, changes, placed[-1]))
            waiting = []
        placed.append((place, message))
    if waiting:
        placed.extend(system_notes(waiting, target, changes, placed[-1]))
    return placed, changes


def system_notes(waiting: Draft, target: Target, changes: list[Change], behind: Placed) -> Draft:
    """Return system messages as the target accepts them in mid-conversation, after a message."""
    before, spoken = behind
    if target.model.mid_system and spoken.role in ("user", "tool"):
        for place, _ in waiting:
            if place.origin < before.origin:
                changes.append(Change("repair.system", path_to(place), "moved after the user turn"))
        if target.same_format:
            return waiting
        return [joined(waiting)]
    notes: Draft = []
    taker = target.traits.title or target.model.id
    for place, message in waiting:
        reason = f"{taker} takes no system message here; sent as a marked user note"
        changes.append(Change("repair.system", path_to(place), reason))
        note = replace(message, role="user", author=None)
        note = own_extra(note, "user", target, path_to(place), changes)
        parts: list[tuple[int, Part]] = []
        for index, part in enumerate(message.parts):
            if isinstance(part, Text):
                part = replace(part, text=f"[System note: {part.text}]")
            kept = travelling(part, note, target, path_to(place, index), changes)
            parts.extend((index, one) for one in kept)
        if parts:
            notes.append(keeping((place, note), parts))
    return notes


def only_texts(placed: Placed, changes: list[Change]) -> Draft:
    """Return a system message at the top without a provider's own blocks; no message if empty."""
    place, message = placed
    parts: list[tuple[int, Part]] = []
    for index, part in enumerate(message.parts):
        if isinstance(part, Opaque):
            reason = "not allowed in the system text at the top"
            changes.append(Change("loss.opaque", path_to(place, index), reason))
        else:
            parts.append((index, part))
    return [keeping(placed, parts)] if parts else []


def name_fits(message: Message, author: Author, target: Target, speakers: Speakers) -> bool:
    """Whether a speaker's name can be written as it is, so that `name_speakers` changes nothing."""
    if message.role != "user":
        return target.traits.names or message.role == "tool"
    if not target.traits.names or target.options.speaker_prefix or not speakers.is_first(author):
        return False
    return SPEAKER.fits(author.label) is not None
