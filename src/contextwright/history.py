"""A conversation as a window sees it: messages in order, each priced once, found without a scan."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable

from msgspec import Struct

from contextwright.exchanges import Answer
from contextwright.fading import Fades, Fading, has_results, media_in
from contextwright.groups import Groups
from contextwright.messages import Message, ToolResult
from contextwright.prices import (
    NOTHING,
    Forms,
    Price,
    Priced,
    Savings,
    chosen,
    faded_forms,
    savings_of,
)

__all__ = ["Fading", "History", "Seen", "Unread"]


class Unread(Struct, frozen=True):
    """Neighbours that are part of the history but were not read: a window can only drop them."""

    count: int
    hidden: tuple[int, ...]
    """The numbers of those among them that never reach a model, in order."""
    priced: Priced
    """What they cost together."""
    is_counted: bool = True
    """Whether that is known for all of them."""

    @property
    def counted(self) -> int:
        """How many of them limits in messages count."""
        return self.count - len(self.hidden)

    def hides(self, number: int) -> bool:
        """Whether one of them never reaches a model."""
        index = bisect_left(self.hidden, number)
        return self.hidden[index : index + 1] == (number,)


BLANK = Message("user")
"""Stands in the place of messages that were not read; it is never sent."""


class Seen(Struct, frozen=True):
    """The first `count` messages, as a request sent at that moment shows them."""

    count: int
    results: int
    """Results before this place have faded."""
    media: int
    """Media before this place have faded."""
    question: int | None
    """The newest words of a user."""
    asked: int | None
    """The newest message of a user that holds no results.

    Where it is another than the question, the words beside results may be a mere reminder.
    """


class History:
    """Messages that only ever grow in number, with the running total of what they cost.

    A window reads totals and looks up places; it never walks over old messages. Messages that are
    not public, and system messages with `skip_system`, are there but cost nothing and never stay.

    Of a long history only what a window may keep need be there: `skip` puts one place for all
    neighbours that were not read. A place counts what is there, a number what the history has.
    """

    def __init__(
        self,
        messages: Iterable[Message] = (),
        *,
        price: Price,
        fading: Fading | None = None,
        skip_system: bool = False,
    ) -> None:
        self.price = price
        self.fading = fading or Fading()
        self._fading_is_on = self.fading.is_on
        self.skip_system = skip_system
        self.messages: list[Message] = []
        self.hidden: list[int] = []
        """Places of what never reaches a model."""
        self.counted: list[int] = []
        """Places of what limits in messages count: all that is neither hidden nor system."""
        self.questions: list[int] = []
        """Places of users' words."""
        self.asked: list[int] = []
        """Those among them that stand beside no results."""
        self.always: list[int] = []
        """Places of system and pinned messages, and what belongs to them: no window drops them."""
        self.unread: dict[int, Unread] = {}
        """What was not read, by its place."""
        self.groups = Groups()
        self._numbers: list[int] = [0]
        """The number of each place, and of the next."""
        self._ends: list[int] = []
        """The counted places, save results that answer nothing: where a history can end."""
        self._totals: list[int] = [0]
        self._settled: list[int] = [0]
        self._always_totals: list[int] = [0]
        self._is_always: set[int] = set()
        self._faded: dict[int, Forms] = {}
        """What messages that can fade become."""
        self.fadeable: list[int] = []
        self._fades = Fades(self.fading)
        self._saved: list[Savings] = [NOTHING]
        self.extend(messages)

    def __len__(self) -> int:
        return len(self.messages)

    # --- growing -----------------------------------------------------------------------------

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages behind the others; each is priced here, and never again."""
        for message in messages:
            self.append(message)

    def append(self, message: Message, priced: Priced | None = None) -> None:
        """Add one message behind the others; `priced` where its price is known already."""
        place = len(self.messages)
        self.messages.append(message)
        self._numbers.append(self._numbers[-1] + 1)
        system = message.role == "system"
        if message.visibility != "public" or (system and self.skip_system):
            self.hidden.append(place)
            self._add_totals(0, 0 if system else self._settled_cost(message, priced))
            return
        cost = self.price(message) if priced is None else priced.cost
        if not system:
            self.counted.append(place)
        if is_question(message):
            self.questions.append(place)
            if not has_results(message):
                self.asked.append(place)
        called = self.groups.join(message, place)
        if not system and (called or any(type(part) is not ToolResult for part in message.parts)):
            self._ends.append(place)
        if system or message.pinned or self._answers_kept(called):
            self._keep(place)
        if self._fading_is_on:
            self._fade(message, place, cost, called, priced)
        else:
            self._add_totals(cost, cost)

    def skip(self, unread: Unread) -> None:
        """Leave a place for messages that were not read; until they are, they cost nothing.

        So a window that has room to spare asks for them. What must be read: system and pinned
        messages, the end of the history, from a message on that is no result without a call, the
        newest questions before that, and of every exchange all or nothing.
        """
        place = len(self.messages)
        self.messages.append(BLANK)
        self.unread[place] = unread
        self._numbers.append(self._numbers[-1] + unread.count)
        self._add_totals(0, self._settled_cost(BLANK, unread.priced))

    def _add_totals(self, cost: int, settled: int, saved: Savings = NOTHING) -> None:
        """Extend the running totals by one place."""
        self._totals.append(self._totals[-1] + cost)
        self._settled.append(self._settled[-1] + settled)
        if self._fading_is_on:
            self._saved.append(self._saved[-1] + saved if saved is not NOTHING else self._saved[-1])

    def _answers_kept(self, called: dict[int, Answer]) -> bool:
        """Whether a call that is answered belongs to what no window drops."""
        return any(answer.at[0] in self._is_always for answer in called.values())

    def _keep(self, place: int) -> None:
        """No window drops this message, nor what belongs to it."""
        group = self.groups.get(place)
        members = [place]
        if group is not None and not group.always:
            group.always = True
            members = [*group.members, place]
        for member in members:
            if member not in self._is_always:
                self._is_always.add(member)
                insort(self.always, member)
                del self._always_totals[bisect_left(self.always, member) + 1 :]

    def _fade(
        self,
        message: Message,
        place: int,
        cost: int,
        called: dict[int, Answer],
        priced: Priced | None,
    ) -> None:
        """Note what would be saved if this message faded."""
        self._fades.note(
            message,
            self._numbers[place],
            min((one.at[0] for one in called.values()), default=-1),
        )
        fading = self.fading
        bare = fading.results is not None and has_results(message)
        plain = fading.is_on_media and media_in(message) > 0
        if not (bare or plain):
            self._add_totals(cost, cost)
            return
        forms = faded_forms(message, bare, plain)
        savings = priced.savings if priced else savings_of(forms, cost, self.price)
        settled = cost - self._settled_savings(savings)
        if place in self._is_always:
            self._add_totals(cost, cost)
            return
        if bare and fading.spare:
            # Where the settled totals stand must not depend on what a recipe spares.
            names = {index: answer.call.name for index, answer in called.items()}
            forms = faded_forms(message, bare, plain, fading.spare, names)
            savings = savings_of(forms, cost, self.price)
        if savings != NOTHING:
            self._faded[place] = chosen(forms, savings)
            self.fadeable.append(place)
        self._add_totals(cost, settled, savings)

    def _settled_cost(self, message: Message, priced: Priced | None) -> int:
        """What a message that is not sent counts in the settled totals.

        Hiding one must not move the grid of those behind it.
        """
        priced = Priced.of(message, self.price) if priced is None else priced
        return priced.cost - self._settled_savings(priced.savings)

    def _settled_savings(self, savings: Savings) -> int:
        """What is saved in the end, when all has faded that ever will."""
        return savings.of(self.fading.results is not None, self.fading.is_on_media)

    # --- looking -----------------------------------------------------------------------------

    def seen(self, count: int | None = None) -> Seen:
        """The history as it is, or as it was when it had so many messages."""
        count = len(self) if count is None else count
        question, asked = last_before(self.questions, count), last_before(self.asked, count)
        results = media = 0
        if self._fading_is_on:
            lines = self._fades.lines(self._numbers[count])
            results, media = (bisect_left(self._numbers, line, hi=count) for line in lines)
        return Seen(count, results, media, question, asked)

    @property
    def size(self) -> int:
        """How many messages the history has, those not read among them."""
        return self._numbers[-1]

    @property
    def spoken(self) -> int:
        """How many of them limits in messages count."""
        return len(self.counted) + sum(unread.counted for unread in self.unread.values())

    def number(self, place: int) -> int:
        """Which message of the whole history stands at a place."""
        return self._numbers[place]

    def place(self, number: int) -> int:
        """Where a message of the whole history stands, or the neighbours not read around it."""
        return bisect_right(self._numbers, number) - 1

    def unsure(self) -> list[int]:
        """What has to be read before anyone can tell whether messages before it have faded."""
        last = max(self.unread, default=0)
        if not self.fadeable or self.fadeable[0] >= last:
            return []
        return [] if self._fades.is_sure(self._numbers[last + 1]) else [last]

    @property
    def question(self) -> int | None:
        """The place of the newest words of a user."""
        return self.questions[-1] if self.questions else None

    @property
    def total(self) -> int:
        """What all messages cost."""
        return self.before(len(self), self.seen())

    def before(self, place: int, seen: Seen) -> int:
        """What all messages before a place cost, the old ones faded."""
        cost = self._totals[place]
        if not self._fading_is_on:
            return cost
        cost -= self._saved_before(place, seen)
        for asked in {seen.question, seen.asked}:
            if asked is not None and asked < place:
                cost += self._saved_at(asked, seen)
        return cost

    def settled(self, place: int) -> int:
        """What all messages before a place cost once all of them have faded: it never changes."""
        return self._settled[place]

    def place_settled(self, tokens: int) -> int:
        """The first place before which at least so many settled tokens stand."""
        return bisect_left(self._settled, tokens, hi=len(self))

    def cost(self, place: int, seen: Seen) -> int:
        """What the message at a place costs, faded if it is that old."""
        cost = self._totals[place + 1] - self._totals[place]
        asked = place == seen.question or place == seen.asked
        return cost if asked else cost - self._saved_at(place, seen)

    def at(self, place: int, seen: Seen | None = None) -> Message:
        """The message at a place, faded if it is that old."""
        if not self._faded:
            return self.messages[place]
        return self.faded(place, seen or self.seen()) or self.messages[place]

    def faded(self, place: int, seen: Seen) -> Message | None:
        """What a message has become; None while it is as it was."""
        forms = self._faded.get(place)
        if forms is None or place == seen.question or place == seen.asked:
            return None
        bare, plain, both = forms
        if place < seen.results and place < seen.media:
            return both
        return bare if place < seen.results else plain if place < seen.media else None

    def always_before(self, place: int) -> int:
        """What the messages before a place cost that no window drops, whatever else it keeps."""
        index = bisect_left(self.always, place)
        totals = self._always_totals
        for member in self.always[len(totals) - 1 : index]:
            totals.append(totals[-1] + self._totals[member + 1] - self._totals[member])
        return totals[index]

    def must(self, seen: Seen) -> list[int]:
        """What stays besides: the newest question, the last message, the exchange it ends."""
        places: set[int] = set()
        last, end = last_before(self.counted, seen.count), last_before(self._ends, seen.count)
        for place in (seen.question, seen.asked, last, end):
            if place is not None:
                places.update(self.groups.with_all(place))
        return sorted(places - self._is_always)

    def is_hidden(self, place: int) -> bool:
        """Whether a message never reaches a model."""
        index = bisect_left(self.hidden, place)
        return index < len(self.hidden) and self.hidden[index] == place

    def turning_points(self, start: int) -> list[int]:
        """Lengths beyond a start at which less may have fitted than now.

        The next question sets the last one free, whatever follows a late result sets its distant
        call free, and each step of fading sets free what it saves.
        """
        points: set[int] = set()
        seen = self.seen()
        line = max(seen.results, seen.media)
        faded = self.fadeable[bisect_left(self.fadeable, start) : bisect_left(self.fadeable, line)]
        for places in (self.questions, self.asked):
            index = bisect_right(places, start)
            points.update(places[index : index + 1])
            # A question fades only when the next one has come.
            for place in faded:
                following = bisect_right(places, place)
                if following and places[following - 1] == place:
                    points.update(places[following : following + 1])
        grouped = self.groups.places
        for place in grouped[bisect_left(grouped, start) :]:
            if self.groups.with_all(place)[0] < start:
                following = bisect_right(self.questions, place)
                points.update((place + 1, *self.questions[following : following + 1]))
        if line:
            points.update(map(self.place, self._fades.moves(self._numbers[start])))
        return sorted(point for point in points if start < point < len(self))

    def _saved_before(self, place: int, seen: Seen) -> int:
        """What fading saves before a place."""
        results, media = min(place, seen.results), min(place, seen.media)
        both, saved = min(results, media), self._saved
        return (
            saved[both].both
            + (saved[results].results - saved[both].results)
            + (saved[media].media - saved[both].media)
        )

    def _saved_at(self, place: int, seen: Seen) -> int:
        """What fading saves at one place."""
        if place not in self._faded:
            return 0
        return self._saved_before(place + 1, seen) - self._saved_before(place, seen)


def last_before(places: list[int], count: int) -> int | None:
    """The last of some places that is less than a count."""
    index = bisect_left(places, count)
    return places[index - 1] if index else None


def is_question(message: Message) -> bool:
    """Whether these are words of a user, and not only what a tool said."""
    return (
        message.role == "user"
        and message.kind == "message"
        and any(type(part) is not ToolResult for part in message.parts)
    )
