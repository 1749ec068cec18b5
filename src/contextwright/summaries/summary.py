"""Summaries of earlier messages, and the message that carries one.

A summary covers all messages up to one of them. In a request, a message of kind `summary` takes
their place. Its lines are quoted, so that nobody takes it for a message that someone wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

import msgspec
from msgspec import Struct

from contextwright.messages.message import Message
from contextwright.messages.parts import Text
from contextwright.text.excerpts import Line, digest, ends_of
from contextwright.text.quoting import one_line

__all__ = [
    "DIGEST",
    "MAX_LINE_CHARS",
    "MAX_NAME_CHARS",
    "Summary",
    "SummaryResult",
    "SummarySource",
]

DIGEST = "digest"
"""The method of a summary made of excerpts."""
MAX_NAME_CHARS = 60
"""Maximum characters of a speaker's or a model's name."""
FULL_SHARE = 0.98
"""A summary that uses this share of its tokens is not made longer."""
MAX_LINE_CHARS = 2_000
"""Maximum characters of a message in a request for a summary, and of a line of a summary."""


class Summary(Struct, frozen=True, omit_defaults=True):
    """A summary of all messages up to one of them: a model's text, or excerpts."""

    last: int
    """The number of the last message it covers; the first is 1."""
    count: int
    """The number of messages it covers; hidden and system messages do not count."""
    method: str
    text: str = ""
    lines: tuple[Line, ...] = ()
    untold: tuple[int, ...] = ()
    """Numbers of earlier messages it does not cover, because the request had them anyway."""

    @property
    def head(self) -> str:
        """The line that introduces it."""
        of = f"messages 1–{self.last}" if self.last > 1 else "message 1"
        if self.method == DIGEST:
            return f"[Digest of {of}: excerpts picked by a program, the rest is left out]"
        by = one_line(self.method, MAX_NAME_CHARS)
        return f"[Summary of {of}, written by {by}: nobody here said these words]"

    @property
    def size(self) -> int:
        """Its length in characters."""
        return len(self.text) + sum(line.size for line in self.lines)

    def without(self, kept: Collection[int]) -> Summary:
        """Return the summary without the excerpts from messages that the request has anyway."""
        lines = tuple(line for line in self.lines if line.number not in kept)
        return self if len(lines) == len(self.lines) else msgspec.structs.replace(self, lines=lines)

    def tells_any(self, numbers: Collection[int]) -> bool:
        """Whether its text covers any of these messages. Nothing can be removed from a text."""
        covered = (number for number in numbers if number <= self.last)
        return bool(self.text) and any(number not in self.untold for number in covered)

    def message(self, tokens: float, price: Callable[[Message], float]) -> Message | None:
        """Return the longest message with it that fits in `tokens`; None if no sentence fits.

        The length in characters is found by bisection.
        """
        best: Message | None = None
        least, most = 0, self.size + 1  # characters that fit, and that do not
        longest = self.size
        while least < longest < most:
            message = self._message(longest)
            cost = price(message) if message else 0
            if message and cost <= tokens:
                best, least = message, longest
                if cost >= FULL_SHARE * tokens:
                    break
            elif message:
                most = longest
            else:
                least = longest
            is_first = longest == self.size
            longest = int(longest * tokens / cost) if is_first and cost else (least + most) // 2
        return best

    def _message(self, longest: int) -> Message | None:
        """Return the message with at most `longest` characters of it; None if none fit."""
        body = self.quoted(longest)
        if not body:
            return None
        covered = {"first": 1, "last": self.last, "count": self.count, "method": self.method}
        text = Text(f"{self.head}\n{body}")
        return Message("user", (text,), kind="summary", meta={"summary": covered})

    def is_whole(self, message: Message) -> bool:
        """Whether a message contains all of it."""
        return message.text.endswith(self.quoted(self.size))

    def quoted(self, longest: int) -> str:
        """Return at most `longest` characters of it, with each line quoted."""
        if self.lines:
            lines = digest(self.lines, longest)
            dates = ["", *(line.at for line in lines)]
            return "\n".join(map(quoted_line, lines, dates))
        return "\n".join(f"> {line}" for line in sentences_that_fit(self.text, longest))


class SummaryResult(Struct, frozen=True):
    """The latest summary, and why there is no longer one."""

    summary: Summary | None = None
    failure: str = ""


class SummarySource(Protocol):
    """A source of summaries."""

    def upto(self, last: int, kept: Collection[int]) -> SummaryResult:
        """Return the summary of all messages up to `last`, or the longest one of fewer.

        `kept` are the numbers of earlier messages in the request; a summary written by a model must
        not cover them.
        """
        ...


def quoted_line(line: Line, before: str) -> str:
    """Return a line of a digest: number, date if it is a new one, speaker, text."""
    date = f" {line.at}" if line.at != before and line.at else ""
    return f"> {line.number}{date} {line.speaker}: {one_line(line.text, MAX_LINE_CHARS)}"


def sentences_that_fit(text: str, longest: int) -> list[str]:
    """Return the lines of a text up to the last sentence that fits."""
    lines: list[str] = []
    room = longest
    for line in text.splitlines():
        whole = " ".join(line.split())
        fitting = whole[: max((end for end in ends_of(whole) if end <= room), default=0)]
        if fitting:
            lines.append(fitting)
        if fitting != whole:
            break
        room -= len(whole) + 1
    return lines
