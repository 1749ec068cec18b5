"""The rule for media that the target does not accept where they are."""

from __future__ import annotations

from contextwright.formats.media import is_mislabelled, sniffed_mime
from contextwright.formats.rules.draft import (
    Draft,
    Place,
    Ruled,
    clean_name,
    path_to,
    replace,
    rewritten,
    with_content,
)
from contextwright.formats.rules.foreign import extra_fits, opaque_fits
from contextwright.formats.rules.turns import is_blank
from contextwright.formats.target import Target
from contextwright.messages.changes import Change
from contextwright.messages.message import Message, Role
from contextwright.messages.parts import Media, Opaque, Part, Text, ToolResult

__all__ = ["media_fits", "piece_fits", "place_media"]

SHARED_FILES = {"openai-responses": ("openai-responses", "openai-chat")}
"""Formats whose requests may name files of another format's API too."""


def place_media(draft: Draft, target: Target) -> Ruled:
    """Replace media that the target does not accept in place; move them to a user message.

    Media moved out of calls and results go after all results of the exchange.
    """
    changes: list[Change] = []
    placed: Draft = []
    waiting: Draft = []
    for place, message in draft:
        if waiting and not message.results:
            placed.extend(waiting)
            waiting = []
        if not holds_media(message):
            placed.append((place, message))
            continue
        moved: list[Media] = []
        sources: list[int] = []
        parts: list[Part] = []
        for index, part in enumerate(message.parts):
            path = path_to(place, index)
            if isinstance(part, Media):
                parts.extend(media_here(part, message, target, path, moved, changes))
            elif isinstance(part, ToolResult) and isinstance(part.content, tuple):
                parts.append(media_in_result(part, target, path, moved, changes))
            else:
                parts.append(part)
            sources.extend([index] * (len(moved) - len(sources)))
        placed.append((place, rewritten(message, parts)))
        if moved:
            note = Text(f"[media of the {message.role} message above]")
            place = Place(place.origin, tuple(map(place.part, (sources[0], *sources))))
            waiting.append((place, Message("user", (note, *moved))))
    return [*placed, *waiting], changes


def holds_media(message: Message) -> bool:
    """Whether a message has media among its parts, or may have some inside its results."""
    for part in message.parts:
        if type(part) is Media or (type(part) is ToolResult and type(part.content) is tuple):
            return True
    return False


def media_here(
    media: Media,
    message: Message,
    target: Target,
    path: str,
    moved: list[Media],
    changes: list[Change],
) -> list[Part]:
    """Keep media as they are, or replace them with a marker and, if possible, move them."""
    media = relabelled(media, path, changes)
    if not target.traits.supports_media(media, target.model):
        changes.append(Change("loss.media", path, f"{target.title} cannot carry {named(media)}"))
        return [Text(f"[{named(media)}]")]
    media = nameable(filed(media, target, path, changes), target, path, changes)
    if message.role in target.traits.media_roles:
        return [media]
    changes.append(Change("repair.media", path, f"{message.role} media go in a user message"))
    moved.append(media)
    return [Text(f"[{named(media)}]")]


def media_in_result(
    result: ToolResult, target: Target, path: str, moved: list[Media], changes: list[Change]
) -> ToolResult:
    """Place the media inside a tool result."""
    content: list[Part] = []
    for index, piece in enumerate(result.content):
        if not isinstance(piece, Media):
            content.append(piece)  # pyright: ignore[reportArgumentType]
            continue
        place = f"{path}.content[{index}]"
        piece = relabelled(piece, place, changes)
        if not target.traits.supports_media(piece, target.model):
            changes.append(
                Change("loss.media", place, f"{target.title} cannot carry {named(piece)}")
            )
            content.append(Text(f"[{named(piece)}]"))
            continue
        piece = nameable(filed(piece, target, place, changes), target, place, changes)
        if target.traits.result_media:
            content.append(piece)
        else:
            changes.append(Change("repair.media", place, "moved after the results"))
            moved.append(piece)
            content.append(Text(f"[{named(piece)}]"))
    return with_content(result, content)


def relabelled(media: Media, path: str, changes: list[Change]) -> Media:
    """Return media with the MIME type of their bytes, because providers refuse a wrong one."""
    if not is_mislabelled(media):
        return media
    mime = sniffed_mime(media.data or "")
    changes.append(Change("repair.mime", path, f"the bytes are {mime}"))
    return replace(media, mime=mime)


def nameable(media: Media, target: Target, path: str, changes: list[Change]) -> Media:
    """Return media without the name of their file if the target has no field for it."""
    if not media.name or media.kind in target.traits.named_media:
        return media
    changes.append(Change("loss.name", path, f"{target.format} has no name for {media.kind}"))
    return replace(media, name=None)


def filed(media: Media, target: Target, path: str, changes: list[Change]) -> Media:
    """Return media without the id of a file that only another provider has, beside their source."""
    if not is_filed_elsewhere(media, target):
        return media
    changes.append(Change("loss.extra", path, f"{target.format} has no place for file_id"))
    return replace(media, file_id=None, origin=None)


def is_filed_elsewhere(media: Media, target: Target) -> bool:
    """Whether media have data or an address, and the id of a file of another provider besides."""
    if not media.file_id or (media.data is None and media.url is None):
        return False
    if target.format == "openai-chat" and media.kind != "document":
        return True  # its images have no ids
    return media.origin not in SHARED_FILES.get(target.format, (target.format,))


def named(media: Media) -> str:
    """Name the kind of media in a word or two."""
    return clean_name(f"{media.kind}: {media.mime}" if media.mime else media.kind)


# --- whether a history needs this rule -------------------------------------------------------


def media_fits(media: Media, role: Role, target: Target) -> bool:
    """Whether media can be written as they are, in a message of that role."""
    traits = target.traits
    if role not in traits.media_roles:
        return False
    if media.name and media.kind not in traits.named_media:
        return False
    if is_filed_elsewhere(media, target):
        return False
    return not is_mislabelled(media) and traits.supports_media(media, target.model)


def piece_fits(piece: Text | Media | Opaque, role: Role, target: Target) -> bool:
    """Whether one piece of a tool result can be written as it is."""
    traits = target.traits
    if isinstance(piece, Opaque):
        return opaque_fits(piece, role, target, inside=True)
    if piece.extra and not extra_fits(piece, role, target):
        return False
    if isinstance(piece, Media):
        supported = traits.result_media and traits.supports_media(piece, target.model)
        nameless = not piece.name or piece.kind in traits.named_media
        at_home = nameless and not is_filed_elsewhere(piece, target)
        return supported and at_home and not is_mislabelled(piece)
    return traits.blank_text or not is_blank(piece)
