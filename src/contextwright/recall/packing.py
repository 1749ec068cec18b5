"""Packing: the best hits that fit a token budget, in the order of the conversation."""

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
from contextwright.recall.lines import LONGEST, by_day, day_of, line_of, wording
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
    "usual_price",
    "worth",
]

PRICE = 0.4
"""The odds of a message are divided by this power of its tokens: two short messages that may help
are better than one long one.
"""
CHEAPEST = 20
"""Tokens below which a message is not cheaper, because most shorter ones say nothing."""
ESTIMATE, FRAME = 4, 4
"""Characters per token, and tokens between entries, for an estimate."""
LONGEST_TOKEN = 8
"""Average characters of a token in a message; hardly any text has more, in any vocabulary."""
MISSES = 16
"""Stop after this many in a row that did not fit."""

Order: TypeAlias = tuple[bool, str, int]
"""The position of a hit among those recalled."""

NAMES = {
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
"""Names of a score's parts for people, where they differ."""


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
    """The part of each reason in the log-odds of the score; the base is the same for all."""
    tokens: int
    memory: Memory | None = None
    title: str = ""
    """The conversation, where several are searched; of a memory, the name of who it is about."""
    excerpt: Excerpt | None = None
    """The parts of a long message that are recalled; None: all of it."""

    @property
    def text(self) -> str:
        """The recalled text: the message's, or passages of it with a mark for what is left out."""
        text = spoken_text(self.message)
        return text if self.excerpt is None else self.excerpt.of(text)

    @property
    def shown(self) -> Message:
        """The message as it is recalled: with the text of the excerpt alone."""
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
        """The message on one line, with its speaker, for a text that names the day above it."""
        return self._line(None)

    def _line(self, at: str | None) -> str:
        """Return the message on one line, with the day of a time."""
        if self.memory is not None:
            about = self.title or self.memory.about
            about = f"about {about}" if about else self.memory.kind
            key = f"{self.memory.key}: " if self.memory.key else ""
            return line_of(at, about, key + self.memory.text)
        place = self.excerpt.place if self.excerpt else ""
        return line_of(at, self.speaker, self.text, chat=self.title, place=place)

    @property
    def said(self) -> str:
        """The text with its speaker, because the same short text of someone else is different."""
        return self.line if self.memory else f"{self.speaker}: {self.text}"

    @property
    def reason(self) -> str:
        """The strongest reasons."""
        reasons = [f"{name} {adds:+.1f}" for name, adds in self.reasons if name != "base"]
        return ", ".join(reasons[:4])

    @property
    def reasons(self) -> list[tuple[str, float]]:
        """Return what each reason adds to the log-odds, for people, the largest first."""
        reasons: dict[str, float] = {}
        for part in self.parts:
            name = NAMES.get(part.name, part.name)
            reasons[name] = reasons.get(name, 0.0) + part.adds
        return sorted(reasons.items(), key=lambda reason: -abs(reason[1]))


class Price(Struct, frozen=True):
    """Prices of messages."""

    of: Callable[[RecallHit], int]
    """The tokens of one."""
    least: Callable[[int], float] = lambda size: 0.0
    """A lower estimate of the tokens of a number of characters."""
    whole: Callable[[Sequence[RecallHit]], int] | None = None
    """The tokens of all together, if they may exceed the sum of all."""
    day: Callable[[str], int] | None = None
    """The tokens of a day, if it is named once above all its messages."""


class RecallResult(Struct, frozen=True):
    """The recalled messages, in the order of the conversation."""

    query: str
    items: tuple[RecallHit, ...]
    budget: int
    has_meaning: bool
    """Whether vectors were compared, or only words."""
    trouble: str = ""
    """Why vectors were not compared, though there is an embedder."""
    confidence: float = 0.0
    """The probability that any message here answers the question, from 0 to 1."""
    changes: tuple[Change, ...] = ()
    """A `loss.damaged` for each damaged message that may answer it, and could not be searched."""

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
    """Takes messages, best first; keeps those that fit and are new.

    Args:
        budget: tokens of all lines.
        price: prices of messages.
        limit: maximum number of messages.
    """

    def __init__(self, budget: int, price: Price, limit: int | None = None) -> None:
        self.left, self.price, self.limit = budget, price, limit
        self.items: list[RecallHit] = []
        """The hits that stay, in the order of the conversation."""
        self._orders: list[Order] = []
        """The place of each."""
        self._estimated: set[Order] = set()
        """Messages whose passages were priced one by one: what they cost together is counted when
        the budget gets short, because counting all of them for each one takes quadratic time.
        """
        self._misses = 0
        self._offered: set[str] = set()
        self._wordings: set[str] = set()
        """The words of each hit that stays, with its speaker."""
        self._days: set[tuple[str, str]] = set()
        """The days that are paid for, by conversation."""

    @property
    def is_full(self) -> bool:
        """Whether nothing more is likely to fit."""
        return self._misses >= MISSES or not self._fits(1)

    @property
    def is_complete(self) -> bool:
        """Whether there are as many messages as wanted; those may still get longer."""
        return self.limit is not None and len(self.items) >= self.limit

    def has_room(self, size: int) -> bool:
        """Whether a message of that many characters may fit; if not, it need not be read."""
        return self._fits(self.price.least(min(size, LONGEST)))

    def offer(
        self,
        conversation: str,
        ranked: RankedMessage,
        message: Message,
        title: str = "",
        excerpt: Excerpt | None = None,
    ) -> None:
        """Take a message, or a passage of it, if it fits and its text is new."""
        item = RecallHit(
            conversation, ranked.number, message, ranked.score, (), 0, title=title, excerpt=excerpt
        )
        place = self.add(item)
        if place is not None:  # reasons are computed only for hits that stay
            self.items[place] = replace(self.items[place], parts=ranked.parts)

    def add(self, item: RecallHit) -> int | None:
        """Take a hit if it fits and its text is new; return its index.

        A passage joins those of its message that are here already.
        """
        said = item.said
        if said in self._offered:  # the same text: it stays already, or it did not fit
            return None
        self._offered.add(said)
        order = order_of(item)
        place = bisect(self._orders, order)
        joins = item.excerpt is not None and order in self._orders[place - 1 : place]
        if self.is_full or (self.is_complete and not joins):
            return None
        place -= joins
        adds = self.price.of(item)  # for a passage about that much, and hardly ever more
        day = self._price_of_day(item)
        if joins:
            item = with_passage(self.items[place], item)
            if not self._fits(adds):
                adds = self.price.of(item) - self.items[place].tokens
        if not self._fits(adds + day):
            self._misses += 1
            return None
        words = wording(said)
        if words in self._wordings:
            return None
        self._wordings.add(words)
        self._misses = 0
        self.left -= adds + day
        if self.price.day is not None:
            self._days.add((item.conversation, item.day))
        if joins:
            self._estimated.add(order)
            adds += self.items[place].tokens
        self.items[place : place + joins] = [replace(item, tokens=adds)]
        self._orders[place : place + joins] = [order]
        return place

    def _price_of_day(self, item: RecallHit) -> int:
        """Return the tokens of naming a hit's day; 0 if another hit has paid for it."""
        if self.price.day is None or (item.conversation, item.day) in self._days:
            return 0
        return self.price.day(item.day)

    def _fits(self, tokens: float) -> bool:
        """Whether a number of tokens is left."""
        if tokens > self.left:
            self._settle()
        return tokens <= self.left

    def _settle(self) -> None:
        """Count what the passages of each message cost together."""
        for order in self._estimated:
            place = bisect(self._orders, order) - 1
            item = self.items[place]
            tokens = self.price.of(item)
            self.left += item.tokens - tokens
            self.items[place] = replace(item, tokens=tokens)
        self._estimated.clear()

    def recall(self, query: str, budget: int, has_meaning: bool) -> RecallResult:
        """Return the hits that stay, in the order of the conversation."""
        self._settle()
        recall = RecallResult(query, tuple(self.items), budget, has_meaning)
        # The error of an estimate depends on the whole text, so rarely one too many was taken.
        whole = self.price.whole
        while recall.items and (
            recall.tokens > budget or (whole is not None and whole(recall.items) > budget)
        ):
            least = min(recall.items, key=lambda item: item.score)
            recall = replace(recall, items=tuple(one for one in recall if one is not least))
        return recall


def with_passage(hit: RecallHit, other: RecallHit) -> RecallHit:
    """Return a hit with another passage of its message; all passages are the whole message."""
    if hit.excerpt is None or other.excerpt is None:
        return hit
    joined = hit.excerpt.joined(other.excerpt)
    return replace(hit, excerpt=None if joined.is_whole else joined)


def worth(odds: float, size: int) -> float:
    """Return the log-odds of a text of that many characters for its price."""
    return odds - price_of_size(size)


@lru_cache(4_096)
def price_of_size(size: int) -> float:
    """Return how much less a text of that many characters is worth, as log-odds."""
    return PRICE * log(max(size / ESTIMATE + FRAME, CHEAPEST))


def order_of(item: RecallHit) -> Order:
    """Return the order: memories first, then conversation by conversation."""
    return item.memory is None, item.conversation, item.seq


def line_price(count: Callable[[str], int]) -> Price:
    """Return the price of a message as a line, exact or an upper bound."""

    def price(item: RecallHit) -> int:
        return count(f"{item.line}\n")

    def whole(items: Sequence[RecallHit]) -> int:
        return count("\n".join(item.line for item in items))

    # The last line has no line break and may cost more without it; so may all lines together.
    return Price(price, lambda size: size / LONGEST_TOKEN, whole)


def day_price(count: Callable[[str], int]) -> Price:
    """Return the price of a message as a line below its day, exact or an upper bound."""

    def price(item: RecallHit) -> int:
        return count(f"{item.undated_line}\n")

    def whole(items: Sequence[RecallHit]) -> int:
        return count(by_day((item.day, item.undated_line) for item in items))

    def day(name: str) -> int:
        return count(f"{name}\n")

    return Price(price, lambda size: size / LONGEST_TOKEN, whole, day)


def usual_price(count: Callable[[str], int]) -> Price:
    """Return the price of a line for any model: its count, and never less than the estimate."""

    def price(item: RecallHit) -> int:
        text = item.line
        return max(count(text), -(-len(text) // ESTIMATE)) + FRAME

    return Price(price, lambda size: size / ESTIMATE + FRAME)
