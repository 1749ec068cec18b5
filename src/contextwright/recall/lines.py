"""The line of a recalled message or memory: its day, its speaker or subject, and its text."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.messages.times import read_time
from contextwright.text.quoting import labelled, one_line, quoted

__all__ = ["LONGEST", "by_day", "day_of", "line_of", "wording"]

LONGEST = 60_000
"""Maximum characters of one message."""
OURS = str.maketrans(",:", ";;")
MARKS = ".,;:!?…\"'“”„‘’«»()[]。！？，、；：؟،"
"""Punctuation that changes no word it is next to; a sign or an emoji may change the meaning."""
UNDATED = "undated"
"""Begins a line whose day is unknown, below a day that need not be its own."""


def line_of(
    sent_at: str | None,
    name: str,
    text: str,
    *,
    chat: str = "",
    place: str = "",
    longest: int = LONGEST,
) -> str:
    """Return `day, chat, name, place: words`, without what is unknown.

    The day is the sender's own; the place is that of an excerpt in its message.
    """
    # Commas and the first colon are ours; everything after it is quoted.
    names = [one_line(part).translate(OURS) for part in (chat, name, place) if part]
    day = day_of(sent_at)
    head = ", ".join([day, *names] if day else names)
    words = one_line(text, longest)
    return labelled(head, words) if head else quoted(words)


def day_of(sent_at: str | None) -> str:
    """Return the sender's own day of a time; empty if it is unknown."""
    moment = read_time(sent_at) if sent_at else None
    return moment.date().isoformat() if moment else ""


def by_day(lines: Iterable[tuple[str, str]]) -> str:
    """Return pairs of a day and a line as text: each day on a line of its own, above its lines.

    Nobody can forge a day, because each other line has a speaker and a colon.
    """
    written: list[str] = []
    above = ""
    for day, line in lines:
        if day and day != above:
            written.append(day)
            above = day
        written.append(line if day or not above else f"{UNDATED}, {line}")
    return "\n".join(written)


def wording(text: str) -> str:
    """Return the words of a text without case and punctuation: texts with the same are the same.

    Texts that differ in a single word are not, because it may be the one that has changed.
    """
    words = (word.strip(MARKS) for word in text.casefold().split())
    return " ".join(filter(None, words)) or text
