"""Full text search: an index of terms that follows right behind the messages.

What a term is, `terms.py` says; a database only keeps them and finds them again. So both engines
find the same, and nobody's words are ever a query's syntax. A message is indexed once, where it was
written, and never touched again: whether it may be seen is asked when it is found.

Nothing is indexed while a turn is stored: it would cost twice as much and more (see
`benchmarks/search.py`). A search reads the few messages that the index lacks, and indexes them,
many at once, when they are no longer few.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from math import log, sqrt
from typing import TypeAlias

import msgspec
from msgspec import Struct

from contextwright.messages import Message, Text, ToolResult
from contextwright.store import conversations, outlines, reading
from contextwright.store.conversations import Head
from contextwright.store.engine import Connection, Work
from contextwright.store.hygiene import decode_message
from contextwright.store.records import Hit
from contextwright.terms import terms_of

__all__ = [
    "Gap",
    "Place",
    "Term",
    "catch_up",
    "gaps_of",
    "in_conversation",
    "in_tenant",
    "numbers_in",
    "places_of_tenant",
    "ranked",
    "rarity",
    "read",
    "remove",
    "size_of_tenant",
    "unindexed",
    "weighed",
]

LONGEST_TEXT, LONGEST_RESULT = 50_000, 2_000
"""Characters of a text and of a tool's result that are indexed: files and pages are no talk."""

MOST_TERMS = 32
"""Terms of a query that are looked for, the longest ones: those say most."""

MOST_PLACES = 2_000
"""Messages looked at for one term, the newest ones: a term in more of them tells little."""

FEW = 64
"""So many messages may be missing in the index of a conversation: they are read as they are."""

PAGE = 500
"""Messages indexed in one transaction."""

OURS = "\ue000"
"""How terms begin that no text has: no word holds a character of private use."""

Place: TypeAlias = tuple[int, int]
"""The number of the conversation a message was written in, and its own."""

decode_numbers = msgspec.json.Decoder(list[int]).decode

Places: TypeAlias = Callable[[str], list[Place]]
"""Where a term is found."""

FOUND = """
SELECT m.body, k.visibility, k.pinned FROM messages m
LEFT JOIN marks k ON k.conversation = ? AND k.seq = m.seq
WHERE m.conversation = ? AND m.seq = ?"""
NAME = "SELECT id FROM conversations WHERE number = ? AND tenant = ?"
LENGTHS = """
SELECT coalesce(sum(h.last), 0) FROM conversations c JOIN heads h ON h.conversation = c.number
WHERE c.tenant = ?"""
GAPS = """
SELECT c.number, coalesce(i.last, c.fork_at, 0), h.last FROM conversations c
JOIN heads h ON h.conversation = c.number
LEFT JOIN indexed i ON i.conversation = c.number
WHERE c.tenant = ? AND h.last > coalesce(i.last, c.fork_at, 0)"""
INDEXED = """
INSERT INTO indexed (conversation, last) VALUES (?, ?)
ON CONFLICT (conversation) DO UPDATE SET last = excluded.last"""


class Gap(Struct, frozen=True):
    """Messages of a conversation that are not indexed yet: all behind one of them."""

    conversation: int
    indexed: int
    last: int


# --- the index -----------------------------------------------------------------------------------


def gaps_of(connection: Connection, tenant: str, head: Head | None = None) -> list[Gap]:
    """What the index lacks of a tenant's conversations, or of one and those it was forked from."""
    if head is None:
        return [Gap(*row) for row in connection.rows(GAPS, tenant)]
    rows = (connection.rows(f"{GAPS} AND c.number = ?", tenant, one) for one, _ in head.line)
    return [Gap(*row) for found in rows for row in found]


def catch_up(tenant: str, number: int) -> Work[bool]:
    """The work of indexing some messages of a conversation; gives whether there were any."""

    def work(connection: Connection) -> bool:
        head = Head(number, ((number, 1),))
        if conversations.locked_length(connection, head) is None:
            return False
        for gap in gaps_of(connection, tenant, head):
            last = min(gap.indexed + PAGE, gap.last)
            owner = owner_of(tenant)
            messages = list(read(connection, number, gap.indexed + 1, last))
            rows = [
                (number, seq, f"{owner} {' '.join(sorted(terms))}")
                for seq, message in messages
                if (terms := terms_in(message))
            ]
            connection.run_many(connection.texts.insert, rows)
            outlines.add(connection, number, messages)
            connection.run(INDEXED, number, last)
            return True
        return False

    return work


def remove(connection: Connection, number: int) -> None:
    """Let a conversation be found no more."""
    connection.run(connection.texts.remove, number)
    outlines.remove(connection, number)


def read(
    connection: Connection, number: int, first: int, last: int
) -> Iterator[tuple[int, Message]]:
    """Messages that were written in a conversation, with their numbers."""
    for seq, body in connection.rows(reading.BODIES, number, first, last):
        yield seq, decode_message(body)


def terms_in(message: Message) -> set[str]:
    """The terms of a message."""
    terms: set[str] = set()
    for part in message.parts:
        if type(part) is Text:
            terms |= terms_of(part.text[:LONGEST_TEXT])
        elif type(part) is ToolResult:
            terms |= terms_of(part.text[:LONGEST_RESULT])
    return terms


def owner_of(tenant: str) -> str:
    """The term that all messages of a tenant have."""
    return OURS + blake2b(tenant.encode(), digest_size=12).hexdigest()


# --- finding -------------------------------------------------------------------------------------


class Term(Struct, frozen=True):
    """A term of a query, how much it tells, and where it was found."""

    term: str
    weight: float
    places: frozenset[Place]


def in_conversation(
    connection: Connection,
    tenant: str,
    id: str,
    query: str,
    *,
    last: int | None = None,
    without: Container[int] = (),
) -> Iterator[Hit]:
    """The messages of a conversation that fit, its parents' among them, as they are asked for.

    Only those up to a message, and without some.
    """
    head = conversations.require(connection, tenant, id)
    length = conversations.length_of(connection, head, id)
    end = length if last is None else min(last, length)
    behind = unindexed(connection, gaps_of(connection, tenant, head))
    numbers = numbers_in(connection, head, end, behind)

    def places(term: str) -> list[Place]:
        return [(head.owner(seq), seq) for seq in numbers(term)]

    for place, score in ranked(weighed(terms_in_query(query), length, places)):
        if place[1] not in without:
            message = visible(connection, head.number, place)
            if message is not None:
                yield Hit(id, place[1], message, score)


def unindexed(connection: Connection, gaps: Iterable[Gap]) -> dict[Place, Message]:
    """The messages that the index lacks."""
    return {
        (gap.conversation, seq): message
        for gap in gaps
        for seq, message in read(connection, gap.conversation, gap.indexed + 1, gap.last)
    }


def numbers_in(
    connection: Connection, head: Head, end: int, behind: Mapping[Place, Message]
) -> Callable[[str], list[int]]:
    """Which messages of a conversation up to one have a term, its parents' among them.

    Args:
        behind: the messages that the index lacks.
    """
    terms_behind = {place: terms_in(message) for place, message in behind.items()}

    def numbers(term: str) -> list[int]:
        stop, found = end, list[int]()
        for number, own in head.line:
            if own <= stop:
                limits = (number, own, stop, term, MOST_PLACES)
                ((newest,),) = connection.rows(connection.texts.find, *limits)
                found += decode_numbers(newest)
                found += [
                    seq
                    for (owner, seq), terms in terms_behind.items()
                    if owner == number and own <= seq <= stop and term in terms
                ]
            stop = min(stop, own - 1)
        return found

    return numbers


def places_of_tenant(connection: Connection, tenant: str) -> Places:
    """Where terms are found in all conversations of a tenant."""
    owner = owner_of(tenant)

    def places(term: str) -> list[Place]:
        rows = connection.rows(connection.texts.find_all, owner, term, MOST_PLACES)
        return [(number, seq) for number, seq in rows]

    return places


def size_of_tenant(connection: Connection, tenant: str) -> int:
    """How many messages a tenant has."""
    ((total,),) = connection.rows(LENGTHS, tenant)
    return int(total)


def in_tenant(connection: Connection, tenant: str, query: str) -> Iterator[Hit]:
    """The messages of all conversations that fit, each where it was written."""
    total = size_of_tenant(connection, tenant)
    for place, score in ranked(
        weighed(terms_in_query(query), total, places_of_tenant(connection, tenant))
    ):
        for (id,) in connection.rows(NAME, place[0], tenant):
            message = visible(connection, place[0], place)
            if message is not None:
                yield Hit(id, place[1], message, score)


def terms_in_query(query: str) -> list[str]:
    """What is looked for: the longest terms of a query."""
    return sorted(terms_of(query), key=lambda term: (-len(term), term))[:MOST_TERMS]


def weighed(terms: Iterable[str], total: int, places: Places) -> list[Term]:
    """Terms with where they are; the fewer messages have one, the more it tells."""
    found = [(term, frozenset(places(term))) for term in terms]
    return [Term(term, rarity(len(where), total), where) for term, where in found]


def rarity(count: int, total: int) -> float:
    """How much it tells that a message has a term which so many of all messages have."""
    if count >= MOST_PLACES:
        count = int(sqrt(count * max(total, count)))  # somewhere between those seen and all
    return log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def ranked(terms: Sequence[Term]) -> list[tuple[Place, float]]:
    """Places with their scores: the best first, of two alike the newer one.

    The score is the share of the query that a message holds, from 0 to 1, where rare terms count
    for more: 1 means that every term is there.
    """
    whole = sum(term.weight for term in terms)
    sums: dict[Place, float] = {}
    for term in terms:
        for place in term.places:
            sums[place] = sums.get(place, 0.0) + term.weight
    scored = [(place, min(share / whole, 1.0)) for place, share in sums.items()]
    return sorted(scored, key=lambda one: (-round(one[1], 9), -one[0][1], -one[0][0]))


def visible(connection: Connection, asking: int, place: Place) -> Message | None:
    """A message as the asking conversation has it; None if it is hidden or deleted there."""
    for body, visibility, pinned in connection.rows(FOUND, asking, *place):
        message = reading.marked(decode_message(body), visibility, pinned)
        return message if message.visibility == "public" else None
    return None
