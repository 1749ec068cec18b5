"""Counting: exact where a public tokenizer exists, bounded where none does, and it says which.

    count_text("Hello", "gpt-4o")                                   # 1 tokens (exact)
    count_pieces(pieces(body, "anthropic"), "claude-sonnet-5-5")    # 812 tokens (±15 %)

Every price is a number in `data/tariffs.toml`, none is a branch in the code. A place's cost
does not depend on the other places, so a request costs the sum of its places and a message can
be priced once, alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from contextwright.media import media_cost
from contextwright.models import Model, find
from contextwright.tariffs import counter, rates_of
from contextwright.typescript import declarations, is_confirmed
from contextwright.wire.pieces.piece import Fields, Piece, json_of

__all__ = ["Calibration", "Count", "count_pieces", "count_text", "counter"]

UNSEEN = ("unseen", "hosted")
"""Kinds whose tokens come from the provider's own side."""

GUESSED = {"exact": 0.0, "prefix": 0.05, "default": 0.15}
"""How far a count may be off when the model itself is a guess, or who frames its requests."""

ROUNDING = 0.5


class Count(Struct, frozen=True, omit_defaults=True):
    """A number of tokens, and how much to trust it."""

    tokens: int
    exact: bool = False
    bound: float = 0.0
    """The true number lies within `tokens * (1 ± bound)`; 0 when exact."""
    places: dict[str, int] = {}
    """What each place of a request costs; adds up to `tokens`."""
    unseen: tuple[str, ...] = ()
    """Places with tokens that nobody outside the provider can see: stored turns, files by id, what
    its own tools bring in. They are in neither `tokens` nor `bound`."""

    below: int = 0
    """How much of the bound lies below only: a picture of unknown size counts as the largest."""

    @property
    def most(self) -> int:
        """The highest number the bound allows: what to hold against a limit."""
        return max(self.tokens, math.ceil(self.tokens * (1 + self.bound)) - self.below)

    def __str__(self) -> str:
        trust = "exact" if self.exact else f"±{math.ceil(self.bound * 100)} %"
        more = f", plus what the provider adds for {', '.join(self.unseen)}" if self.unseen else ""
        return f"{self.tokens:,} tokens ({trust}){more}"


class Calibration(Struct, frozen=True):
    """What a provider's own usage numbers have taught about our estimates: a value, not a state.

    `calibration = calibration.learn(estimated, actual)` after each answer; pass the newest one
    to the next count.
    """

    samples: int = 0
    ratio: float = 1.0
    """Actual tokens per estimated token, averaged, the newest counting most."""
    spread: float = 0.0
    """How far single requests lay from that ratio, averaged the same way."""

    @property
    def trust(self) -> float:
        """How much experience weighs against the tariff: a half after 4 samples, never all."""
        return self.samples / (self.samples + 4)

    @property
    def scale(self) -> float:
        """What to multiply an estimate by."""
        return 1 + self.trust * (self.ratio - 1)

    def bound(self, stated: float) -> float:
        """The bound of a calibrated count: the stated one gives way to what was seen."""
        return (1 - self.trust) * stated + self.trust * (3 * self.spread + 0.01)

    def learn(self, estimated: int, actual: int) -> Calibration:
        """This calibration after one more request, whose estimate was made with it."""
        if estimated <= 0 or actual <= 0:
            return self
        ratio = actual * self.scale / estimated
        newest = max(1 / (self.samples + 1), 0.1)
        mean = self.ratio + newest * (ratio - self.ratio) if self.samples else ratio
        spread = self.spread + newest * (abs(ratio - mean) - self.spread)
        return Calibration(self.samples + 1, mean, spread)


def count_text(text: str, model: Model | str, *, calibration: Calibration | None = None) -> Count:
    """The tokens of a bare text, with nothing around it."""
    model = find(model) if isinstance(model, str) else model
    rates = rates_of(model.tokenizer, model.tariff, model.format)
    doubt = max(rates.bound, GUESSED[model.matched]) + rates.doubt_beyond(text)
    tokens = rates.count_text(text)
    return settled({"text": tokens}, doubt * tokens, calibration, exact=doubt == 0)


def count_pieces(
    pieces: Iterable[Piece],
    model: Model | str,
    *,
    format: str | None = None,
    tokenizer: str | None = None,
    calibration: Calibration | None = None,
) -> Count:
    """The tokens of a request, or of any part of one, taken apart by `wire.pieces`.

    `format` is the API the pieces were taken from, where that is not the model's own;
    `tokenizer` names another tokenizer or estimator than the model's.
    """
    model = find(model) if isinstance(model, str) else model
    pricer = Pricer(model, format or model.format, tokenizer or model.tokenizer)
    return pricer.count(pieces, calibration)


MOST_HELD = 8_000_000
"""So many characters of counted texts are remembered, then all are forgotten."""


class Pricer:
    """Prices the pieces of one model's requests; keeps what it has counted while it lives."""

    def __init__(self, model: Model, format: str, tokenizer: str) -> None:
        rates = rates_of(tokenizer, model.tariff, format)
        self.model = model
        self.tariff = rates.tariff
        self.count_text = rates.count_text
        self.doubt_beyond = rates.doubt_beyond
        guessed = "prefix" if model.through_host and model.matched == "exact" else model.matched
        self.doubt = max(rates.bound, GUESSED[guessed])
        self.counted: dict[str, float] = {}
        self.priced: dict[tuple[str, str], tuple[float, float]] = {}
        self._held = 0
        """Characters of the texts that are remembered."""

    def count(self, pieces: Iterable[Piece], calibration: Calibration | None) -> Count:
        """The pieces' costs, by place."""
        places: dict[str, float] = {}
        unseen: dict[str, None] = {}
        doubted = 0.0
        below = 0
        certain = True
        priced = self.priced
        for piece in pieces:
            kind, value, place = piece.kind, piece.value, piece.place
            if type(value) is str:
                found = priced.get((kind, value))
                if found is None:
                    found = priced[kind, value] = self.price(piece)
                cost, doubt = found
            else:
                cost, doubt = self.price(piece)
            places[place] = places.get(place, 0.0) + cost
            doubted += abs(cost) * doubt
            if kind == "image" and doubt >= 1:
                below += int(cost)
            if kind in UNSEEN:
                unseen[place] = None
            certain = certain and not doubt
        if not certain:
            doubted += self.tariff.slack
        count = settled(places, doubted, calibration, exact=certain, unseen=tuple(unseen))
        return msgspec.structs.replace(count, below=below) if below else count

    def price(self, piece: Piece) -> tuple[float, float]:
        """What a piece costs, and the fraction of it that may be wrong."""
        kind, value, tariff = piece.kind, piece.value, self.tariff
        match kind:
            case "text":
                doubt = self.doubt_of(kind) + self.doubt_beyond(value)
                return tariff.scale.get(kind, 1) * self.words(value), doubt
            case "image" | "audio" | "video" | "document":
                if kind in tariff.fixed:
                    return tariff.fixed[kind], tariff.doubt
                return media_cost(kind, value, self.model, self.words)
            case "tools":
                return self.tools(value)
            case "call":
                tokens = self.words(value)
                if tariff.namespace:
                    tokens += self.words(tariff.namespace + value)
            case "sealed":
                tokens = max(0, len(value) - tariff.sealed.free) * tariff.sealed.each
            case "unseen":
                tokens = 0
            case _:
                tokens = self.words(value) if value else 0
        cost = tariff.fixed.get(kind, 0) + tariff.scale.get(kind, 1) * tokens
        return cost, self.doubt_of(kind)

    def words(self, text: str) -> float:
        """The tokens of a text."""
        count = self.counted.get(text)
        if count is None:
            self._held += len(text)
            if self._held > MOST_HELD:
                # Whoever lives long counts ever new texts; old ones are not asked for again.
                self.counted.clear()
                self.priced.clear()
                self._held = len(text)
            count = self.counted[text] = self.count_text(text)
        return count

    def tools(self, tools: list[Fields]) -> tuple[float, float]:
        """What tool definitions cost, and the fraction of it that may be wrong."""
        spelled = json_of(tools)
        found = self.priced.get(("tools", spelled))
        if found is None or not spelled:
            found = self.priced["tools", spelled] = self.price_tools(tools)
        return found

    def price_tools(self, tools: list[Fields]) -> tuple[float, float]:
        """The same, worked out: the definitions in the spelling the model reads them in."""
        tariff, confirmed = self.tariff, True
        if tariff.tools == "typescript":
            tokens = self.words(tariff.opening + declarations(tools))
            confirmed = all(map(is_confirmed, tools))
        else:
            told = ({name: value for name, value in tool.items() if value} for tool in tools)
            tokens = sum(self.words(json_of(tool)) for tool in told)
        fixed = tariff.fixed.get("tools", 0) + tariff.fixed.get("tool", 0) * len(tools)
        doubt = self.doubt_of("tools") if confirmed else max(self.doubt, tariff.doubt)
        return fixed + tariff.scale.get("tool", 1) * tokens, doubt

    def doubt_of(self, kind: str) -> float:
        """How far a piece of this kind may be off."""
        return self.doubt if kind in self.tariff.certain else max(self.doubt, self.tariff.doubt)


def settled(
    places: dict[str, float],
    doubted: float,
    calibration: Calibration | None,
    *,
    exact: bool,
    unseen: tuple[str, ...] = (),
) -> Count:
    """Costs as whole numbers: rounded place by place, so that they add up."""
    bound = (doubted + ROUNDING) / max(sum(places.values()), 1.0)
    scale = 1.0
    if calibration is not None and not exact:
        scale, bound = calibration.scale, calibration.bound(bound)
    whole = {place: math.floor(cost * scale + 0.5) for place, cost in places.items()}
    total = sum(whole.values())
    if exact:
        return Count(total, exact=not unseen, places=whole, unseen=unseen)
    return Count(total, False, math.ceil(bound * 1000) / 1000, whole, unseen)
