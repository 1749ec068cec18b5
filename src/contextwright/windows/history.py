"""The prices of a log's messages, and their form in a request sent now."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import TypeAlias

from contextwright.messages.message import Message, Role
from contextwright.messages.parts import ToolResult
from contextwright.windows.clearing import Clearing, without_media, without_results
from contextwright.windows.clearing_lines import ClearingLines
from contextwright.windows.labels import Label, Labels
from contextwright.windows.log import Log, Unloaded, media_in
from contextwright.windows.tail import Tail

__all__ = ["MEDIA", "History", "Price", "View"]

Price: TypeAlias = Callable[[Message], float]
"""The price of a message in its request."""
Shape: TypeAlias = Callable[[Message], Message]
Wrapping: TypeAlias = Callable[[Role, Role], float]
"""The tokens around a turn that two adjacent messages of these roles share."""

RESULTS, MEDIA, SHAPED = 1, 2, 4
"""What a form of a message lacks: its results, its media, what a cut request may not hold."""


class History:
    """A log and the prices of its messages, each counted once, when a window asks for it.

    `shape` returns a message with thinking as sent in a request that does not hold all messages.
    """

    def __init__(
        self,
        messages: Iterable[Message] | Log = (),
        *,
        price: Price,
        clearing: Clearing | None = None,
        skip_system: bool = False,
        skip_orphans: bool = False,
        shape: Shape | None = None,
        wrapping: Wrapping | None = None,
        label: Label | None = None,
    ) -> None:
        self.log = messages if isinstance(messages, Log) else Log(messages)
        self.price = price
        self.clearing = clearing or Clearing()
        self.skip_system = skip_system
        """Whether system messages of the log are left out."""
        self.skip_orphans = skip_orphans
        """Whether results that answer no call cost nothing, because they are not sent."""
        self.shape = shape
        self.wrapping = wrapping
        self.label = label
        self.prices = [Prices(self._counted, form) for form in range(8)]
        """The prices of messages in each of their forms."""
        self._forms: dict[int, Message] = {}
        self._savings: dict[int, float] = {}

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
        self._savings.clear()

    def view(self, *, whole: bool = True) -> View:
        """Return the history as sent in a request now.

        A request that is not `whole` sends messages in their `shape`.
        """
        return View(self, whole)

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

    def following(self, index: int) -> int:
        """Return the index of the next message that may be sent; the length if there is none."""
        following = index + 1
        while self.log.hidden and self.log.is_hidden(following):
            following += 1
        return following

    def saving(self, index: int) -> float:
        """Return how much a message costs less than alone, as the next one continues its turn."""
        found = self._savings.get(index)
        if found is None:
            following = self.following(index)
            if self.wrapping is None or following not in self.log:
                return 0.0
            found = self.wrapping(self.log[index].role, self.log[following].role)
            self._savings[index] = found
        return found

    def _counted(self, index: int, form: int) -> float:
        """Count a message in one of its forms."""
        message, plain = self.form(index, form), form & ~SHAPED
        if form != plain and message is self.form(index, plain):
            return self.prices[plain][index]
        if self.skip_orphans and message.results:
            answered = self.log.exchanges.tool_names(index)
            if len(answered) < len(message.results):
                sent = [
                    part
                    for place, part in enumerate(message.parts)
                    if type(part) is not ToolResult or place in answered
                ]
                return self.price(message.with_parts(sent)) if sent else 0.0
        return self.price(message)


class Prices(dict[int, float]):
    """The prices of messages in one form, by their index; counted when first asked for."""

    def __init__(self, count: Callable[[int, int], float], form: int) -> None:
        self._count, self._form = count, form

    def __missing__(self, index: int) -> float:
        price = self[index] = self._count(index, self._form)
        return price


class View:
    """A history at one moment: which messages must stay, what is cleared, what each costs."""

    def __init__(self, history: History, whole: bool) -> None:
        self.history = history
        self.log = history.log
        self.count = len(history.log)
        """The number of messages in the history, loaded or not."""
        self.whole = whole
        self.label = history.label
        self.question = self.log.questions[-1] if self.log.questions else None
        """The newest user text."""
        self.asked = self.log.plain[-1] if self.log.plain else None
        """The newest user message without results; text next to results may be a reminder."""
        self.lines = ClearingLines(self.log, history.clearing, lambda: self.always)
        self.intact = self.lines.end
        """The index from which nothing is cleared."""
        self._form = SHAPED if not whole and self.log.has_thinking else 0
        self._prices = history.prices[self._form]

    # --- clearing ----------------------------------------------------------------------------

    def form(self, index: int) -> int:
        """Return the form in which a message is sent."""
        if index >= self.intact or index in self._exempt:
            return self._form
        lines = self.lines
        return self._form | RESULTS * (index < lines.results) | MEDIA * (index < lines.media)

    def message(self, index: int) -> Message:
        """Return a message as it is sent: cleared if it is old enough."""
        if index >= self.intact:
            return self.log[index]
        return self.history.form(index, self.form(index) & ~SHAPED)

    def messages(self, indexes: range) -> Iterable[Message]:
        """Return messages as they are sent."""
        if indexes.start >= max(self.intact, self.log.start):
            return self.log.messages[indexes.start - self.log.start : indexes.stop - self.log.start]
        return map(self.message, indexes)

    def is_cleared(self, index: int) -> bool:
        """Whether a message has lost results or media."""
        return index < self.intact and self.message(index) is not self.log[index]

    def price(self, index: int) -> float:
        """Return the price of a message as it is sent, in a turn of its own."""
        if index in self._over_cap:
            message = self.history.form(index, self._form)
            return self.history.price(without_media(message, self._over_cap[index]))
        if index < self.intact:
            return self.history.prices[self.form(index)][index]
        return self._prices[index]

    def cost(self, index: int) -> float:
        """Return the price of a message as it is sent, before the message that follows it."""
        return self.price(index) - self.history.saving(index)

    @property
    def cost_of(self) -> Callable[[int], float]:
        """The same as `cost`, faster where nothing is cleared and no turns merge."""
        if self.intact or self.history.wrapping is not None:
            return self.cost
        return self._prices.__getitem__

    def name_tokens(self, index: int) -> float:
        """Return the price of the speaker's name before a message."""
        found = self.label(self.log[index]) if self.label else None
        return found[1] if found else 0.0

    def together(self, indexes: Collection[int]) -> float:
        """Return the price of messages as they are sent together, without speakers' names.

        Those that are followed by one which is not among them have a turn of their own.
        """
        price, following = self.price, self.history.following
        if self.history.wrapping is None:
            return sum(map(price, indexes))
        return sum(
            self.cost(index) if following(index) in indexes else price(index) for index in indexes
        )

    def spent(self, indexes: Iterable[int]) -> float:
        """Return the price of messages as they are sent together."""
        sent = set(indexes)
        names = sum(map(Labels(self.log, self.label).add, sent)) if self.label else 0.0
        return self.together(sent) + names

    @cached_property
    def _over_cap(self) -> dict[int, int]:
        """How many media a message loses that is never cleared, because such messages alone have
        more than one request may hold; the newest keep theirs.
        """
        most, media = self.history.clearing.most_media, self.log.media
        if most is None or not media:
            return {}
        over: dict[int, int] = {}
        pictured = sorted([index for index in self._exempt if index in media], reverse=True)
        left = max(most, 1)
        if sum(media_in(self.log[index]) for index in pictured if index in self.always) >= left:
            # Others have one all the same.
            others = (index for index in reversed(self.log.pictured) if index not in self._exempt)
            other = next(others, -1)
            if self.log.start and other < self.log.start:
                raise Unloaded(self.log.start - 1)
            if other >= self.lines.media:
                left -= 1
        for index in pictured:
            count = media_in(self.log[index])
            if count > left:
                over[index] = count - left
            left = max(left - count, 0)
        return over

    @cached_property
    def _exempt(self) -> set[int]:
        """Messages that are never cleared."""
        asked = {index for index in (self.question, self.asked) if index is not None}
        return self.always | asked

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
        for index in {self.question, self.asked, self.last, self._end()}:
            if index is not None:
                found.update(self.log.exchanges.members(index))
        return found

    @cached_property
    def tail(self) -> Tail:
        """The history from its newest message back, with what it costs from each start on."""
        base = self.together(self.required)
        return Tail(self.log, self.required, self.cost_of, base, self.label)

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

    def torn(self, inside: set[int]) -> set[int]:
        """Return those of some messages whose exchange is not whole among them, nor required."""
        exchanges = self.log.exchanges
        found = exchanges.among(inside) - self.required
        return {index for index in found if not inside.issuperset(exchanges.by_index[index])}

    def is_stray(self, index: int) -> bool:
        """Whether a message holds only results whose calls are missing."""
        return index not in self.log.exchanges and self.log[index].only_results

    def is_countable(self, index: int) -> bool:
        """Whether a message counts towards limits in messages: neither hidden nor system."""
        return index not in self.log.silent

    @property
    def spoken(self) -> int:
        """The number of countable messages in the history, loaded or not."""
        return self.count - len(self.log.silent)

    def countable(self, start: int, stop: int) -> int:
        """Return the number of countable messages in a range."""
        count = stop - start
        for silent in (self.log.hidden, self.log.system):
            if silent:
                count -= bisect_left(silent, stop) - bisect_left(silent, start)
        return count

    def newest(self, messages: int) -> int:
        """Return the index from which there are `messages` countable messages."""
        index = self.count
        while index and (missing := messages - self.countable(index, self.count)) > 0:
            index = max(index - missing, 0)
        if index < self.log.start:
            raise Unloaded(index)
        return index

    def first(self, messages: int) -> list[int]:
        """Return the indexes of the first countable messages."""
        found: list[int] = []
        for index in range(self.count):
            if len(found) == messages:
                break
            if self.is_countable(index):
                found.append(index)
        return found
