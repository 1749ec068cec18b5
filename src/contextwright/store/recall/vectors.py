"""Vectors of messages: pages in the store, made after the turns; small ones are merged.

A page holds the vectors of consecutive messages of a conversation. Pages are consecutive too, from
its first own message on, so the last page's last number is how far they go. Pages are kept by the
name of their embedder; those of another embedder stay, unused.

Nothing is embedded while a turn is stored, and nothing is stored while a text is embedded, because
an embedder may be a remote server.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from struct import Struct as Layout
from sys import byteorder
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from zlib import crc32

from msgspec import Struct

from contextwright.errors import StoreError, UsageError, shown
from contextwright.messages.message import Message
from contextwright.messages.speech import spoken_text
from contextwright.recall.vectors.chunks import chunks_of
from contextwright.store.engines.base import Connection, Work
from contextwright.store.recall.terms import LONGEST_TEXT
from contextwright.store.rows import conversations
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.index import Gap, gap_of, read

if TYPE_CHECKING:
    from contextwright.recall.vectors.embedder import Embedder
    from contextwright.recall.vectors.matrix import Numbers, Vectors

__all__ = [
    "Extent",
    "Fault",
    "Kind",
    "Messages",
    "Page",
    "REMOVE",
    "content_of",
    "ensured",
    "extent_of",
    "extents_of",
    "faults",
    "gaps_of",
    "keep",
    "kind_of",
    "made",
    "next_messages",
    "pages_after",
    "remove",
    "remove_others",
    "require_width",
    "row_size",
    "sealed",
    "vectors_in",
]

Messages: TypeAlias = Sequence[tuple[int, Message]]
"""Consecutive messages, with their numbers."""

PAGE = 256
"""Messages of a page."""

SEAL = Layout("<I")
"""The head of a page: a checksum of the rest, and which messages it holds."""

NUMBER, HALF = 4, 2
"""Bytes of a message's number, and of a number of a vector."""

KIND = "SELECT number, width FROM embedders WHERE name = ?"
NEW_KIND = "INSERT INTO embedders (name, width) VALUES (?, 0) ON CONFLICT (name) DO NOTHING"
WIDTH = "UPDATE embedders SET width = ? WHERE name = ? AND width = 0"
REACHED = """
SELECT number, reached, last FROM (
    SELECT c.number, h.last, coalesce((
        SELECT max(v.last) FROM vectors v WHERE v.conversation = c.number
        AND v.embedder = (SELECT number FROM embedders WHERE name = ?)
    ), c.fork_at, 0) AS reached
    FROM conversations c JOIN heads h ON h.conversation = c.number WHERE {which}
) AS pages"""
GAPS = REACHED.format(which="c.tenant = ?") + " WHERE last <> reached"
ONE = REACHED.format(which="c.number = ?")
KEEP = """
INSERT INTO vectors (conversation, embedder, first, last, body) VALUES (?, ?, ?, ?, ?)"""
NEWEST = """
SELECT max(v.last) FROM vectors v WHERE v.conversation = h.conversation AND v.embedder = ?"""
STATE = f"SELECT coalesce(({NEWEST}), 0), h.rewritten FROM heads h WHERE h.conversation = ?"
STATES = f"""
SELECT h.conversation, ({NEWEST}), h.rewritten FROM conversations c
JOIN heads h ON h.conversation = c.number WHERE c.tenant = ? ORDER BY c.number"""
BEFORE = """
SELECT first, last FROM vectors
WHERE conversation = ? AND embedder = ? AND first < ? ORDER BY first DESC LIMIT 10"""
BODY = "SELECT body FROM vectors WHERE conversation = ? AND embedder = ? AND first = ?"
AFTER = """
SELECT first, last, body FROM vectors
WHERE conversation = ? AND embedder = ? AND last > ? ORDER BY first LIMIT 16"""
REMOVE = "DELETE FROM vectors WHERE conversation = ? AND embedder = ? AND first >= ?"
COUNT = "SELECT coalesce(sum(last - first + 1), 0) FROM vectors "
OTHERS = """
WHERE embedder NOT IN (SELECT number FROM embedders WHERE name = ?)
AND conversation IN (SELECT number FROM conversations WHERE tenant = ?)"""
KINDS = """
SELECT number, width FROM embedders e WHERE EXISTS (
    SELECT 1 FROM vectors v WHERE v.conversation = ? AND v.embedder = e.number) ORDER BY number"""
NEXT = """
SELECT first, last, body FROM vectors
WHERE conversation = ? AND embedder = ? AND first > ? ORDER BY first LIMIT 1"""


class Kind(Struct, frozen=True):
    """An embedder as the store knows it."""

    number: int
    width: int
    """The dimension of its vectors."""


class Fault(Struct, frozen=True):
    """A damaged page, and the problem."""

    embedder: int
    first: int
    problem: str


class Extent(NamedTuple):
    """How far the vectors of a conversation go, and which of its texts they are of."""

    last: int
    """The last message that has vectors; 0 if none of the conversation's own has."""
    rewritten: int
    """How many times messages were rewritten before."""


class Page(Struct, frozen=True):
    """The vectors of some messages, ready to be stored."""

    conversation: int
    embedder: str
    width: int
    first: int
    last: int
    body: bytes

    @property
    def count(self) -> int:
        """The number of its messages."""
        return self.last - self.first + 1


# --- making pages --------------------------------------------------------------------------------


def gaps_of(
    connection: Connection, tenant: str, embedder: str, head: Head | None = None
) -> list[Gap]:
    """Return the messages without vectors, of a tenant or of one conversation and its origins."""
    if head is None:
        return [gap_of(connection, row) for row in connection.rows(GAPS, embedder, tenant)]
    found = [reached(connection, number, embedder) for number, _ in head.line]
    return [gap for gap in found if gap is not None and gap.last > gap.indexed]


def reached(connection: Connection, number: int, embedder: str) -> Gap | None:
    """Return the last message with a vector; None if the conversation was removed."""
    for row in connection.rows(ONE, embedder, number):
        return gap_of(connection, row)
    return None


def next_messages(connection: Connection, number: int, embedder: str, last: int) -> Messages:
    """Return the next messages without vectors, at most a page, up to `last`."""
    gap = reached(connection, number, embedder)
    if gap is None:
        return []
    stop = min(gap.indexed + PAGE, gap.last, last)
    return list(read(connection, number, gap.indexed + 1, stop))


def made(number: int, messages: Messages, embedder: Embedder) -> Page:
    """Make the page of consecutive messages; the only place where texts are embedded.

    Raises:
        UsageError: the embedder did not return vectors.
    """
    from contextwright.recall.vectors.matrix import packed

    chunks = [(seq, chunk) for seq, message in messages for chunk in texts_in(message)]
    vectors = embedder([chunk for _, chunk in chunks])
    body = packed([seq for seq, _ in chunks], vectors)
    first, last = messages[0][0], messages[-1][0]
    return Page(number, embedder.name, vectors.shape[1], first, last, sealed(first, last, body))


def texts_in(message: Message) -> list[str]:
    """Return the texts of a message to embed, in pieces, without results and names."""
    return chunks_of(spoken_text(message)[:LONGEST_TEXT])


def keep(page: Page) -> Work[bool]:
    """Return work that writes a page, unless others were faster or the conversation is gone."""

    def work(connection: Connection) -> bool:
        head = Head(page.conversation, ((page.conversation, 1),))
        if conversations.locked_length(connection, head) is None:
            return False
        gap = reached(connection, page.conversation, page.embedder)
        if gap is None or gap.indexed != page.first - 1:
            return False
        kind = ensured(connection, page.embedder, page.width)
        whole = merged(connection, page, kind)
        if whole is not page:
            connection.run(REMOVE, page.conversation, kind.number, whole.first)
        place = (page.conversation, kind.number, whole.first, whole.last)
        connection.run(KEEP, *place, whole.body)
        return True

    return work


def merged(connection: Connection, page: Page, kind: Kind) -> Page:
    """Return a page with those before it that are no larger, as far as a page holds them.

    So a message is written again only when its page at least doubles: eight times at most, and a
    conversation that is indexed message by message has few small pages.
    """
    place = page.conversation, kind.number
    for first, last in connection.rows(BEFORE, *place, page.first):
        count = last - first + 1
        if count > page.count or count + page.count > PAGE:
            break
        ((body,),) = connection.rows(BODY, *place, first)
        before = content_of(first, last, body)
        if before is None or len(before) % row_size(kind.width):
            break
        contents = before, memoryview(page.body)[SEAL.size :]
        halves = zip(*(halves_of(one, kind.width) for one in contents), strict=True)
        whole = sealed(first, page.last, b"".join(chain.from_iterable(halves)))
        page = Page(page.conversation, page.embedder, page.width, first, page.last, whole)
    return page


def halves_of(content: memoryview, width: int) -> tuple[memoryview, memoryview]:
    """Return the numbers of a page, and its vectors."""
    numbers = len(content) // row_size(width) * NUMBER
    return content[:numbers], content[numbers:]


def ensured(connection: Connection, embedder: str, width: int) -> Kind:
    """Return an embedder; register it if it is new. Its first vectors fix the dimension.

    Raises:
        UsageError: the store has vectors of that name with another dimension.
    """
    connection.run(NEW_KIND, embedder)
    connection.run(WIDTH, width, embedder)
    number, known = connection.rows(KIND, embedder)[0]
    if width:
        require_width(embedder, width, known)
    return Kind(number, known)


def require_width(embedder: str, width: int, known: int) -> None:
    """Raise if vectors differ in dimension from the stored ones."""
    if width != known:
        raise UsageError(
            f"the embedder {shown(embedder)} gave vectors of {width} numbers, after {known} before",
            hint="give another model another name",
        )


def kind_of(connection: Connection, embedder: str) -> Kind | None:
    """Return an embedder by its name; None if nothing was ever stored for it."""
    for row in connection.rows(KIND, embedder):
        return Kind(*row)
    return None


# --- reading and removing ------------------------------------------------------------------------


def extent_of(connection: Connection, number: int, kind: Kind) -> Extent:
    """Return how far the vectors of a conversation go."""
    for row in connection.rows(STATE, kind.number, number):
        return Extent(*row)
    return Extent(0, 0)


def extents_of(connection: Connection, tenant: str, kind: Kind) -> dict[int, tuple[int, int]]:
    """Return the extent of each of a tenant's conversations that has vectors, as plain tuples."""
    rows = connection.rows(STATES, kind.number, tenant)
    return {number: (last, rewritten) for number, last, rewritten in rows if last is not None}


def pages_after(
    connection: Connection, number: int, kind: Kind, last: int
) -> Iterator[tuple[int, Numbers, Vectors]]:
    """Yield the vectors after a message, page by page, with the last message of each."""
    while rows := connection.rows(AFTER, number, kind.number, last):
        for first, last, body in rows:
            yield last, *vectors_in(first, last, body, kind.width)


def vectors_in(first: int, last: int, body: bytes, width: int) -> tuple[Numbers, Vectors]:
    """Return the numbers and the vectors of a page.

    Raises:
        StoreError: the page is damaged.
    """
    from contextwright.recall.vectors.matrix import unpacked

    rest = content_of(first, last, body)
    if rest is None or len(rest) % row_size(width):
        raise StoreError("a page of vectors is damaged", hint="cw doctor --repair removes it")
    return unpacked(rest, width)


def content_of(first: int, last: int, body: bytes) -> memoryview | None:
    """Return a page without its checksum; None if it is damaged."""
    rest = memoryview(body)[SEAL.size :]
    if len(body) < SEAL.size or SEAL.unpack_from(body)[0] != checksum(first, last, rest):
        return None
    return rest


def sealed(first: int, last: int, content: bytes) -> bytes:
    """Return a page with its checksum."""
    return SEAL.pack(checksum(first, last, content)) + content


def checksum(first: int, last: int, content: bytes | memoryview) -> int:
    """Return the checksum of a page."""
    return crc32(content, crc32(f"{first} {last}".encode()))


def row_size(width: int) -> int:
    """Return the bytes of a vector in a page, with the number of its message."""
    return NUMBER + width * HALF


def remove(connection: Connection, number: int, embedder: str) -> None:
    """Remove the vectors of one embedder of a conversation."""
    kind = kind_of(connection, embedder)
    if kind is not None:
        connection.run(REMOVE, number, kind.number, 0)


def remove_others(connection: Connection, tenant: str, embedder: str) -> int:
    """Remove a tenant's vectors of all other embedders; return how many messages had some."""
    ((messages,),) = connection.rows(COUNT + OTHERS, embedder, tenant)
    connection.run("DELETE FROM vectors " + OTHERS, embedder, tenant)
    return messages


# --- the doctor ----------------------------------------------------------------------------------


def faults(connection: Connection, number: int, before: int, end: int) -> Iterator[Fault]:
    """Return the first wrong page of each embedder; it and all after it can be rebuilt.

    `before` and `end` enclose the conversation's own messages.
    """
    for embedder, width in connection.rows(KINDS, number):
        first, done = -1, before
        while rows := connection.rows(NEXT, number, embedder, first):
            first, last, body = rows[0]
            problem = problem_of(first, last, body, width, done, end)
            if problem:
                yield Fault(embedder, first, f"its vectors from {first} on {problem}")
                break
            done = last


def problem_of(first: int, last: int, body: bytes, width: int, done: int, end: int) -> str:
    """Return the problem with a page that follows a message; empty if there is none."""
    if first != done + 1 or not first <= last <= end:
        return "are not those of the messages that follow"
    rest = content_of(first, last, body)
    if rest is None:
        return "are damaged"
    count, odd = divmod(len(rest), row_size(width))
    seqs = array("i", bytes(rest[: count * NUMBER]))
    if byteorder == "big":
        seqs.byteswap()
    in_order = all(one <= other for one, other in pairwise([first, *seqs, last]))
    return "" if not odd and in_order else "are not those of their messages"
