"""The names of speakers, which a request has only where several people speak."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from contextwright.messages.message import Message
from contextwright.windows.log import Log

__all__ = ["Label", "Labels"]

Label: TypeAlias = Callable[[Message], tuple[str, float] | None]
"""The name that a message begins with where several people speak, and its tokens."""


class Labels:
    """The tokens of speakers' names, which are sent only if several people speak.

    Messages are added in any order; each answer is what the names cost now and did not before.
    """

    def __init__(self, log: Log, label: Label | None) -> None:
        self._log, self.label = log, label
        self._speaker: str | None = None
        self._waiting = 0.0
        """The tokens of names that are not sent as long as one person speaks."""
        self.since: int | None = None
        """The message with which a second person spoke; None while one person does."""

    def add(self, index: int) -> float:
        """Add a message, and return the tokens of names that are now sent."""
        found = self.label(self._log[index]) if self.label else None
        if found is None:
            return 0.0
        name, tokens = found
        if self.since is not None:
            return tokens
        self._waiting += tokens
        if self._speaker in (None, name):
            self._speaker = name
            return 0.0
        self.since = index
        return self._waiting
