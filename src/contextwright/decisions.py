"""What became of each message, and why: the receipt of a window."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import takewhile
from typing import Literal, TypeAlias, overload

from msgspec import Struct

from contextwright.groups import Group
from contextwright.history import History, Seen
from contextwright.messages import Message

__all__ = ["Action", "Decision", "Decisions", "Run", "Span", "decided"]

Action: TypeAlias = Literal["kept", "dropped", "cleared", "summarised", "merged"]
"""Cleared: it stays, but its results or media have faded. Summarised: a summary tells of it."""

HIDDEN = "hidden from context"
SKIPPED = "system messages of the history are left out"
TORN = "its exchange is not whole in the window"
FADED = "older results and media fade"
SUMMARISED = "told in the summary"


class Decision(Struct, frozen=True):
    """What became of one message, and why."""

    place: int
    action: Action
    reason: str
    tokens: int | None
    """None where the message was not even read."""


class Run(Struct, frozen=True):
    """Neighbours with the same fate."""

    start: int
    stop: int
    action: Action
    reason: str

    @property
    def left_out(self) -> bool:
        """Whether these were dropped for want of room, not hidden by someone's wish."""
        return self.action == "dropped" and self.reason not in (HIDDEN, SKIPPED)


class Span(Struct, frozen=True):
    """Places a window wants to keep, and why."""

    start: int
    stop: int
    reason: str


class Decisions(Sequence[Decision]):
    """One decision for each message of the history, made when it is looked at.

    It speaks of the history as it was, however much is added to it later. Decisions and runs count
    the messages of the whole history; within, places count what is there of it.
    """

    def __init__(
        self,
        history: History,
        seen: Seen,
        staying: list[Run],
        torn: set[int],
        why_dropped: str,
        *,
        start: int,
        wanted: list[int],
        told: int | None = None,
    ) -> None:
        self.staying = staying
        """Runs of what stays, by place, in order: equal runs, equal decisions."""
        self.wanted = wanted
        """Places of what was not read but has to be, before these decisions hold."""
        self.start = start
        """Where the newest messages begin: the cut."""
        self.summarised = 0
        """How many of those left out are told in a summary."""
        self._told_until = 0
        self._history = history
        self._seen = seen
        self._torn = torn
        self._why_dropped = why_dropped
        self._told = told
        self._starts = [run.start for run in staying]

    def __len__(self) -> int:
        return self._history.number(self._seen.count)

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(index)
        place = self._history.place(number)
        unread = self._history.unread.get(place)
        if unread is not None:
            reason = HIDDEN if unread.hides(number) else self._why_dropped
            return Decision(number, *self._lost(number, reason), None)
        tokens = self._history.cost(place, self._seen)
        nearest = bisect_right(self._starts, place) - 1
        if nearest >= 0 and place < self.staying[nearest].stop:
            run = self.staying[nearest]
            return Decision(number, run.action, run.reason, tokens)
        return Decision(number, *self._lost(number, self._why(place)), tokens)

    def with_summary(self, last: int, count: int) -> Decisions:
        """The same, with a summary of so many messages, up to one of them."""
        number, messages = self._history.number, self._history.messages
        before = takewhile(lambda place: number(place) < last, self.places())
        kept = sum(messages[place].role != "system" for place in before)
        told = copy(self)
        told.__dict__.pop("runs", None)
        told._told_until, told.summarised = last, count - kept
        return told

    def places(self) -> Iterator[int]:
        """The places that stay, in order."""
        for run in self.staying:
            yield from range(run.start, run.stop)

    def kept(self) -> Iterator[int]:
        """Which messages of the whole history stay, in order."""
        return map(self._history.number, self.places())

    def messages(self) -> Iterator[tuple[int, Message]]:
        """What stays, as it is sent: numbers and messages, the old ones faded."""
        for place in self.places():
            yield self._history.number(place), self._history.at(place, self._seen)

    @cached_property
    def runs(self) -> list[Run]:
        """The fates of all messages, neighbours with the same one together."""
        runs: list[Run] = []
        for run in self._runs_of_messages():
            told = min(max(run.start, self._told_until), run.stop) if run.left_out else run.start
            add_run(runs, Run(run.start, told, "summarised", SUMMARISED))
            add_run(runs, Run(told, run.stop, run.action, run.reason))
        return runs

    def tokens(self, run: Run) -> int | None:
        """What the messages of a run cost together; None if some were never counted."""
        history = self._history
        start, stop = history.place(run.start), history.place(run.stop - 1) + 1
        if (history.number(start), history.number(stop)) != (run.start, run.stop):
            return None  # it ends among messages that were counted together
        unread = [one for place, one in history.unread.items() if start <= place < stop]
        read = history.before(stop, self._seen) - history.before(start, self._seen)
        if not all(one.is_counted for one in unread):
            return None
        return read + sum(one.priced.cost for one in unread)

    def _runs_of_messages(self) -> Iterator[Run]:
        """The runs as they stand among all messages, the hidden that were not read apart."""
        unread, number = self._history.unread.items(), self._history.number
        hidden = [one for _, neighbours in unread for one in neighbours.hidden]
        for run in self._runs_of_places():
            start, stop = number(run.start), number(run.stop)
            for one in hidden[bisect_left(hidden, start) : bisect_left(hidden, stop)]:
                yield Run(start, one, run.action, run.reason)
                yield Run(one, one + 1, "dropped", HIDDEN)
                start = one + 1
            yield Run(start, stop, run.action, run.reason)

    def _runs_of_places(self) -> list[Run]:
        """The runs as they stand among what was read."""
        runs: list[Run] = []
        reached, count = 0, self._seen.count
        for run in (*self.staying, Run(count, count, "kept", "")):
            self._add_dropped(runs, reached, run.start)
            if run.start < run.stop:
                runs.append(run)
            reached = run.stop
        return runs

    def _add_dropped(self, runs: list[Run], start: int, stop: int) -> None:
        """Runs for places that do not stay."""
        hidden = self._history.hidden
        special = {*hidden[bisect_left(hidden, start) : bisect_left(hidden, stop)]}
        special.update(place for place in self._torn if start <= place < stop)
        for place in sorted(special):
            add_run(runs, Run(start, place, "dropped", self._why_dropped))
            add_run(runs, Run(place, place + 1, "dropped", self._why(place)))
            start = place + 1
        add_run(runs, Run(start, stop, "dropped", self._why_dropped))

    def _lost(self, number: int, reason: str) -> tuple[Action, str]:
        """What became of a message that does not stay, and why."""
        if number < self._told_until and reason not in (HIDDEN, SKIPPED):
            return "summarised", SUMMARISED
        return "dropped", reason

    def _why(self, place: int) -> str:
        """Why a message does not stay."""
        if place in self._torn:
            return TORN
        message = self._history.messages[place]
        if message.visibility != "public":
            return HIDDEN
        skipped = message.role == "system" and self._history.skip_system
        return SKIPPED if skipped else self._why_dropped

    @property
    def omitted(self) -> int:
        """How many messages were left out for want of room."""
        history, count = self._history, self._seen.count
        kept = sum(run.stop - run.start for run in self.staying)
        unread = sum(one.counted - 1 for place, one in history.unread.items() if place < count)
        return count - bisect_left(history.hidden, count) - kept + unread

    @property
    def told(self) -> int:
        """How many messages a note should say are left out: those that no summary tells of."""
        return max((self.omitted if self._told is None else self._told) - self.summarised, 0)

    @property
    def gap(self) -> int | None:
        """The message before which a note on those left out belongs: the first behind the cut.

        Never a result whose call stands before the cut.
        """
        if not self.omitted:
            return None
        for run in self.staying[max(0, bisect_right(self._starts, self.start) - 1) :]:
            for place in range(max(run.start, self.start), run.stop):
                group = self._history.groups.get(place)
                if group is None or group.members[0] >= self.start:
                    return place
        return None

    @property
    def changed(self) -> bool:
        """Whether anything is not sent as it was."""
        return bool(self.omitted) or any(run.action == "cleared" for run in self.staying)


def decided(
    history: History, spans: Sequence[Span], why_dropped: str, *, told: int | None = None
) -> Decisions:
    """A fate for every place: the spans, what no window drops, and nothing torn apart."""
    seen = history.seen()
    must = history.must(seen)
    torn = set(torn_in(history, spans, must))
    staying: list[Run] = []
    reached = 0
    for span in spans:
        add_outside(staying, history, seen, must, reached, span.start)
        add_span(staying, history, seen, span, torn)
        reached = span.stop
    add_outside(staying, history, seen, must, reached, seen.count)
    start = spans[-1].start
    if len(spans) > 1 and spans[0].stop == spans[-1].start:
        start = spans[0].start
    wanted = [place for place in history.unread if any(is_in(place, span) for span in spans)]
    return Decisions(
        history,
        seen,
        staying,
        torn,
        why_dropped,
        start=start,
        wanted=wanted or history.unsure(),
        told=told,
    )


def is_in(place: int, span: Span) -> bool:
    """Whether a place lies in a span."""
    return span.start <= place < span.stop


def torn_in(history: History, spans: Sequence[Span], must: Sequence[int]) -> Iterator[int]:
    """The places within the spans whose exchange is not whole in them and need not stay."""
    groups, grouped = history.groups, history.groups.places
    staying = {id(groups.get(place)) for place in must}
    for span in spans:
        inside = grouped[bisect_left(grouped, span.start) : bisect_left(grouped, span.stop)]
        for place in inside:
            group = groups.get(place)
            if group is None or group.always or id(group) in staying:
                continue
            if not is_whole(group, span, spans):
                yield place


def is_whole(group: Group, span: Span, spans: Sequence[Span]) -> bool:
    """Whether all of a group lies within one span, or at least within all of them."""
    if span.start <= group.members[0] and group.members[-1] < span.stop:
        return True
    return all(any(is_in(place, one) for one in spans) for place in group.members)


def add_outside(
    staying: list[Run], history: History, seen: Seen, must: Sequence[int], start: int, stop: int
) -> None:
    """Runs for what stays between two spans because no window may drop it."""
    always = history.always
    places = {*always[bisect_left(always, start) : bisect_left(always, stop)]}
    places.update(must[bisect_left(must, start) : bisect_left(must, stop)])
    for place in sorted(places):
        reason = why_kept(history, seen, place)
        add_run(staying, Run(place, place + 1, *fate(history, seen, place, reason)))


def add_span(
    staying: list[Run], history: History, seen: Seen, span: Span, torn: Iterable[int]
) -> None:
    """Runs for a span, without what is torn or hidden, the faded messages apart."""
    hidden, fadeable = history.hidden, history.fadeable
    gone = {*hidden[bisect_left(hidden, span.start) : bisect_left(hidden, span.stop)], *torn}
    gone.update(history.unread)
    reach = min(span.stop, max(seen.results, seen.media))
    cleared = fadeable[bisect_left(fadeable, span.start) : bisect_left(fadeable, reach)]
    start = span.start
    for place in sorted({*gone, *cleared}):
        if span.start <= place < span.stop:
            add_run(staying, Run(start, place, "kept", span.reason))
            if place not in gone:
                add_run(staying, Run(place, place + 1, *fate(history, seen, place, span.reason)))
            start = place + 1
    add_run(staying, Run(start, span.stop, "kept", span.reason))


def fate(history: History, seen: Seen, place: int, reason: str) -> tuple[Action, str]:
    """Kept as it is for a reason, or cleared."""
    return ("kept", reason) if history.faded(place, seen) is None else ("cleared", FADED)


def why_kept(history: History, seen: Seen, place: int) -> str:
    """Why a message stays that stands outside the window."""
    message = history.messages[place]
    if message.pinned:
        return "pinned"
    if message.role == "system":
        return "system"
    if place == seen.question or place == seen.asked:
        return "newest question"
    return "belongs to an exchange that stays"


def add_run(runs: list[Run], run: Run) -> None:
    """Add a run behind the others, or lengthen the last one by it."""
    if run.start >= run.stop:
        return
    last = runs[-1] if runs else None
    if last and last.stop == run.start and (last.action, last.reason) == (run.action, run.reason):
        runs[-1] = Run(last.start, run.stop, run.action, run.reason)
    else:
        runs.append(run)
