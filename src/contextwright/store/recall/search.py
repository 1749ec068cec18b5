"""Full text search: find messages by their terms.

`text/terms.py` splits text into terms; the database only stores and finds them. So both engines
find the same messages, and a query has no syntax. Whether a message is visible is checked when it
is found, not when it is indexed.
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
from contextwright.text.terms import term_variants, terms_of

__all__ = [
    "NO_POSTINGS",
    "Damaged",
    "QueryTerm",
    "TermPostings",
    "damaged_in",
    "damaged_of_tenant",
    "in_conversation",
    "postings_in_conversation",
    "postings_in_tenant",
    "rank_postings",
    "complete_postings",
    "inverse_document_frequency",
    "search",
    "size_of_tenant",
    "unindexed",
    "visible_message",
    "weigh_terms",
    "with_variants",
]

MAX_TERMS = 32
"""Maximum number of terms to search for. The longest are used, because they say most."""

MAX_POSTINGS = 2_000
"""Maximum postings of a term, newest first. A term with more of them says little."""

decode_numbers = decoder(list[int]).decode

NUMBER_BITS = 32
"""Bits of a message's number in its key, below the number of its conversation."""
NUMBER_MASK = (1 << NUMBER_BITS) - 1

PostingsFinder: TypeAlias = Callable[[str], list[int]]
"""A function that returns the postings of a term, as keys or numbers of messages."""
TermPostings: TypeAlias = Mapping[str, Sequence[int]]
"""The postings of terms, as keys in order."""
NO_POSTINGS: TermPostings = MappingProxyType({})
Damaged: TypeAlias = set[tuple[str, int]]
"""Damaged messages, which cannot be searched: the ids of their conversations and their numbers."""

MESSAGE = """
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


class QueryTerm(Struct, frozen=True):
    """A term of a query with its weight and its postings."""

    term: str
    weight: float
    keys: Sequence[int]
    """The keys of the messages that contain it, in order, each once."""


def search(state: State, query: str, id: str | None, limit: int) -> SearchResult:
    """Return the best hits in one conversation, or in all of a tenant.

    Raises:
        UsageError: the query is not text, or the limit is not a number.
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
    """Yield the hits in a conversation and its parents, best first.

    Args:
        damaged: gets the messages that may match, but cannot be read.
    """
    head = conversations.seen(connection, tenant, id)
    length = conversations.length_of(connection, head, id)
    behind = unindexed(connection, gaps_of(connection, tenant, head))
    numbers = postings_in_conversation(connection, head, length, behind)

    def keys(term: str) -> list[int]:
        return [key_of((head.owner(seq), seq)) for seq in numbers(term)]

    damaged |= damaged_in(connection, id, head, numbers(DAMAGED))
    terms = weigh_terms(terms_in_query(query), length, with_variants(keys, term_variants(query)))
    for place, score in rank_postings(terms):
        yield from hits_for(connection, id, head.number, place, score, damaged)


def hits_for(
    connection: Connection, id: str, asking: int, place: Place, score: float, damaged: Damaged
) -> Iterator[SearchHit]:
    """Yield the hit for a message if it is visible; a damaged one is added to `damaged` instead."""
    message = visible_message(connection, asking, place)
    if message is not None and STAND_IN in message.meta:
        damaged.add((id, place[1]))
    elif message is not None:
        yield SearchHit(id, place[1], message, score)


def damaged_in(connection: Connection, id: str, head: Head, seqs: Iterable[int]) -> Damaged:
    """Return which messages of a conversation are damaged and visible.

    Args:
        seqs: the messages that were damaged when they were indexed.
    """
    places = ((head.owner(seq), seq) for seq in seqs)
    return {(id, place[1]) for place in places if is_damaged_at(connection, head.number, place)}


def damaged_of_tenant(connection: Connection, tenant: str, keys: PostingsFinder) -> Damaged:
    """Return the damaged and visible messages of all conversations of a tenant."""
    places = [place_of(key) for key in keys(DAMAGED)]
    damaged = [place for place in places if is_damaged_at(connection, place[0], place)]
    return {(id, seq) for number, seq in damaged for (id,) in connection.rows(NAME, number, tenant)}


def is_damaged_at(connection: Connection, asking: int, place: Place) -> bool:
    """Whether a message is damaged and visible."""
    message = visible_message(connection, asking, place)
    return message is not None and STAND_IN in message.meta


def unindexed(connection: Connection, gaps: Iterable[Gap]) -> dict[Place, Message]:
    """Return the messages that the index lacks, by place."""
    return {
        (gap.conversation, seq): message
        for gap in gaps
        for seq, message in read(connection, gap.conversation, gap.indexed + 1, gap.last)
    }


def postings_in_conversation(
    connection: Connection,
    head: Head,
    end: int,
    behind: Mapping[Place, Message],
    known: TermPostings = NO_POSTINGS,
) -> Callable[[str], list[int]]:
    """Return a function that finds the postings of a term in a conversation and its parents.

    Args:
        end: the last message that is searched.
        behind: the messages that the index lacks.
        known: postings in all conversations that were read before.
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
    """Read the postings of a term in a conversation, from `first` to `last`."""
    texts, limits = connection.texts, (number, first, last, term)
    if last - first < MAX_POSTINGS:
        ((numbers,),) = connection.rows(texts.find_within, *limits)
    else:
        ((numbers,),) = connection.rows(texts.find, *limits, MAX_POSTINGS)
    return decode_numbers(numbers)


def numbers_of(keys: Sequence[int], number: int, first: int, last: int) -> list[int]:
    """Return the numbers of a conversation's messages from `first` to `last` among keys."""
    start = bisect_left(keys, key_of((number, first)))
    stop = bisect_right(keys, key_of((number, last)))
    return [key & NUMBER_MASK for key in keys[start:stop]]


def key_of(place: Place) -> int:
    """Return the key of a message; keys are ordered by conversation, then by message."""
    return place[0] << NUMBER_BITS | place[1]


def place_of(key: int) -> Place:
    """Return the place of the message with a key."""
    return key >> NUMBER_BITS, key & NUMBER_MASK


def postings_in_tenant(connection: Connection, tenant: str, gaps: Sequence[Gap]) -> PostingsFinder:
    """Return a function that finds the postings of a term in all conversations of a tenant.

    Args:
        gaps: the messages that the index lacks, which are searched too.
    """
    ((has_others,),) = connection.rows(OTHERS, tenant, tenant)
    owner = owner_of(tenant) if has_others else ""
    behind = unindexed(connection, gaps)
    terms_behind = {key_of(place): terms_in(message) for place, message in behind.items()}

    def keys(term: str) -> list[int]:
        # All messages of a tenant have the owner's term. Without other tenants it is not needed.
        find_all = connection.texts.find_all
        ((found,),) = connection.rows(find_all, owner or term, term, MAX_POSTINGS)
        return decode_numbers(found) + [key for key, terms in terms_behind.items() if term in terms]

    return keys


def complete_postings(terms: Iterable[QueryTerm]) -> TermPostings:
    """Return the postings of terms, without those that `MAX_POSTINGS` cut off."""
    return {term.term: term.keys for term in terms if len(term.keys) < MAX_POSTINGS}


def size_of_tenant(connection: Connection, tenant: str) -> int:
    """Return the number of a tenant's messages."""
    ((total,),) = connection.rows(LENGTHS, tenant)
    return int(total)


def in_tenant(
    connection: Connection, tenant: str, query: str, damaged: Damaged
) -> Iterator[SearchHit]:
    """Yield the hits in all conversations of a tenant, best first.

    A message that forks share is a hit of the conversation it was written in.

    Args:
        damaged: gets the messages that may match, but cannot be read.
    """
    total = size_of_tenant(connection, tenant)
    keys = postings_in_tenant(connection, tenant, gaps_of(connection, tenant))
    damaged |= damaged_of_tenant(connection, tenant, keys)
    terms = weigh_terms(terms_in_query(query), total, with_variants(keys, term_variants(query)))
    for place, score in rank_postings(terms):
        for (id,) in connection.rows(NAME, place[0], tenant):
            yield from hits_for(connection, id, place[0], place, score, damaged)


def with_variants(find: PostingsFinder, variants: Mapping[str, Set[str]]) -> PostingsFinder:
    """Return a function that finds the postings of a term and of its variants.

    Args:
        variants: the `term_variants` of the query.
    """

    def keys(term: str) -> list[int]:
        others = variants.get(term)
        if not others:
            return find(term)
        return [*{key for one in (term, *sorted(others)) for key in find(one)}]

    return keys


def terms_in_query(query: str) -> list[str]:
    """Return the terms to search for: the longest of a query."""
    return sorted(terms_of(query), key=lambda term: (-len(term), term))[:MAX_TERMS]


def weigh_terms(terms: Iterable[str], total: int, keys: PostingsFinder) -> list[QueryTerm]:
    """Return terms with their postings and their weights, which are higher for rare terms."""
    found = [(term, sorted(keys(term))) for term in terms]
    return [
        QueryTerm(term, inverse_document_frequency(len(where), total), where)
        for term, where in found
    ]


def inverse_document_frequency(document_frequency: int, total: int) -> float:
    """Return the weight of a term (the idf of BM25).

    If the postings were cut off, the document frequency is estimated as the geometric mean of what
    was seen and all.
    """
    if document_frequency >= MAX_POSTINGS:
        document_frequency = int(
            sqrt(document_frequency * max(total, document_frequency))
        )  # between those seen and all
    return log(1 + (max(total - document_frequency, 0) + 0.5) / (document_frequency + 0.5))


def rank_postings(terms: Sequence[QueryTerm]) -> Iterator[tuple[Place, float]]:
    """Return the places of messages with their scores, best first; of equal ones, newer first.

    The score is the weight of the terms that a message contains, as a share of the query's: 1 means
    every term.
    """
    whole = sum(term.weight for term in terms)
    masks: dict[int, int] = {}
    for bit, term in enumerate(terms):
        for key in term.keys:
            masks[key] = masks.get(key, 0) | 1 << bit
    # Few different masks occur, so their shares are computed once.
    shares = {
        mask: min(sum(one.weight for bit, one in enumerate(terms) if mask >> bit & 1) / whole, 1.0)
        for mask in {*masks.values()}
    }
    rounded = {mask: round(share, 9) for mask, share in shares.items()}
    alike: dict[float, list[int]] = {share: [] for share in rounded.values()}
    for key, mask in masks.items():
        alike[rounded[mask]].append(key)
    # Most messages contain one frequent term. They are sorted only if they are needed.
    best = (key for share in sorted(alike, reverse=True) for key in newest_first(alike[share]))
    return ((place_of(key), shares[masks[key]]) for key in best)


def newest_first(keys: list[int]) -> list[int]:
    """Return keys by the number of the message, the highest first, whatever the conversation."""
    return sorted(
        keys, key=lambda key: (key & NUMBER_MASK) << NUMBER_BITS | key >> NUMBER_BITS, reverse=True
    )


def visible_message(connection: Connection, asking: int, place: Place) -> Message | None:
    """Return a message as a conversation shows it; None if it is hidden or deleted there.

    A damaged message is returned as a placeholder.

    Args:
        asking: the conversation, which may be a fork of the one that owns the message.
    """
    for row in connection.rows(MESSAGE, asking, *place):
        message = reading.public(*row)
        if message is not None:
            return reading.without_lost_quotes(connection, asking, [message])[0]
    return None
