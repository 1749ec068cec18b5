"""The messages that replace omitted ones: a summary, and a note on all others."""

from __future__ import annotations

from typing import Literal

from contextwright.messages.message import Message
from contextwright.messages.parts import Text
from contextwright.text.fields import Checked, Natural

__all__ = ["OmissionNote", "longest_note"]

TEXT = "[{omitted} earlier messages are left out here]"
ONE = "[1 earlier message is left out here]"


class OmissionNote(Checked, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The note that replaces omitted messages."""

    text: str = TEXT
    role: Literal["user", "assistant"] = "user"
    beyond: Natural = 0
    """Write the note only if more messages than this are left out."""
    count_beyond: Natural | None = None
    """Give the number by which the history exceeds this one, as Port 42 does, instead of the number
    left out.
    """

    def message(self, omitted: int, length: int, summarised: int = 0) -> Message | None:
        """Return the note on what is left out of a history of `length`; None if none is due.

        Messages that a summary covers are not counted.
        """
        number = omitted if self.count_beyond is None else length - self.count_beyond
        number -= summarised
        if number <= self.beyond:
            return None
        text = ONE if number == 1 and self.text == TEXT else self.text
        return Message(self.role, (Text(text.replace("{omitted}", str(number))),), kind="note")


def longest_note(note: OmissionNote, length: int) -> Message | None:
    """Return a note as long as any on a history of `length`; None if none can be due.

    Its number is all nines, because so the note stays the same while the history grows.
    """
    if note.message(length, length) is None:
        return None
    nines = 10 ** len(str(length)) - 1
    return note.message(nines, nines + (note.count_beyond or 0))
