"""A number of tokens and how far it can be trusted: counts, their sums, their calibration."""

from __future__ import annotations

import math

from msgspec import Struct

__all__ = ["Calibration", "Count", "Sum"]

ROUNDING = 0.5


class Count(Struct, frozen=True, omit_defaults=True):
    """A number of tokens, and how far it can be trusted."""

    tokens: int
    exact: bool = False
    bound: float = 0.0
    """The true number lies within `tokens * (1 ± bound)`; 0 if exact. With `at_least`, that is
    the number without what the provider adds."""
    places: dict[str, int] = {}
    """The cost of each place of a request; adds up to `tokens`."""
    unseen: tuple[str, ...] = ()
    """Places to which the provider adds tokens that are not in the request: stored turns, files by
    id, the prompts and results of its own tools. They are in neither `tokens` nor `bound`."""
    below: int = 0
    """Tokens of the bound that apply downwards only: an image of unknown size counts as the
    largest, and a request as sent through the dearer of two hosts."""
    at_least: bool = False
    """The provider adds tokens that cannot be counted: keep a reserve for them."""

    @property
    def most(self) -> int:
        """The highest number within the bound: compare this with a limit."""
        return max(self.tokens, math.ceil(self.tokens * (1 + self.bound)) - self.below)

    @property
    def least(self) -> int:
        """The lowest number within the bound."""
        return max(0, math.floor(self.tokens * (1 - self.bound)))

    def __str__(self) -> str:
        tokens = f"{self.tokens:,} token{'' if self.tokens == 1 else 's'}"
        if self.exact:
            return f"{tokens} (exact)"
        above = self.most / self.tokens - 1 if self.tokens else 0.0
        trust = f"±{math.ceil(self.bound * 100)} %"
        if self.below:
            under = math.ceil(min(self.bound, 1) * 100)  # no number is less than none
            trust = f"−{under} % +{math.ceil(above * 100 - 1e-9)} %"
        if not self.at_least:
            return f"{tokens} ({trust})"
        places = ", ".join(self.unseen)
        return f"at least {tokens} ({trust}), plus what the provider adds for {places}"


class Calibration(Struct, frozen=True):
    """What a provider's usage numbers show about our estimates: a value, not a state.

    Call `calibration = calibration.learn(estimated, actual)` after each answer, and pass the newest
    one to the next count.
    """

    samples: int = 0
    ratio: float = 1.0
    """Actual tokens per estimated token: a moving average."""
    spread: float = 0.0
    """The distance of single requests from that ratio: a moving average."""

    @property
    def trust(self) -> float:
        """The weight of experience against the shipped rates: a half after 4 samples."""
        return self.samples / (self.samples + 4)

    @property
    def scale(self) -> float:
        """The factor for estimates."""
        return 1 + self.trust * (self.ratio - 1)

    def bound(self, stated: float) -> float:
        """Return the bound of a calibrated count, between the stated one and the one observed."""
        return (1 - self.trust) * stated + self.trust * (3 * self.spread + 0.01)

    def learn(self, estimated: int, actual: int) -> Calibration:
        """Return the calibration after one more request, which was estimated with this one."""
        if estimated <= 0 or actual <= 0:
            return self
        ratio = actual * self.scale / estimated
        newest = max(1 / (self.samples + 1), 0.1)
        mean = self.ratio + newest * (ratio - self.ratio) if self.samples else ratio
        spread = self.spread + newest * (abs(ratio - mean) - self.spread)
        return Calibration(self.samples + 1, mean, spread)


class Sum(Struct):
    """The prices of a request, added up by place."""

    places: dict[str, float] = {}
    doubted: float = 0.0
    """Tokens that the sum may be off, in either direction."""
    below: float = 0.0
    """Tokens that may not be charged, besides those."""
    unseen: dict[str, None] = {}
    certain: bool = True

    def include(self, part: Sum, place: str) -> None:
        """Add the sum of a message at its place."""
        for cost in part.places.values():
            self.places[place] = cost
        if not part.certain:
            self.certain = False
            self.doubted += part.doubted
            self.below += part.below
        if part.unseen:
            self.unseen[place] = None

    def count(self, calibration: Calibration | None = None) -> Count:
        """Return the sum as a count: rounded place by place, so that places add up."""
        tokens = max(sum(self.places.values()), 1.0)
        bound = (self.doubted + self.below + ROUNDING) / tokens
        scale = 1.0
        if calibration is not None and not self.certain:
            scale, bound = calibration.scale, calibration.bound(bound)
        rounded = map(math.floor, [cost * scale + 0.5 for cost in self.places.values()])
        places = dict(zip(self.places, rounded, strict=True))
        unseen = tuple(self.unseen)
        if self.certain and not unseen:
            return Count(sum(places.values()), True, places=places)
        bound = math.ceil(bound * 1000) / 1000
        below = math.floor(self.below * scale)
        return Count(sum(places.values()), False, bound, places, unseen, below, bool(unseen))
