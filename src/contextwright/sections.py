"""Titled pieces of the system instruction; each knows how often it changes.

A section is any object with `volatility`, `priority`, `budget` and a method `write`. Words that
come from people are data: a name is one clean line, longer words are quoted, and neither can
open a heading, a fence or a tag.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Protocol, TypeAlias, runtime_checkable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Meta, Struct

from contextwright.errors import UsageError, shown
from contextwright.graphemes import cut
from contextwright.messages import Message

__all__ = ["CurrentTime", "CurrentUser", "Instructions", "Moment", "ReplyTo", "Section", "Share"]

Volatility: TypeAlias = Literal["static", "rare", "turn"]
"""How often the words change: never, now and then, with every turn."""

Share: TypeAlias = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(gt=0, le=1)] | None
"""Tokens a section may use: a number, or a fraction of the request's budget; None: any number."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
LONGEST_LINE = 200


class Moment(Struct, frozen=True):
    """What a section may look at: the clock and the newest question, both handed in."""

    now: datetime | None = None
    question: Message | None = None


@runtime_checkable
class Section(Protocol):
    """One piece of the system instruction."""

    @property
    def volatility(self) -> Volatility:
        """How often its words change."""
        ...

    @property
    def priority(self) -> int:
        """Below 100, it may be left out when there is no room: the lowest goes first."""
        ...

    @property
    def budget(self) -> Share:
        """Its share of the tokens: what it does not use flows on, what is longer is cut."""
        ...

    def write(self, moment: Moment) -> str | None:
        """What it says now; None: nothing, not even a heading."""
        ...


class Instructions(
    Struct, frozen=True, tag="instructions", forbid_unknown_fields=True, omit_defaults=True
):
    """Words of the developer's own, as they are."""

    text: str
    volatility: Volatility = "static"
    priority: int = 100
    budget: Share = None

    def write(self, moment: Moment) -> str | None:
        """The words."""
        return self.text


class CurrentTime(
    Struct, frozen=True, tag="current-time", forbid_unknown_fields=True, omit_defaults=True
):
    """The time in some zone, in English whatever the machine's language."""

    zone: str = "UTC"
    volatility: Volatility = "turn"
    priority: int = 50
    budget: Share = None

    def __post_init__(self) -> None:
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise UsageError(
                f"unknown time zone {shown(self.zone)}", hint="Europe/Kyiv, UTC …"
            ) from error

    def write(self, moment: Moment) -> str | None:
        """The clock that was handed in; nothing without one."""
        if moment.now is None:
            return None
        now = moment.now.astimezone(ZoneInfo(self.zone))
        day = f"{DAYS[now.weekday()]}, {MONTHS[now.month - 1]} {now.day:02}, {now.year}"
        return f"# Current Time\nThe current time is: {day} at {now:%H:%M:%S}"


class CurrentUser(
    Struct, frozen=True, tag="current-user", forbid_unknown_fields=True, omit_defaults=True
):
    """Who asks."""

    volatility: Volatility = "turn"
    priority: int = 50
    budget: Share = None

    def write(self, moment: Moment) -> str | None:
        """The author of the newest question."""
        author = moment.question.author if moment.question else None
        if author is None:
            return None
        lines = ["## Current User", f"**Name**: {one_line(author.name or 'Unknown')}"]
        if author.id:
            lines.append(f"**User ID**: {one_line(author.id)}")
        if author.username:
            lines.append(f"**Username**: @{one_line(author.username).removeprefix('@')}")
        return "\n".join(lines)


class ReplyTo(Struct, frozen=True, tag="reply-to", forbid_unknown_fields=True, omit_defaults=True):
    """What the newest question answers."""

    volatility: Volatility = "turn"
    priority: int = 40
    budget: Share = None

    def write(self, moment: Moment) -> str | None:
        """The message replied to: its author and a few of its words."""
        reply = moment.question.reply_to if moment.question else None
        if reply is None:
            return None
        lines = ["## Reply Context"]
        if reply.author is not None:
            id = f" (ID: {one_line(reply.author.id)})" if reply.author.id else ""
            lines.append(f"**Replying to**: {one_line(reply.author.label)}{id}")
        if reply.excerpt:
            lines.append(f"**Original message**: {one_line(reply.excerpt)}")
        return "\n".join(lines)


BuiltIn: TypeAlias = Instructions | CurrentTime | CurrentUser | ReplyTo


def one_line(text: str) -> str:
    """Words of people as one line that opens nothing: no breaks, no heading, no fence, no tag."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    line = " ".join(line.split()).replace("```", "'''").replace("<", "‹").replace(">", "›")
    if len(line) > LONGEST_LINE:
        line = cut(line, LONGEST_LINE - 3) + "..."
    return line.lstrip("#- ") or "(nothing)"
