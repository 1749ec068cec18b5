"""How much of a history fits within a limit, from its newest message back."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from contextwright.windows.history import View, coarseness, first_from, last_before

__all__ = ["Room"]


class Room:
    """Where a window may begin so that everything after it fits, with the required messages.

    `starts` are the indexes where a message or an exchange begins, newest first; `totals` are the
    tokens sent if the window begins there. Only what fits is computed, and one exchange more.
    """

    def __init__(
        self, view: View, limit: float, *, also: Iterable[int] = (), earliest: int = 0
    ) -> None:
        self.view = view
        self.limit = limit
        self.always = view.always.union(*map(view.log.exchanges.members, also))
        """Messages that stay from now on."""
        self.required = view.required | self.always
        self.base = sum(map(view.cost, self.required))
        """The tokens of required messages."""
        self.starts: list[int] = []
        self.totals: list[float] = []
        self.stopped: int | None = None
        """The newest index at which a window would not fit; None if everything fits."""
        self._scan(earliest)

    def _scan(self, earliest: int) -> None:
        """Add message by message, an exchange at its start, until no more fits."""
        view, exchanges = self.view, self.view.log.exchanges
        total = self.base
        pending: dict[int, float] = {}
        for index in range(view.count - 1, -1, -1):
            if not view.is_countable(index):
                continue
            cost = 0.0 if index in self.required else view.cost(index)
            if index in exchanges:
                first = exchanges.first(index)
                cost += pending.pop(first, 0.0)
                if first != index:
                    pending[first] = cost
                    continue
            total += cost
            if total > self.limit or index < earliest:
                self.stopped = index
                return
            self.starts.append(index)
            self.totals.append(total)

    @property
    def start(self) -> int:
        """The earliest index from which everything fits; the last message if nothing does."""
        if self.stopped is None:
            return 0
        return self.starts[-1] if self.starts else self.view.last or 0

    def stepped_start(self, step: float) -> int:
        """Return a start that stays the same as the history grows and leaves at most a step unused.

        Of the starts that send more than 1 − step of what could be sent, it is the one after the
        coarsest line of the ruler. Both ends of that range only move forward as messages arrive, so
        the start never moves back, and moves forward only if it must or if a coarser line is
        reached.
        """
        if self.stopped is None or not self.starts:
            return self.start
        grid = max(1, int(self.view.width * step))
        lasting = self._lasting()
        enough = place = len(self.starts) - 1
        while enough and lasting[enough - 1] > (1 - step) * lasting[place]:
            enough -= 1
        while place > enough and not self._always_fitted(self.starts[place]):
            place -= 1
        # The coarseness of the line that the message or exchange before each start crosses.
        starts = [*self.starts[enough : place + 2], self.stopped][: place + 2 - enough]
        begins = [self.view.log.begin(start) for start in starts]
        ranks = [coarseness(begin, end, grid) for end, begin in pairwise(begins)]
        return starts[ranks.index(max(ranks))]

    def _lasting(self) -> list[float]:
        """Return what is sent from each start, without earlier messages that stay only for now."""
        first, cost = self.view.log.exchanges.first, self.view.cost
        passing = [(first(index), cost(index)) for index in self.required - self.always]
        return [
            total - sum(cost for index, cost in passing if index < start)
            for start, total in zip(self.starts, self.totals, strict=True)
        ]

    def _always_fitted(self, start: int) -> bool:
        """Whether a window that begins here has always fitted while the history grew.

        Before the next question, the one before the window had to stay, and a late result required
        its distant call. Room that has become free since is not filled with older messages, because
        the prefix would change twice.
        """
        log = self.view.log
        following = first_from(log.plain, start)
        if following is not None and following > start:
            asked = {last_before(log.plain, start), last_before(log.questions, start)} - {None}
            if not self._fitted(start, following, [index for index in asked if index is not None]):
                return False
        return all(
            self._fitted(start, index + 1, log.exchanges.members(index))
            for index in log.exchanges.late
            if log.exchanges.first(index) < start <= index
        )

    def _fitted(self, start: int, stop: int, required: Iterable[int]) -> bool:
        """Whether a window between two indexes fits with the messages required at that time."""
        outside = {*self.always, *required}
        cost = sum(self.view.cost(index) for index in outside if index < start)
        inside = (index for index in range(start, stop) if self.view.is_countable(index))
        return cost + sum(map(self.view.cost, inside)) <= self.limit
