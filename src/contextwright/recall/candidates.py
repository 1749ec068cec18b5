"""Choose the candidates: the messages of a conversation that are ranked for a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import TypeAlias, TypeVar

from contextwright.recall.outline import SPOKEN, Entry

__all__ = ["MessageFilter", "interleave", "spoken_only", "take_best", "with_neighbours"]

MIN_NEIGHBOURS, NEIGHBOURS_PER_SEED = 140, 0.7
"""How many neighbours of the best messages become candidates: at least the first number, or the
second times the limit if that is more.
"""
MAX_DISTANCE = 20
"""Neighbours up to this distance become candidates while there are fewer than the limit."""
MAX_REPEATED_SHARE = 0.5
"""The largest share of the limit that messages of one length by one speaker may take, while there
are others. So many messages of one length mostly repeat the same words.
"""

Item = TypeVar("Item")
MessageFilter: TypeAlias = Callable[[int, Entry], bool]
"""Whether a message may be recalled, given its number and its outline entry."""


def spoken_only(number: int, entry: Entry) -> bool:
    """Whether somebody wrote the message; instructions and tool results are not spoken."""
    return bool(entry.flags & SPOKEN)


def take_best(
    ranked: Iterable[int],
    limit: int,
    entry_of: Callable[[int], Entry | None],
    allows: MessageFilter,
) -> list[int]:
    """Return the best messages, until `limit` of them are allowed.

    Messages that are not allowed, such as tool results, are returned among the first `limit` too,
    because their neighbours may be the answer.

    Args:
        ranked: numbers of messages, best first.
    """
    best: list[int] = []
    repeated: list[int] = []
    counts: dict[tuple[int, str, str], int] = {}
    taken = 0
    for rank, number in enumerate(ranked):
        if taken >= limit:
            break
        entry = entry_of(number)
        is_wanted = entry is not None and allows(number, entry)
        if entry is not None and is_wanted:
            key = entry.size, entry.speaker, entry.id
            counts[key] = count = counts.get(key, 0) + 1
            if count > limit * MAX_REPEATED_SHARE:
                repeated.append(number)
                continue
        taken += is_wanted
        if is_wanted or rank < limit:
            best.append(number)
    return [*best, *islice(repeated, limit - taken)]


def interleave(first: Iterable[Item], second: Iterable[Item]) -> Iterator[Item]:
    """Yield items of both in turn, each item once."""
    seen: set[Item] = set()
    for pair in zip_longest(first, second):
        for item in pair:
            if item is not None and item not in seen:
                seen.add(item)
                yield item


def with_neighbours(seeds: Sequence[int], limit: int, last: int) -> set[int]:
    """Return the seeds with their neighbours.

    The messages next to the best seeds always belong to it. More distant ones follow while there
    are fewer than `limit`.

    Args:
        seeds: numbers of messages, best first.
        last: the number of the newest message.
    """
    candidates = {*seeds}
    enough = len(candidates) + max(int(limit * NEIGHBOURS_PER_SEED), MIN_NEIGHBOURS)
    for number in seeds:
        if len(candidates) >= enough:
            break
        candidates.update((number - 1, number + 1))
    for distance in range(2, MAX_DISTANCE):
        if len(candidates) >= limit or candidates.issuperset(range(1, last + 1)):
            break
        candidates.update(number + distance for number in seeds)
        candidates.update(number - distance for number in seeds)
    return candidates
