"""Candidates: the messages of a conversation that are worth ranking for a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import TypeAlias, TypeVar

from contextwright.recall.outline import SAID, Entry

__all__ = ["Allows", "first_of", "in_turn", "is_said", "with_neighbours"]

NEIGHBOURS, PER_SEED = 140, 0.7
"""Messages after each hit that are ranked too, best first: a minimum, and a number for each that
fits the budget.
"""
REACH = 20
"""Neighbours of hits that are ranked if nothing nearer fills the budget."""
ALIKE = 0.5
"""The largest share of messages of one length by one speaker among the first, while there are
others: so many are mostly the same words again and again.
"""

Item = TypeVar("Item")
Allows: TypeAlias = Callable[[int, Entry], bool]
"""Whether a message is wanted, by its number and outline."""


def is_said(number: int, entry: Entry) -> bool:
    """Whether a message is part of the conversation."""
    return bool(entry.flags & SAID)


def first_of(
    numbers: Iterable[int], most: int, entry_of: Callable[[int], Entry | None], allows: Allows
) -> list[int]:
    """Return the first messages, and as many that are wanted.

    Other messages with the words of a question, such as tool results, do not count.
    """
    first: list[int] = []
    again: list[int] = []
    alike: Counter[tuple[int, str, str]] = Counter()
    wanted = 0
    for place, number in enumerate(numbers):
        if wanted >= most:
            break
        entry = entry_of(number)
        is_wanted = entry is not None and allows(number, entry)
        if entry is not None and is_wanted:
            form = entry.size, entry.speaker, entry.id
            alike[form] += 1
            if alike[form] > most * ALIKE:
                again.append(number)
                continue
        wanted += is_wanted
        if is_wanted or place < most:
            first.append(number)
    return [*first, *islice(again, most - wanted)]


def in_turn(first: Iterable[Item], second: Iterable[Item]) -> Iterator[Item]:
    """Alternate between two, without duplicates, as far as they are wanted."""
    seen: set[Item] = set()
    for pair in zip_longest(first, second):
        for item in pair:
            if item is not None and item not in seen:
                seen.add(item)
                yield item


def with_neighbours(seeds: Sequence[int], most: int, last: int) -> set[int]:
    """Return the numbers and those after the first ones, and more if there is room.

    `last` is the number of the last message there is.
    """
    looked_at = {*seeds}
    room = len(looked_at) + max(int(most * PER_SEED), NEIGHBOURS)
    for number in seeds:
        if len(looked_at) >= room:
            break
        looked_at.update((number - 1, number + 1))
    for distance in range(2, REACH):
        if len(looked_at) >= most or looked_at.issuperset(range(1, last + 1)):
            break
        looked_at.update(number + distance for number in seeds)
        looked_at.update(number - distance for number in seeds)
    return looked_at
