"""Sections that change every turn: the time, the current user, the reply."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from contextwright.errors import UsageError, shown
from contextwright.sections.base import Section, SectionInput, Share, Volatility
from contextwright.sections.replies import REPLY_REACH, replied_to
from contextwright.text.fields import Checked
from contextwright.text.quoting import one_line

__all__ = ["CurrentTime", "CurrentUser", "ReplyTo"]

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class CurrentTime(
    Section,
    Checked,
    frozen=True,
    tag="current-time",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """The time in a time zone, in English regardless of the machine's locale."""

    zone: str = "UTC"
    volatility: Volatility = "turn"
    priority: int = 50
    budget: Share = None
    heading: str = "# Current Time"

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise UsageError(
                f"unknown time zone {shown(self.zone)}", hint="Europe/Kyiv, UTC …"
            ) from error

    def write(self, moment: SectionInput) -> str | None:
        """Write the time that was passed in; None without one."""
        if moment.now is None:
            return None
        now = moment.now.astimezone(ZoneInfo(self.zone))
        day = f"{DAYS[now.weekday()]}, {MONTHS[now.month - 1]} {now.day:02}, {now.year}"
        return f"The current time is: {day} at {now:%H:%M:%S}"

    def absence(self, moment: SectionInput) -> str:
        """Say that no time was passed in."""
        return "no time was given: pass now=…"


class CurrentUser(
    Section,
    Checked,
    frozen=True,
    tag="current-user",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """The author of the newest question."""

    volatility: Volatility = "turn"
    priority: int = 50
    budget: Share = None
    heading: str = "## Current User"

    def write(self, moment: SectionInput) -> str | None:
        """Write the author of the newest question."""
        author = moment.question.author if moment.question else None
        if author is None:
            return None
        lines = [f"**Name**: {one_line(author.name or 'Unknown')}"]
        if author.id:
            lines.append(f"**User ID**: {one_line(author.id)}")
        if author.username:
            lines.append(f"**Username**: @{one_line(author.username.removeprefix('@'))}")
        return "\n".join(lines)

    def absence(self, moment: SectionInput) -> str:
        """Say that there is no question, or that it has no author."""
        return "the question has no author" if moment.question else "there is no question"


class ReplyTo(
    Section, Checked, frozen=True, tag="reply-to", forbid_unknown_fields=True, omit_defaults=True
):
    """The message that the newest question replies to: its author and an excerpt."""

    volatility: Volatility = "turn"
    priority: int = 40
    budget: Share = None
    heading: str = "## Reply Context"

    def write(self, moment: SectionInput) -> str | None:
        """Write the author and an excerpt of the message replied to."""
        reply = replied_to(moment.messages, moment.question) if moment.question else None
        if reply is None:
            return None
        lines: list[str] = []
        if reply.author is not None:
            id = f" (ID: {one_line(reply.author.id)})" if reply.author.id else ""
            lines.append(f"**Replying to**: {one_line(reply.author.label)}{id}")
        if reply.excerpt:
            lines.append(f"**Original message**: {one_line(reply.excerpt)}")
        return "\n".join(lines) or None

    def absence(self, moment: SectionInput) -> str:
        """Say that the question is not a reply, or that nothing is known of the message."""
        if moment.question is None:
            return "there is no question"
        known = moment.question.reply_to is None
        return "the question answers no message" if known else "the message it answers is unknown"

    def reach(self) -> int:
        """Return the number of newest messages among which it looks for the one replied to."""
        return REPLY_REACH
