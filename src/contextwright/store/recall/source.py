"""The memory source of a chat: its memories and past messages, for sections."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import filterfalse, islice

import msgspec

from contextwright.errors import EmbedderError
from contextwright.messages.changes import Change
from contextwright.recall.memories import Memory, MemoryQuery, took_part
from contextwright.recall.memory_list import needs_vectors, select_memories
from contextwright.recall.packing import RecallHit, day_price
from contextwright.store.engines.base import Connection, Value
from contextwright.store.recall.memory_vectors import MAX_SEARCHED
from contextwright.store.recall.options import RecallRequest, price_of
from contextwright.store.recall.recall import cosines_of_memories, recall_conversation, vector_of
from contextwright.store.records import StoredMemory
from contextwright.store.rows import memories as notes
from contextwright.store.state import State

__all__ = ["StoreMemorySource"]

UNLIMITED = 1 << 40
"""A budget without a limit."""


class StoreMemorySource:
    """The memories of one chat, and its messages outside the window.

    Args:
        id: the chat; memories without a scope belong to every chat.
        last: messages after this one are not recalled, because the window is expected to keep
            them.
    """

    def __init__(self, state: State, id: str, *, last: int | None = None) -> None:
        self.state, self.id, self.last = state, id, last
        self.recalled: set[int] = set()
        """The numbers of all messages that were recalled."""
        self.included: set[str] = set()
        """The ids of all events that were recalled."""
        self.has_looked = False
        """Whether messages or events were recalled."""
        self.trouble = ""
        """Why only words were compared, though the store has an embedder; else empty."""
        self.losses: dict[str, Change] = {}
        """The damaged messages that could not be recalled, by their paths."""
        self._without: set[int] = set()
        self._is_shown = False
        self._events_included: list[Memory] = []

    def show(self, cut: int, kept: set[int]) -> bool:
        """Compare what was recalled with the window; return whether to recall again.

        That is needed if the window keeps a recalled message, or begins later than expected. The
        second is checked only once, and messages are only ever excluded, so this ends.

        Args:
            cut: the message before the newest ones that the window keeps.
            kept: all messages that it keeps.
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
            # Not otherwise: if the context is built again for a summary, recall must not change.
            self._without |= kept
        return is_later or is_twice

    def recall(self, wanted: MemoryQuery) -> Sequence[Memory]:
        """Return the memories that fit a query, at most its limit."""
        if wanted.kind == "passage":
            return self._passages(wanted)
        if wanted.kind == "episode":
            return self._events(wanted)
        most = MAX_SEARCHED if wanted.query or wanted.prefer else wanted.limit
        found = self.state.engine.read(lambda connection: self._newest(connection, wanted, most))
        return select_memories([one.memory for one in found], wanted, self._cosines(found, wanted))

    def _cosines(self, found: list[StoredMemory], wanted: MemoryQuery) -> list[float] | None:
        """Return the cosine of each memory and a query; None if embeddings have no influence."""
        state = self.state
        if state.index.vectors is None or not needs_vectors([one.memory for one in found], wanted):
            return None
        try:
            state.index.catch_up_memories(state.tenant, "", self.id)
        except EmbedderError as error:
            self.trouble = error.args[0]
            return None
        vector, trouble = vector_of(state, wanted.query or wanted.prefer)
        self.trouble = self.trouble or trouble
        return state.engine.read(lambda one: cosines_of_memories(one, state, found, vector))

    def _newest(self, connection: Connection, wanted: MemoryQuery, most: int) -> list[StoredMemory]:
        """Return the newest memories for a query that may be shown, at most `most` of its kind."""
        fields: dict[str, Value] = {"kind": wanted.kind}
        if wanted.about is not None:
            fields["about"] = wanted.about
        tenant = self.state.tenant
        found = notes.newest(connection, tenant, self.id, fields, most)
        return [
            one
            for one in found
            if one.memory.weight >= wanted.min_weight
            and (one.memory.kind != "episode" or took_part(one.memory, wanted.asker))
            and notes.is_visible(connection, tenant, one.memory)
        ]

    def _events(self, wanted: MemoryQuery) -> list[Memory]:
        """Return the events that fit a query, each with its id, outside the window."""
        found = self.state.engine.read(
            lambda connection: self._newest(connection, wanted, MAX_SEARCHED)
        )
        everything = msgspec.structs.replace(wanted, limit=len(found))
        near = self._cosines(found, everything)
        best = select_memories([with_id(stored) for stored in found], everything, near)
        ordered = best if wanted.query else reversed(best)
        included = list(islice(filterfalse(self._is_seen, ordered), max(wanted.limit, 0)))
        self.has_looked = True
        self._events_included += included
        self.included.update(event.meta["id"] for event in included)
        return included if wanted.query else included[::-1]

    def _is_seen(self, event: Memory) -> bool:
        """Whether the window has most of an event's messages."""
        if event.scope != self.id:
            return False
        last = self.last
        behind = {seq for seq in notes.made_from(event) if last is not None and seq > last}
        return is_mostly(event, behind | self._without)

    def _passages(self, wanted: MemoryQuery) -> list[Memory]:
        """Return the messages that a question needs, in their order."""
        is_guess = wanted.without is None
        wish = RecallRequest(
            query=wanted.query,
            budget=UNLIMITED if wanted.tokens is None else wanted.tokens,
            price=day_price(wanted.price) if wanted.price else price_of(None, None),
            about=wanted.about,
            asker=wanted.asker,
            now=wanted.now,
            limit=max(wanted.limit, 0),
            min_confidence=wanted.min_confidence,
            memories=False,
            last=self.last if is_guess else last_before_newest(wanted.without or ()),
            without=self._without if is_guess else wanted.without or (),
            ranking=wanted.ranking,
        )
        found = recall_conversation(self.state, self.id, wish)
        if is_guess:
            self.has_looked = True
            self.recalled.update(item.seq for item in found)
        self.trouble = self.trouble or found.trouble
        self.losses |= {change.path: change for change in found.changes}
        return [as_passage(item) for item in found]


def last_before_newest(kept: Collection[int]) -> int:
    """Return the number before the newest run of consecutive messages.

    Later ones are not searched, because the question is among them and contains all its terms.
    """
    last = max(kept, default=1)
    while last in kept:
        last -= 1
    return last


def is_mostly(event: Memory, seqs: Collection[int]) -> bool:
    """Whether at least half of an event's messages are among these."""
    made = notes.made_from(event)
    return bool(made) and 2 * len(set(made).intersection(seqs)) >= len(made)


def with_id(stored: StoredMemory) -> Memory:
    """Return a memory with its id."""
    memory = stored.memory
    return msgspec.structs.replace(memory, meta={**memory.meta, "id": stored.id})


def as_passage(item: RecallHit) -> Memory:
    """Return a recalled message as a memory of kind `passage`."""
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
    """Return the metadata about which parts of a message an excerpt has."""
    return {"place": item.excerpt.place} if item.excerpt else {}
