"""Clearing of old tool results and media: a stub or a marker replaces them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Part, Text, ToolResult
from contextwright.text.fields import LARGEST, Checked, Natural

__all__ = ["Clearing", "without_media", "without_results"]

replace = msgspec.structs.replace


class Clearing(Checked, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A policy that replaces old tool results and media with stubs, before any message is dropped.

    Everything before a line is cleared, and the line moves in steps, so that between two steps
    nothing of an earlier request changes. The newest question and pinned messages are never
    cleared, nor are results shorter than their stub.
    """

    results: Natural | None = None
    """Minimum number of newest exchanges that keep their results; all calls stay."""
    media: Natural | None = None
    """Minimum number of newest messages that keep their media."""
    most_media: Natural | None = None
    """Maximum number of media in one request, at least one; None: the provider's limit."""
    step: Annotated[float, Meta(ge=0, le=LARGEST)] | None = None
    """How many more than these stay before the line moves, as a share of them: with 12 results and
    a step of 3, between 12 and 48 stay. A larger step breaks the prompt cache less often. None: 3
    for media; results are cleared up to a message whose index 128 divides, because smaller steps
    make short runs dearer than without clearing.
    """
    spare: tuple[str, ...] = ()
    """Tools whose results are never cleared."""


def without_results(
    message: Message, spare: Sequence[str] = (), names: Mapping[int, str] | None = None
) -> Message:
    """Return the message with stubs for its results, except those of spared tools.

    `names` has the tool's name for each part that answers a call.
    """
    known = names or {}
    parts = [
        stub(part)
        if isinstance(part, ToolResult) and known.get(index, part.name) not in spare
        else part
        for index, part in enumerate(message.parts)
    ]
    return message if same(parts, message.parts) else message.with_parts(parts)


def stub(result: ToolResult) -> ToolResult:
    """Return the result with a note of its length as its content; unchanged if not shorter."""
    text = result.text
    content = f"[result cleared: {len(text):,} characters]"
    has_more = isinstance(result.content, tuple) and any(
        not isinstance(piece, Text) for piece in result.content
    )
    return replace(result, content=content) if has_more or len(content) < len(text) else result


def without_media(message: Message, count: int | None = None) -> Message:
    """Replace the first `count` media of the message, or all, with markers."""
    left = [len(message.parts) * 1_000_000 if count is None else count]
    parts = [cleared_part(part, left) for part in message.parts]
    return message if same(parts, message.parts) else message.with_parts(parts)


def cleared_part(part: Part, left: list[int]) -> Part:
    """Return a part without its media, as long as there are media left to clear."""
    if isinstance(part, ToolResult) and isinstance(part.content, tuple):
        content = tuple(
            marker(piece, left) if isinstance(piece, Media) else piece for piece in part.content
        )
        return part if same(content, part.content) else replace(part, content=content)
    return marker(part, left) if isinstance(part, Media) else part


def marker(media: Media, left: list[int]) -> Text | Media:
    """Return a marker for one of the media; unchanged if there is none left to clear."""
    if not left[0]:
        return media
    left[0] -= 1
    return Text(f"[media: {media.mime or media.kind}]")


def same(parts: Sequence[object], others: Sequence[object]) -> bool:
    """Whether two sequences hold identical objects."""
    return all(part is other for part, other in zip(parts, others, strict=True))
