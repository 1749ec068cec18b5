"""The line of whatever is recalled: its day, who said it or whom it is about, and the words."""

from __future__ import annotations

from contextwright.messages.times import read_time
from contextwright.text.quoting import labelled, one_line, quoted

__all__ = ["LONGEST", "line_of"]

LONGEST = 60_000
"""Maximum characters of one message."""
OURS = str.maketrans(",:", ";;")


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
    moment = read_time(sent_at) if sent_at else None
    day = moment.date().isoformat() if moment else ""
    # Commas and the first colon are ours; everything after it is quoted.
    head = ", ".join(one_line(part).translate(OURS) for part in (day, chat, name, place) if part)
    words = one_line(text, longest)
    return labelled(head, words) if head else quoted(words)
