"""Outlines: what recall knows about every message besides its text, as a few columns of numbers.

Speaker, time, length and session of each message are stored next to the index, and cached in
memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import UTC, datetime
from heapq import merge
from sys import intern
from typing import TypeAlias

from msgspec import Struct, field

from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.messages.times import read_time
from contextwright.recall.places import Places, newest_first

__all__ = ["AROUND", "End", "Entry", "Lines", "Outline", "Page", "is_said", "lines_of"]

SESSION = 3_600
"""Seconds of silence that end a session, because the next message is usually unrelated."""

LONGEST_SESSION = 200
"""Maximum messages of a session; a conversation without times is cut into pieces."""

AROUND = 5
"""Number of messages before and after one that count as its surroundings."""

SAID, ASKS, USER = 1, 2, 4
"""Flags: text of a person or the model; ends with a question mark; a user's."""

ASKING = re.compile(r"[?？؟\u037e]$|[\u0370-\u03ff\u1f00-\u1fff];$")
"""A question mark at the end; Greek writes a semicolon, as code does at the end of a line."""

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
"""The latest time that has a year in every zone."""

End: TypeAlias = tuple[int | None, int]
"""The state at the end of some messages: the last known time, and the session."""


class Lines(Struct, array_like=True):
    """Columns about consecutive messages, as they are stored."""

    times: list[int | None]
    """Seconds since 1970; None if unknown."""
    sizes: list[int]
    """Characters of the text on one line, with white space collapsed."""
    speakers: list[str]
    """The name of the speaker; empty if there is none."""
    ids: list[str]
    """The ids of the speakers; empty if unknown."""
    flags: list[int]
    handles: dict[str, str] = {}
    """The names of speakers by their handles, in small letters; without those that are the same."""

    def __post_init__(self) -> None:
        columns = (self.times, self.sizes, self.speakers, self.ids, self.flags)
        if len({*map(len, columns)}) > 1:
            raise ValueError("columns of several lengths")

    def with_lines(self, others: Lines) -> Lines:
        """Return the columns of these messages and of those that follow."""
        return Lines(
            self.times + others.times,
            self.sizes + others.sizes,
            self.speakers + others.speakers,
            self.ids + others.ids,
            self.flags + others.flags,
            self.handles | others.handles,
        )

    def behind(self, count: int) -> Lines:
        """Return the columns without the first few messages."""
        return Lines(
            self.times[count:],
            self.sizes[count:],
            self.speakers[count:],
            self.ids[count:],
            self.flags[count:],
            self.handles,
        )


class Entry(Struct, frozen=True, gc=False):
    """The outline of one message."""

    time: int | None
    size: int
    speaker: str
    id: str
    flags: int
    session: int
    """The number of the first message of its session."""
    ahead: int
    """How many of the messages right after it are in the same session."""

    @property
    def is_said(self) -> bool:
        """Whether it is part of the conversation."""
        return bool(self.flags & SAID)


class Page(Struct):
    """Columns of consecutive messages of one conversation, with their sessions."""

    first: int
    """The number of its first message."""
    before: End
    """The end of the page before it."""
    lines: Lines
    sessions: list[int]
    people: Counter[tuple[str, str]]
    """The number of messages of each speaker, by name and id."""
    latest: int | None
    """The last known time, cached because searching for it is slow if few messages have one."""
    noted: Places = field(default_factory=Places)

    @classmethod
    def empty(cls, first: int, before: End | None = None) -> Page:
        """Return an empty page that begins with a message."""
        before = before or (None, first)
        return cls(first, before, Lines([], [], [], [], [], {}), [], Counter(), before[0])

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.first + len(self.sessions) - 1

    def places(self) -> Places:
        """Return where each speaker and each day is."""
        self.noted.note(self.first, self.lines.speakers, self.lines.times)
        return self.noted

    def end(self, number: int) -> End:
        """Return the number of the last message."""
        place, times = number - self.first, self.lines.times
        if place < 0:
            return self.before
        if number == self.last:
            return self.latest, self.sessions[place]
        known = (times[one] for one in range(place, -1, -1) if times[one] is not None)
        return next(known, self.before[0]), self.sessions[place]

    def extend(self, lines: Lines) -> None:
        """Append columns; concurrent readers may see some of them, but nothing wrong."""
        sessions = sessions_of(lines.times, self.last + 1, *self.end(self.last))
        self.lines.times += lines.times
        self.lines.sizes += lines.sizes
        self.lines.speakers += map(intern, lines.speakers)
        self.lines.ids += map(intern, lines.ids)
        self.lines.flags += lines.flags
        self.lines.handles = self.lines.handles | lines.handles
        self.people += spoken(lines)
        self.latest = next(
            (time for time in reversed(lines.times) if time is not None), self.latest
        )
        self.sessions += sessions  # last, because readers take only messages that have a session

    def people_until(self, number: int) -> Counter[tuple[str, str]]:
        """Return the number of messages of each speaker up to a message."""
        count = number - self.first + 1
        if count * 2 < len(self.sessions):
            return spoken(self.lines, 0, count)
        return self.people - spoken(self.lines, count)


class Outline:
    """The outline of a conversation: its own pages, and those of the ones it was forked from."""

    def __init__(self, pages: Iterable[tuple[int, int, Page]]) -> None:
        self.pages: Sequence[tuple[int, int, Page]] = tuple(pages)
        """The first and last number that count, with their page; newest first."""
        self._people: Counter[tuple[str, str]] = Counter()
        for first, last, page in self.pages:
            if first <= last:
                self._people += page.people_until(last)

    @property
    def last(self) -> int:
        """The number of its last message; 0 if there is none."""
        return max((last for first, last, _ in self.pages if first <= last), default=0)

    def people(self) -> Counter[tuple[str, str]]:
        """Return the number of messages of each speaker, by name and id."""
        return self._people

    def handles(self) -> dict[str, str]:
        """Return the names of speakers by their handles, where they differ."""
        handles: dict[str, str] = {}
        for first, last, page in self.pages:
            if first <= last:
                handles |= page.lines.handles
        return handles

    def said_by(self, speakers: Set[str]) -> Iterator[int]:
        """Yield the numbers of the messages of some speakers, the newest first."""
        for first, last, page in self.pages if speakers else ():
            known = page.places().speakers
            each = (newest_first(known[name], first, last) for name in speakers & known.keys())
            yield from merge(*each, reverse=True)

    def days(self) -> set[int]:
        """Return the days on which messages were sent, counted from 1970."""
        return {day for _, _, page in self.pages for day in page.places().days}

    def said_on(self, days: Iterable[int]) -> Iterator[int]:
        """Yield the numbers of the messages of each day in turn, the newest first."""
        for day in days:
            for first, last, page in self.pages:
                yield from newest_first(page.places().days.get(day, ()), first, last)

    def newest_time(self) -> int | None:
        """Return the time of the newest message that has one."""
        for first, last, page in self.pages:
            if first <= last:
                return page.end(last)[0]
        return None

    def entry(self, number: int) -> Entry | None:
        """Return the entry of a message; None if there is no such message."""
        for first, last, page in self.pages:
            if first <= number <= last:
                place, lines, sessions = number - page.first, page.lines, page.sessions
                session = sessions[place]
                is_far = number + AROUND <= last and sessions[place + AROUND] == session
                return Entry(
                    lines.times[place],
                    lines.sizes[place],
                    lines.speakers[place],
                    lines.ids[place],
                    lines.flags[place],
                    session,
                    AROUND if is_far else self._ahead(number, session, last, page),
                )
        return None

    def _ahead(self, number: int, session: int, last: int, page: Page) -> int:
        """Return how many messages right after one are in its session, on the next page too."""
        stop = min(number + AROUND, last)
        ahead = page.sessions[number + 1 - page.first : stop + 1 - page.first].count(session)
        for other in range(stop + 1, number + AROUND + 1):
            ahead += self.session(other) == session
        return ahead

    def session(self, number: int) -> int | None:
        """Return the session of a message; None if there is no such message."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.sessions[number - page.first]
        return None

    def speaker(self, number: int) -> str:
        """Return the name of a message's speaker; empty if there is none."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.lines.speakers[number - page.first]
        return ""

    def size(self, number: int) -> int:
        """Return the characters of a message."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.lines.sizes[number - page.first]
        return 0


def spoken(lines: Lines, first: int = 0, last: int | None = None) -> Counter[tuple[str, str]]:
    """Return the number of messages of each speaker in some of the lines."""
    columns = zip(
        lines.speakers[first:last], lines.ids[first:last], lines.flags[first:last], strict=True
    )
    return Counter((speaker, id) for speaker, id, flags in columns if flags & SAID)


def lines_of(messages: Iterable[Message]) -> Lines:
    """Return the columns of messages."""
    lines = Lines([], [], [], [], [], {})
    for message in messages:
        text = spoken_text(message)
        author = message.author
        lines.times.append(seconds_of(message.sent_at))
        lines.sizes.append(len(" ".join(text.split())))
        lines.speakers.append(author.label if author else "")
        lines.ids.append(author.id or "" if author else "")
        handle = (author.username or "").removeprefix("@") if author else ""
        if author and handle and handle != author.label:
            lines.handles[handle.casefold()] = author.label
        asks = ASKS * bool(ASKING.search(text.rstrip()[-2:]))
        lines.flags.append(SAID * is_said(message) | asks | USER * (message.role == "user"))
    return lines


def seconds_of(sent_at: str | None) -> int | None:
    """Return a time in seconds since 1970; None if unknown."""
    moment = read_time(sent_at) if sent_at else None
    if moment is None or not EARLIEST <= moment <= LATEST:
        return None
    return int(moment.timestamp())


def is_said(message: Message) -> bool:
    """Whether a message is part of the conversation; instructions to the model are not."""
    spoken = message.role in ("user", "assistant") and message.kind == "message"
    return spoken and bool(spoken_text(message).strip())


def sessions_of(
    times: Iterable[int | None], number: int, before: int | None, session: int
) -> list[int]:
    """Return the session of each message from a number on, after one with a time in a session."""
    found: list[int] = []
    for time in times:
        is_late = time is not None and before is not None and abs(time - before) > SESSION
        if is_late or number - session >= LONGEST_SESSION:
            session = number
        found.append(session)
        before = before if time is None else time
        number += 1
    return found
