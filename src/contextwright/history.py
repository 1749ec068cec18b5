"""A conversation as a window sees it: messages in order, each priced once, found without a scan."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from contextwright.messages import Media, Message, Part, Text, ToolResult

__all__ = ["Fading", "History", "Price"]

Price: TypeAlias = Callable[[Message], int]
"""What a message costs in the request it goes into."""

replace = msgspec.structs.replace


class Fading(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What becomes of old tool results and old media, before any message is dropped.

    Both move in steps, so that between two steps nothing of an earlier request changes.
    """

    results: int | None = None
    """So many of the newest messages with tool results stay whole; older results become stubs."""
    media: int | None = None
    """So many of the newest messages with media keep them; older media become markers."""
    step: int = 4
    """Fade so many messages at a time."""
    spare: tuple[str, ...] = ()
    """Tools whose results never fade."""


class History:
    """Messages that only ever grow in number, with the running total of what they cost.

    A window reads totals and looks up places; it never walks over old messages.
    """

    def __init__(
        self, messages: Iterable[Message] = (), *, price: Price, fading: Fading | None = None
    ) -> None:
        self.messages: list[Message] = []
        self.price = price
        self.fading = fading or Fading()
        self.costs: list[int] = []
        self.always: list[int] = []
        """Places of system and pinned messages: no window drops them."""
        self.always_totals: list[int] = [0]
        self.hidden: list[int] = []
        self.question: int | None = None
        """The newest words of a user."""
        self._totals: list[int] = [0]
        self._result_places: list[int] = []
        self._media_places: list[int] = []
        self._result_savings: list[int] = [0]
        self._media_savings: list[int] = [0]
        self.extend(messages)

    def __len__(self) -> int:
        return len(self.messages)

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages behind the others; each is priced here, and never again."""
        for message in messages:
            self.append(message)

    def append(self, message: Message) -> None:
        """Add one message behind the others."""
        place = len(self.messages)
        public = message.visibility == "public"
        cost = self.price(message) if public else 0
        self.messages.append(message)
        self.costs.append(cost)
        self._totals.append(self._totals[-1] + cost)
        if not public:
            self.hidden.append(place)
        elif message.role == "system" or message.pinned:
            self.always.append(place)
            self.always_totals.append(self.always_totals[-1] + cost)
        elif message.role == "user" and any(type(part) is not ToolResult for part in message.parts):
            self.question = place
        self._fade(message, place, cost, public=public)

    def _fade(self, message: Message, place: int, cost: int, *, public: bool) -> None:
        """Note what would be saved if this message faded."""
        saved_results = saved_media = 0
        if public and self.fading.results is not None and has_results(message):
            self._result_places.append(place)
            saved_results = max(0, cost - self.price(without_results(message, self.fading.spare)))
        if public and self.fading.media is not None and has_media(message):
            self._media_places.append(place)
            saved_media = max(0, cost - self.price(without_media(message)))
        self._result_savings.append(self._result_savings[-1] + saved_results)
        self._media_savings.append(self._media_savings[-1] + saved_media)

    def before(self, place: int) -> int:
        """What all messages before a place cost, the old ones faded."""
        results, media = self.faded_before
        return (
            self._totals[place]
            - self._result_savings[min(place, results)]
            - self._media_savings[min(place, media)]
        )

    @property
    def total(self) -> int:
        """What all messages cost."""
        return self.before(len(self))

    @property
    def faded_before(self) -> tuple[int, int]:
        """The places before which results, and media, have faded."""
        step = max(1, self.fading.step)
        return (
            boundary(self._result_places, self.fading.results, step),
            boundary(self._media_places, self.fading.media, step),
        )

    def place_of_total(self, tokens: int) -> int:
        """The first place before which at least so many tokens stand."""
        return bisect_left(range(len(self) + 1), tokens, key=self.before)

    def at(self, place: int) -> Message:
        """The message at a place, faded if it is that old."""
        message = self.messages[place]
        results, media = self.faded_before
        if place < results and has_results(message):
            message = without_results(message, self.fading.spare)
        if place < media and has_media(message):
            message = without_media(message)
        return message

    def cost(self, place: int) -> int:
        """What the message at a place costs, faded if it is that old."""
        return self.before(place + 1) - self.before(place)

    def tail(self) -> int:
        """Where the unfinished end begins: the last calls whose results close the history."""
        place = len(self)
        while place and has_results(self.messages[place - 1]):
            place -= 1
        if place < len(self) and place and self.messages[place - 1].calls:
            return place - 1
        return len(self)


def boundary(places: Sequence[int], kept: int | None, step: int) -> int:
    """The place before which all but the newest have faded, moving only in whole steps."""
    if kept is None or len(places) <= kept:
        return 0
    faded = (len(places) - kept) // step * step
    return places[faded] if faded < len(places) else places[-1] + 1


def has_results(message: Message) -> bool:
    """Whether any part is a tool's result."""
    return any(type(part) is ToolResult for part in message.parts)


def has_media(message: Message) -> bool:
    """Whether any part is media, or holds some."""
    return any(
        type(part) is Media
        or (type(part) is ToolResult and any(type(piece) is Media for piece in part.content))
        for part in message.parts
    )


def without_results(message: Message, spare: tuple[str, ...]) -> Message:
    """The message with stubs for its results; the calls they answer stay."""
    return message.with_parts(
        replace(part, content=f"[result cleared: {len(part.text):,} characters]")
        if isinstance(part, ToolResult) and part.name not in spare
        else part
        for part in message.parts
    )


def without_media(message: Message) -> Message:
    """The message with markers for its media."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult) and isinstance(part.content, tuple):
            content = tuple(
                marker(piece) if type(piece) is Media else piece for piece in part.content
            )
            parts.append(replace(part, content=content))
        else:
            parts.append(marker(part) if isinstance(part, Media) else part)
    return message.with_parts(parts)


def marker(media: Media) -> Text:
    """Words in the place of media."""
    return Text(f"[media: {media.mime or media.kind}]")
