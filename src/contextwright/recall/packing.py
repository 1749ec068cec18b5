"""The best of what was found, within so many tokens, in the order in which it was said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import log
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from contextwright.messages import Message, read_time
from contextwright.quoting import one_line
from contextwright.recall.ranking import Part, Ranked
from contextwright.terms import terms_of

__all__ = ["Item", "Packing", "Price", "Recall", "by_worth", "line_price", "usual_price", "worth"]

PRICE = 0.4
"""The power of its tokens that the odds of a message are divided by: two short messages that may
help are better than one long one."""
CHEAPEST = 20
"""Tokens below which a message is not cheaper: most that are shorter say nothing."""
ALIKE = 0.85
"""The share of common words from which on two messages say the same."""
TELLING = 3
"""Messages that say the same share one of their so many longest words."""
LONGEST = 60_000
"""Characters of one message."""
FRAME = 4
"""Tokens for what stands between entries."""

Price: TypeAlias = Callable[["Item", bool], int]
"""The tokens of a message, and whether it needs a line of its own for its day."""


class Item(Struct, frozen=True):
    """A message that is recalled, and why."""

    conversation: str
    seq: int
    message: Message
    score: float
    """The probability that the question needs it, from 0 to 1."""
    parts: tuple[Part, ...]
    """What each reason adds to the log-odds of the score, beside a constant."""
    tokens: int

    @property
    def speaker(self) -> str:
        """Who said it."""
        author = self.message.author
        return one_line(author.label) if author else self.message.role

    @property
    def day(self) -> str:
        """The day on which it was said, as its sender saw it; empty: unknown."""
        moment = read_time(self.message.sent_at) if self.message.sent_at else None
        return moment.date().isoformat() if moment else ""

    @property
    def heading(self) -> str:
        """Where it was said, and when."""
        return f"{self.day or 'undated'}, {one_line(self.conversation)}:"

    @property
    def line(self) -> str:
        """The message on one line, with its number and its speaker."""
        return f"#{self.seq} {self.speaker}: {one_line(self.message.text, LONGEST)}"

    @property
    def reason(self) -> str:
        """The weightiest reasons, in words."""
        best = sorted(self.parts, key=lambda part: -abs(part.adds))
        return ", ".join(f"{part.name.replace('_', ' ')} {part.adds:+.1f}" for part in best[:4])


class Recall(Struct, frozen=True):
    """What was recalled, in the order in which it was said."""

    query: str
    items: tuple[Item, ...]
    budget: int
    has_meaning: bool
    """Whether vectors were compared, or words alone."""

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def tokens(self) -> int:
        """What all of it costs."""
        return sum(item.tokens for item in self.items)

    @property
    def text(self) -> str:
        """A line for each message, below the conversation and the day it is of."""
        lines: list[str] = []
        before = ""
        for item in self.items:
            if item.heading != before:
                before = item.heading
                lines.append(before)
            lines.append(item.line)
        return "\n".join(lines)


class Packing:
    """Messages are offered, the best first; what fits and says something new stays.

    Args:
        budget: tokens of all lines.
        price: the tokens of a message.
        most: at most so many messages.
    """

    def __init__(self, budget: int, price: Price, most: int | None = None) -> None:
        self.left, self.price, self.most = budget, price, most
        self.items: list[Item] = []
        self._days: set[tuple[str, str]] = set()
        self._told: dict[str, list[set[str]]] = {}

    @property
    def is_full(self) -> bool:
        """Whether nothing more fits."""
        return self.left < FRAME or (self.most is not None and len(self.items) >= self.most)

    def offer(self, conversation: str, ranked: Ranked, message: Message) -> None:
        """Take a message if there is room for it and nobody has said so already."""
        item = Item(conversation, ranked.number, message, ranked.score, ranked.parts, 0)
        day = (conversation, item.day)
        tokens = self.price(item, day not in self._days)
        if tokens > self.left or self._is_told(message):
            return
        self.left -= tokens
        self._days.add(day)
        self.items.append(replace(item, tokens=tokens))

    def _is_told(self, message: Message) -> bool:
        """Whether one that stays says the same; if not, others are compared with this one."""
        terms = terms_of(message.text)
        longest = sorted(terms, key=lambda term: (-len(term), term))[:TELLING]
        for term in longest:
            for other in self._told.get(term, ()):
                if len(terms & other) >= ALIKE * len(terms | other):
                    return True
        for term in longest:
            self._told.setdefault(term, []).append(terms)
        return False

    def recall(self, query: str, budget: int, has_meaning: bool) -> Recall:
        """What stays, in the order in which it was said."""
        return Recall(query, tuple(sorted(self.items, key=order_of)), budget, has_meaning)


def worth(ranked: Ranked) -> float:
    """What a message is worth for its price."""
    return ranked.odds - PRICE * log(max(ranked.entry.size / 4 + FRAME, CHEAPEST))


def order_of(item: Item) -> tuple[str, int]:
    """Conversations one after the other, each in its order."""
    return item.conversation, item.seq


def line_price(count: Callable[[str], int]) -> Price:
    """What a message costs as a line, with a heading on a new day."""

    def price(item: Item, on_new_day: bool) -> int:
        return count(f"{item.heading}\n{item.line}\n" if on_new_day else f"{item.line}\n")

    return price


def usual_price(count: Callable[[str], int]) -> Price:
    """What a line costs whichever model reads it: by count, and never less than by estimate."""
    return line_price(lambda line: max(count(line), -(-len(line) // 4)) + FRAME)


def by_worth(ranked: Iterable[Ranked]) -> list[Ranked]:
    """The messages that give most for their price first."""
    return sorted(ranked, key=lambda one: (-worth(one), -one.number))
