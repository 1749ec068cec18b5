"""Segment a conversation into episodes by silence, topic and size.

As in TextTiling, the blocks before and after a possible boundary are compared. A decision is final:
it depends on the messages since the last boundary and a few after this one, not on later ones.
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
from contextwright.recall.episodes.phrases import announces_topic
from contextwright.text.fields import Checked
from contextwright.text.terms import terms_of

__all__ = [
    "Embed",
    "NumberedMessage",
    "EpisodeRules",
    "BoundarySignals",
    "Segment",
    "segment",
    "is_dialogue",
    "segment_of",
]

NumberedMessage: TypeAlias = tuple[int, Message]
"""A message with the number it has in its conversation."""

Embed: TypeAlias = Callable[[str], Sequence[float]]
"""A function from a text to a vector."""

SILENCE_STRENGTHS = ((3_600.0, 1.0), (900.0, 0.7), (120.0, 0.4))
"""The strength of a silence of at least that many seconds, as a signal."""
SIGNAL_WEIGHTS = (0.4, 0.35, 0.25)
"""Weights of the signals: change of topic, silence, and a phrase that announces a topic."""
AGREEMENT_FACTORS = (1.0, 1.0, 1.2, 1.2 * 1.1)
"""Factor for none, one, two or three signals at once, because together they say more."""

BLOCK_MESSAGES = 4
"""Messages in the blocks before and after a boundary that are compared."""
SAME_TOPIC_COSINE = 0.2
"""The cosine of term vectors from which two blocks have one topic. It is low, because people repeat
few words."""
MIN_TOPIC_CHANGE = 0.5
"""Smaller changes of topic are no signal."""
MIN_TERMS = 3
MAX_COMPARED_CHARS = 2_000
"""Maximum characters of a message that are compared."""
MAX_LOOK_BACK = 20
TIMED_BEFORE, TIMED_AFTER = 3, 3
"""From how many messages with times before it a silence is measured, and by how many after it it is
confirmed."""


class EpisodeRules(Checked, frozen=True, kw_only=True):
    """Rules for when an episode ends."""

    score: float = 0.6
    """The score of signals that ends it, if it is long enough."""
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


class BoundarySignals(Struct, frozen=True):
    """The signals for a boundary, each from 0 to 1."""

    topic: float = 0.0
    """How much the topic changes; 0 if it changes by less than `MIN_TOPIC_CHANGE`."""
    gap: float = 0.0
    """The strength of the silence."""
    marker: float = 0.0
    """1 if the next message announces another topic."""

    @property
    def score(self) -> float:
        """The weighted signals together, from 0 to 1."""
        signs = (self.topic, self.gap, self.marker)
        total = sum(weight * sign for weight, sign in zip(SIGNAL_WEIGHTS, signs, strict=True))
        return min(total * AGREEMENT_FACTORS[sum(sign > 0 for sign in signs)], 1.0)


class Segment(Struct, frozen=True):
    """Consecutive messages that belong together."""

    messages: tuple[NumberedMessage, ...]
    closed: bool
    """Whether no later message belongs to it."""
    seconds: float
    """The sum of the pauses between its messages."""

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.messages[-1][0]


class Utterance:
    """A message with the text and terms that are compared, computed once."""

    def __init__(self, number: int, message: Message) -> None:
        self.number, self.message = number, message
        self.time = message.time

    @cached_property
    def text(self) -> str:
        """Its text, truncated."""
        return spoken_text(self.message)[:MAX_COMPARED_CHARS]

    @cached_property
    def terms(self) -> set[str]:
        """The terms it is compared by."""
        return terms_of(self.text)


def is_dialogue(message: Message) -> bool:
    """Whether a message is public text of a person or the model."""
    return (
        message.role in ("user", "assistant")
        and message.kind == "message"
        and message.visibility == "public"
        and not (text := spoken_text(message)).isspace()
        and bool(text)
    )


def segment(
    messages: Iterable[NumberedMessage],
    boundaries: EpisodeRules | None = None,
    *,
    now: datetime | None = None,
    embed: Embed | None = None,
) -> Iterator[Segment]:
    """Yield the segments of a conversation in order, each as soon as it is final.

    Hidden messages and those that are not dialogue are skipped. The last segment may be open. With
    `now`, a silence until then closes it. Without times, only text and size close a segment.

    Args:
        embed: compares topics by embeddings, instead of terms.
    """
    segmenter = Segmenter(boundaries or EpisodeRules(), embed)
    for number, message in messages:
        if is_dialogue(message):
            yield from segmenter.add(Utterance(number, message))
    yield from segmenter.end(now)


def segment_of(messages: Iterable[NumberedMessage], now: datetime) -> Segment:
    """Return messages that are known to belong together as a closed segment."""
    segmenter = Segmenter(EpisodeRules(), None)
    segmenter.utterances = [Utterance(number, message) for number, message in messages]
    segmenter.now = with_zone(now)
    return segmenter.segment(len(segmenter.utterances), closed=True)


class Segmenter:
    """The messages since the last boundary, and the boundary that is decided next."""

    def __init__(self, boundaries: EpisodeRules, embed: Embed | None) -> None:
        self.rules, self.embed = boundaries, embed
        self.min_silence = min(boundaries.silence, SILENCE_STRENGTHS[-1][0])
        """Shorter silences are no signal."""
        self.now: datetime | None = None
        """A time after which all later messages come; None if unknown."""
        self.utterances: list[Utterance] = []
        self.place = 1
        """The index of the message before which a boundary is decided next."""
        self.document_frequency: Counter[str] = Counter()
        self.counted_utterances = 0

    def add(self, spoken: Utterance) -> Iterator[Segment]:
        """Add a message; yield the segments that it completes."""
        self.utterances.append(spoken)
        yield from self.decide()

    def end(self, now: datetime | None) -> Iterator[Segment]:
        """Yield the remaining segments, the last of which may be open."""
        if now is not None:
            self.now = with_zone(now)
        yield from self.decide()
        if self.utterances:
            yield self.segment(len(self.utterances), closed=self.is_over)

    @property
    def is_over(self) -> bool:
        """Whether the silence until now is so long that no later message can belong here."""
        return self.now is not None and self.silence_until(self.now) >= self.rules.silence

    def decide(self) -> Iterator[Segment]:
        """Decide as many boundaries as possible; yield the segments that end."""
        while self.place < len(self.utterances):
            ends = self.is_boundary()
            if ends is None:
                return
            if ends:
                yield self.segment(self.place, closed=True)
                self.utterances = self.utterances[self.place :]
                self.place, self.counted_utterances = 1, 0
                self.document_frequency.clear()
            else:
                self.place += 1

    def is_boundary(self) -> bool | None:
        """Whether the segment ends before the message; None if that depends on later messages."""
        rules, place = self.rules, self.place
        if place >= rules.max_messages:
            return True
        silence = self.silence(place, self.min_silence)
        if silence is None:
            return None
        if silence >= rules.silence:
            return True
        if place < rules.min_messages:
            return False
        marker = float(announces_topic(self.utterances[place].text))
        gap = next((strength for seconds, strength in SILENCE_STRENGTHS if silence >= seconds), 0.0)
        if BoundarySignals(1.0, gap, marker).score < rules.score:
            return False  # even the largest change of topic would not do
        after = self.block_after()
        if after is None:
            return None
        return BoundarySignals(self.topic_change(after), gap, marker).score >= rules.score

    def block_after(self) -> Sequence[Utterance] | None:
        """Return the block after the boundary, up to a long silence; None if more may come."""
        long = self.rules.silence
        for stop in range(self.place + 1, self.place + BLOCK_MESSAGES):
            if stop == len(self.utterances):
                return self.utterances[self.place :] if self.is_over else None
            silence = self.silence(stop, long)
            if silence is None:
                return None
            if silence >= long:
                return self.utterances[self.place : stop]
        return self.utterances[self.place : self.place + BLOCK_MESSAGES]

    def topic_change(self, after: Sequence[Utterance]) -> float:
        """Return how much the topic changes at the boundary, from 0 to 1."""
        before = self.utterances[max(self.place - BLOCK_MESSAGES, 0) : self.place]
        if self.embed is not None:
            alike = cosine(self.embed(block_text(before)), self.embed(block_text(after)))
        else:
            seen = self.utterances[self.counted_utterances : self.place + len(after)]
            self.document_frequency.update(term for spoken in seen for term in spoken.terms)
            self.counted_utterances += len(seen)
            alike = self.lexical_similarity(before, after)
        change = 1.0 - min(max(alike, 0.0), 1.0)
        return change if change >= MIN_TOPIC_CHANGE else 0.0

    def lexical_similarity(self, before: Sequence[Utterance], after: Sequence[Utterance]) -> float:
        """Return the cosine of the tf-idf vectors of two blocks, relative to `SAME_TOPIC_COSINE`.

        It is 1 if a block has too few terms.
        """
        ours, theirs = term_counts(before), term_counts(after)
        if min(len(ours), len(theirs)) < MIN_TERMS:
            return 1.0
        # Sorted, so that the sums are the same on every machine.
        terms = sorted({*ours, *theirs})
        weights = [
            log((1 + self.counted_utterances) / self.document_frequency[term]) for term in terms
        ]
        pairs = list(zip(terms, weights, strict=True))
        first = [ours[term] * weight for term, weight in pairs]
        second = [theirs[term] * weight for term, weight in pairs]
        return cosine(first, second) / SAME_TOPIC_COSINE

    def silence(self, place: int, shortest: float) -> float | None:
        """Return the seconds of silence before a message; 0 if they are unknown.

        They are measured from the nearest message before it. A silence of `shortest` or more must
        be confirmed by the messages that follow; None if they have not arrived.
        """
        time = self.utterances[place].time
        if time is None:
            return 0.0
        wait = min((wait for wait in self.waits_before(time, place) if wait >= 0), default=0.0)
        return wait if wait < shortest else self.confirmed_silence(wait, time, place)

    def confirmed_silence(self, wait: float, time: datetime, place: int) -> float | None:
        """Return the wait if the next messages confirm it, else 0; None if they have not arrived.

        If most of the next messages are nearer in time to those before this one than to it, its
        clock is wrong.
        """
        behind = self.utterances[place + 1 : place + 1 + TIMED_AFTER]
        times = [one.time for one in behind if one.time]
        if len(behind) < TIMED_AFTER:
            if self.now is None:
                return None
            times += [self.now] * (TIMED_AFTER - len(behind))
        nearer = sum((time - one).total_seconds() > wait / 2 for one in times)
        return wait if 2 * nearer <= len(times) else 0.0

    def silence_until(self, now: datetime) -> float:
        """Return the seconds since the last message; 0 if they are unknown.

        They are measured from the message nearest to now, even after it, because a clock may be a
        little fast.
        """
        return max(min(self.waits_before(now, len(self.utterances)), key=abs, default=0.0), 0.0)

    def waits_before(self, time: datetime, place: int) -> list[float]:
        """Return the seconds from the last messages with times before a place to a time."""
        before = [
            one.time for one in self.utterances[max(place - MAX_LOOK_BACK, 0) : place] if one.time
        ]
        return [(time - one).total_seconds() for one in before[-TIMED_BEFORE:]]

    def segment(self, stop: int, *, closed: bool) -> Segment:
        """Return the messages before an index as a segment."""
        messages = tuple((spoken.number, spoken.message) for spoken in self.utterances[:stop])
        seconds = sum(self.silence(place, self.min_silence) or 0.0 for place in range(1, stop))
        return Segment(messages, closed, seconds)


def block_text(block: Sequence[Utterance]) -> str:
    """Return the text of a block."""
    return "\n".join(spoken.text for spoken in block)


def term_counts(block: Sequence[Utterance]) -> Counter[str]:
    """Return in how many messages of a block each term occurs."""
    return Counter(term for spoken in block for term in spoken.terms)


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the cosine of two vectors; 1 if one is zero."""
    lengths = sqrt(sum(x * x for x in first)) * sqrt(sum(x * x for x in second))
    if not lengths or not isfinite(lengths):
        return 1.0
    return sum(x * y for x, y in zip(first, second, strict=True)) / lengths
