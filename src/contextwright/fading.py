"""What old tool results and old media become: a stub and a marker in their place."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from contextwright.messages import Media, Message, Part, Text, ToolResult

__all__ = [
    "Fades",
    "Fading",
    "has_results",
    "media_in",
    "without_media",
    "without_results",
]

replace = msgspec.structs.replace


class Fading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What becomes of old tool results and old media, before any message is dropped.

    What fades lies before a line that moves only on a grid of places, so that between two steps
    nothing of an earlier request changes. The newest question and pinned messages never fade, nor
    does what a stub would not make cheaper.
    """

    results: int | None = None
    """So many of the newest exchanges (at least one) keep their results; older results become
    stubs, and the calls they answer stay."""
    media: int | None = None
    """So many of the newest exchanges or messages with media (at least one) keep them; older media
    become markers."""
    most_media: int | None = None
    """Never more than so many pieces of media (at least one): what the provider takes."""
    step: int = 8
    """The grid's width in messages: so many fade at a time."""
    spare: tuple[str, ...] = ()
    """Tools whose results never fade."""

    @property
    def is_on(self) -> bool:
        """Whether anything ever fades."""
        return self.results is not None or self.is_on_media

    @property
    def is_on_media(self) -> bool:
        """Whether media ever fade."""
        return self.media is not None or self.most_media is not None


class Fades:
    """Where the line stands before which old results and media fade, in a history that grows."""

    def __init__(self, fading: Fading) -> None:
        self.fading = fading
        self._exchanges: list[int] = []
        """Where the results of each exchange begin."""
        self._pictured: list[int] = []
        """Where each exchange or message with media begins."""
        self._media: list[int] = []
        """Where every single piece of media stands."""
        self._asked: tuple[int, int] = (-1, -1)
        """The calls that the newest exchange, and the newest with media, answered."""

    def note(self, message: Message, number: int, asked: int) -> None:
        """Count exchanges and media; the parallel results of one message's calls count as one.

        `asked` is the place of the calls that the message answers, -1 if it answers none.
        """
        results, pictures = self._asked
        if has_results(message) and (asked < 0 or asked != results):
            self._exchanges.append(number)
            results = asked
        media = media_in(message)
        if media:
            self._media.extend([number] * media)
            if asked < 0 or asked != pictures:
                self._pictured.append(number)
                pictures = asked
        self._asked = (results, pictures)

    def lines(self, count: int) -> tuple[int, int]:
        """Before which numbers results, and media, of the first `count` messages have faded."""
        fading, step = self.fading, max(self.fading.step, 1)
        results = line(self._exchanges, bisect_left(self._exchanges, count), fading.results, step)
        media = line(self._pictured, bisect_left(self._pictured, count), fading.media, step)
        most = cap_line(self._media, bisect_left(self._media, count), fading.most_media, step)
        return results, max(media, most)

    def is_sure(self, start: int) -> bool:
        """Whether what stands from a number on is enough to know the lines."""
        fading = self.fading
        known = (
            (self._exchanges, fading.results),
            (self._pictured, fading.media),
            (self._media, None if fading.most_media is None else fading.most_media + 1),
        )
        return all(
            kept is None or len(places) - bisect_left(places, start) >= max(kept, 1)
            for places, kept in known
        )

    def moves(self, start: int) -> set[int]:
        """The numbers behind a start whose coming moved a line."""
        before = self.lines(start)
        moves: set[int] = set()
        for places in (self._exchanges, self._pictured, self._media):
            moves.update(places[bisect_left(places, start) :])
        for number in sorted(moves):
            now = self.lines(number + 1)
            if now == before:
                moves.discard(number)
            before = now
        return moves


def line(places: Sequence[int], count: int, kept: int | None, step: int) -> int:
    """The line of the grid before the newest that stay; of `places`, the first `count` are there.

    A grid of places needs no counting from the beginning: the end of a long history tells.
    """
    if kept is None or count < max(kept, 1):
        return 0
    return places[count - max(kept, 1)] // step * step


def cap_line(places: Sequence[int], count: int, most: int | None, step: int) -> int:
    """The line behind which at most so many stand; the newest of all stays if it can."""
    if most is None or count <= max(most, 1):
        return 0
    least = places[count - max(most, 1) - 1] + 1
    return max(least, min(-(-least // step) * step, places[count - 1]))


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
