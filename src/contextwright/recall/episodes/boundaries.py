"""Boundaries of episodes: by silence, by topic, by size.

A decision is final: whether an episode ends before a message depends on the messages since its
beginning and on the few after that message, whatever comes later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from math import isfinite, log, sqrt
from typing import TypeAlias

from msgspec import Struct

from contextwright.errors import UsageError
from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.messages.times import with_zone
from contextwright.recall.episodes.phrases import turns_subject
from contextwright.text.fields import Checked
from contextwright.text.terms import terms_of

__all__ = [
    "Embed",
    "Numbered",
    "EpisodeRules",
    "Signals",
    "Stretch",
    "divide",
    "is_talk",
    "stretch_of",
]

Numbered: TypeAlias = tuple[int, Message]
"""A message with the number it has in its conversation."""

Embed: TypeAlias = Callable[[str], Sequence[float]]
"""A text to a vector."""

GAPS = ((3_600.0, 1.0), (900.0, 0.7), (120.0, 0.4))
"""Weight of a silence of that many seconds."""
WEIGHTS = (0.4, 0.35, 0.25)
"""Weights of topic, silence and a phrase that changes the topic."""
TOGETHER = (1.0, 1.0, 1.2, 1.2 * 1.1)
"""Factor for signals of one, two or three kinds at one place, which say more than their sum."""

BLOCK = 4
"""Numbers of messages before and after a place that are compared."""
ALIKE = 0.2
"""The cosine, by words, from which both sides have the same topic; people repeat few words."""
CHANGED = 0.5
"""Topics less similar than this are a signal."""
FEWEST_TERMS = 3
LONGEST = 2_000
"""Maximum characters of a message that are compared."""
LOOK_BACK = 20
BEFORE, BEHIND = 3, 3
"""Numbers of messages with times that a silence is measured from and confirmed by."""


class EpisodeRules(Checked, frozen=True, kw_only=True):
    """When an episode ends."""

    score: float = 0.6
    """Signals that add up to this end it, if it is long enough."""
    silence: float = 1_800.0
    """Seconds of silence that end it, however short it is."""
    max_messages: int = 200
    """Maximum number of messages in an episode."""
    min_messages: int = 5
    """Minimum number of messages in an episode."""

    def __post_init__(self) -> None:
        super().__post_init__()
        sound = isfinite(self.score) and self.score > 0 and self.silence > 0
        if not sound or not 1 <= self.min_messages <= self.max_messages:
            hint = "all values positive, min_messages not above max_messages"
            raise UsageError("invalid episode rules", hint=hint)


class Signals(Struct, frozen=True):
    """Signals for an end at one place, each from 0 to 1."""

    topic: float = 0.0
    """How much the topic changes; below 0.5 it counts as no change."""
    gap: float = 0.0
    """The length of the silence."""
    marker: float = 0.0
    """Whether somebody announces another topic."""

    @property
    def score(self) -> float:
        """All signals combined, from 0 to 1."""
        signs = (self.topic, self.gap, self.marker)
        total = sum(weight * sign for weight, sign in zip(WEIGHTS, signs, strict=True))
        return min(total * TOGETHER[sum(sign > 0 for sign in signs)], 1.0)


class Stretch(Struct, frozen=True):
    """Messages that belong together."""

    messages: tuple[Numbered, ...]
    closed: bool
    """Whether no later message belongs to it."""
    seconds: float
    """Its duration."""

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.messages[-1][0]


class Utterance:
    """A message prepared for comparison."""

    def __init__(self, number: int, message: Message) -> None:
        self.number, self.message = number, message
        self.time = message.time

    @cached_property
    def text(self) -> str:
        """Its text, truncated."""
        return spoken_text(self.message)[:LONGEST]

    @cached_property
    def terms(self) -> set[str]:
        """The terms it is compared by."""
        return terms_of(self.text)


def is_talk(message: Message) -> bool:
    """Whether a message is visible speech of people or the model."""
    return (
        message.role in ("user", "assistant")
        and message.kind == "message"
        and message.visibility == "public"
        and not (text := spoken_text(message)).isspace()
        and bool(text)
    )


def divide(
    messages: Iterable[Numbered],
    boundaries: EpisodeRules | None = None,
    *,
    now: datetime | None = None,
    embed: Embed | None = None,
) -> Iterator[Stretch]:
    """Yield the stretches of a conversation in order, each once it is final; the last may be open.

    Skips hidden messages and those that are not conversation. With `now`, silence up to now ends
    the last stretch. Without times, only text and size end a stretch. `embed` compares topics by
    vectors.
    """
    divider = Divider(boundaries or EpisodeRules(), embed)
    for number, message in messages:
        if is_talk(message):
            yield from divider.add(Utterance(number, message))
    yield from divider.end(now)


def stretch_of(messages: Iterable[Numbered], now: datetime) -> Stretch:
    """Return messages that are known to belong together as a stretch."""
    divider = Divider(EpisodeRules(), None)
    divider.talk = [Utterance(number, message) for number, message in messages]
    divider.now = with_zone(now)
    return divider.stretch(len(divider.talk), closed=True)


class Divider:
    """A growing stretch, with the few messages after the place that is decided next."""

    def __init__(self, boundaries: EpisodeRules, embed: Embed | None) -> None:
        self.boundaries, self.embed = boundaries, embed
        self.shortest = min(boundaries.silence, GAPS[-1][0])
        """Shorter silences are ignored."""
        self.now: datetime | None = None
        """Later messages come after this time; None if it is unknown."""
        self.talk: list[Utterance] = []
        self.place = 1
        """The place that is decided next: whether the stretch ends before this message."""
        self.counts: Counter[str] = Counter()
        self.counted = 0

    def add(self, spoken: Utterance) -> Iterator[Stretch]:
        """Yield the stretches that one more message completes."""
        self.talk.append(spoken)
        yield from self.settle()

    def end(self, now: datetime | None) -> Iterator[Stretch]:
        """Yield the rest."""
        if now is not None:
            self.now = with_zone(now)
        yield from self.settle()
        if self.talk:
            yield self.stretch(len(self.talk), closed=self.over)

    @property
    def over(self) -> bool:
        """Whether no later message can belong here."""
        return self.now is not None and self.silence_until(self.now) >= self.boundaries.silence

    def settle(self) -> Iterator[Stretch]:
        """Decide as many places as possible."""
        while self.place < len(self.talk):
            ends = self.ends()
            if ends is None:
                return
            if ends:
                yield self.stretch(self.place, closed=True)
                self.talk = self.talk[self.place :]
                self.place, self.counted = 1, 0
                self.counts.clear()
            else:
                self.place += 1

    def ends(self) -> bool | None:
        """Whether the stretch ends at the place; None if that depends on later messages."""
        boundaries, place = self.boundaries, self.place
        if place >= boundaries.max_messages:
            return True
        silence = self.silence(place, self.shortest)
        if silence is None:
            return None
        if silence >= boundaries.silence:
            return True
        if place < boundaries.min_messages:
            return False
        marker = float(turns_subject(self.talk[place].text))
        gap = next((strength for seconds, strength in GAPS if silence >= seconds), 0.0)
        if Signals(1.0, gap, marker).score < boundaries.score:
            return False  # whatever the topics are
        after = self.after()
        if after is None:
            return None
        return Signals(self.topic(after), gap, marker).score >= boundaries.score

    def after(self) -> Sequence[Utterance] | None:
        """Return the messages after the place, up to a long silence; None if more may come."""
        long = self.boundaries.silence
        for stop in range(self.place + 1, self.place + BLOCK):
            if stop == len(self.talk):
                return self.talk[self.place :] if self.over else None
            silence = self.silence(stop, long)
            if silence is None:
                return None
            if silence >= long:
                return self.talk[self.place : stop]
        return self.talk[self.place : self.place + BLOCK]

    def topic(self, after: Sequence[Utterance]) -> float:
        """Return how much the topic changes at the place; 0 if there is too little text."""
        before = self.talk[max(self.place - BLOCK, 0) : self.place]
        if self.embed is not None:
            alike = cosine(self.embed(joined(before)), self.embed(joined(after)))
        else:
            seen = self.talk[self.counted : self.place + len(after)]
            self.counts.update(term for spoken in seen for term in spoken.terms)
            self.counted += len(seen)
            alike = self.likeness(before, after)
        change = 1.0 - min(max(alike, 0.0), 1.0)
        return change if change >= CHANGED else 0.0

    def likeness(self, before: Sequence[Utterance], after: Sequence[Utterance]) -> float:
        """Return how similar two blocks are by their words; rare ones count more."""
        ours, theirs = terms_in(before), terms_in(after)
        if min(len(ours), len(theirs)) < FEWEST_TERMS:
            return 1.0
        # Sorted, so that the sums are the same on every machine.
        terms = sorted({*ours, *theirs})
        weights = [log((1 + self.counted) / self.counts[term]) for term in terms]
        pairs = list(zip(terms, weights, strict=True))
        first = [ours[term] * weight for term, weight in pairs]
        second = [theirs[term] * weight for term, weight in pairs]
        return cosine(first, second) / ALIKE

    def silence(self, place: int, shortest: float) -> float | None:
        """Return the seconds of silence before a message; 0 if they are unknown.

        Measured from the nearest message before it. A silence of `shortest` or more has to be
        confirmed by the messages that follow; None if they have not arrived.
        """
        time = self.talk[place].time
        if time is None:
            return 0.0
        wait = min((wait for wait in self.waits(time, place) if wait >= 0), default=0.0)
        return wait if wait < shortest else self.borne_out(wait, time, place)

    def borne_out(self, wait: float, time: datetime, place: int) -> float | None:
        """Return the wait for a message; 0 if its clock is wrong, None if that is not known yet.

        The clock is wrong if most of the next messages are nearer to those before it than to it.
        """
        behind = self.talk[place + 1 : place + 1 + BEHIND]
        times = [one.time for one in behind if one.time]
        if len(behind) < BEHIND:
            if self.now is None:
                return None
            times += [self.now] * (BEHIND - len(behind))
        nearer = sum((time - one).total_seconds() > wait / 2 for one in times)
        return wait if 2 * nearer <= len(times) else 0.0

    def silence_until(self, now: datetime) -> float:
        """Return the seconds since the last message; 0 if they are unknown.

        Measured from the message nearest to now, before or after it, because a clock may be a
        little fast.
        """
        return max(min(self.waits(now, len(self.talk)), key=abs, default=0.0), 0.0)

    def waits(self, time: datetime, place: int) -> list[float]:
        """Return the seconds from the last three timed messages before a place to a time."""
        before = [one.time for one in self.talk[max(place - LOOK_BACK, 0) : place] if one.time]
        return [(time - one).total_seconds() for one in before[-BEFORE:]]

    def stretch(self, stop: int, *, closed: bool) -> Stretch:
        """Return the messages up to a place as a stretch."""
        messages = tuple((spoken.number, spoken.message) for spoken in self.talk[:stop])
        seconds = sum(self.silence(place, self.shortest) or 0.0 for place in range(1, stop))
        return Stretch(messages, closed, seconds)


def joined(block: Sequence[Utterance]) -> str:
    """Return the text of several messages."""
    return "\n".join(spoken.text for spoken in block)


def terms_in(block: Sequence[Utterance]) -> Counter[str]:
    """Count in how many messages of a block each term occurs."""
    return Counter(term for spoken in block for term in spoken.terms)


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the cosine of two vectors; 1 if one of them is zero."""
    lengths = sqrt(sum(x * x for x in first)) * sqrt(sum(x * x for x in second))
    if not lengths or not isfinite(lengths):
        return 1.0
    return sum(x * y for x, y in zip(first, second, strict=True)) / lengths
