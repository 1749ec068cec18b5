"""Signatures that a client of another API cannot keep, by the answers they belong to.

Providers sign the thinking before an answer, or a tool call, and want the signature back with
the history. A client of another API sends the history back without it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from contextwright.errors import StoreError
from contextwright.lru import LruCache
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall
from contextwright.models import as_model
from contextwright.serve.reading import Reading
from contextwright.serve.recording.processes import is_running
from contextwright.store.rows.recorded import signatures
from contextwright.store.rows.recorded.signatures import Found, SignedAnswer
from contextwright.store.store import Store
from contextwright.text.json import encode_json
from contextwright.wire.gemini.types import STAND_IN

__all__ = ["History", "Vault"]

MOST = 10_000
"""Answers that are remembered, twice if they have calls; those longest unused are forgotten."""
SIGNING = ("anthropic", "gemini", "openai-responses")
"""The APIs whose providers sign what they say."""
PATIENCE = 2.0
"""Seconds that a request waits for the answers in its history."""
PAUSE = 0.02
"""Seconds between two looks for an answer that another gateway is about to record."""

log = logging.getLogger("contextwright.serve")


class Gap(Struct, frozen=True):
    """An answer in a history that came back without signatures."""

    index: int
    message: Message
    place: str
    call: str | None
    """The key of its first call, if it has one."""


class History:
    """A client's conversation with a model of an upstream; `owner` tells clients apart.

    Some models take thinking back only behind the very prefix it was given for.
    """

    def __init__(
        self, owner: str, upstream: str, format: str, model: str, reading: Reading
    ) -> None:
        self.format, self.said = format, reading.said
        self.is_bound = as_model(model).bound_thinking
        self._names = (owner, upstream, format)
        self._reading = reading

    @property
    def may_be_signed(self) -> bool:
        """Whether providers of the format sign what they say."""
        return self.format in SIGNING

    @cached_property
    def places(self) -> list[str]:
        """The place before each message and after the last: a digest of all said before it.

        Of what the client says, because it says the same of earlier answers with every request.
        """
        return list(map(self._framed, ("", *self._reading.trail.digests)))

    def _framed(self, place: str) -> str:
        """Return a place with the system text and the tools before it, if the upstream minds."""
        return f"{self._frame} {place}" if self.is_bound else place

    @cached_property
    def _frame(self) -> str:
        system = takewhile(lambda message: message.role == "system", self.said.messages)
        frame = [[message.parts for message in system], self.said.tools]
        return blake2b(encode_json(frame), digest_size=16).hexdigest()

    def gaps(self) -> Iterator[Gap]:
        """Yield the answers that have no signature.

        One that says nothing has nothing to be known by, and stands where the next one will.
        """
        for index, message in enumerate(self.said.messages):
            place, behind = self.places[index : index + 2]
            if message.role != "assistant" or place == behind:
                continue
            if not has_signature(message.parts, self.format):
                yield Gap(index, message, place, self.call_at(place, message))

    def call_at(self, place: str, message: Message) -> str | None:
        """Return the key of an answer's first call; None if it has none."""
        id = message.calls[0].id if message.calls else None
        if not id:
            return None
        return f"{place} call {id}" if self.is_bound else f"call {id}"

    def names(self, place: str, call: str | None) -> list[tuple[str, ...]]:
        """Return the names of an answer in memory, the surest first.

        Two answers in one place have different calls, and conversations may have calls of one id.
        """
        keys = [place] if call is None else [f"{place} {call}", place, call]
        return [self.name(key) for key in keys]

    def digests(self, gap: Gap) -> list[str]:
        """Return the names of an answer in a store: that of its place, and that of its call."""
        return [self.digest(key) for key in (gap.place, gap.call) if key is not None]

    def name(self, key: str) -> tuple[str, ...]:
        """Return the name of a key in memory: nobody else has it."""
        return (*self._names, key)

    def digest(self, key: str) -> str:
        """Return the name of a key in a store, which does not reveal the owner."""
        return blake2b(encode_json(self.name(key)), digest_size=16).hexdigest()

    @property
    def next_place(self) -> str:
        """The name of the answer's place in a store."""
        return self.digest(self.places[-1])

    def place_behind(self, answer: Message) -> str:
        """Return the place behind the answer, if the client sends it back as it was given."""
        return self._framed(self._reading.trail.followed_by([answer]).digests[-1])


class Vault:
    """Parts that were signed, by the place of their message, and by the id of its first call.

    Not every client keeps ids; those that do not are known by all that was said before. What is not
    in memory is looked for in a store, which has the answers of other gateways and earlier starts.
    """

    def __init__(self, store: Store | None = None, most: int = MOST) -> None:
        self._store = store
        self._parts = LruCache[tuple[str, ...], tuple[Part, ...]](most)
        self._absent = LruCache[tuple[str, ...], None](most)
        """Answers that are not in the store, by the place behind them: it tells them from others
        in the same place.
        """

    def keep(self, history: History, message: Message) -> SignedAnswer | None:
        """Remember an answer; return what is to be stored of it, or None if it is not signed."""
        if not has_signature(message.parts, history.format):
            self._note_absent(history, history.place_behind(message))
            return None
        place = history.places[-1]
        call = history.call_at(place, message)
        self._remember(history, place, call, message.parts)
        return SignedAnswer(history.digest(call) if call else None, message.parts)

    async def restored(self, history: History) -> Conversation:
        """Return the conversation with what its client left out of answers of the upstream."""
        if not history.may_be_signed or (self._store is None and not self._parts):
            return history.said
        gaps = list(history.gaps())
        found = {gap.index: parts for gap in gaps if (parts := self._known(history, gap))}
        missing = [
            gap
            for gap in gaps
            if gap.index not in found
            and history.name(history.places[gap.index + 1]) not in self._absent
        ]
        if missing and self._store is not None:
            found |= await self._recalled(history, missing, gaps[-1])
        if not found:
            return history.said
        messages = list(history.said.messages)
        for index, parts in found.items():
            whole = merged(messages[index].parts, parts, history.format)
            messages[index] = messages[index].with_parts(whole)
        return replace(history.said, messages=tuple(messages))

    def _known(self, history: History, gap: Gap) -> tuple[Part, ...]:
        """Return an answer from memory; nothing if it is not there."""
        for name in history.names(gap.place, gap.call):
            parts = self._parts.get(name)
            if parts and same_answer(gap.message, parts):
                return parts
        return ()

    def _remember(
        self, history: History, place: str, call: str | None, parts: tuple[Part, ...]
    ) -> None:
        for name in history.names(place, call):
            self._parts.put(name, parts)

    # --- from the store ----------------------------------------------------------------------

    async def _recalled(
        self, history: History, gaps: Sequence[Gap], newest: Gap
    ) -> dict[int, tuple[Part, ...]]:
        """Return answers from the store, and note which it has not.

        Another gateway may be about to record the newest one, so that one is waited for.
        """
        digests = [history.digests(gap) for gap in gaps]
        sought = [digest for each in digests for digest in each]
        rows: dict[str, list[Found]] = {}
        try:
            async with asyncio.timeout(PATIENCE):
                rows = await self._read(sought)
                while gaps[-1] is newest and is_to_come(rows.get(digests[-1][0], ())):
                    await asyncio.sleep(PAUSE)
                    rows = await self._read(sought)
        except TimeoutError:
            log.warning("signatures were not found in time")
            if not rows:
                return {}
        except StoreError as error:
            log.warning("signatures were not read: %s", error)
            return {}
        found: dict[int, tuple[Part, ...]] = {}
        for gap, (place, *calls) in zip(gaps, digests, strict=True):
            its = [row for digest in (*calls, place) for row in rows.get(digest, ())]
            same = [row for row in its if row.parts and same_answer(gap.message, row.parts)]
            # Those of its place are the last, and the newest of them the very last.
            same.sort(key=lambda row: row.place == place and row.first_call in calls)
            if same:
                found[gap.index] = same[-1].parts
                self._remember(history, gap.place, gap.call, same[-1].parts)
            elif not any(map(is_awaited, its)):
                self._note_absent(history, history.places[gap.index + 1])
        return found

    async def _read(self, digests: Sequence[str]) -> dict[str, list[Found]]:
        """Return what the store has by each digest, the newest last."""
        store = self._store
        assert store is not None
        rows: dict[str, list[Found]] = {}
        for row in await asyncio.to_thread(
            store.engine.read, lambda one: signatures.find(one, store.tenant, digests)
        ):
            for name in filter(None, (row.place, row.first_call)):
                rows.setdefault(name, []).append(row)
        return rows

    def _note_absent(self, history: History, place: str) -> None:
        """Note that the store does not have the answer before a place."""
        self._absent.put(history.name(place), None)


def is_to_come(rows: Sequence[Found]) -> bool:
    """Whether an answer is not stored yet, and will be."""
    return any(map(is_awaited, rows)) and not any(row.parts for row in rows)


def is_awaited(row: Found) -> bool:
    """Whether the request of an answer is not over; one whose gateway was killed is."""
    return row.awaited is not None and is_running(*row.awaited)


def has_signature(parts: Sequence[Part], format: str) -> bool:
    """Whether a provider of a format wants one of the parts back as it gave it."""
    return any(is_signed(part, format) for part in parts)


def is_signed(part: Part, format: str) -> bool:
    """Whether a provider of a format wants this part back as it gave it."""
    if isinstance(part, ToolCall | Text):
        return part.extra.get(format, {}).get("thoughtSignature", STAND_IN) != STAND_IN
    if isinstance(part, Thinking):
        return part.origin == format and part.signature is not None
    return isinstance(part, Opaque) and part.format == format


def same_answer(message: Message, kept: Sequence[Part]) -> bool:
    """Whether a client sends back what it was given: the calls, or words if there are none."""
    given = [part for part in kept if isinstance(part, ToolCall)]
    if not given and not message.calls:
        return words_of(own_words(message.parts, kept)) == words_of(kept)
    return [(plain(call.name), call.arguments) for call in message.calls] == [
        (plain(call.name), call.arguments) for call in given
    ]


def plain(name: str) -> str:
    """Return a tool's name without what joins its words: some clients respell that."""
    return "".join(filter(str.isalnum, name))


def merged(parts: Sequence[Part], kept: Sequence[Part], format: str) -> list[Part]:
    """Return an answer as it was given, with the client's ids, and its words where they differ."""
    words = own_words(parts, kept)
    # The client's results name its own ids.
    ids = iter([part.id for part in parts if isinstance(part, ToolCall)])
    whole = [replace(part, id=next(ids)) if isinstance(part, ToolCall) else part for part in kept]
    if words_of(words) == words_of(kept) and all(isinstance(part, Text) for part in words):
        return whole
    signed = [part for part in kept if not isinstance(part, ToolCall) and is_signed(part, format)]
    return [*signed, *words, *(part for part in whole if isinstance(part, ToolCall))]


def own_words(parts: Sequence[Part], kept: Sequence[Part]) -> list[Part]:
    """Return what a client says besides calls and thinking; some send thinking back as text."""
    thoughts = {part.text.strip() for part in kept if isinstance(part, Thinking)}
    return [
        part
        for part in parts
        if not isinstance(part, ToolCall | Thinking)
        and not (isinstance(part, Text) and part.text.strip() in thoughts)
    ]


def words_of(parts: Sequence[Part]) -> str:
    """Return all text in one line of words; clients trim it as they like."""
    return " ".join(" ".join(part.text for part in parts if isinstance(part, Text)).split())
