"""What recall knows of every message beside its words: who spoke, when, how much, in which sitting.

A conversation of a hundred thousand messages is a few lists of numbers: they are kept beside the
index, and in memory once they were read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from sys import intern
from typing import TypeAlias

from msgspec import Struct

from contextwright.messages.message import Message
from contextwright.messages.times import read_time

__all__ = ["AROUND", "End", "Entry", "Lines", "Outline", "Page", "is_said", "lines_of"]

SITTING = 3_600
"""A silence of so many seconds ends a sitting: what is said then is about something else."""

LONGEST_SITTING = 200
"""Messages of a sitting; a talk without times or without end is cut into pieces."""

AROUND = 5
"""Messages before and behind one that are its surroundings."""

SAID, ASKS, USER = 1, 2, 4
"""Words of people or of the model; they end with a question mark; they are a user's."""

QUESTION_MARKS = ("?", "？", "؟", ";")

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
"""What has a year everywhere; in some zones there are hours before and behind."""

End: TypeAlias = tuple[int | None, int]
"""Where messages end and others go on: the last time that is known, and the sitting."""


class Lines(Struct, array_like=True):
    """Columns about messages that follow each other, as they are kept."""

    times: list[int | None]
    """Seconds since 1970; None: unknown."""
    sizes: list[int]
    """Characters of the text on one line: blanks in a row are one."""
    speakers: list[str]
    """Who spoke, as people call them; empty: nobody has a name."""
    ids: list[str]
    """The ids of the speakers; empty: unknown."""
    flags: list[int]

    def behind(self, count: int) -> Lines:
        """The columns without the first few messages."""
        return Lines(
            self.times[count:],
            self.sizes[count:],
            self.speakers[count:],
            self.ids[count:],
            self.flags[count:],
        )


class Entry(Struct, frozen=True, gc=False):
    """What the outline says about one message."""

    time: int | None
    size: int
    speaker: str
    id: str
    flags: int
    sitting: int
    """The number of the first message of its sitting."""
    ahead: int
    """How many of those right behind it are in the same sitting."""

    @property
    def is_said(self) -> bool:
        """Whether it is part of the talk."""
        return bool(self.flags & SAID)


class Page(Struct):
    """Lines of some messages of one conversation, in order, with the sittings they are in."""

    first: int
    """The number of its first message."""
    before: End
    """Where the page before it ends."""
    lines: Lines
    sittings: list[int]
    people: Counter[tuple[str, str]]
    """How often everybody spoke, by name and id."""
    latest: int | None
    """The last time that is known; where hardly any is, looking for it would take long."""

    @classmethod
    def empty(cls, first: int, before: End | None = None) -> Page:
        """A page that begins with a message and has none yet."""
        before = before or (None, first)
        return cls(first, before, Lines([], [], [], [], []), [], Counter(), before[0])

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.first + len(self.sittings) - 1

    def end(self, number: int) -> End:
        """Where a message ends, and the next goes on."""
        place, times = number - self.first, self.lines.times
        if place < 0:
            return self.before
        if number == self.last:
            return self.latest, self.sittings[place]
        known = (times[one] for one in range(place, -1, -1) if times[one] is not None)
        return next(known, self.before[0]), self.sittings[place]

    def extend(self, lines: Lines) -> None:
        """Add what follows; those who read meanwhile may see some of it, and nothing wrong."""
        sittings = sittings_of(lines.times, self.last + 1, *self.end(self.last))
        self.lines.times += lines.times
        self.lines.sizes += lines.sizes
        self.lines.speakers += map(intern, lines.speakers)
        self.lines.ids += map(intern, lines.ids)
        self.lines.flags += lines.flags
        self.people += spoken(lines)
        self.latest = next(
            (time for time in reversed(lines.times) if time is not None), self.latest
        )
        self.sittings += sittings  # the last: what has a sitting is whole

    def people_until(self, number: int) -> Counter[tuple[str, str]]:
        """How often everybody spoke up to a message."""
        count = number - self.first + 1
        if count * 2 < len(self.sittings):
            return spoken(self.lines, 0, count)
        return self.people - spoken(self.lines, count)


class Outline:
    """The outline of a conversation: pages of it and of those it was forked from."""

    def __init__(self, pages: Iterable[tuple[int, int, Page]]) -> None:
        self.pages: Sequence[tuple[int, int, Page]] = tuple(pages)
        """First and last number that count, and the page they stand in; the newest first."""
        self._people: Counter[tuple[str, str]] = Counter()
        for first, last, page in self.pages:
            if first <= last:
                self._people += page.people_until(last)

    def people(self) -> Counter[tuple[str, str]]:
        """How often everybody spoke, by name and id."""
        return self._people

    def newest_time(self) -> int | None:
        """When the newest message that has a time was said."""
        for first, last, page in self.pages:
            if first <= last:
                return page.end(last)[0]
        return None

    def entry(self, number: int) -> Entry | None:
        """What is known of a message; None of one that is not there."""
        for first, last, page in self.pages:
            if first <= number <= last:
                place, lines = number - page.first, page.lines
                sitting = page.sittings[place]
                return Entry(
                    lines.times[place],
                    lines.sizes[place],
                    lines.speakers[place],
                    lines.ids[place],
                    lines.flags[place],
                    sitting,
                    self._ahead(number, sitting, last, page),
                )
        return None

    def _ahead(self, number: int, sitting: int, last: int, page: Page) -> int:
        """How many right behind a message are in its sitting, on the next page too."""
        stop = min(number + AROUND, last)
        if stop == number + AROUND and page.sittings[stop - page.first] == sitting:
            return AROUND
        ahead = page.sittings[number + 1 - page.first : stop + 1 - page.first].count(sitting)
        for other in range(stop + 1, number + AROUND + 1):
            ahead += self.sitting(other) == sitting
        return ahead

    def sitting(self, number: int) -> int | None:
        """The sitting of a message; None of one that is not there."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.sittings[number - page.first]
        return None

    def size(self, number: int) -> int:
        """The characters of a message."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.lines.sizes[number - page.first]
        return 0

    def speaker(self, number: int) -> str | None:
        """Who said a message; None of one that is not there."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.lines.speakers[number - page.first]
        return None


def spoken(lines: Lines, first: int = 0, last: int | None = None) -> Counter[tuple[str, str]]:
    """How often everybody spoke in some of the lines."""
    columns = zip(
        lines.speakers[first:last], lines.ids[first:last], lines.flags[first:last], strict=True
    )
    return Counter((speaker, id) for speaker, id, flags in columns if flags & SAID)


def lines_of(messages: Iterable[Message]) -> Lines:
    """The columns about messages."""
    lines = Lines([], [], [], [], [])
    for message in messages:
        text = message.text
        author = message.author
        lines.times.append(seconds_of(message.sent_at))
        lines.sizes.append(len(" ".join(text.split())))
        lines.speakers.append(author.label if author else "")
        lines.ids.append(author.id or "" if author else "")
        asks = ASKS * text.rstrip().endswith(QUESTION_MARKS)
        lines.flags.append(SAID * is_said(message) | asks | USER * (message.role == "user"))
    return lines


def seconds_of(sent_at: str | None) -> int | None:
    """A time in seconds since 1970; None: unknown."""
    moment = read_time(sent_at) if sent_at else None
    if moment is None or not EARLIEST <= moment <= LATEST:
        return None
    return int(moment.timestamp())


def is_said(message: Message) -> bool:
    """Whether a message is part of the talk: what was told to the model is not."""
    spoken = message.role in ("user", "assistant") and message.kind == "message"
    return spoken and bool(message.text.strip())


def sittings_of(
    times: Iterable[int | None], number: int, before: int | None, sitting: int
) -> list[int]:
    """The sitting of each message from a number on, after one with a time in a sitting."""
    found: list[int] = []
    for time in times:
        is_late = time is not None and before is not None and abs(time - before) > SITTING
        if is_late or number - sitting >= LONGEST_SITTING:
            sitting = number
        found.append(sitting)
        before = before if time is None else time
        number += 1
    return found
