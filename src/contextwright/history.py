"""A conversation as a window sees it: messages in order, each priced once, found without a scan."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable
from typing import TypeAlias

from msgspec import Struct

from contextwright.exchanges import Answer
from contextwright.fading import (
    Fades,
    Fading,
    has_results,
    media_in,
    without_media,
    without_results,
)
from contextwright.groups import Groups
from contextwright.messages import Message, ToolResult

__all__ = ["Fading", "History", "Price", "Seen"]

Price: TypeAlias = Callable[[Message], int]
"""What a message costs in the request it goes into."""


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
        self.groups = Groups()
        self._ends: list[int] = []
        """The counted places, save results that answer nothing: where a history can end."""
        self._totals: list[int] = [0]
        self._always_totals: list[int] = [0]
        self._is_always: set[int] = set()
        self._faded: dict[int, tuple[Message | None, Message | None, Message | None]] = {}
        """Messages that can fade: without results, without media, without both."""
        self.fadeable: list[int] = []
        self._fades = Fades(self.fading)
        self.extend(messages)

    def __len__(self) -> int:
        return len(self.messages)

    # --- growing -----------------------------------------------------------------------------

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages behind the others; each is priced here, and never again."""
        for message in messages:
            self.append(message)

    def append(self, message: Message) -> None:
        """Add one message behind the others."""
        place = len(self.messages)
        self.messages.append(message)
        system = message.role == "system"
        if message.visibility != "public" or (system and self.skip_system):
            self.hidden.append(place)
            self._totals.append(self._totals[-1])
            self._fades.save(0, 0, None)
            return
        cost = self.price(message)
        self._totals.append(self._totals[-1] + cost)
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
        self._fade(message, place, cost, called)

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

    def _fade(self, message: Message, place: int, cost: int, called: dict[int, Answer]) -> None:
        """Note what would be saved if this message faded."""
        fading, fades = self.fading, self._fades
        if not self._fading_is_on:
            return
        fades.note(message, place, min((one.at[0] for one in called.values()), default=-1))
        bare = plain = both = None
        if place not in self._is_always:
            if fading.results is not None and has_results(message):
                names = {index: answer.call.name for index, answer in called.items()}
                bare = self._cheaper(without_results(message, fading.spare, names), cost)
            if fading.is_on_media and media_in(message):
                plain = self._cheaper(without_media(message), cost)
        if bare and plain:
            # A stub can be longer than the words beside a picture: the cheapest form wins.
            shortest = without_media(bare[0])
            both = max((shortest, cost - self.price(shortest)), bare, plain, key=saved_by)
        fades.save(bare[1] if bare else 0, plain[1] if plain else 0, both[1] if both else None)
        if bare or plain:
            self._faded[place] = (form_of(bare), form_of(plain), form_of(both))
            self.fadeable.append(place)

    def _cheaper(self, form: Message, cost: int) -> tuple[Message, int] | None:
        """A form of a message and what it saves; None if it saves nothing."""
        saved = cost - self.price(form)
        return (form, saved) if saved > 0 else None

    # --- looking -----------------------------------------------------------------------------

    def seen(self, count: int | None = None) -> Seen:
        """The history as it is, or as it was when it had so many messages."""
        count = len(self) if count is None else count
        question, asked = last_before(self.questions, count), last_before(self.asked, count)
        results, media = self._fades.reach(count) if self._fading_is_on else (0, 0)
        return Seen(count, results, media, question, asked)

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
        cost -= self._fades.saved_before(min(place, seen.results), min(place, seen.media))
        for asked in {seen.question, seen.asked}:
            if asked is not None and asked < place:
                cost += self._saved_at(asked, seen)
        return cost

    def settled(self, place: int) -> int:
        """What all messages before a place cost once all of them have faded: it never changes."""
        cost = self._totals[place]
        return cost - self._fades.saved_before(place, place) if self._fading_is_on else cost

    def place_settled(self, tokens: int) -> int:
        """The first place before which at least so many settled tokens stand."""
        return bisect_left(range(len(self)), tokens, key=self.settled)

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
            return both or bare or plain
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
        for places in (self.questions, self.asked):
            index = bisect_right(places, start)
            points.update(places[index:] if self._fading_is_on else places[index : index + 1])
        grouped = self.groups.places
        for place in grouped[bisect_left(grouped, start) :]:
            if self.groups.with_all(place)[0] < start:
                following = bisect_right(self.questions, place)
                points.update((place + 1, *self.questions[following : following + 1]))
        if self._fading_is_on:
            points |= self._fades.moves(start)
        return sorted(point for point in points if start < point < len(self))

    def tail(self) -> int:
        """Where the unfinished end begins: the last calls whose results close the history."""
        group = self.groups.get(self._ends[-1]) if self._ends else None
        return group.members[0] if group and group.members[-1] == self._ends[-1] else len(self)

    def _saved_at(self, place: int, seen: Seen) -> int:
        """What fading saves at one place."""
        if place not in self._faded:
            return 0
        results, media = min(place, seen.results), min(place, seen.media)
        behind = self._fades.saved_before(min(place + 1, seen.results), min(place + 1, seen.media))
        return behind - self._fades.saved_before(results, media)


def saved_by(saving: tuple[Message, int]) -> int:
    """What a form of a message saves."""
    return saving[1]


def form_of(saving: tuple[Message, int] | None) -> Message | None:
    """The form of a message that saves something."""
    return saving[0] if saving else None


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
