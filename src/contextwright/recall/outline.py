"""Outlines: the metadata of every message that recall needs, in columns.

They have the speaker, time, length and session of each message, are stored next to the index of
terms, and are cached in memory.
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
from contextwright.recall.postings import Postings, newest_first

__all__ = [
    "CONTEXT_RADIUS",
    "SessionState",
    "Entry",
    "Columns",
    "Outline",
    "Page",
    "is_spoken",
    "columns_of",
]

SESSION_GAP = 3_600
"""Seconds of silence that end a session. The next message is usually about something else."""

MAX_SESSION_MESSAGES = 200
"""Maximum messages of a session, for conversations without times."""

CONTEXT_RADIUS = 5
"""How many messages before and after a message are its surroundings."""

SPOKEN, ASKS, USER = 1, 2, 4
"""Flags of a message: written by a person or the model; ends with a question mark; by a user."""

QUESTION_MARK = re.compile(r"[?？؟\u037e]$|[\u0370-\u03ff\u1f00-\u1fff];$")
"""A question mark at the end of a text. In Greek it is a semicolon, but only after a Greek letter,
because lines of code end with one too.
"""

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
"""Times outside this range have no year in some time zone."""

SessionState: TypeAlias = tuple[int | None, int]
"""What assigning the next message to a session needs: the last known time, and the session."""


class Columns(Struct, array_like=True):
    """The columns of consecutive messages, as they are stored."""

    times: list[int | None]
    """Seconds since 1970; None if unknown."""
    sizes: list[int]
    """Characters of the text, with white space collapsed."""
    speakers: list[str]
    """Names of the speakers; empty if there is none."""
    ids: list[str]
    """Ids of the speakers; empty if unknown."""
    flags: list[int]
    handles: dict[str, str] = {}
    """Names of speakers by handle in lower case, where the two differ."""

    def __post_init__(self) -> None:
        columns = (self.times, self.sizes, self.speakers, self.ids, self.flags)
        if len({*map(len, columns)}) > 1:
            raise ValueError("columns of different lengths")

    def extended(self, others: Columns) -> Columns:
        """Return these columns followed by the others."""
        return Columns(
            self.times + others.times,
            self.sizes + others.sizes,
            self.speakers + others.speakers,
            self.ids + others.ids,
            self.flags + others.flags,
            self.handles | others.handles,
        )

    def skip(self, count: int) -> Columns:
        """Return the columns without the first `count` messages."""
        return Columns(
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
    following: int
    """How many of the next `CONTEXT_RADIUS` messages are in the same session."""

    @property
    def is_spoken(self) -> bool:
        """Whether somebody wrote it; instructions and tool results are not spoken."""
        return bool(self.flags & SPOKEN)


class Page(Struct):
    """The outline of consecutive messages of one conversation."""

    first: int
    """The number of its first message."""
    state_before: SessionState
    """The state after the message before the page."""
    columns: Columns
    sessions: list[int]
    speaker_counts: Counter[tuple[str, str]]
    """The number of messages of each speaker, by name and id."""
    latest: int | None
    """The last known time. It is cached, because finding it is slow if few messages have one."""
    _postings: Postings = field(default_factory=Postings)

    @classmethod
    def empty(cls, first: int, before: SessionState | None = None) -> Page:
        """Return a page without messages; the next one will be number `first`."""
        before = before or (None, first)
        return cls(first, before, Columns([], [], [], [], [], {}), [], Counter(), before[0])

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.first + len(self.sessions) - 1

    def postings(self) -> Postings:
        """Return the posting lists of speakers and days."""
        self._postings.add(self.first, self.columns.speakers, self.columns.times)
        return self._postings

    def state_at(self, number: int) -> SessionState:
        """Return the last known time up to a message, and the session of that message."""
        place, times = number - self.first, self.columns.times
        if place < 0:
            return self.state_before
        if number == self.last:
            return self.latest, self.sessions[place]
        known = (times[one] for one in range(place, -1, -1) if times[one] is not None)
        return next(known, self.state_before[0]), self.sessions[place]

    def extend(self, lines: Columns) -> None:
        """Append columns. Concurrent readers see only messages that are complete."""
        sessions = sessions_of(lines.times, self.last + 1, *self.state_at(self.last))
        self.columns.times += lines.times
        self.columns.sizes += lines.sizes
        self.columns.speakers += map(intern, lines.speakers)
        self.columns.ids += map(intern, lines.ids)
        self.columns.flags += lines.flags
        self.columns.handles = self.columns.handles | lines.handles
        self.speaker_counts += count_speakers(lines)
        self.latest = next(
            (time for time in reversed(lines.times) if time is not None), self.latest
        )
        self.sessions += sessions  # last, because readers look only at messages with a session

    def speaker_counts_until(self, number: int) -> Counter[tuple[str, str]]:
        """Return the number of messages of each speaker up to a message."""
        count = number - self.first + 1
        if count * 2 < len(self.sessions):
            return count_speakers(self.columns, 0, count)
        return self.speaker_counts - count_speakers(self.columns, count)


class Outline:
    """The outline of a conversation, including the messages it shares with those it forked from."""

    def __init__(self, pages: Iterable[tuple[int, int, Page]]) -> None:
        self.pages: Sequence[tuple[int, int, Page]] = tuple(pages)
        """Pages, each with the first and last number that belong to this conversation; newest
        first."""
        self._speaker_counts: Counter[tuple[str, str]] = Counter()
        for first, last, page in self.pages:
            if first <= last:
                self._speaker_counts += page.speaker_counts_until(last)

    @property
    def last(self) -> int:
        """The number of the last message; 0 if there is none."""
        return max((last for first, last, _ in self.pages if first <= last), default=0)

    def speaker_counts(self) -> Counter[tuple[str, str]]:
        """Return the number of messages of each speaker, by name and id."""
        return self._speaker_counts

    def handles(self) -> dict[str, str]:
        """Return the names of speakers by handle, where the two differ."""
        handles: dict[str, str] = {}
        for first, last, page in self.pages:
            if first <= last:
                handles |= page.columns.handles
        return handles

    def by_speakers(self, speakers: Set[str]) -> Iterator[int]:
        """Yield the messages of some speakers, newest first."""
        for first, last, page in self.pages if speakers else ():
            known = page.postings().speakers
            each = (newest_first(known[name], first, last) for name in speakers & known.keys())
            yield from merge(*each, reverse=True)

    def days(self) -> set[int]:
        """Return the days on which messages were sent, as days since 1970."""
        return {day for _, _, page in self.pages for day in page.postings().days}

    def on_days(self, days: Iterable[int]) -> Iterator[int]:
        """Yield the messages of each day in turn, newest first."""
        for day in days:
            for first, last, page in self.pages:
                yield from newest_first(page.postings().days.get(day, ()), first, last)

    def newest_time(self) -> int | None:
        """Return the time of the newest message that has one."""
        for first, last, page in self.pages:
            if first <= last:
                return page.state_at(last)[0]
        return None

    def entry(self, number: int) -> Entry | None:
        """Return the entry of a message; None if there is no such message."""
        for first, last, page in self.pages:
            if first <= number <= last:
                place, lines, sessions = number - page.first, page.columns, page.sessions
                session = sessions[place]
                is_far = (
                    number + CONTEXT_RADIUS <= last and sessions[place + CONTEXT_RADIUS] == session
                )
                return Entry(
                    lines.times[place],
                    lines.sizes[place],
                    lines.speakers[place],
                    lines.ids[place],
                    lines.flags[place],
                    session,
                    CONTEXT_RADIUS if is_far else self._following(number, session, last, page),
                )
        return None

    def _following(self, number: int, session: int, last: int, page: Page) -> int:
        """Return how many of the next messages are in the session, also across pages."""
        stop = min(number + CONTEXT_RADIUS, last)
        ahead = page.sessions[number + 1 - page.first : stop + 1 - page.first].count(session)
        for other in range(stop + 1, number + CONTEXT_RADIUS + 1):
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
                return page.columns.speakers[number - page.first]
        return ""

    def size(self, number: int) -> int:
        """Return the characters of a message."""
        for first, last, page in self.pages:
            if first <= number <= last:
                return page.columns.sizes[number - page.first]
        return 0


def count_speakers(
    columns: Columns, first: int = 0, last: int | None = None
) -> Counter[tuple[str, str]]:
    """Return the number of messages of each speaker, by name and id."""
    rows = zip(
        columns.speakers[first:last],
        columns.ids[first:last],
        columns.flags[first:last],
        strict=True,
    )
    return Counter((speaker, id) for speaker, id, flags in rows if flags & SPOKEN)


def columns_of(messages: Iterable[Message]) -> Columns:
    """Return the columns of messages."""
    columns = Columns([], [], [], [], [], {})
    for message in messages:
        text = spoken_text(message)
        author = message.author
        columns.times.append(seconds_of(message.sent_at))
        columns.sizes.append(len(" ".join(text.split())))
        columns.speakers.append(author.label if author else "")
        columns.ids.append(author.id or "" if author else "")
        handle = (author.username or "").removeprefix("@") if author else ""
        if author and handle and handle != author.label:
            columns.handles[handle.casefold()] = author.label
        asks = ASKS * bool(QUESTION_MARK.search(text.rstrip()[-2:]))
        columns.flags.append(SPOKEN * is_spoken(message) | asks | USER * (message.role == "user"))
    return columns


def seconds_of(sent_at: str | None) -> int | None:
    """Return a time as seconds since 1970; None if it is unknown."""
    moment = read_time(sent_at) if sent_at else None
    if moment is None or not EARLIEST <= moment <= LATEST:
        return None
    return int(moment.timestamp())


def is_spoken(message: Message) -> bool:
    """Whether somebody wrote the message; instructions and tool results are not spoken."""
    has_speaker_role = message.role in ("user", "assistant") and message.kind == "message"
    return has_speaker_role and bool(spoken_text(message).strip())


def sessions_of(
    times: Iterable[int | None], number: int, before: int | None, session: int
) -> list[int]:
    """Return the session of each message.

    Args:
        times: the times of consecutive messages.
        number: the number of the first of them.
        before: the last known time before it.
        session: the session of the message before it.
    """
    found: list[int] = []
    for time in times:
        is_late = time is not None and before is not None and abs(time - before) > SESSION_GAP
        if is_late or number - session >= MAX_SESSION_MESSAGES:
            session = number
        found.append(session)
        before = before if time is None else time
        number += 1
    return found
