"""Signatures that a client of another API cannot keep, by the answers they belong to.

Providers sign the thinking before an answer, or a tool call, and want the signature back with
the history. A client of another API sends the history back without it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from contextwright.errors import StoreError
from contextwright.lru import LruCache
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text, Thinking, ToolCall
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
    keys: tuple[str, ...]
    """By which it is known: its place, and the id of its first call, if it has one."""


class History:
    """A client's conversation with an upstream of a format; `owner` tells clients apart."""

    def __init__(self, owner: str, format: str, reading: Reading) -> None:
        self.owner, self.format, self.said = owner, format, reading.said
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
        return ["", *self._reading.trail.digests]

    def gaps(self) -> Iterator[Gap]:
        """Yield the answers that have no signature."""
        for index, message in enumerate(self.said.messages):
            if message.role == "assistant" and not has_signature(message.parts, self.format):
                yield Gap(index, message, keys_of(message, self.places[index]))

    def digest(self, key: str) -> str:
        """Return the name of a key in a store, which does not reveal the owner."""
        names = encode_json([self.owner, self.format, key])
        return blake2b(names, digest_size=16).hexdigest()

    @property
    def next_place(self) -> str:
        """The name of the answer's place in a store."""
        return self.digest(self.places[-1])

    def place_behind(self, answer: Message) -> str:
        """Return the place behind the answer, if the client sends it back as it was given."""
        return self._reading.trail.followed_by([answer]).digests[-1]


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
        place, *calls = keys_of(message, history.places[-1])
        self._remember(history, (place, *calls), message.parts)
        return SignedAnswer(history.digest(calls[0]) if calls else None, message.parts)

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
            and (history.owner, history.format, history.places[gap.index + 1]) not in self._absent
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
        for key in reversed(gap.keys):
            name = (history.owner, history.format, key)
            parts = self._parts.get(name)
            if parts and same_answer(gap.message, parts):
                return parts
        return ()

    def _remember(self, history: History, keys: Iterable[str], parts: tuple[Part, ...]) -> None:
        for key in keys:
            self._parts.put((history.owner, history.format, key), parts)

    # --- from the store ----------------------------------------------------------------------

    async def _recalled(
        self, history: History, gaps: Sequence[Gap], newest: Gap
    ) -> dict[int, tuple[Part, ...]]:
        """Return answers from the store, and note which it has not.

        Another gateway may be about to record the newest one, so that one is waited for.
        """
        digests = {key: history.digest(key) for gap in gaps for key in gap.keys}
        rows: dict[str, list[Found]] = {}
        try:
            async with asyncio.timeout(PATIENCE):
                rows = await self._read(list(digests.values()))
                while gaps[-1] is newest and is_to_come(rows.get(digests[newest.keys[0]], ())):
                    await asyncio.sleep(PAUSE)
                    rows = await self._read(list(digests.values()))
        except TimeoutError:
            log.warning("signatures were not found in time")
            if not rows:
                return {}
        except StoreError as error:
            log.warning("signatures were not read: %s", error)
            return {}
        found: dict[int, tuple[Part, ...]] = {}
        for gap in gaps:
            its = [row for key in gap.keys for row in rows.get(digests[key], ())]
            same = [row.parts for row in its if row.parts and same_answer(gap.message, row.parts)]
            if same:
                found[gap.index] = same[-1]
                self._remember(history, gap.keys, same[-1])
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
        self._absent.put((history.owner, history.format, place), None)


def is_to_come(rows: Sequence[Found]) -> bool:
    """Whether an answer is not stored yet, and will be."""
    return any(map(is_awaited, rows)) and not any(row.parts for row in rows)


def is_awaited(row: Found) -> bool:
    """Whether the request of an answer is not over; one whose gateway was killed is."""
    return row.awaited is not None and is_running(*row.awaited)


def keys_of(message: Message, place: str) -> tuple[str, ...]:
    """Return the keys of an answer: its place, and the id of its first call, if it has one."""
    id = message.calls[0].id if message.calls else None
    return (place, f"call {id}") if id else (place,)


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
