"""Summaries without a model: excerpts that are picked while messages are added."""

from __future__ import annotations

from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.summaries.summary import DIGEST, MAX_NAME_CHARS, Summary
from contextwright.text.excerpts import Line, digest
from contextwright.text.quoting import one_line

__all__ = ["BLOCK_MESSAGES", "Digest", "covers", "date_of", "speaker_of"]

BLOCK_MESSAGES = 128
"""After how many messages a digest is condensed. It is counted from the first message, so that the
result does not depend on where the window was cut.
"""


class Digest:
    """Excerpts from messages that are added in order. It does not keep the messages themselves.

    Args:
        max_chars: maximum characters of the summary.
        summary: a settled summary to continue from.
    """

    def __init__(self, max_chars: int, summary: Summary | None = None) -> None:
        self.max_chars = max_chars
        self.last = summary.last if summary else 0
        """The number of the last message that was added."""
        self._count = summary.count if summary else 0
        self._lines = list(summary.lines) if summary else []
        self._summary = summary

    def add(self, message: Message) -> None:
        """Add the next message."""
        self.last += 1
        self._summary = None
        if covers(message):
            self._count += 1
            line = line_of(self.last, message)
            if line is not None:
                self._lines.append(line)
        if self.is_settled:
            self._lines = digest(self._lines, self.max_chars)

    @property
    def is_settled(self) -> bool:
        """Whether the digest can be continued from its summary alone, because it is condensed."""
        return self.last % BLOCK_MESSAGES == 0

    @property
    def summary(self) -> Summary:
        """The summary of the messages so far."""
        if self._summary is None:
            lines = tuple(digest(self._lines, self.max_chars))
            self._summary = Summary(self.last, self._count, DIGEST, lines=lines)
        return self._summary


def covers(message: Message) -> bool:
    """Whether summaries cover a message: hidden messages and instructions are left out."""
    return message.visibility == "public" and message.role != "system"


def line_of(number: int, message: Message) -> Line | None:
    """Return a message as a line; None if it has no text, or nobody wrote it."""
    spoken = message.kind == "message" and message.role in ("user", "assistant")
    text = spoken_text(message) if spoken else ""
    return Line(number, speaker_of(message), text, date_of(message)) if text.strip() else None


def speaker_of(message: Message) -> str:
    """Return the speaker's name without colons, because the first colon of a line ends the name."""
    name = message.author.label if message.author else message.role
    return one_line(name, MAX_NAME_CHARS).replace(":", ";")


def date_of(message: Message) -> str:
    """Return the day of a message as YYYY-MM-DD; empty if unknown."""
    time = message.time
    return time.date().isoformat() if time else ""
