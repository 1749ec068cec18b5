"""A `Change` is one line of the receipt: something was repaired, lost or invented, and why."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Change"]


class Change(Struct, frozen=True):
    """A difference between input and output.

    `code` begins with what happened: `loss.` (content was removed), `invent.` (content was
    added), `repair.` (content was moved, merged or respelled).
    """

    code: str
    path: str
    """Path into the input: `messages[3].parts[1]`, or the path in foreign data."""
    reason: str

    def __str__(self) -> str:
        return f"{f'{self.code} {self.path}'.rstrip()}: {self.reason}"
