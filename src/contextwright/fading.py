"""What old tool results and old media become: a stub and a marker in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from contextwright.messages import Media, Message, Part, Text, ToolResult

__all__ = ["Fading", "boundary", "has_results", "media_in", "without_media", "without_results"]

replace = msgspec.structs.replace


class Fading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What becomes of old tool results and old media, before any message is dropped.

    Both fade in steps, so that between two steps nothing of an earlier request changes. The newest
    question and pinned messages never fade, nor does what a stub would not make cheaper.
    """

    results: int | None = None
    """So many of the newest exchanges (at least one) keep their results; older results become
    stubs, and the calls they answer stay."""
    media: int | None = None
    """So many of the newest exchanges or messages with media (at least one) keep them; older media
    become markers."""
    most_media: int | None = None
    """Never more than so many pieces of media in a request: what the provider takes."""
    step: int = 4
    """Fade so many at a time."""
    spare: tuple[str, ...] = ()
    """Tools whose results never fade."""

    @property
    def is_on(self) -> bool:
        """Whether anything ever fades."""
        return not (self.results is None and self.media is None and self.most_media is None)


def boundary(places: Sequence[int], count: int, kept: int | None, step: int) -> int:
    """The place before which all but the newest have faded, moving only in whole steps.

    Of `places`, the first `count` are there already.
    """
    if kept is None or count <= kept:
        return 0
    return places[(count - max(kept, 1)) // max(step, 1) * max(step, 1)]


def cap_boundary(places: Sequence[int], count: int, most: int | None, step: int) -> int:
    """The place behind which at most so many stand, moving only in whole steps."""
    if most is None or count <= most:
        return 0
    step = max(step, 1)
    faded = min(-(-(count - most) // step) * step, count)
    return places[faded - 1] + 1


def has_results(message: Message) -> bool:
    """Whether any part is a tool's result."""
    return any(type(part) is ToolResult for part in message.parts)


def media_in(message: Message) -> int:
    """How many pieces of media a message holds, those in results included."""
    count = 0
    for part in message.parts:
        if isinstance(part, Media):
            count += 1
        elif isinstance(part, ToolResult) and isinstance(part.content, tuple):
            count += sum(type(piece) is Media for piece in part.content)
    return count


def without_results(message: Message, spare: Sequence[str], called: Mapping[int, str]) -> Message:
    """The message with stubs for its results, save those of spared tools.

    `called` has the tool's name for each part that answers a call.
    """
    return message.with_parts(
        replace(part, content=f"[result cleared: {len(part.text):,} characters]")
        if isinstance(part, ToolResult) and called.get(index, part.name) not in spare
        else part
        for index, part in enumerate(message.parts)
    )


def without_media(message: Message) -> Message:
    """The message with markers for its media."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult) and isinstance(part.content, tuple):
            content = tuple(
                marker(piece) if isinstance(piece, Media) else piece for piece in part.content
            )
            parts.append(replace(part, content=content))
        else:
            parts.append(marker(part) if isinstance(part, Media) else part)
    return message.with_parts(parts)


def marker(media: Media) -> Text:
    """Words in the place of media."""
    return Text(f"[media: {media.mime or media.kind}]")
