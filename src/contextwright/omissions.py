"""What stands where messages were left out: a summary of them, and a note on all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from contextwright.changes import Change
from contextwright.messages import Message
from contextwright.summaries import Summary, Told
from contextwright.windows import Decisions

if TYPE_CHECKING:
    from contextwright.recipe import Note

__all__ = ["Omission"]


class Omission(Struct):
    """The messages that speak of those left out, by name, and the decisions that know of them."""

    decisions: Decisions
    messages: dict[str, Message]
    changes: list[Change]

    def summarise(
        self, told: Told, tokens: int, telling: Callable[[Summary, int], Message | None]
    ) -> None:
        """Put a summary there, within so many tokens; what it cannot tell is said."""
        failure, summary = told.failure, told.summary
        if summary is not None:
            decisions = self.decisions.with_summary(summary.last, summary.count)
            message = telling(summary, tokens)
            if message is None:
                failure = "no room in the budget" if summary.size else "nobody said a word there"
            elif decisions.summarised:
                self.decisions = decisions
                self.messages["summary"] = message
                what = f"{decisions.summarised:,} messages are told by {summary.method}"
                self.changes.append(Change("invent.summary", "summary", what))
                if summary.text and not summary.is_whole(message):
                    reason = f"it is longer than {tokens:,} tokens"
                    self.changes.append(Change("loss.cut", "summary", reason))
        if failure:
            self.changes.append(Change("loss.summary", "summary", failure))

    def note(self, note: Note | None, *, has_room: bool) -> None:
        """Say how many are left out and not told of, if there is room for it."""
        message = note.message(self.decisions.told) if note else None
        if message is None:
            return
        if has_room:
            self.messages["note"] = message
        else:
            self.changes.append(Change("loss.note", "note", "no room in the budget"))
