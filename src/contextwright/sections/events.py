"""Events of a conversation besides its messages: joins, topics, titles."""

from __future__ import annotations

from contextwright.messages.message import Message
from contextwright.sections.base import Section, SectionInput, Share, Volatility, last_entries
from contextwright.text.fields import Checked, Natural
from contextwright.text.quoting import quoted

__all__ = ["Events"]

FURTHER = 10
"""Number of messages read for each event wanted."""


class Events(
    Section, Checked, frozen=True, tag="events", forbid_unknown_fields=True, omit_defaults=True
):
    """The newest service events of the conversation, quoted because members chose their text."""

    most: Natural = 10
    volatility: Volatility = "turn"
    priority: int = 20
    budget: Share = None
    heading: str = "## Recent Events"

    def write(self, moment: SectionInput) -> str | None:
        """Write a line for each event, oldest first, with its day."""
        messages = moment.messages[-self.reach() :] if self.most else ()
        events = [message for message in messages if message.kind == "event"]
        return "\n".join(f"- {line_of(event)}" for event in events[-self.most :]) or None

    def absence(self, moment: SectionInput) -> str:
        """Say that there are no events."""
        return "no event is among the newest messages"

    def reach(self) -> int:
        """Return more than the number of events, because other messages are between them."""
        return FURTHER * self.most

    def shorten(self, text: str, longest: int) -> str:
        """Keep the newest events that fit."""
        return last_entries(text, longest)


def line_of(event: Message) -> str:
    """Return an event on one line."""
    day = event.time.date().isoformat() if event.time else "undated"
    return f"{day}: {quoted(event.text)}"
