"""Packing: the best hits that fit a token budget, in the order of the conversation."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.recall.lines import LONGEST, below_headings, heading_of, line_of
from contextwright.recall.memories import Memory
from contextwright.recall.ranking import Part, RankedMessage
from contextwright.text.terms import terms_of

__all__ = [
    "RecallHit",
    "Packing",
    "Price",
    "RecallResult",
    "by_worth",
    "line_price",
    "usual_price",
    "worth",
]

PRICE = 0.4
"""The power of its tokens that the odds of a message are divided by: two short messages that may
help are better than one long one."""
CHEAPEST = 20
"""Tokens below which a message is not cheaper: most that are shorter say nothing."""
ALIKE = 0.85
"""The share of common words from which on two messages say the same."""
TELLING = 3
"""Messages with the same text share one of this many longest words."""
ESTIMATE, FRAME = 4, 4
"""Characters per token, and tokens between entries, for an estimate."""
LONGEST_TOKEN = 8
"""Characters of a token, in the mean of a message: hardly any has more, in any vocabulary."""
MISSES = 16
"""After this many in a row that did not fit, the rest is not tried."""

Order: TypeAlias = tuple[bool, str, int]
"""The place of a hit among those recalled."""

NAMES = {
    "beside": "words nearby",
    "around": "words around",
    "session": "words of the session",
    "meaning_beside": "meaning nearby",
    "meaning_session": "meaning of the session",
    "own": "a user's own",
    "asks": "a question",
    "size": "length",
    "long": "length",
    "short": "length",
    "sender": "speaks often",
}
"""Names of a score's parts for people, if they differ."""


class RecallHit(Struct, frozen=True):
    """A message that is recalled, or a memory, and why."""

    conversation: str
    seq: int
    """The message's number; 0: it is a memory."""
    message: Message
    """The message; of a memory, its words."""
    score: float
    """The probability that the question needs it, from 0 to 1."""
    parts: tuple[Part, ...]
    """The addition of each reason to the log-odds of the score; the base is the same for all."""
    tokens: int
    memory: Memory | None = None
    title: str = ""
    """The title of the conversation, or of a memory the name of who it is about; empty: unknown."""

    @property
    def speaker(self) -> str:
        """The speaker."""
        author = self.message.author
        return author.label if author else self.message.role

    @property
    def heading(self) -> str:
        """The conversation and day."""
        if self.memory is not None:
            return "known:"
        return heading_of(self.message.sent_at, self.title or self.conversation)

    @property
    def line(self) -> str:
        """The message on one line, with its number and its speaker."""
        if self.memory is not None:
            about = self.title or self.memory.about
            about = f"about {about}" if about else self.memory.kind
            key = f"{self.memory.key}: " if self.memory.key else ""
            return line_of(None, about, key + self.memory.text)
        return line_of(self.seq, self.speaker, spoken_text(self.message))

    @property
    def said(self) -> str:
        """The text with its speaker, because another's same short text is something else."""
        return self.line if self.memory else f"{self.speaker}: {spoken_text(self.message)}"

    @property
    def reason(self) -> str:
        """The weightiest reasons, in words."""
        reasons = [f"{name} {adds:+.1f}" for name, adds in self.reasons if name != "base"]
        return ", ".join(reasons[:4])

    @property
    def reasons(self) -> list[tuple[str, float]]:
        """The additions of each reason to the log-odds, for people, the largest first."""
        reasons: dict[str, float] = {}
        for part in self.parts:
            name = NAMES.get(part.name, part.name)
            reasons[name] = reasons.get(name, 0.0) + part.adds
        return sorted(reasons.items(), key=lambda reason: -abs(reason[1]))


class Price(Struct, frozen=True):
    """Prices of messages."""

    of: Callable[[RecallHit, Sequence[str]], int]
    """The tokens of one, with the headings that come along with it."""
    least: Callable[[int], float] = lambda size: 0.0
    """Tokens of a number of characters, hardly ever too few."""
    whole: Callable[[str], int] | None = None
    """The tokens of all lines together, where that may be more than of each of them."""


class RecallResult(Struct, frozen=True):
    """The recalled messages, in the order of the conversation."""

    query: str
    items: tuple[RecallHit, ...]
    budget: int
    has_meaning: bool
    """Whether vectors were compared, or words alone."""
    trouble: str = ""
    """Why they were not, though there is an embedder."""

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
        """A line for each message, below the conversation and the day it is of."""
        return below_headings((item.heading, item.line) for item in self.items)


class Packing:
    """Takes messages, best first; those that fit and are new stay.

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
        self._headings: list[str] = []
        """The place and heading of each."""
        self._misses = 0
        self._offered: set[str] = set()
        self._told: dict[str, list[set[str]]] = {}

    @property
    def is_full(self) -> bool:
        """Whether nothing more is likely to fit."""
        if self.left <= 0 or self._misses >= MISSES:
            return True
        return self.limit is not None and len(self.items) >= self.limit

    def has_room(self, size: int) -> bool:
        """Whether a message of that many characters may fit; if not, it need not be read."""
        return self.price.least(min(size, LONGEST)) <= self.left

    def offer(
        self, conversation: str, ranked: RankedMessage, message: Message, title: str = ""
    ) -> None:
        """Take a message if it fits and its text is new."""
        item = RecallHit(conversation, ranked.number, message, ranked.score, (), 0, title=title)
        place = self.add(item)
        if place is not None:  # only of what stays is anybody told why
            self.items[place] = replace(self.items[place], parts=ranked.parts)

    def add(self, item: RecallHit) -> int | None:
        """Take a hit if it fits and its text is new; return its index."""
        said = item.said
        if said in self._offered:  # word by word: it stays already, or it did not fit
            return None
        self._offered.add(said)
        order, heading = order_of(item), item.heading
        place = bisect(self._orders, order)
        tokens = self.price.of(item, self._brought(heading, place))
        if tokens > self.left:
            self._misses += 1
            return None
        if self.is_full or self._is_told(said):
            return None
        self._misses = 0
        self.left -= tokens
        self.items.insert(place, replace(item, tokens=tokens))
        self._orders.insert(place, order)
        self._headings.insert(place, heading)
        return place

    def _brought(self, heading: str, place: int) -> list[str]:
        """The headings that a message brings along: one that parts others has theirs repeated."""
        before = self._headings[place - 1] if place else ""
        after = self._headings[place] if place < len(self._headings) else ""
        if heading in (before, after):
            return []
        return [heading, after] if after and after == before else [heading]

    def _is_told(self, said: str) -> bool:
        """Whether a hit that stays has the same text; if not, remember this one for comparison."""
        terms = terms_of(said) or {said}  # signs alone are told once, too
        longest = sorted(sorted(terms), key=len, reverse=True)[:TELLING]
        for term in longest:
            for other in self._told.get(term, ()):
                if say_the_same(terms, other):
                    return True
        for term in longest:
            self._told.setdefault(term, []).append(terms)
        return False

    def recall(self, query: str, budget: int, has_meaning: bool) -> RecallResult:
        """The hits that stay, in the order of the conversation."""
        recall = RecallResult(query, tuple(self.items), budget, has_meaning)
        # How far an estimate may be off depends on the whole text: rarely, one too many was taken.
        whole = self.price.whole
        while whole is not None and recall.items and whole(recall.text) > budget:
            least = min(recall.items, key=lambda item: item.score)
            recall = replace(recall, items=tuple(one for one in recall if one is not least))
        return recall


def say_the_same(terms: set[str], others: set[str]) -> bool:
    """Whether two messages have nearly the same words, and no other numbers: 7:40 is not 8:10."""
    if len(terms & others) < ALIKE * len(terms | others):
        return False
    return not any(term[0].isdigit() for term in terms ^ others)


def worth(ranked: RankedMessage) -> float:
    """Return the score of a message for its price."""
    return ranked.odds - PRICE * log(max(ranked.entry.size / ESTIMATE + FRAME, CHEAPEST))


def order_of(item: RecallHit) -> Order:
    """Return the order: memories first, then conversation by conversation."""
    return item.memory is None, item.conversation, item.seq


def line_price(count: Callable[[str], int]) -> Price:
    """Return the price of a message as a line below its headings, exact or an upper bound."""

    def price(item: RecallHit, headings: Sequence[str]) -> int:
        return count("\n".join([*headings, item.line, ""]))

    # The last line has no end and may cost more without it, and so may all of them together.
    return Price(price, lambda size: size / LONGEST_TOKEN, count)


def usual_price(count: Callable[[str], int]) -> Price:
    """Return the price of a line for any model: its count, and never less than the estimate."""

    def price(item: RecallHit, headings: Sequence[str]) -> int:
        text = "\n".join([*headings, item.line])
        return max(count(text), -(-len(text) // ESTIMATE)) + FRAME

    return Price(price, lambda size: size / ESTIMATE + FRAME)


def by_worth(ranked: Iterable[RankedMessage]) -> list[RankedMessage]:
    """The messages that give most for their price first."""
    return sorted(ranked, key=lambda one: (-worth(one), -one.number))
