"""The least that messages can cost in a request, to tell whether all of them might fit."""

from __future__ import annotations

from collections.abc import Callable

from contextwright.windows.history import MEDIA, History, View

__all__ = ["MERGED", "Merged"]

MERGED = 12
"""Maximum tokens that a message may cost less among others than alone."""


class Merged(View):
    """A view in which each message costs the least it can among others.

    Adjacent messages of one role form one turn, whose wrapping is sent once. Media above the limit
    of a request are not sent. Speakers' names are left out.
    """

    def __init__(self, history: History, whole: bool) -> None:
        super().__init__(history, whole)
        self.label = None

    @property
    def cost_of(self) -> Callable[[int], float]:
        """The least that a message costs."""
        return self.cost

    def price(self, index: int) -> float:
        """Return the least that a message costs."""
        return self.cost(index)

    def cost(self, index: int) -> float:
        """Return the least that a message costs."""
        log = self.log
        if index in log.media and self.history.clearing.most_media is not None:
            return max(self.history.prices[self.form(index) | MEDIA][index] - MERGED, 1)
        cost, after = View.price(self, index), self.history.following(index)
        if after in log:
            if (log[index].role == "assistant") != (log[after].role == "assistant"):
                return cost
        return max(cost - MERGED, min(cost, 1))
