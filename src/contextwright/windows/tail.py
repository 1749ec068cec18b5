"""A log from its newest message back: where a window may begin, and what it then costs."""

from __future__ import annotations

from collections.abc import Callable, Collection

from contextwright.windows.labels import Label, Labels
from contextwright.windows.log import Log

__all__ = ["Tail"]


class Tail:
    """The starts of messages and exchanges, newest first, as far back as anyone has asked.

    Several questions with different limits share it, so that every message is added up once.
    """

    def __init__(
        self,
        log: Log,
        required: Collection[int],
        cost: Callable[[int], float],
        base: float = 0.0,
        label: Label | None = None,
    ) -> None:
        self.starts: list[int] = []
        """The indexes where a message or an exchange begins."""
        self.totals: list[float] = []
        """The tokens from each start to the end, without those of required messages."""
        self.labels = Labels(log, label)
        self.base = base + sum(map(self.labels.add, required))
        """The tokens of required messages."""
        self._is_named = self.labels.since is not None
        """Whether names are sent with the required messages alone."""
        self._log, self._required, self._cost = log, required, cost
        self._next = len(log) - 1
        self._open: dict[int, float] = {}
        """The tokens of exchanges whose start is not reached yet, by their start."""

    @property
    def reached(self) -> float:
        """The tokens of everything reached so far, and of required messages."""
        return self.base + (self.totals[-1] if self.totals else 0.0)

    def has_names(self, start: int) -> bool:
        """Whether speakers' names are sent if a window begins at an index."""
        since = self.labels.since
        return self._is_named or (since is not None and since >= start)

    def extend(self, limit: float, earliest: int) -> None:
        """Go back to the first start that exceeds a limit or is before `earliest`."""
        starts, totals, open = self.starts, self.totals, self._open
        total = totals[-1] if totals else 0.0
        if starts and (total > limit or starts[-1] < earliest):
            return
        # In local names, because this loop is hot.
        silent, matching = self._log.silent, self._log.exchanges
        since, exchanges = matching.since, matching.by_index
        required, cost_of = self._required, self._cost
        names = self.labels.add if self.labels.label else None
        for index in range(self._next, -1, -1):
            self._next = index
            if index in silent:
                continue
            cost = 0.0
            if index not in required:
                cost = cost_of(index)
                if names:
                    cost += names(index)
            if index < since:
                matching.match_from(index)
                since, exchanges = matching.since, matching.by_index
            if index in exchanges:
                first = exchanges[index][0]
                cost += open.pop(first, 0.0)
                if first != index:
                    open[first] = cost
                    continue
            total += cost
            starts.append(index)
            totals.append(total)
            if total > limit or index < earliest:
                break
        self._next -= 1
