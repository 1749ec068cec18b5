"""When a request may be sent again: only before any part of a reply has arrived."""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec import Struct

from contextwright.formats.replies.events import ReplyError

__all__ = ["Retries"]

RETRIED = frozenset((408, 429, 500, 502, 503, 529))
"""Statuses that do not depend on the request itself."""


class Retries(Struct, frozen=True):
    """How often and how long to retry."""

    limit: int = 2
    """Maximum number of retries."""
    first_wait: float = 0.5
    """Seconds before the first retry; doubled for each further one, with jitter."""
    longest_wait: float = 60.0
    """If the provider asks for more seconds than this, the error is raised instead."""

    def wait(
        self, error: ReplyError, tried: int, chance: Callable[[], float] = random.random
    ) -> float | None:
        """Return the seconds until the next try; None for no retry.

        `tried` is the number of retries so far. A wait that the provider asks for is kept; others
        are random, between half and all of the doubled wait.
        """
        may = error.kind == "connection" or error.status in RETRIED
        if not may or error.kind == "billing" or tried >= self.limit:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_wait else None
        return min(self.first_wait * 2**tried, self.longest_wait) * (0.5 + chance() / 2)
