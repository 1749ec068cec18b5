"""What old tool results and old media become: a stub and a marker in their place."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from contextwright.messages import Media, Message, Part, Text, ToolResult

__all__ = ["Fades", "Fading", "has_results", "media_in", "without_media", "without_results"]

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
    """Never more than so many pieces of media (at least one): what the provider takes."""
    step: int = 4
    """Fade so many at a time."""
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
    """What fades in a history that grows, and what that saves; all of it in running totals."""

    def __init__(self, fading: Fading) -> None:
        self.fading = fading
        self._exchanges: list[int] = []
        """Where the results of each exchange begin."""
        self._pictured: list[int] = []
        """Where each exchange or message with media begins."""
        self._media: list[int] = []
        """The place of every single piece of media."""
        self._asked: tuple[int, int] = (-1, -1)
        """The calls that the newest exchange, and the newest with media, answered."""
        self._results: list[int] = [0]
        self._media_saved: list[int] = [0]
        self._twice: list[int] = [0]
        """What both savings count, so that a message without both is not priced too low."""

    def note(self, message: Message, place: int, asked: int) -> None:
        """Count exchanges and media; the parallel results of one message's calls count as one.

        `asked` is the place of the calls that the message answers, -1 if it answers none.
        """
        results, pictures = self._asked
        if has_results(message) and (asked < 0 or asked != results):
            self._exchanges.append(place)
            results = asked
        media = media_in(message)
        if media:
            self._media.extend([place] * media)
            if asked < 0 or asked != pictures:
                self._pictured.append(place)
                pictures = asked
        self._asked = (results, pictures)

    def save(self, results: int, media: int, both: int | None) -> None:
        """Extend the totals by what one message saves without its results, media, and both."""
        self._results.append(self._results[-1] + results)
        self._media_saved.append(self._media_saved[-1] + media)
        self._twice.append(self._twice[-1] + (0 if both is None else results + media - both))

    def saved_before(self, results: int, media: int) -> int:
        """What is saved before these places, if results and media before them have faded."""
        return self._results[results] + self._media_saved[media] - self._twice[min(results, media)]

    def reach(self, count: int) -> tuple[int, int]:
        """The places before which results, and media, of the first `count` messages have faded."""
        fading, step = self.fading, max(self.fading.step, 1)
        results = boundary(
            self._exchanges, bisect_left(self._exchanges, count), fading.results, step
        )
        media = boundary(self._pictured, bisect_left(self._pictured, count), fading.media, step)
        most = cap_boundary(self._media, bisect_left(self._media, count), fading.most_media, step)
        return results, max(media, most)

    def moves(self, start: int) -> set[int]:
        """The places behind a start whose coming made something fade."""
        fading = self.fading
        moves: set[int] = set()
        if fading.results is not None:
            moves.update(self._steps(self._exchanges, max(fading.results, 1) - 1, start))
        if fading.media is not None:
            moves.update(self._steps(self._pictured, max(fading.media, 1) - 1, start))
        if fading.most_media is not None:
            moves.update(self._steps(self._media, max(fading.most_media, 1), start))
        return moves

    def _steps(self, places: list[int], first: int, start: int) -> list[int]:
        """One place of every step behind a start, counted from a first."""
        step = max(self.fading.step, 1)
        behind = bisect_right(places, start) - first
        return places[first + max(-(-behind // step), 0) * step :: step]


def boundary(places: Sequence[int], count: int, kept: int | None, step: int) -> int:
    """The place before which all but the newest have faded, moving only in whole steps.

    Of `places`, the first `count` are there already.
    """
    if kept is None or count <= kept:
        return 0
    return places[(count - max(kept, 1)) // step * step]


def cap_boundary(places: Sequence[int], count: int, most: int | None, step: int) -> int:
    """The place behind which at most so many stand, moving only in whole steps."""
    if most is None or count <= max(most, 1):
        return 0
    faded = min(-(-(count - max(most, 1)) // step) * step, count)
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
