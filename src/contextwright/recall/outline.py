"""What recall knows of every message beside its words: who spoke, when, how much, in which sitting.

A conversation of a hundred thousand messages is a few lists of numbers: they are kept beside the
index, and in memory once they were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import intern

from msgspec import Struct

from contextwright.messages import Message, read_time

__all__ = ["AROUND", "Entry", "Lines", "Outline", "Page", "is_said", "lines_of"]

SITTING = 3_600
"""A silence of so many seconds ends a sitting: what is said then is about something else."""

LONGEST_SITTING = 200
"""Messages of a sitting; a talk without times or without end is cut into pieces."""

AROUND = 5
"""Messages before and behind one that are its surroundings."""

SAID, ASKS, USER = 1, 2, 4
"""Words of people or of the model; they end with a question mark; they are a user's."""

QUESTION_MARKS = ("?", "？", "؟", ";")


class Lines(Struct, array_like=True):
    """Columns about messages that follow each other, as they are kept."""

    times: list[int | None]
    """Seconds since 1970; None: unknown."""
    sizes: list[int]
    """Characters of the text."""
    speakers: list[str]
    """Who spoke, as people call them; empty: nobody has a name."""
    ids: list[str]
    """The ids of the speakers; empty: unknown."""
    flags: list[int]


class Entry(Struct, frozen=True):
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

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return bool(self.flags & ASKS)

    @property
    def is_user(self) -> bool:
        """Whether a user said it."""
        return bool(self.flags & USER)


class Page(Struct):
    """Lines of some messages of one conversation, in order, with the sittings they are in."""

    first: int
    """The number of its first message."""
    lines: Lines
    sittings: list[int]
    people: dict[tuple[str, str], int]
    """How often everybody spoke, by name and id."""
    before: tuple[int | None, int] | None = None
    """The time and the sitting in which the page before it ends."""

    @classmethod
    def empty(cls, first: int, before: tuple[int | None, int] | None = None) -> Page:
        """A page that begins with a message and has none yet."""
        return cls(first, Lines([], [], [], [], []), [], {}, before)

    @property
    def end(self) -> tuple[int | None, int]:
        """The time and the sitting in which it ends, and the next goes on."""
        if not self.sittings:
            return self.before or (None, self.first)
        return self.lines.times[-1], self.sittings[-1]

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.first + len(self.sittings) - 1

    def extend(self, lines: Lines) -> None:
        """Add what follows; those who read meanwhile may see some of it, and nothing wrong."""
        sittings = sittings_of(lines.times, self.last + 1, *self.end)
        self.lines.times += lines.times
        self.lines.sizes += lines.sizes
        self.lines.speakers += map(intern, lines.speakers)
        self.lines.ids += map(intern, lines.ids)
        self.lines.flags += lines.flags
        for person in zip(lines.speakers, lines.ids, strict=True):
            self.people[person] = self.people.get(person, 0) + 1
        self.sittings += sittings  # the last: what has a sitting is whole

    def entry(self, number: int) -> Entry:
        """What is known of a message."""
        place, lines = number - self.first, self.lines
        sitting = self.sittings[place]
        return Entry(
            lines.times[place],
            lines.sizes[place],
            lines.speakers[place],
            lines.ids[place],
            lines.flags[place],
            sitting,
            self.sittings[place + 1 : place + 1 + AROUND].count(sitting),
        )


class Outline:
    """The outline of a conversation: pages of it and of those it was forked from."""

    def __init__(self, pages: Iterable[tuple[int, int, Page]]) -> None:
        self.pages: Sequence[tuple[int, int, Page]] = tuple(pages)
        """First and last number that count, and the page they stand in; the newest first."""

    def entry(self, number: int) -> Entry | None:
        """What is known of a message; None of one that is not there."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.entry(number)
        return None

    def size(self, number: int) -> int:
        """The characters of a message."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.lines.sizes[number - page.first]
        return 0

    def people(self) -> dict[tuple[str, str], int]:
        """How often everybody spoke, by name and id."""
        people: dict[tuple[str, str], int] = {}
        for _, _, page in self.pages:
            for person, count in page.people.items():
                people[person] = people.get(person, 0) + count
        return people


def lines_of(messages: Iterable[Message]) -> Lines:
    """The columns about messages."""
    lines = Lines([], [], [], [], [])
    for message in messages:
        text = message.text
        author = message.author
        moment = read_time(message.sent_at) if message.sent_at else None
        lines.times.append(None if moment is None else int(moment.timestamp()))
        lines.sizes.append(len(text))
        lines.speakers.append(author.label if author else "")
        lines.ids.append(author.id or "" if author else "")
        asks = ASKS * text.rstrip().endswith(QUESTION_MARKS)
        lines.flags.append(SAID * is_said(message) | asks | USER * (message.role == "user"))
    return lines


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
