"""Memories and past messages of one chat, for sections."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import filterfalse, islice

import msgspec

from contextwright.errors import EmbedderError
from contextwright.messages.changes import Change
from contextwright.recall.memories import Memory, MemoryQuery, had_part
from contextwright.recall.memory_list import asks_meaning, fitting
from contextwright.recall.packing import RecallHit, day_price
from contextwright.store.engines.base import Connection, Value
from contextwright.store.recall.meanings import MOST_SEARCHED
from contextwright.store.recall.options import RecallRequest, price_of
from contextwright.store.recall.recall import memory_meanings, recall_in, vector_of
from contextwright.store.records import StoredMemory
from contextwright.store.rows import memories as notes
from contextwright.store.state import State

__all__ = ["StoreMemorySource"]

ANY = 1 << 40
"""As many tokens as there are."""


class StoreMemorySource:
    """The memories of one chat, and passages of it outside the window.

    Args:
        state: the store, and the tenant whose memories they are.
        id: the chat; memories without a scope belong to every chat.
        last: messages after this one are not recalled, because the window is expected to have
            them.
    """

    def __init__(self, state: State, id: str, *, last: int | None = None) -> None:
        self.state, self.id, self.last = state, id, last
        self.recalled: set[int] = set()
        """The numbers of all messages that were recalled."""
        self.included: set[str] = set()
        """The ids of all events that were recalled."""
        self.has_looked = False
        """Whether anybody asked for messages."""
        self.trouble = ""
        """Why only words were compared, though the store has an embedder."""
        self.losses: dict[str, Change] = {}
        """The damaged messages that could not be recalled, by their paths."""
        self._without: set[int] = set()
        self._is_shown = False
        self._events_included: list[Memory] = []

    def show(self, cut: int, kept: set[int]) -> bool:
        """See the window that was made: where its newest messages begin, and all that it keeps.

        Gives whether to ask again: a message was recalled that it keeps, or it begins later than it
        was taken to, which is looked at once. What is left out stays so: that comes to an end.
        """
        is_later = self.last is not None and cut > self.last and not self._is_shown
        if is_later:
            self.last = cut
        self._is_shown = True
        is_twice = not kept.isdisjoint(self.recalled)
        is_twice = is_twice or any(is_mostly(event, kept) for event in self._events_included)
        if is_later or is_twice:
            self.recalled.clear()
            self.included.clear()
            self._events_included.clear()
            # Only then: built once more for a summary, it recalls the same.
            self._without |= kept
        return is_later or is_twice

    def recall(self, wanted: MemoryQuery) -> Sequence[Memory]:
        """Return the memories that fit a query, at most its limit."""
        if wanted.kind == "passage":
            return self._passages(wanted)
        if wanted.kind == "episode":
            return self._events(wanted)
        most = MOST_SEARCHED if wanted.query or wanted.prefer else wanted.limit
        found = self.state.engine.read(lambda connection: self._newest(connection, wanted, most))
        return fitting([one.memory for one in found], wanted, self._meanings(found, wanted))

    def _meanings(self, found: list[StoredMemory], wanted: MemoryQuery) -> list[float] | None:
        """Return how near each memory is to a query; None if words decide, or all are wanted."""
        state = self.state
        if state.index.space is None or not asks_meaning([one.memory for one in found], wanted):
            return None
        try:
            state.index.catch_up_memories(state.tenant, "", self.id)
        except EmbedderError as error:
            self.trouble = error.args[0]
            return None
        vector, trouble = vector_of(state, wanted.query or wanted.prefer)
        self.trouble = self.trouble or trouble
        return state.engine.read(lambda one: memory_meanings(one, state, found, vector))

    def _newest(self, connection: Connection, wanted: MemoryQuery, most: int) -> list[StoredMemory]:
        """Return the newest memories of a kind, perhaps about one person, that may be shown."""
        fields: dict[str, Value] = {"kind": wanted.kind}
        if wanted.about is not None:
            fields["about"] = wanted.about
        tenant = self.state.tenant
        found = notes.newest(connection, tenant, self.id, fields, most)
        return [
            one
            for one in found
            if one.memory.weight >= wanted.min_weight
            and (one.memory.kind != "episode" or had_part(one.memory, wanted.asker))
            and notes.is_visible(connection, tenant, one.memory)
        ]

    def _events(self, wanted: MemoryQuery) -> list[Memory]:
        """Return the events that fit, each with its id, without those of hidden messages."""

        found = self.state.engine.read(
            lambda connection: self._newest(connection, wanted, MOST_SEARCHED)
        )
        everything = msgspec.structs.replace(wanted, limit=len(found))
        near = self._meanings(found, everything)
        best = fitting([with_id(stored) for stored in found], everything, near)
        ordered = best if wanted.query else reversed(best)
        included = list(islice(filterfalse(self._is_seen, ordered), max(wanted.limit, 0)))
        self.has_looked = True
        self._events_included += included
        self.included.update(event.meta["id"] for event in included)
        return included if wanted.query else included[::-1]

    def _is_seen(self, event: Memory) -> bool:
        """Whether the window has most of an event's messages, so that it is not shown twice."""
        if event.scope != self.id:
            return False
        last = self.last
        behind = {seq for seq in notes.made_from(event) if last is not None and seq > last}
        return is_mostly(event, behind | self._without)

    def _passages(self, wanted: MemoryQuery) -> list[Memory]:
        """Messages that the question needs, within its tokens, in their order."""
        is_guess = wanted.without is None
        wish = RecallRequest(
            query=wanted.query,
            budget=ANY if wanted.tokens is None else wanted.tokens,
            price=day_price(wanted.price) if wanted.price else price_of(None, None),
            about=wanted.about,
            asker=wanted.asker,
            now=wanted.now,
            limit=max(wanted.limit, 0),
            min_confidence=wanted.min_confidence,
            memories=False,
            last=self.last if is_guess else before_newest(wanted.without or ()),
            without=self._without if is_guess else wanted.without or (),
            ranking=wanted.ranking,
        )
        found = recall_in(self.state, self.id, wish)
        if is_guess:
            self.has_looked = True
            self.recalled.update(item.seq for item in found)
        self.trouble = self.trouble or found.trouble
        self.losses |= {change.path: change for change in found.changes}
        return [as_passage(item) for item in found]


def before_newest(kept: Collection[int]) -> int:
    """Return the last number before the newest messages of some, which follow each other.

    Nothing behind it is searched, because the question itself has all of its words.
    """
    last = max(kept, default=1)
    while last in kept:
        last -= 1
    return last


def is_mostly(event: Memory, seqs: Collection[int]) -> bool:
    """Whether at least half of an event was said in these messages."""
    made = notes.made_from(event)
    return bool(made) and 2 * len(set(made).intersection(seqs)) >= len(made)


def with_id(stored: StoredMemory) -> Memory:
    """Return a memory with its id."""
    memory = stored.memory
    return msgspec.structs.replace(memory, meta={**memory.meta, "id": stored.id})


def as_passage(item: RecallHit) -> Memory:
    """Return a message as a memory of itself."""
    message = item.message
    return Memory(
        "passage",
        item.text,
        about=message.author.id if message.author else None,
        author=item.speaker,
        at=message.sent_at,
        scope=item.conversation,
        score=item.score,
        meta={"seq": item.seq, "title": item.title, **place_in(item)},
    )


def place_in(item: RecallHit) -> dict[str, str]:
    """Return the place of an excerpt in its message."""
    return {"place": item.excerpt.place} if item.excerpt else {}
