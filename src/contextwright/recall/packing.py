"""Pack the best hits into a token budget, in the order of the conversation."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import log
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Text
from contextwright.messages.speech import spoken_text
from contextwright.recall.lines import (
    MAX_TEXT_CHARS,
    day_of,
    dedup_key,
    format_line,
    grouped_by_day,
)
from contextwright.recall.memories import Memory
from contextwright.recall.passages import Excerpt
from contextwright.recall.ranking import Part, RankedMessage

__all__ = [
    "RecallHit",
    "Packing",
    "Price",
    "RecallResult",
    "day_price",
    "line_price",
    "default_price",
    "value_for_price",
]

PRICE_EXPONENT = 0.4
"""The odds of a message are divided by its tokens to this power, because two short messages may
help more than one long one.
"""
MIN_PRICED_TOKENS = 20
"""Shorter messages count as this long, because most of them say nothing."""
CHARS_PER_TOKEN, ENTRY_TOKENS = 4, 4
"""For estimates: characters per token, and tokens between two entries."""
MAX_TOKEN_CHARS = 8
"""Hardly any text has more characters per token on average, in any vocabulary."""
MAX_MISSES = 16
"""Stop after this many hits in a row that did not fit."""

SortKey: TypeAlias = tuple[bool, str, int]
"""The order of hits in a result: memories first, then by conversation and message number."""

PART_LABELS = {
    "beside": "words nearby",
    "around": "words around",
    "session": "words of the session",
    "meaning_beside": "meaning nearby",
    "meaning_session": "meaning of the session",
    "own": "a user's own",
    "asks": "a question",
    "sender": "speaks often",
    "addressed": "said to the model",
}
"""What users read instead of the name of a part."""


class RecallHit(Struct, frozen=True):
    """A recalled message or memory, and why."""

    conversation: str
    seq: int
    """The message's number; 0 for a memory."""
    message: Message
    """The message; for a memory, its text."""
    score: float
    """The probability that the question needs it, from 0 to 1."""
    parts: tuple[Part, ...]
    """What each reason adds to the log-odds of the score; the base is the same for all."""
    tokens: int
    memory: Memory | None = None
    title: str = ""
    """The conversation's title if several are searched; for a memory, the name of its subject."""
    excerpt: Excerpt | None = None
    """The parts of a long message that are recalled; None: all of it."""

    @property
    def text(self) -> str:
        """The text of the message, or its recalled passages with a mark where text is left out."""
        text = spoken_text(self.message)
        return text if self.excerpt is None else self.excerpt.of(text)

    @property
    def shown(self) -> Message:
        """The message, with only the text that is recalled."""
        return (
            self.message
            if self.excerpt is None
            else replace(self.message, parts=(Text(self.text),))
        )

    @property
    def speaker(self) -> str:
        """The speaker."""
        author = self.message.author
        return author.label if author else self.message.role

    @property
    def day(self) -> str:
        """The day of the message; empty if it is unknown."""
        return day_of(self.message.sent_at)

    @property
    def line(self) -> str:
        """The message on one line, with its day and its speaker."""
        return self._line(self.message.sent_at)

    @property
    def undated_line(self) -> str:
        """The message on one line, with its speaker, for a text that has the day above it."""
        return self._line(None)

    def _line(self, at: str | None) -> str:
        """Return the message on one line, with the day of a time."""
        if self.memory is not None:
            about = self.title or self.memory.about
            about = f"about {about}" if about else self.memory.kind
            key = f"{self.memory.key}: " if self.memory.key else ""
            return format_line(at, about, key + self.memory.text)
        place = self.excerpt.place if self.excerpt else ""
        return format_line(at, self.speaker, self.text, chat=self.title, place=place)

    @property
    def said(self) -> str:
        """The text with its speaker, by which repetitions are found. A short text such as "Yes"
        means something else if somebody else says it."""
        return self.line if self.memory else f"{self.speaker}: {self.text}"

    @property
    def reason(self) -> str:
        """The four strongest reasons, on one line."""
        reasons = [f"{name} {adds:+.1f}" for name, adds in self.reasons if name != "base"]
        return ", ".join(reasons[:4])

    @property
    def reasons(self) -> list[tuple[str, float]]:
        """The reasons by the names that users read, with what each adds; the strongest first."""
        reasons: dict[str, float] = {}
        for part in self.parts:
            name = PART_LABELS.get(part.name, part.name)
            reasons[name] = reasons.get(name, 0.0) + part.adds
        return sorted(reasons.items(), key=lambda reason: -abs(reason[1]))


class Price(Struct, frozen=True):
    """What hits cost in tokens."""

    of_hit: Callable[[RecallHit], int]
    """The tokens of one hit."""
    lower_bound: Callable[[int], float] = lambda size: 0.0
    """A lower bound for the tokens of a text with that many characters."""
    of_all: Callable[[Sequence[RecallHit]], int] | None = None
    """The tokens of all hits together, if that may be more than their sum."""
    of_day: Callable[[str], int] | None = None
    """The tokens of a day, if each day is on a line above its messages."""


class RecallResult(Struct, frozen=True):
    """The recalled messages, in the order of the conversation."""

    query: str
    items: tuple[RecallHit, ...]
    budget: int
    has_meaning: bool
    """Whether embeddings were compared, or only words."""
    trouble: str = ""
    """Why embeddings were not compared, though there is an embedder."""
    confidence: float = 0.0
    """The probability that any message here answers the question, from 0 to 1."""
    changes: tuple[Change, ...] = ()
    """A `loss.damaged` for each damaged message that could not be searched."""

    def __iter__(self) -> Iterator[RecallHit]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def tokens(self) -> int:
        """The tokens of all lines."""
        return sum(item.tokens for item in self.items)

    @property
    def text(self) -> str:
        """A line for each message."""
        return "\n".join(item.line for item in self.items)


class Packing:
    """A result that is filled with hits, best first. It keeps those that fit and are new.

    Args:
        budget: maximum tokens of all lines.
        price: what hits cost.
        limit: maximum number of messages.
    """

    def __init__(self, budget: int, price: Price, limit: int | None = None) -> None:
        self.tokens_left, self.price, self.limit = budget, price, limit
        self.items: list[RecallHit] = []
        """The hits that are kept, in order."""
        self._sort_keys: list[SortKey] = []
        """The sort key of each."""
        self._estimated: set[SortKey] = set()
        """Messages whose tokens are the sum of their passages. Their joint text is counted only
        when the budget gets short, because counting it for each passage takes quadratic time.
        """
        self._misses = 0
        self._offered: set[str] = set()
        self._kept_keys: set[str] = set()
        """The deduplication key of each hit that is kept."""
        self._paid_days: set[tuple[str, str]] = set()
        """The days whose line is paid for, by conversation."""

    @property
    def is_full(self) -> bool:
        """Whether nothing more is likely to fit."""
        return self._misses >= MAX_MISSES or not self._fits(1)

    @property
    def is_complete(self) -> bool:
        """Whether the limit is reached. Messages that are kept may still get further passages."""
        return self.limit is not None and len(self.items) >= self.limit

    def has_room(self, size: int) -> bool:
        """Whether a message of that many characters may fit. If not, it need not be read."""
        return self._fits(self.price.lower_bound(min(size, MAX_TEXT_CHARS)))

    def offer(
        self,
        conversation: str,
        ranked: RankedMessage,
        message: Message,
        title: str = "",
        excerpt: Excerpt | None = None,
    ) -> None:
        """Add a message, or a passage of it, if it fits and its text is new."""
        item = RecallHit(
            conversation, ranked.number, message, ranked.score, (), 0, title=title, excerpt=excerpt
        )
        index = self.add(item)
        if index is not None:  # reasons take time, so they are computed only for hits that stay
            self.items[index] = replace(self.items[index], parts=ranked.parts)

    def add(self, item: RecallHit) -> int | None:
        """Add a hit if it fits and its text is new; return its index, or None.

        A passage is joined with those of its message that are here already.
        """
        said = item.said
        if said in self._offered:  # the same text is here already, or did not fit
            return None
        self._offered.add(said)
        sort_key = sort_key_of(item)
        index = bisect(self._sort_keys, sort_key)
        joins = item.excerpt is not None and sort_key in self._sort_keys[index - 1 : index]
        if self.is_full or (self.is_complete and not joins):
            return None
        index -= joins
        tokens = self.price.of_hit(item)  # a joined passage adds about as much, and hardly more
        day = self._day_tokens(item)
        if joins:
            item = with_passage(self.items[index], item)
            if not self._fits(tokens):
                tokens = self.price.of_hit(item) - self.items[index].tokens
        if not self._fits(tokens + day):
            self._misses += 1
            return None
        key = dedup_key(said)
        if key in self._kept_keys:
            return None
        self._kept_keys.add(key)
        self._misses = 0
        self.tokens_left -= tokens + day
        if self.price.of_day is not None:
            self._paid_days.add((item.conversation, item.day))
        if joins:
            self._estimated.add(sort_key)
            tokens += self.items[index].tokens
        self.items[index : index + joins] = [replace(item, tokens=tokens)]
        self._sort_keys[index : index + joins] = [sort_key]
        return index

    def _day_tokens(self, item: RecallHit) -> int:
        """Return the tokens of the line of a hit's day; 0 if it is there already."""
        if self.price.of_day is None or (item.conversation, item.day) in self._paid_days:
            return 0
        return self.price.of_day(item.day)

    def _fits(self, tokens: float) -> bool:
        """Whether that many tokens are left."""
        if tokens > self.tokens_left:
            self._count_estimated()
        return tokens <= self.tokens_left

    def _count_estimated(self) -> None:
        """Count the tokens of messages with several passages, which were estimated."""
        for sort_key in self._estimated:
            index = bisect(self._sort_keys, sort_key) - 1
            item = self.items[index]
            tokens = self.price.of_hit(item)
            self.tokens_left += item.tokens - tokens
            self.items[index] = replace(item, tokens=tokens)
        self._estimated.clear()

    def result(self, query: str, budget: int, has_meaning: bool) -> RecallResult:
        """Return the result, and drop the lowest scores if it exceeds the budget after all."""
        self._count_estimated()
        result = RecallResult(query, tuple(self.items), budget, has_meaning)
        # Counts of single lines need not add up to that of the whole text, so this may happen.
        whole = self.price.of_all
        while result.items and (
            result.tokens > budget or (whole is not None and whole(result.items) > budget)
        ):
            least = min(result.items, key=lambda item: item.score)
            result = replace(result, items=tuple(one for one in result if one is not least))
        return result


def with_passage(hit: RecallHit, other: RecallHit) -> RecallHit:
    """Return a hit with another passage of its message added."""
    if hit.excerpt is None or other.excerpt is None:
        return hit
    joined = hit.excerpt.joined(other.excerpt)
    return replace(hit, excerpt=None if joined.is_whole else joined)


def value_for_price(log_odds: float, size: int) -> float:
    """Return the log-odds of a text, less a penalty for its length in characters."""
    return log_odds - price_penalty(size)


@lru_cache(4_096)
def price_penalty(size: int) -> float:
    """Return the penalty for a text of that many characters, as log-odds."""
    return PRICE_EXPONENT * log(max(size / CHARS_PER_TOKEN + ENTRY_TOKENS, MIN_PRICED_TOKENS))


def sort_key_of(item: RecallHit) -> SortKey:
    """Return the sort key of a hit."""
    return item.memory is None, item.conversation, item.seq


def line_price(count: Callable[[str], int]) -> Price:
    """Return the price of hits as lines, exact or an upper bound."""

    def price(item: RecallHit) -> int:
        return count(f"{item.line}\n")

    def of_all(items: Sequence[RecallHit]) -> int:
        return count("\n".join(item.line for item in items))

    # The whole text may have more tokens than its lines, for example without the last line break.
    return Price(price, lambda size: size / MAX_TOKEN_CHARS, of_all)


def day_price(count: Callable[[str], int]) -> Price:
    """Return the price of hits as lines below their days, exact or an upper bound."""

    def price(item: RecallHit) -> int:
        return count(f"{item.undated_line}\n")

    def of_all(items: Sequence[RecallHit]) -> int:
        return count(grouped_by_day((item.day, item.undated_line) for item in items))

    def of_day(name: str) -> int:
        return count(f"{name}\n")

    return Price(price, lambda size: size / MAX_TOKEN_CHARS, of_all, of_day)


def default_price(count: Callable[[str], int]) -> Price:
    """Return the price of a line for any model: its count, but no less than the estimate."""

    def price(item: RecallHit) -> int:
        text = item.line
        return max(count(text), -(-len(text) // CHARS_PER_TOKEN)) + ENTRY_TOKENS

    return Price(price, lambda size: size / CHARS_PER_TOKEN + ENTRY_TOKENS)
