"""Format a recalled message or memory as one line: day, speaker or subject, and text."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.messages.times import read_time
from contextwright.text.quoting import labelled, one_line, quoted

__all__ = ["MAX_TEXT_CHARS", "grouped_by_day", "day_of", "format_line", "dedup_key"]

MAX_TEXT_CHARS = 60_000
"""Maximum characters of a message's text."""
SEPARATORS = str.maketrans(",:", ";;")
PUNCTUATION = ".,;:!?…\"'“”„‘’«»()[]。！？，、；：؟،"
"""Punctuation that does not change the meaning of a word. A sign or an emoji may change it."""
UNDATED = "undated"
"""Marks a line without a day below a line with one, so that nobody takes that day for its own."""


def format_line(
    sent_at: str | None,
    name: str,
    text: str,
    *,
    chat: str = "",
    place: str = "",
    max_chars: int = MAX_TEXT_CHARS,
) -> str:
    """Return `day, chat, name, place: text`; what is unknown is left out.

    Args:
        sent_at: when it was sent; the day is that of the sender's time zone.
        place: which part of the message an excerpt is.
    """
    # Names must not contain our separators. Everything after the first colon is quoted.
    names = [one_line(part).translate(SEPARATORS) for part in (chat, name, place) if part]
    day = day_of(sent_at)
    head = ", ".join([day, *names] if day else names)
    words = one_line(text, max_chars)
    return labelled(head, words) if head else quoted(words)


def day_of(sent_at: str | None) -> str:
    """Return the day of a time in its own zone; empty if it is unknown."""
    moment = read_time(sent_at) if sent_at else None
    return moment.date().isoformat() if moment else ""


def grouped_by_day(lines: Iterable[tuple[str, str]]) -> str:
    """Return the text of dated lines, with each day once, on a line above the lines of that day.

    A message cannot forge such a line, because every other line has a speaker and a colon.

    Args:
        lines: pairs of a day and a line.
    """
    written: list[str] = []
    above = ""
    for day, line in lines:
        if day and day != above:
            written.append(day)
            above = day
        written.append(line if day or not above else f"{UNDATED}, {line}")
    return "\n".join(written)


def dedup_key(text: str) -> str:
    """Return a key that is equal for texts that differ only in case, spaces and punctuation.

    Texts that differ in one word have different keys, because that word may be what changed.
    """
    words = (word.strip(PUNCTUATION) for word in text.casefold().split())
    return " ".join(filter(None, words)) or text
