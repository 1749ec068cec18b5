"""The options of a recall, and the request that is made from them and validated."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from typing import TypedDict

from msgspec import Struct

from contextwright.errors import UsageError, shown
from contextwright.messages.message import Message
from contextwright.messages.times import require_time
from contextwright.models import Model, as_model
from contextwright.recall.candidates import MessageFilter, spoken_only
from contextwright.recall.memories import Ranking
from contextwright.recall.outline import Entry
from contextwright.recall.packing import Price, default_price, line_price
from contextwright.recall.ranking import QUESTION_ONLY
from contextwright.store.rows.validation import require_text
from contextwright.text.terms import plain
from contextwright.tokens.count import count_text
from contextwright.tokens.tokenizers import vocabulary

__all__ = ["MAX_RANKED", "RecallOptions", "RecallRequest", "price_of", "recall_request"]

MIN_RANKED, MAX_RANKED = 100, 1_000
"""Minimum and maximum number of messages that are ranked; the budget decides."""
MIN_MESSAGE_TOKENS = 10
"""Nearly every message has at least this many tokens."""
DEFAULT_VOCABULARY = "o200k_base"
"""The vocabulary that counts tokens if no model is named."""


class RecallOptions(TypedDict, total=False):
    """The options of a recall besides its question."""

    budget: int
    """Token budget of all lines of `text`; 2,000 by default."""
    about: str | None
    """Only messages of this person, by id or name."""
    now: datetime | None
    """The time that "last summer" is relative to."""
    limit: int | None
    """Maximum number of messages."""
    min_score: float
    """Minimum score, the probability that a message is needed, from 0 to 1."""
    min_confidence: float
    """Minimum confidence that there is an answer, from 0 to 1; below it no message is recalled."""
    model: str | Model | None
    """The model whose tokens are counted; by default a count that fits most models."""
    price: Callable[[Message], int] | None
    """The price of a message, instead of the tokens of its line."""
    excerpts: bool
    """Whether long messages are recalled in passages; by default yes, unless there is a `price`."""
    ranking: Ranking
    """Other reasons that count, such as recency."""


def recall_request(query: str, options: RecallOptions) -> RecallRequest:
    """Return the request for a query and its options.

    Raises:
        UsageError: an option is unknown, or its value is not valid.
    """
    known = RecallOptions.__annotations__
    for name in options:
        require(name in known, "an option of recall", name, f"known: {', '.join(known)}")
    model, price = options.get("model"), options.get("price")
    require(model is None or is_a(model, str, Model), "model", model, "a name, or a Model")
    require(price is None or callable(price), "price", price, "a function of a message")
    return RecallRequest(
        query=query,
        budget=options.get("budget", 2_000),
        price=price_of(model, price),
        about=options.get("about"),
        now=options.get("now"),
        limit=options.get("limit"),
        min_score=options.get("min_score", 0.0),
        min_confidence=options.get("min_confidence", 0.0),
        excerpts=options.get("excerpts", price is None),
        ranking=options.get("ranking", QUESTION_ONLY),
    )


class RecallRequest(Struct, frozen=True, kw_only=True):
    """A question with its options. They are validated when it is made."""

    query: str
    budget: int
    price: Price
    about: str | None = None
    """Only messages of this person, by id or name."""
    asker: str | None = None
    """The id of the person who asks."""
    now: datetime | None = None
    limit: int | None = None
    min_score: float = 0.0
    """Minimum score, the probability that a message is needed."""
    min_confidence: float = 0.0
    """Minimum confidence that there is an answer."""
    memories: bool = True
    """Whether to recall memories too, not only messages."""
    last: int | None = None
    """The last message to recall from."""
    without: Collection[int] = ()
    excerpts: bool = True
    """Whether long messages are recalled in passages."""
    ranking: Ranking = QUESTION_ONLY

    def __post_init__(self) -> None:
        require(is_a(self.query, str), "query", self.query, "a question, as text")
        is_somebody = self.about is None or (is_a(self.about, str) and self.about != "")
        require(is_somebody, "about", self.about, "an id or a name")
        require_text(self.about, "about")
        require(is_count(self.budget), "budget", self.budget, "a number of tokens, 0 or more")
        is_limit = self.limit is None or is_count(self.limit)
        require(is_limit, "limit", self.limit, "a number of messages, 0 or more")
        for name in ("min_score", "min_confidence"):
            value = getattr(self, name)
            is_probability = is_a(value, int, float) and 0 <= value <= 1
            require(is_probability, name, value, "a probability, from 0 to 1")
        is_now = self.now is None or is_a(self.now, datetime)
        require(is_now, "now", self.now, "a datetime")
        if self.now is not None:
            require_time(self.now)
        require(is_a(self.excerpts, bool), "excerpts", self.excerpts, "True or False")
        is_ranking = is_a(self.ranking, Ranking)
        require(is_ranking, "ranking", self.ranking, "Ranking(recency=…, senders=…)")

    @property
    def width(self) -> int:
        """The number of messages that are ranked."""
        room = min(
            self.budget // MIN_MESSAGE_TOKENS,
            MAX_RANKED if self.limit is None else self.limit * MIN_MESSAGE_TOKENS,
        )
        return max(MIN_RANKED, min(room, MAX_RANKED))

    def allows(self, hidden: frozenset[int]) -> MessageFilter:
        """Return the filter for the messages of a conversation that may be recalled."""
        left_out = hidden.union(self.without)

        def is_allowed(number: int, entry: Entry) -> bool:
            if not entry.is_spoken or number in left_out:
                return False
            if self.about is None or self.about == entry.id:
                return True
            return entry.speaker != "" and plain(self.about) == plain(entry.speaker)

        # It is called for hundreds of messages, mostly without any of these conditions.
        return is_allowed if left_out or self.about is not None else spoken_only


def require(is_right: bool, name: str, value: object, hint: str) -> None:
    """Raise an error unless an argument is valid."""
    if not is_right:
        raise UsageError(f"{name} cannot be {shown(value)}", hint=hint)


def is_a(value: object, *kinds: type) -> bool:
    """Whether a value has one of the types, also where type checkers take it for certain."""
    return isinstance(value, kinds)


def is_count(value: object) -> bool:
    """Whether a value is an integer, 0 or more."""
    return type(value) is int and value >= 0


def require_count(tokens: int) -> int:
    """Return the tokens that a caller's function gives a message.

    Raises:
        UsageError: it is not a number of tokens.
    """
    require(is_count(tokens), "the price of a message", tokens, "a number of tokens, 0 or more")
    return tokens


def price_of(model: str | Model | None, price: Callable[[Message], int] | None) -> Price:
    """Return the price of hits: the caller's, a model's count of the line, or the default."""
    if price is not None:
        return Price(lambda item: require_count(price(item.shown)))
    if model is not None:
        facts = as_model(model)
        return line_price(lambda text: count_text(text, facts).most)
    return default_price(vocabulary(DEFAULT_VOCABULARY))
