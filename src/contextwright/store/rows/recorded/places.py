"""Places of a history: a digest of everything said up to each message.

A client sends its whole history again, often slightly different: with other ids, without thinking,
with a message split in two. So a digest covers only text, media, calls and results. Leading system
text is left out, because clients change it from request to request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from operator import is_
from typing import Any, Self, TypeAlias, cast

import msgspec
from msgspec import Struct

from contextwright.context.receipt import CACHE_MARKS
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Opaque, Part, Text, ToolCall, ToolResult
from contextwright.store.engines.base import Connection, Row

__all__ = ["INSERT", "Place", "Trail", "add", "longest", "spoken_content"]

INSERT = """
INSERT INTO places (conversation, seq, digest) VALUES (?, ?, ?)
ON CONFLICT (conversation, seq) DO NOTHING"""
FIND = """
SELECT p.digest, p.conversation, p.seq, h.last, c.id
FROM places p JOIN heads h ON h.conversation = p.conversation
JOIN conversations c ON c.number = p.conversation WHERE c.tenant || '' = ? AND p.digest IN ({})"""
"""By digest: `|| ''` keeps SQLite from going through all conversations of the tenant instead."""
FEW, BATCH = 3, 16
"""Number of places looked up at first and then at once, from the end of a history: most requests
add a question and its answer.
"""
CALL_ID = "call_id"
PASSING = {CALL_ID, "id", "status", "created_by", "pending_safety_checks", *CACHE_MARKS}
"""Fields of a provider's own items that say nothing, and that may change with each request."""
BLANK: tuple[Any, ...] = (None, "", [], {})
"""Values that some clients write where there was no field, and others leave out."""

Saying: TypeAlias = tuple[str, str | bytes]
encode = msgspec.json.Encoder(order="deterministic").encode


class Place(Struct, frozen=True):
    """A message of a stored conversation up to which a history was seen before."""

    index: int
    """The index of the message in the history."""
    conversation: int
    seq: int
    last: int
    """The last message of the conversation."""
    id: str


class Trail:
    """The places of a history, which may go on.

    `seed` separates the histories of different clients. `digests` has a digest for each message of
    everything said up to it; empty before any text.
    """

    def __init__(self, seed: str) -> None:
        self.messages: tuple[Message, ...] = ()
        self.digests: list[str] = []
        self._digest = blake2b(seed.encode(errors="surrogatepass"), digest_size=16)
        self._speaker = ""
        self._begun = False

    def leads_to(self, messages: Sequence[Message]) -> bool:
        """Whether a history begins with the very messages of this one."""
        return len(messages) >= len(self.messages) and all(map(is_, self.messages, messages))

    def followed_by(self, messages: Sequence[Message]) -> Self:
        """Return the trail with further messages."""
        after = object.__new__(type(self))
        after.messages = (*self.messages, *messages)
        after._digest = self._digest.copy()
        after._speaker, after._begun = self._speaker, self._begun
        after.digests = [*self.digests, *map(after._pass, messages)]
        return after

    def _pass(self, message: Message) -> str:
        """Return the digest after one more message."""
        self._begun = self._begun or message.role != "system"
        if not self._begun:
            return ""
        digest = self._digest
        for kind, words in spoken_content(message):
            digest.update(b"" if kind == self._speaker else f"\x1e{kind}\x1f".encode())
            digest.update(words.encode(errors="surrogatepass") if isinstance(words, str) else words)
            self._speaker = kind if kind in ("user", "assistant", "system") else ""
        return digest.hexdigest()


def spoken_content(message: Message) -> Iterator[Saying]:
    """Yield what a message says, as kinds and text: the same for every spelling of it."""
    results: set[tuple[Any, ...]] = set()
    # Some clients cannot tell words behind calls from words before them.
    for part in sorted(message.parts, key=is_call):
        said = tuple(part_content(part, message.role))
        if isinstance(part, ToolResult) and part.call_id:
            # Gemini CLI sends each result twice when a session is resumed.
            if (result := (part.call_id, said)) in results:
                continue
            results.add(result)
        yield from said


def is_call(part: Part) -> bool:
    """Whether a part calls a tool."""
    return isinstance(part, ToolCall)


def part_content(part: Part, role: str) -> Iterator[Saying]:
    """Yield what one part says; nothing for thinking, and for what only its provider can read."""
    if isinstance(part, Text):
        if words := part.text.strip():
            yield role, words
    elif isinstance(part, ToolCall):
        yield "call", encode([part.name, part.arguments])
    elif isinstance(part, ToolResult):
        yield ("error" if part.is_error else "result"), part.text.strip()
        for inner in part.content if isinstance(part.content, tuple) else ():
            if isinstance(inner, Media) or inner.text is None:  # others are in the text
                yield from part_content(inner, role)
    elif isinstance(part, Media):
        yield "media", encode([part.data, part.url, part.file_id])
    elif isinstance(part, Opaque) and (role != "assistant" or CALL_ID in part.data):
        # The provider's own items come back as the client likes, unless it has to answer them.
        content = filled({name: value for name, value in part.data.items() if name not in PASSING})
        if content.keys() != {"type"}:
            yield "opaque", encode(content)


def filled(value: Any) -> Any:
    """Return a value without fields that hold nothing."""
    if isinstance(value, list):
        return [filled(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = [(name, filled(item)) for name, item in cast("dict[str, Any]", value).items()]
    return {name: item for name, item in fields if item not in BLANK}


def longest(connection: Connection, tenant: str, digests: Sequence[str]) -> Place | None:
    """Return the place in a stored conversation that matches most of a history.

    Of several, it prefers the end of a conversation, then the newest.
    """
    end, size = len(digests), FEW
    while end > 0:
        start = max(end - size, 0)
        indices = {digests[index]: index for index in range(start, end) if digests[index]}
        if not indices:
            return None  # there is no text before
        sql = FIND.format(", ".join("?" * len(indices)))
        rows = connection.rows(sql, tenant, *indices)
        if rows:
            return max(matching(rows, indices, digests), key=rank)
        end, size = start, BATCH
    return None


def matching(
    rows: Iterable[Row], indices: Mapping[str, int], digests: Sequence[str]
) -> Iterator[Place]:
    """Yield the places that rows stand for.

    Messages that say nothing have the digest of the one before them; the first stored message with
    a digest is the first of the history with it, the next one the next, as far as there are.
    """
    found: Counter[tuple[Any, ...]] = Counter()
    for digest, conversation, *rest in sorted(rows):
        index = digests.index(digest) + found[digest, conversation]
        found[digest, conversation] += 1
        yield Place(min(index, indices[digest]), conversation, *rest)


def rank(place: Place) -> tuple[Any, ...]:
    """Return how well a place suits a history."""
    return place.index, place.seq == place.last, place.conversation, place.seq


def add(
    connection: Connection, conversation: int, seqs: Sequence[int], digests: Sequence[str]
) -> None:
    """Store the places of messages that were added to a conversation."""
    rows = zip(seqs, digests, strict=True)
    connection.run_many(INSERT, [(conversation, seq, one) for seq, one in rows if one])
