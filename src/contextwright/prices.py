"""What a message costs, and what it would cost once its results and media have faded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from contextwright.fading import has_results, media_in, without_media, without_results
from contextwright.messages import Message

__all__ = [
    "FREE",
    "NOTHING",
    "Forms",
    "Price",
    "Priced",
    "Savings",
    "chosen",
    "faded_forms",
    "savings_of",
]

Price: TypeAlias = Callable[[Message], int]
"""What a message costs in the request it goes into."""


class Savings(Struct, frozen=True):
    """What one message, or many together, cost less without results, without media, without both.

    Nothing where a stub or a marker would not be cheaper.
    """

    results: int = 0
    media: int = 0
    both: int = 0

    def of(self, results: bool, media: bool) -> int:
        """What is saved if results, or media, or both have faded."""
        return self.both if results and media else self.results if results else self.media * media

    def __add__(self, other: Savings) -> Savings:
        return Savings(
            self.results + other.results, self.media + other.media, self.both + other.both
        )

    def __sub__(self, other: Savings) -> Savings:
        return Savings(
            self.results - other.results, self.media - other.media, self.both - other.both
        )


NOTHING = Savings()


class Priced(Struct, frozen=True):
    """What a message costs, and what fading would save of that."""

    cost: int
    savings: Savings = NOTHING

    @classmethod
    def of(cls, message: Message, price: Price) -> Priced:
        """The price of a message, whatever may become of it."""
        cost = price(message)
        forms = faded_forms(message, has_results(message), media_in(message) > 0)
        return cls(cost, savings_of(forms, cost, price))

    def __add__(self, other: Priced) -> Priced:
        return Priced(self.cost + other.cost, self.savings + other.savings)

    def __sub__(self, other: Priced) -> Priced:
        return Priced(self.cost - other.cost, self.savings - other.savings)


FREE = Priced(0)


Forms: TypeAlias = tuple[Message | None, Message | None, Message | None]
"""A message without results, without media, without both."""


def faded_forms(
    message: Message,
    bare: bool,
    plain: bool,
    spare: Sequence[str] = (),
    called: Mapping[int, str] | None = None,
) -> Forms:
    """What a message can become."""
    without = without_results(message, spare, called or {}) if bare else None
    both = without_media(without) if without and plain else None
    return without, without_media(message) if plain else None, both


def savings_of(forms: Forms, cost: int, price: Price) -> Savings:
    """What the forms of a message save of its cost."""
    results, media, both = (max(0, cost - price(form)) if form else 0 for form in forms)
    # A stub can be longer than the words beside a picture: in the end the cheapest form wins.
    return Savings(results, media, max(results, media, both))


def chosen(forms: Forms, savings: Savings) -> Forms:
    """The forms that save something; the cheapest of all where both have faded."""
    bare, plain, both = forms
    if savings.both == savings.media:
        both = plain
    elif savings.both == savings.results:
        both = bare
    return (
        bare if savings.results else None,
        plain if savings.media else None,
        both if savings.both else None,
    )
