"""A `Change` is one line of the receipt: something was repaired, lost or invented, and why."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from contextwright.errors import SHOWN, shortened, visible

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
    """Empty where it is not kept, because it may repeat content."""

    def __post_init__(self) -> None:
        if len(self.path) > SHOWN:
            force_setattr(self, "path", shortened(self.path))
        if len(self.reason) > SHOWN:
            force_setattr(self, "reason", shortened(self.reason))

    def __str__(self) -> str:
        named = f"{self.code} {self.path}".rstrip()
        return visible(f"{named}: {self.reason}" if self.reason else named)
