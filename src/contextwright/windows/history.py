"""The prices of a log's messages, and their form in a request sent now."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeAlias

from contextwright.messages.message import Message
from contextwright.windows.clearing import Clearing, without_media, without_results
from contextwright.windows.log import Log, Unloaded, media_in

__all__ = ["MEDIA", "History", "Price", "View"]

Price: TypeAlias = Callable[[Message], float]
"""The price of a message in its request."""
Shape: TypeAlias = Callable[[Message], Message]

RESULTS, MEDIA, SHAPED = 1, 2, 4
"""What a form of a message lacks: its results, its media, what a cut request may not hold."""


class History:
    """A log and the prices of its messages, each counted once, when a window asks for it.

    `shape` returns a message as sent in a request that does not hold all messages.
    """

    def __init__(
        self,
        messages: Iterable[Message] | Log = (),
        *,
        price: Price,
        clearing: Clearing | None = None,
        skip_system: bool = False,
        shape: Shape | None = None,
    ) -> None:
        self.log = messages if isinstance(messages, Log) else Log(messages)
        self.price = price
        self.clearing = clearing or Clearing()
        self.skip_system = skip_system
        """Whether system messages of the log are left out."""
        self.shape = shape
        self._costs: dict[int, float] = {}
        self._forms: dict[int, Message] = {}

    def __len__(self) -> int:
        return len(self.log)

    def append(self, message: Message) -> None:
        """Add one message at the end."""
        self.log.extend((message,))

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages at the end."""
        self.log.extend(messages)

    def read_from(self, log: Log) -> None:
        """Continue with another log of the same messages that has more of them loaded."""
        self.log = log
        self._forms.clear()

    def view(self, *, width: int = 1, whole: bool = True) -> View:
        """Return the history as sent in a request now.

        `width` is the length of a full request on the ruler; stepped windows move by shares of it.
        A request that is not `whole` sends messages in their `shape`.
        """
        return View(self, width, whole)

    def form(self, index: int, form: int) -> Message:
        """Return a message in one of its forms."""
        if not form:
            return self.log[index]
        key = index << 3 | form
        message = self._forms.get(key)
        if message is None:
            message = self.log[index]
            if form & RESULTS:
                names = self.log.exchanges.tool_names(index)
                message = without_results(message, self.clearing.spare, names)
            if form & MEDIA:
                message = without_media(message)
            if form & SHAPED and self.shape is not None:
                message = self.shape(message)
            self._forms[key] = message
        return message

    def cost(self, index: int, form: int) -> float:
        """Return the price of a message in one of its forms."""
        key = index << 3 | form
        cost = self._costs.get(key)
        if cost is None:
            message, plain = self.form(index, form), form & ~SHAPED
            is_same = form != plain and message is self.form(index, plain)
            cost = self.cost(index, plain) if is_same else self.price(message)
            self._costs[key] = cost
        return cost


class View:
    """A history at one moment: which messages must stay, what is cleared, what each costs."""

    def __init__(self, history: History, width: int, whole: bool) -> None:
        self.history = history
        self.log = history.log
        self.count = len(history.log)
        """The number of messages in the history, loaded or not."""
        self.width = width
        self.whole = whole
        self.question = last_before(self.log.questions, self.count)
        """The newest user text."""
        self.asked = last_before(self.log.plain, self.count)
        """The newest user message without results; text next to results may be a reminder."""
        clearing = history.clearing
        self._results = self._line(self.log.results, clearing.results)
        self._media = max(self._line(self.log.pictured, clearing.media), self._media_cap())
        self.cleared_until = max(self._results, self._media)
        """Where clearing ends on the ruler: messages that begin before it lost results or media."""

    # --- clearing ----------------------------------------------------------------------------

    @cached_property
    def cleared_before(self) -> int:
        """Where clearing ended before its last step: the previous request is equal up to here."""
        begins, results = self.log.results, self.history.clearing.results
        if results is None:
            return 0
        for count in range(len(begins) - 1, 0, -1):
            line = self._line(begins, results, count)
            if line < self._results:
                return line
        return 0

    def form(self, index: int) -> int:
        """Return the form in which a message is sent."""
        form = 0 if self.whole else SHAPED
        if self.cleared_until:
            begin = self.log.begin(index)
            if begin < self.cleared_until and not self._is_exempt(index):
                form |= RESULTS * (begin < self._results) | MEDIA * (begin < self._media)
        return form

    def message(self, index: int) -> Message:
        """Return a message as it is sent: cleared if it is old enough."""
        return self.history.form(index, self.form(index) & ~SHAPED)

    def is_cleared(self, index: int) -> bool:
        """Whether a message has lost results or media."""
        return bool(self.cleared_until) and self.message(index) is not self.log[index]

    def cost(self, index: int) -> float:
        """Return the price of a message as it is sent."""
        return self.history.cost(index, self.form(index))

    def _is_exempt(self, index: int) -> bool:
        """Whether a message is never cleared."""
        return index in (self.question, self.asked) or index in self.always

    def _line(self, indexes: list[int], kept: int | None, count: int | None = None) -> int:
        """Return where clearing ends on the ruler, so that the newest `kept` messages stay whole.

        With `count`, return where it ended when there were `count` messages. Of the positions that
        leave at most a step more than `kept`, it is the one after the coarsest line of the ruler,
        which stays the same for longest.
        """
        if kept is None:
            return 0
        least = max(kept, 1)
        most = int(least * (1 + self.history.clearing.step))
        count = len(indexes) if count is None else count
        self._require_loaded(indexes, len(indexes) - count + most + 1)
        if count <= most:
            return 0
        return self._steadiest(indexes, count - most, count - least)

    def _media_cap(self) -> int:
        """Return where clearing of media ends on the ruler, so that at most `most_media` are left.

        Clears more than necessary, down to three quarters of the limit, if the line then stays the
        same for longer.
        """
        most, pictured = self.history.clearing.most_media, self.log.pictured
        if most is None or not pictured:
            return 0
        most = max(most, 1)
        fitting = spared = len(pictured)
        left = 0
        while fitting:
            left += media_in(self.log[pictured[fitting - 1]])
            if left > most:
                break
            fitting -= 1
            spared = fitting if left <= most * 3 // 4 else spared
        self._require_loaded(pictured, len(pictured) - fitting + 1)
        if not fitting:
            return 0
        ends = [index + 1 for index in pictured]
        return self._steadiest(ends, fitting - 1, max(spared, fitting) - 1)

    def _steadiest(self, indexes: list[int], first: int, last: int) -> int:
        """Return where the index that stays the same for longest begins on the ruler.

        It is the one after the coarsest line: see `coarseness`.
        """
        begins = [self.log.begin(index) for index in indexes[max(first - 1, 0) : last + 1]]
        before = begins if first else [0, *begins]
        after = before[1:]
        ranks = [coarseness(*pair, 1) for pair in zip(before, after, strict=False)]
        return after[ranks.index(max(ranks))]

    def _require_loaded(self, indexes: list[int], count: int) -> None:
        """Raise `Unloaded` if messages that are not loaded could be among the newest few."""
        start = self.log.start
        if start and indexes and indexes[0] < start:
            if len(indexes) - bisect_left(indexes, start) < count:
                raise Unloaded(start - 1)

    # --- what must stay ----------------------------------------------------------------------

    @cached_property
    def always(self) -> set[int]:
        """System and pinned messages with their exchanges, which no window drops."""
        system = () if self.history.skip_system else self.log.system
        found: set[int] = set()
        for index in (*system, *self.log.pinned):
            found.update(self.log.exchanges.members(index))
        return found

    @cached_property
    def required(self) -> set[int]:
        """Messages that must stay now: `always`, the newest question and an open exchange."""
        found = set(self.always)
        for index in {self.question, self.asked, self.last, self._end()} - {None}:
            found.update(self.log.exchanges.members(index or 0))
        return found

    @cached_property
    def last(self) -> int | None:
        """The last message that anyone sent."""
        for index in range(self.count - 1, -1, -1):
            if self.is_countable(index):
                return index
        return None

    def _end(self) -> int | None:
        """Return the last message that is more than orphaned results."""
        for index in range(self.count - 1, -1, -1):
            if self.is_countable(index) and not self.is_stray(index):
                return index
        return None

    def is_stray(self, index: int) -> bool:
        """Whether a message holds only results whose calls are missing."""
        return index not in self.log.exchanges and self.log[index].only_results

    def is_countable(self, index: int) -> bool:
        """Whether a message counts towards limits in messages: neither hidden nor system."""
        log = self.log
        return not (log.hidden and log.is_hidden(index)) and log[index].role != "system"

    @property
    def spoken(self) -> int:
        """The number of countable messages in the history, loaded or not."""
        return self.count - len(self.log.hidden) - len(self.log.system)

    def newest(self, messages: int) -> int:
        """Return the index from which there are `messages` countable messages."""
        for index in range(self.count - 1, -1, -1):
            if messages <= 0:
                return index + 1
            messages -= self.is_countable(index)
        return 0

    def first(self, messages: int) -> list[int]:
        """Return the indexes of the first countable messages."""
        found: list[int] = []
        for index in range(self.count):
            if len(found) == messages:
                break
            if self.is_countable(index):
                found.append(index)
        return found


def last_before(indexes: list[int], count: int) -> int | None:
    """Return the last of the sorted indexes below `count`."""
    place = bisect_left(indexes, count)
    return indexes[place - 1] if place else None


def first_from(indexes: list[int], index: int) -> int | None:
    """Return the first of the sorted indexes that is at least `index`."""
    place = bisect_right(indexes, index - 1)
    return indexes[place] if place < len(indexes) else None


FINEST = 12
"""The finest line of the ruler is this power of two narrower than the grid."""


def coarseness(begin: int, end: int, grid: int) -> int:
    """Return how coarse a line of the ruler between two lengths is.

    Lines are the multiples of the grid, of its halves, quarters and so on, and of its doubles.
    Between two lines of one coarseness is a coarser one, so any range has one coarsest line.
    """
    return ((begin << FINEST) // grid ^ (end << FINEST) // grid).bit_length()
