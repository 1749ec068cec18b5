"""Recalled messages as lines with their origin, under headings with their day."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.messages.times import read_time
from contextwright.text.quoting import one_line

__all__ = ["LONGEST", "below_headings", "heading_of", "line_of"]

LONGEST = 60_000
"""Maximum characters of one message."""


def heading_of(sent_at: str | None, chat: str) -> str:
    """Return the day of a message, in its sender's time zone, and its conversation."""
    moment = read_time(sent_at) if sent_at else None
    day = moment.date().isoformat() if moment else "undated"
    return f"{day}, {one_line(chat)}:" if chat else f"{day}:"


def line_of(number: int | None, speaker: str, text: str) -> str:
    """Return a message on one line, with its number and its speaker."""
    name = one_line(speaker).replace(":", ";")  # the name ends at the first colon
    words = f"{name}: {one_line(text, LONGEST)}"
    return words if number is None else f"#{number} {words}"


def below_headings(entries: Iterable[tuple[str, str]]) -> str:
    """Return lines below their headings; consecutive lines share one."""
    lines: list[str] = []
    before = ""
    for heading, line in entries:
        if heading != before:
            lines.append(heading)
            before = heading
        lines.append(line)
    return "\n".join(lines)
