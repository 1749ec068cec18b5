"""Filling a budget with search hits: messages are read best first, long ones as passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from heapq import heappop, heappush
from itertools import islice
from math import log
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.recall.lines import wording
from contextwright.recall.outline import Outline
from contextwright.recall.packing import Packing, worth
from contextwright.recall.passages import FEWEST_CHARS, Excerpt, is_long, passage_odds, passages_of
from contextwright.recall.ranking import RankedMessage
from contextwright.store.engines.base import Connection
from contextwright.store.recall.search import NONE, Damaged, TermKeys
from contextwright.store.rows import messages as reading
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import STAND_IN
from contextwright.store.rows.index import Place

__all__ = ["Candidates", "SearchedConversation", "fill", "read_visible", "without_repeats"]

AT_ONCE = 64
"""Messages that are read together."""

BEST_SHARE = log(0.7)
"""What the best passage of a long message mostly has of its probability, as a logarithm. More would
read many messages for nothing, less would offer passages too late.
"""

REPEATED = 4
"""From so many messages on that look the same they are read, to see whether they are."""

BODIES = f"""
SELECT m.seq, m.body, m.digest, k.visibility, k.pinned FROM messages m
LEFT JOIN marks k ON k.conversation = ? AND k.seq = m.seq
WHERE m.conversation = ? AND m.seq IN ({", ".join("?" * AT_ONCE)})"""


class SearchedConversation(Struct, frozen=True):
    """A conversation to search, with its outline."""

    id: str
    head: Head
    end: int
    behind: dict[Place, Message]
    outline: Outline
    title: str = ""
    """The title of the conversation, if several are searched."""
    known: TermKeys = NONE
    """Terms that were found before, if several are searched."""


class Candidates(Struct, frozen=True):
    """The messages of a conversation that may be needed."""

    searched: SearchedConversation
    ranked: list[RankedMessage]
    words: Mapping[str, float]
    """The share of the question that each of its terms is."""
    bare: Mapping[str, Set[str]]
    """What a text may have instead of a term."""
    confidence: float
    damaged: Damaged
    """The messages that were damaged when they were indexed."""
    rivals: float = 0.0
    """The part of all rivals in the log-odds of each score, once they are known."""


Order: TypeAlias = tuple[float, int, int, int]
"""The place of a candidate among all, the best first: worth and number, both negative, because of
equal ones the newer comes first; which conversation; which passage, 0 for a message.
"""


def fill(
    connection: Connection,
    packing: Packing,
    found: Sequence[Candidates],
    excerpts: bool,
    damaged: Damaged,
) -> None:
    """Offer the hits, best first, until nothing more fits; hidden messages are left out.

    Args:
        excerpts: whether long messages are offered in passages, unless all fit as they are.
        damaged: gets the hits that cannot be read.
    """
    everything = sum(one.entry.size for some in found for one in some.ranked)
    excerpts = excerpts and everything > packing.left  # a token is a character or more
    ranked = [
        ((-most_worth(one, excerpts), -one.number, source, 0), one)
        for source, some in enumerate(found)
        for one in some.ranked
    ]
    passages: dict[Order, tuple[RankedMessage, Message, Excerpt]] = {}
    waiting: list[Order] = []  # the passages, as a heap

    def offer_passage() -> None:
        order = heappop(waiting)
        one, message, excerpt = passages.pop(order)
        searched = found[order[2]].searched
        packing.offer(searched.id, one, message, searched.title, excerpt)

    fitting = (pair for pair in sorted(ranked) if packing.has_room(least_size(pair[1], excerpts)))
    for order, one, message in read_best(connection, found, fitting, damaged):
        while waiting and waiting[0] < order:
            offer_passage()
        if packing.is_full or packing.is_complete:
            break
        source = found[order[2]]
        parts = excerpts_in(one, message, source) if excerpts else ()
        for part, (value, excerpt) in enumerate(parts, 1):
            place = (-value, order[1], order[2], part)
            passages[place] = (one, message, excerpt)
            heappush(waiting, place)
        if not parts:
            packing.offer(source.searched.id, one, message, source.searched.title)
    while waiting and not packing.is_full:
        offer_passage()


def excerpts_in(
    ranked: RankedMessage, message: Message, source: Candidates
) -> list[tuple[float, Excerpt]]:
    """Return each passage of a long message, with its worth; none if there are not several."""
    text = spoken_text(message)
    passages = tuple(passages_of(text)) if is_long(ranked.entry.size) else ()
    if len(passages) < 2:
        return []
    odds = passage_odds(ranked, text, passages, source.words, source.bare)
    return [
        (worth(one, end - start), Excerpt(passages, (number,)))
        for number, (one, (start, end)) in enumerate(zip(odds, passages, strict=True), 1)
    ]


def most_worth(ranked: RankedMessage, excerpts: bool) -> float:
    """Return what a message is worth, or about the most that a passage of it is."""
    less = BEST_SHARE if excerpts and is_long(ranked.entry.size) else 0.0
    return worth(ranked.odds + less, least_size(ranked, excerpts))


def least_size(ranked: RankedMessage, excerpts: bool) -> int:
    """Return the characters of a message, or of the shortest usual passage of it."""
    size = ranked.entry.size
    return FEWEST_CHARS if excerpts and is_long(size) else size


def without_repeats(
    connection: Connection, searched: SearchedConversation, ranked: Sequence[RankedMessage]
) -> list[RankedMessage]:
    """Return ranked messages; of many with the same words by the same speaker only the best.

    Said hundreds of times, they would be rivals of each other and all that a question seems to
    need, and what is less likely would be filler beside them.
    """
    alike: dict[object, list[int]] = {}
    for one in ranked:
        entry, signals = one.entry, one.signals
        if signals.words or signals.meaning:
            form = entry.size, entry.speaker, entry.id, signals.words, signals.meaning
            alike.setdefault(form, []).append(one.number)
    some = [number for numbers in alike.values() if len(numbers) >= REPEATED for number in numbers]
    if not some:
        return [*ranked]
    said: dict[int, str] = {}
    for start in range(0, len(some), AT_ONCE):
        pairs = [(searched, number) for number in some[start : start + AT_ONCE]]
        for (_, number), message in read_visible(connection, pairs).items():
            said[number] = wording(spoken_text(message))
    kept: list[RankedMessage] = []
    seen: set[tuple[str, str, str]] = set()
    for one in ranked:
        words = (one.entry.speaker, one.entry.id, said.get(one.number, ""))
        if words not in seen:
            kept.append(one)
        if words[-1]:
            seen.add(words)
    return kept


def read_best(
    connection: Connection,
    found: Sequence[Candidates],
    ranked: Iterator[tuple[Order, RankedMessage]],
    damaged: Damaged,
) -> Iterator[tuple[Order, RankedMessage, Message]]:
    """Yield the visible ones with their messages; each once. Damaged ones are noted instead."""
    read: set[Place] = set()  # a fork and its parent share messages
    while some := [*islice(ranked, AT_ONCE)]:
        messages = read_visible(
            connection, [(found[order[2]].searched, one.number) for order, one in some]
        )
        for order, one in some:
            source = found[order[2]]
            searched = source.searched
            message = messages.get((searched.id, one.number))
            place = (searched.head.owner(one.number), one.number)
            if message is None or place in read:
                continue
            read.add(place)
            if STAND_IN in message.meta:
                damaged.add((searched.id, one.number))
            else:
                yield order, replace(one, rivals=source.rivals), message


def read_visible(
    connection: Connection, some: Iterable[tuple[SearchedConversation, int]]
) -> dict[tuple[str, int], Message]:
    """Return visible messages as their conversation shows them, damaged ones as placeholders."""
    wanted: dict[tuple[str, int, int], list[int]] = {}
    for searched, seq in some:
        head = searched.head
        wanted.setdefault((searched.id, head.number, head.owner(seq)), []).append(seq)
    messages: dict[tuple[str, int], Message] = {}
    for (id, asking, number), seqs in wanted.items():
        padded = [*seqs, *[0] * (AT_ONCE - len(seqs))]
        rows = connection.rows(BODIES, asking, number, *padded)
        found = {row[0]: one for row in rows if (one := reading.public(*row[1:])) is not None}
        unquoted = reading.without_lost_quotes(connection, asking, [*found.values()])
        for seq, message in zip(found, unquoted, strict=True):
            messages[id, seq] = message
    return messages
