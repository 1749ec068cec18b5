"""Episodes: segments of a conversation that are remembered as one event.

They are made without a model: their summary consists of excerpts, and says so. An `EpisodeWriter`
may write a better text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from math import log
from typing import Literal, TypeAlias, cast

import msgspec
from msgspec import Struct

from contextwright.errors import UsageError, require, shown
from contextwright.messages.message import Author, Message
from contextwright.messages.speech import spoken_text
from contextwright.recall.episodes.boundaries import (
    Embed,
    EpisodeRules,
    NumberedMessage,
    Segment,
    segment,
)
from contextwright.recall.episodes.phrases import FILLER, GREETING
from contextwright.recall.memories import Memory
from contextwright.text.excerpts import Line, digest
from contextwright.text.graphemes import cut
from contextwright.text.json import convert
from contextwright.text.terms import RUN, WORD, terms_of

__all__ = ["Episode", "Valence", "episode_of", "find_episodes"]

Valence: TypeAlias = Literal["positive", "negative", "neutral", "mixed"]

DIGEST_PREFIX = "Excerpts: "
"""The beginning of a summary that consists of excerpts."""
MAX_SUMMARY_CHARS = 450
MAX_TOPIC_CHARS = 80
MAX_NAME_CHARS = 40
MAX_TEXT_CHARS = 2_000
"""Maximum characters of a message that are read."""
MAX_TAGS, TAGS_IN_TOPIC = 6, 3
MIN_TAG_CHARS, FULL_WEIGHT_CHARS = 4, 5
MAX_NAMES = 50

MESSAGE_STEPS = ((20, 0.4), (10, 0.3), (5, 0.2))
PEOPLE_STEPS = ((3, 0.3), (2, 0.2))
MINUTE_STEPS = ((30, 0.3), (10, 0.2), (5, 0.1))


class Episode(Struct, frozen=True, kw_only=True):
    """One event: its messages, participants and topic."""

    first: int
    last: int
    messages: tuple[int, ...]
    """The numbers of its messages."""
    participants: tuple[str, ...] = ()
    """The ids of the speakers; speakers without an id are left out."""
    names: tuple[str, ...] = ()
    """The names of the speakers."""
    began: str | None = None
    ended: str | None = None
    tags: tuple[str, ...] = ()
    valence: Valence | None = None
    """The mood, if a writer gave one; it is not derived from the words."""
    digest: bool = True
    """Whether the summary consists of excerpts; False if a writer wrote it."""
    topic: str = ""
    summary: str = ""
    importance: float = 0.0

    def memory(self, scope: str) -> Memory:
        """Return the episode as a memory of a conversation."""
        facts = {
            name: list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value
            for name, value in msgspec.structs.asdict(self).items()
            if name not in ("topic", "summary", "importance") and value is not None
        }
        return Memory(
            "episode",
            self.summary,
            key=self.topic,
            at=self.ended,
            scope=scope,
            weight=self.importance,
            meta=facts,
        )

    @classmethod
    def of(cls, memory: Memory) -> Episode | None:
        """Return the episode of a memory; None if it was not made from messages."""
        stored = {"topic": memory.key, "summary": memory.text, "importance": memory.weight}
        try:
            return convert({**memory.meta, **stored}, cls)
        except msgspec.ValidationError:
            return None


# --- making --------------------------------------------------------------------------------------


def find_episodes(
    messages: Iterable[NumberedMessage],
    boundaries: EpisodeRules | None = None,
    *,
    now: datetime | None = None,
    embed: Embed | None = None,
) -> tuple[Episode, ...]:
    """Return the finished episodes of a conversation, in order.

    Later messages add episodes and change none. If there are too few messages between two long
    silences, they belong to no episode, because joining them with others would mix topics.
    """
    boundaries = EpisodeRules() if boundaries is None else boundaries
    require(boundaries, EpisodeRules, "boundaries")
    require(now, datetime | None, "now", "pass a datetime")
    require(embed, Callable | None, "embed", "pass a function from texts to vectors")
    stretches = segment(checked_messages(messages), boundaries, now=now, embed=embed)
    return tuple(
        episode_of(stretch)
        for stretch in stretches
        if stretch.closed and len(stretch.messages) >= boundaries.min_messages
    )


def checked_messages(messages: Iterable[NumberedMessage]) -> Iterator[NumberedMessage]:
    """Yield the messages, and check each.

    Raises:
        UsageError: one is not a pair of a number and a message.
    """
    require(messages, Iterable, "messages", "pass pairs of a number and a message")
    for index, entry in enumerate(messages):
        match cast("object", entry):
            case (int(), Message()):
                yield entry
            case _:
                hint = "pass pairs of a number and a message"
                raise UsageError(f"messages[{index}] cannot be {shown(entry)}", hint=hint)


def episode_of(stretch: Segment) -> Episode:
    """Return the episode of a segment, with excerpts as its summary."""
    numbers = tuple(number for number, _ in stretch.messages)
    messages = [message for _, message in stretch.messages]
    people = people_of(messages)
    times = [message.sent_at for message in messages if message.time]
    tags = tags_of(messages, people)
    return Episode(
        first=numbers[0],
        last=numbers[-1],
        messages=numbers,
        participants=tuple(sorted({one.id for one in people if one.id})),
        names=tuple(dict.fromkeys(name_of(one) for one in people))[:MAX_NAMES],
        began=times[0] if times else None,
        ended=times[-1] if times else None,
        tags=tags,
        topic=topic_of(tags, messages),
        summary=summary_of(stretch.messages),
        importance=importance_of(len(messages), len(people), stretch.seconds / 60),
    )


def importance_of(messages: int, people: int, minutes: float) -> float:
    """Return the importance of an episode, from 0 to 1, by its messages, people and duration."""
    measured = ((MESSAGE_STEPS, messages), (PEOPLE_STEPS, people), (MINUTE_STEPS, minutes))
    parts = [next((part for least, part in table if size >= least), 0) for table, size in measured]
    return min(round(sum(parts), 2), 1.0)


def people_of(messages: Iterable[Message]) -> list[Author]:
    """Return the speakers, each once; a model without an author is left out."""
    people: dict[str, Author] = {}
    for message in messages:
        author = message.author
        if author is not None:
            people.setdefault(author.id or f"\0{author.label}", author)
        elif message.role == "user":
            people.setdefault("", Author(name="user"))
    return list(people.values())


def name_of(author: Author) -> str:
    """Return a name on one line, without the quotes and colons that structure a summary."""
    plain = author.label[: 4 * MAX_NAME_CHARS].translate(NAME_SIGNS)
    return cut(" ".join(plain.split()), MAX_NAME_CHARS) or "unknown"


SMALL_TALK = "small talk"
ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
"""A URL. It is removed, because its parts are not words."""
QUOTES = str.maketrans({"“": '"', "”": '"'})
NAME_SIGNS = str.maketrans({"“": " ", "”": " ", '"': " ", ":": " "})


def summary_of(messages: Sequence[NumberedMessage]) -> str:
    """Return the most informative sentences, each quoted with its speaker."""
    lines = [
        Line(number, speaker_of(message), spoken_text(message)[:MAX_TEXT_CHARS].translate(QUOTES))
        for number, message in messages
    ]
    picked = digest(lines, MAX_SUMMARY_CHARS)
    said = " ".join(f"{line.speaker}: “{line.text}”" for line in picked)
    # If no sentence fits, such as in one huge word, the beginning of the first message does.
    return DIGEST_PREFIX + (
        said or f"“{cut(' '.join(lines[0].text.split()), MAX_SUMMARY_CHARS // 2)}…”"
    )


def speaker_of(message: Message) -> str:
    """Return the name of a message's speaker, or its role."""
    return name_of(message.author) if message.author else message.role


def topic_of(tags: Sequence[str], messages: Sequence[Message]) -> str:
    """Return a short topic: the best tags, or the first message that is more than a greeting."""
    topic = ", ".join(tags[:TAGS_IN_TOPIC])
    if not topic:
        texts = (spoken_text(message)[: 4 * MAX_TOPIC_CHARS] for message in messages)
        topic = " ".join(
            next((text for text in texts if has_content_word(text)), SMALL_TALK).split()
        )
    return cut(topic, MAX_TOPIC_CHARS)


def has_content_word(text: str) -> bool:
    """Whether a text has a word besides greetings and filler."""
    words = (word.casefold() for word in WORD.findall(without_greetings(text)))
    return any(len(word) > 2 and word.isalnum() and word not in FILLER for word in words)


def tags_of(messages: Sequence[Message], people: Iterable[Author]) -> tuple[str, ...]:
    """Return the words that describe messages best, as they are spelled there, best first.

    Names of participants are left out. The best words occur in many messages, but not in all.
    """
    present = terms_of(" ".join(f"{one.label} {one.username or ''}"[:200] for one in people))
    uses = Counter(
        word
        for message in messages
        for word in spelled_words(spoken_text(message)[:MAX_TEXT_CHARS])
    )
    spellings: dict[str, list[str]] = {}
    for word in uses:
        for term in terms_of(word) - present:
            spellings.setdefault(term, []).append(word)
    rated = [
        (-tag_weight(sum(uses[word] for word in words), len(messages), term), term)
        for term, words in spellings.items()
    ]
    # Of several spellings the most frequent one, then the shortest.
    best = (
        min(spellings[term], key=lambda word: (-uses[word], len(word), word))
        for _, term in sorted(rated)
    )
    return tuple(dict.fromkeys(word for word in best if is_tag_word(word)))[:MAX_TAGS]


def spelled_words(text: str) -> set[str]:
    """Return the words of a text, and in scripts without spaces all pairs of characters."""
    text = without_greetings(text)
    words = set(WORD.findall(text))
    for run in RUN.findall(text):
        words.update(run[place : place + 2] for place in range(len(run) - 1))
    return words


def without_greetings(text: str) -> str:
    """Return a text without URLs and greetings."""
    return GREETING.sub(" ", ADDRESS.sub(" ", text))


def is_tag_word(word: str) -> bool:
    """Whether a word may be a tag: it is neither short nor common, and has no digit."""
    if RUN.match(word):
        return True
    plain = word.casefold()
    if len(plain) < MIN_TAG_CHARS or plain in FILLER:
        return False
    return not any(letter.isdigit() or letter == "_" for letter in plain)


def tag_weight(number: int, messages: int, term: str) -> float:
    """Return how well a term describes messages: best if many of them contain it, but not all."""
    number = min(number, messages)
    return number * log(2 * messages / number) * min(len(term), FULL_WEIGHT_CHARS)
