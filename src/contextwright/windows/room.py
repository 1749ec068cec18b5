"""How much of a history fits within a limit, from its newest message back."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from operator import neg

from contextwright.windows.history import View
from contextwright.windows.log import first_from, last_before
from contextwright.windows.rounding import roundest

__all__ = ["Room"]


class Room:
    """Where a window may begin so that everything after it fits, with the required messages.

    `starts` are the indexes where a message or an exchange begins, newest first. Only what fits is
    computed, and one exchange more.
    """

    def __init__(
        self, view: View, limit: float, *, also: Iterable[int] = (), earliest: int = 0
    ) -> None:
        self.view = view
        self.limit = limit
        self.always = view.always.union(*map(view.log.exchanges.members, also))
        """Messages that stay from now on."""
        first, cost = view.log.exchanges.first, view.cost
        more = self.always - view.required
        self._more = [(first(index), cost(index)) for index in more]
        """Where messages begin that this window alone requires, and what they cost."""
        self.base = view.tail.base + sum(map(view.price, more))
        """The tokens of required messages."""
        self.starts = self._scan(earliest)
        self.stopped: int | None = None
        """The newest index at which a window would not fit; None if everything fits."""
        if len(self.starts) < len(view.tail.starts):
            self.stopped = view.tail.starts[len(self.starts)]

    def total(self, place: int) -> float:
        """Return the tokens sent if the window begins at one of the starts."""
        return self.base + self.view.tail.totals[place] - self._inside(place)

    def _scan(self, earliest: int) -> list[int]:
        """Return the starts that fit and are not before `earliest`."""
        tail, free, inside = self.view.tail, self.limit - self.base, 0.0
        starts, totals = tail.starts, tail.totals
        tail.extend(free, earliest)
        while self._more and inside != (inside := self._inside(-1)):
            tail.extend(free + inside, earliest)

        def is_over(place: int) -> bool:
            return totals[place] > free + self._inside(place)

        # From the first start that is over the limit if nothing stays inside, or is too early.
        over = bisect_right(totals, free)
        if inside:
            over = bisect_left(range(len(starts)), True, over, key=is_over)
        if starts and starts[-1] < earliest:
            over = min(over, bisect_right(starts, -earliest, key=neg))
        return starts[:over]

    def _inside(self, place: int) -> float:
        """Return the tokens of messages after a start that this window alone requires."""
        if not self._more:
            return 0.0
        start = self.view.tail.starts[place]
        return sum([cost for first, cost in self._more if first >= start])

    @property
    def start(self) -> int:
        """The earliest index from which everything fits; the last message if nothing does."""
        if self.stopped is None:
            return 0
        return self.starts[-1] if self.starts else self.view.last or 0

    def stepped_start(self, step: float, newest: int | None = None) -> int:
        """Return a start that stays the same as the history grows and leaves at most a step unused.

        Of the starts that send more than 1 − step of what could be sent, it is the one at the
        roundest index, or the next after it. Both ends of that range only move forward as messages
        arrive, so the start never moves back, and moves forward only if it must or if a rounder
        index is reached.

        Args:
            newest: an index from which on everything is sent, instead of a share of the most.
        """
        if self.stopped is None or not self.starts:
            return self.start
        last = len(self.starts) - 1
        if newest is None:
            enough = self._enough(step)
        else:
            enough = min(bisect_left(self.starts, -newest, key=neg), last)
        place = enough if enough == last else Growth(self).first_fitted(enough)
        before = self.stopped if place == last else self.starts[place + 1]
        round = roundest(before, self.starts[enough])
        return self.starts[bisect_right(self.starts, -round, enough, place + 1, key=neg) - 1]

    def _enough(self, step: float) -> int:
        """Return the place of the newest start that sends enough: more than 1 − step of the most.

        What stays before a start only for now does not count.
        """
        price = self.view.price
        passing = [(index, price(index)) for index in self.view.required - self.always]

        def lasting(place: int) -> float:
            start = self.starts[place]
            return self.total(place) - sum([cost for index, cost in passing if index < start])

        last = len(self.starts) - 1
        return bisect_right(range(last), (1 - step) * lasting(last), key=lasting)


class Growth:
    """What windows cost while the history grew: sums of which each is made once.

    Before the next question, the one before the window had to stay, and a late result required its
    distant call. Room that has become free since is not filled with older messages, because the
    prefix would change twice.
    """

    def __init__(self, room: Room) -> None:
        self.room, self.view, self.earliest = room, room.view, room.starts[-1]
        self._has_names = room.view.tail.has_names(self.earliest)
        self._required = Sums(self._alone, sorted(room.always))
        self._sums = [0.0]
        """The tokens of other messages from the earliest start on, as far as anyone has asked."""
        self._exchanges: dict[int, Sums] = {}

    def first_fitted(self, last: int) -> int:
        """Return the place of the earliest start that has always fitted, else `last`."""
        late = self.view.log.exchanges.late(self.earliest)
        barred = sorted(map(self._blocked_range, late), reverse=True)
        reached = 0
        for place in range(len(self.room.starts) - 1, last, -1):
            start = self.room.starts[place]
            while barred and barred[-1][0] <= start:
                reached = max(reached, barred.pop()[1])
            if reached <= start and self._is_answered(start):
                return place
        return last

    def _blocked_range(self, result: int) -> tuple[int, int]:
        """Return from where to where a window did not fit when a late result required its call."""
        members = self.view.log.exchanges.members(result)
        distant = self._exchanges.get(members[0])
        if distant is None:
            own = [index for index in members if index not in self.room.always]
            distant = self._exchanges[members[0]] = Sums(self._alone, own)
        first = max(self.earliest, members[0] + 1)

        def is_fitted(start: int) -> bool:
            return self._cost(start, result + 1) + distant.before(start) <= self.room.limit

        fitting = range(first, result + 1)
        return first, first + bisect_left(fitting, True, key=is_fitted)

    def _is_answered(self, start: int) -> bool:
        """Whether a window fitted until the next questions, with those before it."""
        plain, questions = self.view.log.plain, self.view.log.questions
        asked, newest = last_before(plain, start), last_before(questions, start)
        return self._fitted(start, first_from(questions, start), {asked, newest}) and self._fitted(
            start, first_from(plain, start), {asked}
        )

    def _fitted(self, start: int, stop: int | None, asked: set[int | None]) -> bool:
        """Whether a window fitted before a question came, with others that still had to stay."""
        if stop is None or stop == start:
            return True
        members = self.view.log.exchanges.members
        stayed = {one for index in asked if index is not None for one in members(index)}
        before = [self._alone(index) for index in stayed - self.room.always if index < start]
        return self._cost(start, stop) + sum(before) <= self.room.limit

    def _cost(self, start: int, stop: int) -> float:
        """Return the tokens of a window between two indexes, and of what stays before its end."""
        return self._required.before(stop) + self._others(stop) - self._others(start)

    def _others(self, stop: int) -> float:
        """Return the tokens of messages before an index that do not always stay."""
        sums, view, always = self._sums, self.view, self.room.always
        for index in range(self.earliest + len(sums) - 1, stop):
            is_other = view.is_countable(index) and index not in always
            more = view.cost(index) + self._name(index) if is_other else 0.0
            sums.append(sums[-1] + more)
        return sums[stop - self.earliest]

    def _alone(self, index: int) -> float:
        """Return what a message costs that stays apart from the window."""
        return self.view.price(index) + self._name(index)

    def _name(self, index: int) -> float:
        """Return what the speaker's name costs, if names are sent."""
        return self.view.name_tokens(index) if self._has_names else 0.0


class Sums:
    """The tokens of some messages, added up in their order."""

    def __init__(self, tokens: Callable[[int], float], indexes: Sequence[int]) -> None:
        self._indexes = indexes
        self._sums = [0.0, *accumulate(map(tokens, indexes))]

    def before(self, index: int) -> float:
        """Return the tokens of those before an index."""
        return self._sums[bisect_left(self._indexes, index)]
