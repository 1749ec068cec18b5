"""Prices the pieces of a request for one model and API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import DecodeError
from msgspec.json import decode as decode_json

from contextwright.models import Model
from contextwright.tokens.estimate import Calibration, Count, Sum
from contextwright.tokens.media import media_cost
from contextwright.tokens.pieces.piece import Fields, Kind, Piece, Turn, json_of
from contextwright.tokens.rates import Rates, TextCounter, rates_of, tables, text_counter
from contextwright.tokens.spelling import gemma, python, words
from contextwright.tokens.spelling.typescript import declarations, is_confirmed

__all__ = ["GUESSED", "Price", "Pricer"]

GUESSED = {"exact": 0.0, "prefix": 0.05, "default": 0.15}
"""Relative error of a count if the model, or the host that frames its requests, is a guess."""

UNSEEN = frozenset(("unseen", "hosted", "deferred", "opaque"))
"""Kinds for which the provider may add tokens that are not in the request."""

UNCOUNTED = UNSEEN | {"unpriced", "edits"}
UNPRICED_TOKENS = 40
"""Relative error of a field of unknown price."""

MAX_CACHED_CHARS = 8_000_000
"""Maximum characters of texts and values that a pricer caches; then the cache is emptied."""

NO_BODIES: Mapping[str, bytes] = {}

Price: TypeAlias = tuple[float, float, float]
"""The tokens of a piece, the fraction of them that may be wrong in either direction, and how many
more of them may not be charged at all."""


class Pricer:
    """Prices the pieces of one model's requests, and remembers the texts it has counted."""

    def __init__(
        self, model: Model, format: str, tokenizer: str, *, max_chars: int = MAX_CACHED_CHARS
    ) -> None:
        counter = text_counter(tokenizer)
        self.model, self.format = model, format
        self.rates = rates_of(model.rates, format, tokenizer)
        guessed = "prefix" if model.through_host and model.matched == "exact" else model.matched
        self.doubt = max(counter.bound, GUESSED[guessed])
        self.texts = Texts(counter, max_chars)
        self._prices = Prices(model, self.rates, self.texts, self.doubt)
        self._cheaper = None
        if self.rates.cheaper:
            other = tables().rates[self.rates.cheaper]
            self._cheaper = Prices(model, other, self.texts, self.doubt)
        self._known: dict[str, dict[Any, Price]] = defaultdict(dict)
        self._turns: dict[tuple[object, bytes | None], Sum | float] = {}
        self.texts.cleared += [self._known.clear, self._turns.clear]

    def count(
        self,
        found: Iterable[Piece | Turn],
        calibration: Calibration | None = None,
        bodies: Mapping[str, bytes] = NO_BODIES,
    ) -> Count:
        """Count the tokens of pieces and messages, by place.

        `bodies` has the JSON of messages by their places: one that comes again is not taken apart
        again.
        """
        return self.add(found, bodies).count(calibration)

    def add(self, found: Iterable[Piece | Turn], bodies: Mapping[str, bytes] = NO_BODIES) -> Sum:
        """Return the prices of pieces and messages, added up by place, as those of a request."""
        total = self._sum(found, bodies)
        if not total.certain:
            total.doubted += self.rates.slack
        return total

    def _sum(self, found: Iterable[Piece | Turn], bodies: Mapping[str, bytes] = NO_BODIES) -> Sum:
        """Return the prices of pieces and messages, added up by place."""
        total = Sum(unseen={"model": None} if self.model.hosted_tools else {})
        starts: list[float] = []
        turns = self._turns
        for one in found:
            if type(one) is Turn:
                place, body = one.place, bodies.get(one.place)
                price = turns.get((one.walk, body))
                if price is None:
                    price = self._turn(one, body)
                if isinstance(price, Sum):
                    total.include(price, place)
                else:
                    total.places[place] = price
            elif type(one) is Piece:
                self._add((one,), total)
                if one.kind == "edits":
                    starts.append(one.value)
        if starts and sum(total.places.values()) + total.doubted >= min(starts):
            # The provider may clear or compact the history: nothing of it is sure to be charged.
            total.below = sum(total.places.values())
        return total

    def _turn(self, turn: Turn, body: bytes | None) -> Sum | float:
        """Return the price of a message alone, if certain as a number; remember it by its JSON."""
        price: Sum | float = Sum()
        self._add(turn.pieces(), price)
        if price.certain and not price.unseen and price.places:
            price = float(sum(price.places.values()))
        if body is not None:
            self.texts.remember(len(body))
            self._turns[turn.walk, body] = price
        return price

    def _add(self, pieces: Iterable[Piece], total: Sum) -> None:
        """Add the prices of pieces to a sum."""
        places, known = total.places, self._known
        for piece in pieces:
            kind, place = piece.kind, piece.place
            try:
                cost, doubt, below = known[kind][piece.value]
            except (KeyError, TypeError):  # new, or a value that cannot be a key
                cost, doubt, below = self._learn(piece)
            places[place] = places[place] + cost if place in places else cost
            if doubt or below:
                total.certain = False
                total.doubted += abs(cost) * doubt
                total.below += below
            if kind in UNCOUNTED:
                if kind in UNSEEN:
                    total.unseen[place] = None
                    continue
                total.certain = False
                total.doubted += UNPRICED_TOKENS

    def most(self, found: Iterable[Piece | Turn]) -> float:
        """Return the most that pieces and messages add to a request that holds others too."""
        total = self._sum(found)
        return sum(total.places.values()) + total.doubted

    def text_price(self, kind: Kind, text: str) -> Price:
        """Return the price of a piece of a kind whose value is text."""
        return self._known[kind].get(text) or self._learn(Piece(kind, "", text))

    def _learn(self, piece: Piece) -> Price:
        """Return the price of a piece, and remember it if its value is text."""
        price = self.price(piece)
        if isinstance(piece.value, str):
            self.texts.remember(len(piece.value))
            self._known[piece.kind][piece.value] = price
        return price

    def price(self, piece: Piece) -> Price:
        """Return the price of one piece."""
        cost, doubt, below = self._prices.of(piece)
        if self._cheaper is not None and piece.kind != "text":  # text costs the same
            other = self._cheaper.of(piece)
            below = max(below, cost - other[0])
        if piece.kind == "tools" and self.model.through_host:
            below = cost  # some hosts do not charge for them
        return cost, doubt, below


class Texts:
    """The tokens of texts, remembered up to a number of characters."""

    def __init__(self, counter: TextCounter, max_chars: int) -> None:
        self.counter, self.max_chars = counter, max_chars
        self.counted: dict[str, float] = {}
        self.cleared: list[Callable[[], None]] = []
        """Called whenever the texts are forgotten."""
        self._chars = 0

    def count(self, text: str) -> float:
        """Return the tokens of a text."""
        tokens = self.counted.get(text)
        if tokens is None:
            self.remember(len(text))
            tokens = self.counted[text] = self.counter.count(text)
        return tokens

    def remember(self, length: int) -> None:
        """Make room for a text of this length."""
        self._chars += length
        if self._chars > self.max_chars:
            # A long-lived pricer meets ever new texts; old ones are rarely counted again.
            self.counted.clear()
            for clear in self.cleared:
                clear()
            self._chars = length


class Prices:
    """The prices of pieces by one row of rates."""

    def __init__(self, model: Model, rates: Rates, texts: Texts, doubt: float) -> None:
        self.model = model
        self.rates = rates
        self.count = texts.count
        self.doubt_beyond = texts.counter.doubt_beyond
        self.doubt = doubt
        self.spelling: Any = SPELLINGS.get(rates.tools)
        self._tools: dict[str, Price] = {}
        texts.cleared.append(self._tools.clear)

    def of(self, piece: Piece) -> Price:
        """Return the price of a piece."""
        kind, value, rates = piece.kind, piece.value, self.rates
        match kind:
            case "text":
                doubt = self.doubt_of(kind) + self.doubt_beyond(value)
                return rates.scale.get(kind, 1) * self.count(value), doubt, 0.0
            case "image" | "audio" | "video" | "document":
                if kind in rates.fixed:
                    return rates.fixed[kind], rates.doubt, 0.0
                return media_cost(kind, value, self.model, self.count)
            case "tools":
                return self.tools(value)
            case "past_thinking" | "past_sealed":
                return self.past(piece)
            case "unpriced" | "unseen" | "edits":
                return 0.0, 0.0, 0.0
            case _:
                cost = rates.fixed.get(kind, 0) + rates.scale.get(kind, 1) * self.tokens(piece)
        if kind == "opaque":
            return cost, 0.0, cost
        return cost, self.doubt_of(kind), 0.0

    def tokens(self, piece: Piece) -> float:
        """Return the tokens of a piece's value, without what its kind costs."""
        kind, value, rates = piece.kind, piece.value, self.rates
        match kind:
            case "call" | "result" if self.spelling:
                return self.spelled(getattr(self.spelling, kind)(value))
            case "arguments" | "response" if self.spelling:
                try:
                    return self.spelled(getattr(self.spelling, kind)(decoded(value)))
                except RecursionError:  # nested deeper than any provider reads
                    return self.count(value)
            case "schema" if self.spelling:
                return sum(map(self.count, words.schema(decoded(value))))
            case "call" if rates.namespace:
                return self.count(value) + self.count(rates.namespace + value)
            case "sealed" | "compaction":
                sealed = getattr(rates, kind)
                return max(0, len(value) - sealed.free) * sealed.each
            case _:
                return self.count(value) if value else 0

    def spelled(self, parts: list[str]) -> float:
        """Return the tokens of spelled parts, and of the special tokens between them."""
        marks = len(parts) - 1 if self.spelling is gemma else 0
        return sum(self.count(part) for part in parts if part) + marks

    def past(self, piece: Piece) -> Price:
        """Return the price of reasoning from before the newest question, if it is shown at all."""
        if self.rates.drops_reasoning:
            return 0.0, 0.0, 0.0
        kind = "thinking" if piece.kind == "past_thinking" else "sealed"
        cost, doubt, _ = self.of(Piece(kind, piece.place, piece.value))
        return cost, doubt, cost

    def tools(self, tools: list[Fields]) -> Price:
        """Return the price of tool definitions."""
        spelled = json_of(tools)
        found = self._tools.get(spelled)
        if found is None or not spelled:
            found = self._tools[spelled] = self.price_tools(tools)
        return found

    def price_tools(self, tools: list[Fields]) -> Price:
        """Return the price of tool definitions in the spelling the model reads them in."""
        rates, confirmed = self.rates, True
        if rates.tools == "typescript":
            tokens = self.count(rates.opening + declarations(tools))
            confirmed = all(map(is_confirmed, tools))
        elif self.spelling:
            tokens = self.spelled(self.spelling.tools(tools))
        else:
            given = ({name: value for name, value in tool.items() if value} for tool in tools)
            tokens = sum(self.count(json_of(tool)) for tool in given)
        fixed = rates.fixed.get("tools", 0) + rates.fixed.get("tool", 0) * len(tools)
        doubt = self.doubt_of("tools") if confirmed else max(self.doubt, rates.doubt)
        return fixed + rates.scale.get("tool", 1) * tokens, doubt, 0.0

    def doubt_of(self, kind: str) -> float:
        """Return the fraction by which a piece of this kind may be off."""
        rates = self.rates
        if kind in rates.certain:
            return self.doubt
        return max(self.doubt, rates.doubts.get(kind, rates.doubt))


SPELLINGS = {"python": python, "gemma": gemma, "words": words}


def decoded(text: str) -> Any:
    """Return the value of JSON text; None if it is not JSON."""
    try:
        return decode_json(text)
    except (DecodeError, RecursionError, UnicodeEncodeError):
        return None
