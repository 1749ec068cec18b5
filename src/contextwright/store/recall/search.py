"""Full text search: messages by their terms.

`text/terms.py` defines what a term is; a database only stores and finds terms. So both engines find
the same, and a query has no syntax. Visibility is checked when a message is found.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from math import log, sqrt
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from contextwright.errors import UsageError, shown
from contextwright.messages.message import Message
from contextwright.store.engines.base import Connection
from contextwright.store.recall.terms import DAMAGED, owner_of, terms_in
from contextwright.store.records import SearchHit, SearchResult
from contextwright.store.rows import conversations
from contextwright.store.rows import messages as reading
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import STAND_IN, losses_of
from contextwright.store.rows.index import Gap, Place, gaps_of, read
from contextwright.store.state import State
from contextwright.text.json import decoder
from contextwright.text.terms import bare_terms, terms_of

__all__ = [
    "NONE",
    "Damaged",
    "Term",
    "TermKeys",
    "damaged_in",
    "damaged_of_tenant",
    "in_conversation",
    "numbers_in",
    "keys_of_tenant",
    "ranked",
    "rare_enough",
    "rarity",
    "search",
    "size_of_tenant",
    "unindexed",
    "visible",
    "weighed",
    "with_bare",
]

MOST_TERMS = 32
"""Maximum number of terms to search for; the longest ones say most."""

MOST_PLACES = 2_000
"""Maximum messages per term, newest first, because a term in more of them says little."""

decode_numbers = decoder(list[int]).decode

SHIFT = 32
"""Bits of a message's number in its key, which begins with the number of its conversation."""
NUMBER = (1 << SHIFT) - 1

Keys: TypeAlias = Callable[[str], list[int]]
"""The keys of the messages that have a term."""
TermKeys: TypeAlias = Mapping[str, Sequence[int]]
"""The keys of the messages that have each term, in order."""
NONE: TermKeys = MappingProxyType({})
Damaged: TypeAlias = set[tuple[str, int]]
"""The conversations and numbers of damaged messages, which cannot be searched."""

FOUND = """
SELECT m.body, m.digest, k.visibility, k.pinned FROM messages m
LEFT JOIN marks k ON k.conversation = ? AND k.seq = m.seq
WHERE m.conversation = ? AND m.seq = ?"""
NAME = "SELECT id FROM conversations WHERE number = ? AND tenant = ?"
OTHERS = """
SELECT EXISTS (SELECT 1 FROM conversations WHERE tenant < ?)
OR EXISTS (SELECT 1 FROM conversations WHERE tenant > ?)"""
LENGTHS = """
SELECT coalesce(sum(h.last), 0) FROM conversations c JOIN heads h ON h.conversation = c.number
WHERE c.tenant = ?"""


class Term(Struct, frozen=True):
    """A term of a query, its weight, and where it was found."""

    term: str
    weight: float
    keys: Sequence[int]
    """The keys of the messages that have it, in order, each once."""


def search(state: State, query: str, id: str | None, limit: int) -> SearchResult:
    """Return the best hits of one conversation, or of all of a tenant.

    Raises:
        UsageError: the query is not text, or the limit not a number.
    """
    if type(query) is not str or type(limit) is not int:
        raise UsageError(f"cannot search for {shown(query)}", hint="words, and a number")

    def work(connection: Connection) -> SearchResult:
        damaged: Damaged = set()
        if id is None:
            hits = in_tenant(connection, state.tenant, query, damaged)
        else:
            hits = in_conversation(connection, state.tenant, id, query, damaged)
        best = [*islice(hits, min(max(limit, 0), sys.maxsize))]
        return SearchResult(best, losses_of(damaged))

    state.index.catch_up(state.tenant, id, words_only=True)
    return state.engine.read(work)


def in_conversation(
    connection: Connection, tenant: str, id: str, query: str, damaged: Damaged
) -> Iterator[SearchHit]:
    """Yield matching messages of a conversation and its parents, on demand.

    `damaged` gets those that may match, but cannot be read.
    """
    head = conversations.seen(connection, tenant, id)
    length = conversations.length_of(connection, head, id)
    behind = unindexed(connection, gaps_of(connection, tenant, head))
    numbers = numbers_in(connection, head, length, behind)

    def keys(term: str) -> list[int]:
        return [key_of((head.owner(seq), seq)) for seq in numbers(term)]

    damaged |= damaged_in(connection, id, head, numbers(DAMAGED))
    terms = weighed(terms_in_query(query), length, with_bare(keys, bare_terms(query)))
    for place, score in ranked(terms):
        yield from hits_at(connection, id, head.number, place, score, damaged)


def hits_at(
    connection: Connection, id: str, asking: int, place: Place, score: float, damaged: Damaged
) -> Iterator[SearchHit]:
    """Yield the message at a place, if it is visible; a damaged one is noted instead."""
    message = visible(connection, asking, place)
    if message is not None and STAND_IN in message.meta:
        damaged.add((id, place[1]))
    elif message is not None:
        yield SearchHit(id, place[1], message, score)


def damaged_in(connection: Connection, id: str, head: Head, seqs: Iterable[int]) -> Damaged:
    """Return the visible ones of a conversation's messages that were damaged when indexed."""
    places = ((head.owner(seq), seq) for seq in seqs)
    return {(id, place[1]) for place in places if is_damaged_at(connection, head.number, place)}


def damaged_of_tenant(connection: Connection, tenant: str, keys: Keys) -> Damaged:
    """Return those of all conversations of a tenant."""
    places = [place_of(key) for key in keys(DAMAGED)]
    damaged = [place for place in places if is_damaged_at(connection, place[0], place)]
    return {(id, seq) for number, seq in damaged for (id,) in connection.rows(NAME, number, tenant)}


def is_damaged_at(connection: Connection, asking: int, place: Place) -> bool:
    """Whether the message at a place is damaged, and no mark hides it."""
    message = visible(connection, asking, place)
    return message is not None and STAND_IN in message.meta


def unindexed(connection: Connection, gaps: Iterable[Gap]) -> dict[Place, Message]:
    """Return the messages that the index lacks."""
    return {
        (gap.conversation, seq): message
        for gap in gaps
        for seq, message in read(connection, gap.conversation, gap.indexed + 1, gap.last)
    }


def numbers_in(
    connection: Connection,
    head: Head,
    end: int,
    behind: Mapping[Place, Message],
    known: TermKeys = NONE,
) -> Callable[[str], list[int]]:
    """Return a function that finds the messages of a conversation and its parents with a term.

    Args:
        behind: the messages that the index lacks.
        known: terms whose places in all conversations were found before.
    """
    terms_behind = {place: terms_in(message) for place, message in behind.items()}

    def numbers(term: str) -> list[int]:
        stop, found = end, list[int]()
        for number, own in head.line:
            if own <= stop:
                if term in known:
                    found += numbers_of(known[term], number, own, stop)
                else:
                    found += numbers_between(connection, number, own, stop, term)
                found += [
                    seq
                    for (owner, seq), terms in terms_behind.items()
                    if owner == number and own <= seq <= stop and term in terms
                ]
            stop = min(stop, own - 1)
        return found

    return numbers


def numbers_between(
    connection: Connection, number: int, first: int, last: int, term: str
) -> list[int]:
    """Return the newest messages between two that have a term."""
    texts, limits = connection.texts, (number, first, last, term)
    if last - first < MOST_PLACES:
        ((numbers,),) = connection.rows(texts.find_within, *limits)
    else:
        ((numbers,),) = connection.rows(texts.find, *limits, MOST_PLACES)
    return decode_numbers(numbers)


def numbers_of(keys: Sequence[int], number: int, first: int, last: int) -> list[int]:
    """Return the messages of a conversation between two, of all that have a term."""
    start = bisect_left(keys, key_of((number, first)))
    stop = bisect_right(keys, key_of((number, last)))
    return [key & NUMBER for key in keys[start:stop]]


def key_of(place: Place) -> int:
    """Return the key of a message: keys are in the order of conversations and messages."""
    return place[0] << SHIFT | place[1]


def place_of(key: int) -> Place:
    """Return the message of a key."""
    return key >> SHIFT, key & NUMBER


def keys_of_tenant(connection: Connection, tenant: str, gaps: Sequence[Gap]) -> Keys:
    """Find terms in all conversations of a tenant, indexed or not.

    `gaps` are the messages that the index lacks.
    """
    ((has_others,),) = connection.rows(OTHERS, tenant, tenant)
    owner = owner_of(tenant) if has_others else ""
    behind = unindexed(connection, gaps)
    terms_behind = {key_of(place): terms_in(message) for place, message in behind.items()}

    def keys(term: str) -> list[int]:
        # All messages have the owner's term: without other tenants it only takes time.
        find_all = connection.texts.find_all
        ((found,),) = connection.rows(find_all, owner or term, term, MOST_PLACES)
        return decode_numbers(found) + [key for key, terms in terms_behind.items() if term in terms]

    return keys


def rare_enough(terms: Iterable[Term]) -> TermKeys:
    """Return the messages of terms, without those of which too many messages have one."""
    return {term.term: term.keys for term in terms if len(term.keys) < MOST_PLACES}


def size_of_tenant(connection: Connection, tenant: str) -> int:
    """Return the number of a tenant's messages."""
    ((total,),) = connection.rows(LENGTHS, tenant)
    return int(total)


def in_tenant(
    connection: Connection, tenant: str, query: str, damaged: Damaged
) -> Iterator[SearchHit]:
    """Yield matching messages of all conversations, each from its owner.

    `damaged` gets those that may match, but cannot be read.
    """
    total = size_of_tenant(connection, tenant)
    keys = keys_of_tenant(connection, tenant, gaps_of(connection, tenant))
    damaged |= damaged_of_tenant(connection, tenant, keys)
    terms = weighed(terms_in_query(query), total, with_bare(keys, bare_terms(query)))
    for place, score in ranked(terms):
        for (id,) in connection.rows(NAME, place[0], tenant):
            yield from hits_at(connection, id, place[0], place, score, damaged)


def with_bare(find: Keys, bare: Mapping[str, Set[str]]) -> Keys:
    """Return what finds the terms of a query also in messages that have others instead.

    Args:
        bare: the `bare_terms` of the query.
    """

    def keys(term: str) -> list[int]:
        others = bare.get(term)
        if not others:
            return find(term)
        return [*{key for one in (term, *sorted(others)) for key in find(one)}]

    return keys


def terms_in_query(query: str) -> list[str]:
    """Return the terms to search for: the longest ones of a query."""
    return sorted(terms_of(query), key=lambda term: (-len(term), term))[:MOST_TERMS]


def weighed(terms: Iterable[str], total: int, keys: Keys) -> list[Term]:
    """Return terms with their messages; the fewer messages have one, the more weight it has."""
    found = [(term, sorted(keys(term))) for term in terms]
    return [Term(term, rarity(len(where), total), where) for term, where in found]


def rarity(count: int, total: int) -> float:
    """Return the weight of a term that `count` of all messages have."""
    if count >= MOST_PLACES:
        count = int(sqrt(count * max(total, count)))  # between those seen and all
    return log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def ranked(terms: Sequence[Term]) -> Iterator[tuple[Place, float]]:
    """Yield places with their scores, best first; of equal ones the newer first.

    The score is the share of the query that a message has, from 0 to 1, where rare terms count
    more: 1 means that it has every term.
    """
    whole = sum(term.weight for term in terms)
    masks: dict[int, int] = {}
    for bit, term in enumerate(terms):
        for key in term.keys:
            masks[key] = masks.get(key, 0) | 1 << bit
    # Few sets of terms occur; their shares are computed once.
    shares = {
        mask: min(sum(one.weight for bit, one in enumerate(terms) if mask >> bit & 1) / whole, 1.0)
        for mask in {*masks.values()}
    }
    rounded = {mask: round(share, 9) for mask, share in shares.items()}
    alike: dict[float, list[int]] = {share: [] for share in rounded.values()}
    for key, mask in masks.items():
        alike[rounded[mask]].append(key)
    # Most messages have one frequent term: they are sorted only if they are wanted.
    best = (key for share in sorted(alike, reverse=True) for key in newest_first(alike[share]))
    return ((place_of(key), shares[masks[key]]) for key in best)


def newest_first(keys: list[int]) -> list[int]:
    """Sort messages of any conversation by their numbers, the highest first."""
    return sorted(keys, key=lambda key: (key & NUMBER) << SHIFT | key >> SHIFT, reverse=True)


def visible(connection: Connection, asking: int, place: Place) -> Message | None:
    """Return a message as the asking conversation has it; None if it is hidden or deleted there.

    A damaged one is its placeholder.
    """
    for row in connection.rows(FOUND, asking, *place):
        message = reading.public(*row)
        if message is not None:
            return reading.without_lost_quotes(connection, asking, [message])[0]
    return None
