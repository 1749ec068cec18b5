"""Fill a token budget with candidates, best first; long messages are offered as passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from heapq import heappop, heappush
from itertools import islice
from math import log
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.recall.lines import dedup_key
from contextwright.recall.outline import Outline
from contextwright.recall.packing import Packing, value_for_price
from contextwright.recall.passages import MIN_CHARS, Excerpt, is_long, passage_log_odds, passages_of
from contextwright.recall.ranking import RankedMessage
from contextwright.store.engines.base import Connection
from contextwright.store.recall.search import NO_POSTINGS, Damaged, TermPostings
from contextwright.store.rows import messages as reading
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import STAND_IN
from contextwright.store.rows.index import Place

__all__ = ["Candidates", "SearchedConversation", "fill", "read_visible", "without_repeats"]

READ_MESSAGES = 64
"""Messages that are read at once."""

BEST_PASSAGE_LOG_SHARE = log(0.7)
"""The usual share of a long message's probability that its best passage gets, as a logarithm. It
decides when a long message is read. If it were higher, many messages would be read for nothing; if
lower, passages would be offered too late.
"""

MIN_REPEATS = 4
"""If at least this many messages look the same by their signals, their texts are compared."""

BODIES = f"""
SELECT m.seq, m.body, m.digest, k.visibility, k.pinned FROM messages m
LEFT JOIN marks k ON k.conversation = ? AND k.seq = m.seq
WHERE m.conversation = ? AND m.seq IN ({", ".join("?" * READ_MESSAGES)})"""


class SearchedConversation(Struct, frozen=True):
    """A conversation that is searched, with its outline."""

    id: str
    head: Head
    end: int
    behind: dict[Place, Message]
    outline: Outline
    title: str = ""
    """The title of the conversation, if several are searched."""
    known: TermPostings = NO_POSTINGS
    """Postings that were read before, if several are searched."""


class Candidates(Struct, frozen=True):
    """The ranked candidates of one conversation."""

    searched: SearchedConversation
    ranked: list[RankedMessage]
    term_shares: Mapping[str, float]
    """The weight of each term of the question, as a share of all."""
    variants: Mapping[str, Set[str]]
    """Terms that a text may contain instead."""
    confidence: float
    damaged: Damaged
    """The messages that were damaged when they were indexed."""
    rivals: float = 0.0
    """What all rivals add to the log-odds of each score; set by `likely_hits`."""


class SortKey(NamedTuple):
    """The order of candidates: the highest value first, of equal ones the newest message."""

    minus_value: float
    minus_number: int
    source: int
    """The index of the conversation."""
    passage: int
    """The number of the passage; 0 for a whole message."""


def fill(
    connection: Connection,
    packing: Packing,
    found: Sequence[Candidates],
    excerpts: bool,
    damaged: Damaged,
) -> None:
    """Offer the candidates, best first, until nothing more fits. Hidden messages are left out.

    Args:
        excerpts: whether long messages are offered as passages, if not everything fits.
        damaged: gets the candidates that cannot be read.
    """
    everything = sum(one.entry.size for some in found for one in some.ranked)
    # A token has at least one character, so this much fits as it is.
    excerpts = excerpts and everything > packing.tokens_left
    ranked = sorted(
        ((-best_value(one, excerpts), -one.number, source, 0), one)
        for source, some in enumerate(found)
        for one in some.ranked
    )
    passages: dict[SortKey, tuple[RankedMessage, Message, Excerpt]] = {}
    waiting: list[SortKey] = []  # a heap of the keys of passages

    def offer_passage() -> None:
        sort_key = heappop(waiting)
        one, message, excerpt = passages.pop(sort_key)
        searched = found[sort_key.source].searched
        packing.offer(searched.id, one, message, searched.title, excerpt)

    # A tuple is made in a fifth of the time of a `SortKey`, and few candidates are read.
    readable = (
        (SortKey(*sort_key), one)
        for sort_key, one in ranked
        if packing.has_room(shortest_size(one, excerpts))
    )
    for sort_key, one, message in read_best(connection, found, readable, damaged):
        while waiting and waiting[0] < sort_key:
            offer_passage()
        if packing.is_full or packing.is_complete:
            break
        source = found[sort_key.source]
        parts = excerpts_in(one, message, source) if excerpts else ()
        for part, (value, excerpt) in enumerate(parts, 1):
            key = SortKey(-value, sort_key.minus_number, sort_key.source, part)
            passages[key] = (one, message, excerpt)
            heappush(waiting, key)
        if not parts:
            packing.offer(source.searched.id, one, message, source.searched.title)
    while waiting and not packing.is_full:
        offer_passage()


def excerpts_in(
    ranked: RankedMessage, message: Message, source: Candidates
) -> list[tuple[float, Excerpt]]:
    """Return the passages of a long message with their values; none if it has only one."""
    text = spoken_text(message)
    passages = tuple(passages_of(text)) if is_long(ranked.entry.size) else ()
    if len(passages) < 2:
        return []
    odds = passage_log_odds(ranked, text, passages, source.term_shares, source.variants)
    return [
        (value_for_price(one, end - start), Excerpt(passages, (number,)))
        for number, (one, (start, end)) in enumerate(zip(odds, passages, strict=True), 1)
    ]


def best_value(ranked: RankedMessage, excerpts: bool) -> float:
    """Return the value of a message, or an estimate of the value of its best passage."""
    size = ranked.entry.size
    if excerpts and is_long(size):
        return value_for_price(ranked.log_odds + BEST_PASSAGE_LOG_SHARE, MIN_CHARS)
    return value_for_price(ranked.log_odds, size)


def shortest_size(ranked: RankedMessage, excerpts: bool) -> int:
    """Return the characters of a message, or of a short passage if it is offered in passages."""
    size = ranked.entry.size
    return MIN_CHARS if excerpts and is_long(size) else size


def without_repeats(
    connection: Connection, searched: SearchedConversation, ranked: Sequence[RankedMessage]
) -> list[RankedMessage]:
    """Return ranked messages without repetitions of one text by one speaker.

    Hundreds of equal messages would be rivals of each other, and together seem to be all that a
    question needs, so that other messages would be cut off as filler.
    """
    alike: dict[object, list[int]] = {}
    for one in ranked:
        entry, signals = one.entry, one.signals
        if signals.words or signals.meaning:
            form = entry.size, entry.speaker, entry.id, signals.words, signals.meaning
            alike.setdefault(form, []).append(one.number)
    some = [
        number for numbers in alike.values() if len(numbers) >= MIN_REPEATS for number in numbers
    ]
    if not some:
        return [*ranked]
    said: dict[int, str] = {}
    for start in range(0, len(some), READ_MESSAGES):
        pairs = [(searched, number) for number in some[start : start + READ_MESSAGES]]
        for (_, number), message in read_visible(connection, pairs).items():
            said[number] = dedup_key(spoken_text(message))
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
    ranked: Iterator[tuple[SortKey, RankedMessage]],
    damaged: Damaged,
) -> Iterator[tuple[SortKey, RankedMessage, Message]]:
    """Yield the candidates that are visible with their messages, each message once.

    Damaged messages are added to `damaged` instead.
    """
    read: set[Place] = set()  # a fork and its parent share messages
    while some := [*islice(ranked, READ_MESSAGES)]:
        messages = read_visible(
            connection, [(found[sort_key.source].searched, one.number) for sort_key, one in some]
        )
        for sort_key, one in some:
            source = found[sort_key.source]
            searched = source.searched
            message = messages.get((searched.id, one.number))
            place = (searched.head.owner(one.number), one.number)
            if message is None or place in read:
                continue
            read.add(place)
            if STAND_IN in message.meta:
                damaged.add((searched.id, one.number))
            else:
                yield sort_key, replace(one, rivals=source.rivals), message


def read_visible(
    connection: Connection, some: Iterable[tuple[SearchedConversation, int]]
) -> dict[tuple[str, int], Message]:
    """Return those messages that are visible in their conversation, by its id and their number.

    A damaged message is returned as a placeholder.
    """
    wanted: dict[tuple[str, int, int], list[int]] = {}
    for searched, seq in some:
        head = searched.head
        wanted.setdefault((searched.id, head.number, head.owner(seq)), []).append(seq)
    messages: dict[tuple[str, int], Message] = {}
    for (id, asking, number), seqs in wanted.items():
        padded = [*seqs, *[0] * (READ_MESSAGES - len(seqs))]
        rows = connection.rows(BODIES, asking, number, *padded)
        found = {row[0]: one for row in rows if (one := reading.public(*row[1:])) is not None}
        unquoted = reading.without_lost_quotes(connection, asking, [*found.values()])
        for seq, message in zip(found, unquoted, strict=True):
            messages[id, seq] = message
    return messages
