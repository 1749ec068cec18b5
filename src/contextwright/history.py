"""A conversation as a window sees it: messages in order, each priced once, found without a scan."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable
from typing import TypeAlias

from msgspec import Struct

from contextwright.exchanges import Answer, Waiting
from contextwright.fading import (
    Fading,
    boundary,
    cap_boundary,
    has_results,
    media_in,
    without_media,
    without_results,
)
from contextwright.messages import Message, ToolCall, ToolResult

__all__ = ["Fading", "Group", "History", "Price", "Seen"]

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


class Group(Struct):
    """Messages that live or die together: calls, and the results that answer them."""

    members: list[int]
    """Their places, in order."""
    always: bool = False
    """One of them is pinned, so all of them stay."""


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
        self.groups: dict[int, Group] = {}
        self.grouped: list[int] = []
        """Places that belong to a group."""
        self._ends: list[int] = []
        """The counted places, save results that answer nothing: where a history can end."""
        self._waiting = Waiting()
        self._totals: list[int] = [0]
        self._always_totals: list[int] = [0]
        self._is_always: set[int] = set()
        self._faded: dict[int, tuple[Message | None, Message | None, Message | None]] = {}
        """Messages that can fade: without results, without media, without both."""
        self.fadeable: list[int] = []
        self._saved_results: list[int] = [0]
        self._saved_media: list[int] = [0]
        self._saved_twice: list[int] = [0]
        """What both savings count, so that a message without both is not priced too low."""
        self._exchanges: list[int] = []
        """Where the results of each exchange begin."""
        self._with_media: list[int] = []
        self._media: list[int] = []
        """The place of every single piece of media."""
        self._last_asked: tuple[int, int] = (-1, -1)
        """The calls that the newest exchange, and the newest with media, answered."""
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
            self._save(0, 0, 0)
            return
        cost = self.price(message)
        self._totals.append(self._totals[-1] + cost)
        if not system:
            self.counted.append(place)
        if is_question(message):
            self.questions.append(place)
            if not has_results(message):
                self.asked.append(place)
        called = self._join(message, place)
        if not system and (called or any(type(part) is not ToolResult for part in message.parts)):
            self._ends.append(place)
        group = self.groups.get(place)
        if system or message.pinned or (group is not None and group.always):
            self._keep(place)
        self._fade(message, place, cost, called)

    def _join(self, message: Message, place: int) -> dict[int, Answer]:
        """Put results into one group with their calls; which part answers which call."""
        called: dict[int, Answer] = {}
        for index, part in enumerate(message.parts):
            if type(part) is ToolCall and message.role == "assistant":
                self._waiting.add(Answer(part, (place, index)))
            elif type(part) is ToolResult:
                answer = self._waiting.take(part)
                if answer is not None:
                    answer.result = part
                    called[index] = answer
                    if answer.at[0] != place:
                        self._link(answer.at[0], place)
        return called

    def _link(self, call: int, result: int) -> None:
        """One group for a call, its result, and all that belongs to either."""
        calling, answering = self.groups.get(call), self.groups.get(result)
        if calling is not None and calling is answering:
            return
        always = call in self._is_always or (answering is not None and answering.always)
        if calling is None:
            insort(self.grouped, call)
        if answering is None:
            self.grouped.append(result)
        if calling is not None and answering is None:
            calling.members.append(result)
            self.groups[result] = calling
            return
        before = calling.members if calling else [call]
        group = Group(sorted({*before, *(answering.members if answering else [result])}))
        for member in group.members:
            self.groups[member] = group
        if always:
            self._keep(call)

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
        fading = self.fading
        if not fading.is_on:
            return
        media = media_in(message)
        asked = min((answer.at[0] for answer in called.values()), default=-1)
        self._count_newest(message, place, asked, media)
        bare = plain = both = None
        saved_bare = saved_plain = saved_both = 0
        if place not in self._is_always:
            if fading.results is not None and has_results(message):
                names = {index: answer.call.name for index, answer in called.items()}
                bare = without_results(message, fading.spare, names)
                saved_bare = cost - self.price(bare)
            if media and not (fading.media is None and fading.most_media is None):
                plain = without_media(message)
                saved_plain = cost - self.price(plain)
        bare = bare if saved_bare > 0 else None
        plain = plain if saved_plain > 0 else None
        if bare is not None and plain is not None:
            both = without_media(bare)
            saved_both = cost - self.price(both)
        saved_bare, saved_plain = max(saved_bare, 0), max(saved_plain, 0)
        twice = saved_bare + saved_plain - saved_both if both is not None else 0
        self._save(saved_bare, saved_plain, twice)
        if bare is not None or plain is not None:
            self._faded[place] = (bare, plain, both)
            self.fadeable.append(place)

    def _count_newest(self, message: Message, place: int, asked: int, media: int) -> None:
        """Count exchanges and media; the parallel results of one message's calls count as one."""
        results, pictures = self._last_asked
        if has_results(message) and (asked < 0 or asked != results):
            self._exchanges.append(place)
            results = asked
        if media:
            self._media.extend([place] * media)
            if asked < 0 or asked != pictures:
                self._with_media.append(place)
                pictures = asked
        self._last_asked = (results, pictures)

    def _save(self, results: int, media: int, twice: int) -> None:
        """Extend the running totals of what fading saves."""
        if self.fading.is_on:
            self._saved_results.append(self._saved_results[-1] + results)
            self._saved_media.append(self._saved_media[-1] + media)
            self._saved_twice.append(self._saved_twice[-1] + twice)

    # --- looking -----------------------------------------------------------------------------

    def seen(self, count: int | None = None) -> Seen:
        """The history as it is, or as it was when it had so many messages."""
        count = len(self) if count is None else count
        question, asked = last_before(self.questions, count), last_before(self.asked, count)
        fading = self.fading
        if not fading.is_on:
            return Seen(count, 0, 0, question, asked)
        step = fading.step
        exchanges = bisect_left(self._exchanges, count)
        pictured = bisect_left(self._with_media, count)
        results = boundary(self._exchanges, exchanges, fading.results, step)
        media = boundary(self._with_media, pictured, fading.media, step)
        pieces = bisect_left(self._media, count)
        most = cap_boundary(self._media, pieces, fading.most_media, step)
        return Seen(count, results, max(media, most), question, asked)

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
        if not self.fading.is_on:
            return cost
        cost -= self._saved_before(min(place, seen.results), min(place, seen.media))
        for asked in {seen.question, seen.asked}:
            if asked is not None and asked < place:
                cost += self._saved_at(asked, seen)
        return cost

    def settled(self, place: int) -> int:
        """What all messages before a place cost once all of them have faded: it never changes."""
        cost = self._totals[place]
        return cost - self._saved_before(place, place) if self.fading.is_on else cost

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
        """What stays besides: the newest question, and the unfinished exchange at the end."""
        places: set[int] = set()
        for place in (seen.question, seen.asked, last_before(self._ends, seen.count)):
            if place is not None:
                group = self.groups.get(place)
                places.update(group.members if group else (place,))
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
            points.update(places[index:] if self.fading.is_on else places[index : index + 1])
        for place in self.grouped[bisect_left(self.grouped, start) :]:
            if self.groups[place].members[0] < start:
                following = bisect_right(self.questions, place)
                points.update((place + 1, *self.questions[following : following + 1]))
        fading = self.fading
        if fading.results is not None:
            points.update(self._steps(self._exchanges, max(fading.results, 1) - 1, start))
        if fading.media is not None:
            points.update(self._steps(self._with_media, max(fading.media, 1) - 1, start))
        if fading.most_media is not None:
            points.update(self._steps(self._media, fading.most_media, start))
        return sorted(point for point in points if start < point < len(self))

    def _steps(self, places: list[int], first: int, start: int) -> list[int]:
        """The places behind a start whose coming moves a fade: one in every step, from a first."""
        step = max(self.fading.step, 1)
        behind = bisect_right(places, start) - first
        return places[first + max(-(-behind // step), 0) * step :: step]

    def tail(self) -> int:
        """Where the unfinished end begins: the last calls whose results close the history."""
        group = self.groups.get(self._ends[-1]) if self._ends else None
        return group.members[0] if group and group.members[-1] == self._ends[-1] else len(self)

    def _saved_before(self, results: int, media: int) -> int:
        """What fading saves before these places."""
        return (
            self._saved_results[results]
            + self._saved_media[media]
            - self._saved_twice[min(results, media)]
        )

    def _saved_at(self, place: int, seen: Seen) -> int:
        """What fading saves at one place."""
        if place not in self._faded:
            return 0
        results, media = min(place, seen.results), min(place, seen.media)
        behind = self._saved_before(min(place + 1, seen.results), min(place + 1, seen.media))
        return behind - self._saved_before(results, media)


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
