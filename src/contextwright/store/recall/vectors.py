"""Pages of message vectors in the store.

A page has the vectors of consecutive messages of a conversation. Pages are consecutive too, from
the first own message on, so the last number of the last page tells which messages have vectors.
Small pages are merged. Pages belong to an embedder, by its name; those of other embedders are not
used.

Messages are not embedded while a turn is stored, and no transaction is open while a text is
embedded, because an embedder may be a remote server.
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
from contextwright.store.recall.terms import MAX_TEXT_CHARS
from contextwright.store.rows import conversations
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.index import Gap, gap_of, read

if TYPE_CHECKING:
    from contextwright.recall.vectors.embedder import Embedder
    from contextwright.recall.vectors.matrix import Numbers, Vectors

__all__ = [
    "Extent",
    "Fault",
    "StoredEmbedder",
    "Messages",
    "Page",
    "REMOVE",
    "checked_content",
    "register_embedder",
    "extent_of",
    "extents_of",
    "page_faults",
    "gaps_of",
    "store_page",
    "find_embedder",
    "embed_page",
    "next_messages",
    "pages_after",
    "remove",
    "remove_others",
    "require_dimension",
    "row_size",
    "with_checksum",
    "vectors_in",
]

Messages: TypeAlias = Sequence[tuple[int, Message]]
"""Consecutive messages, with their numbers."""

PAGE_MESSAGES = 256
"""Maximum messages of a page."""

CHECKSUM = Layout("<I")
"""The header of a page: a checksum of the rest, and of the numbers of its messages."""

NUMBER_BYTES, VALUE_BYTES = 4, 2
"""Bytes of a message's number, and of a value of a vector."""

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


class StoredEmbedder(Struct, frozen=True):
    """An embedder whose vectors are stored, by its row."""

    number: int
    width: int
    """The dimension of its vectors."""


class Fault(Struct, frozen=True):
    """A faulty page, and the problem."""

    embedder: int
    first: int
    problem: str


class Extent(NamedTuple):
    """Which messages of a conversation have vectors, and of which version of their texts."""

    last: int
    """The last message with vectors; 0 if none of the conversation's own has any."""
    rewritten: int
    """How often messages of the conversation were rewritten."""


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
    """Return the messages without vectors, of a tenant, or of one conversation and its parents."""
    if head is None:
        return [gap_of(connection, row) for row in connection.rows(GAPS, embedder, tenant)]
    found = [gap_in_vectors(connection, number, embedder) for number, _ in head.line]
    return [gap for gap in found if gap is not None and gap.last > gap.indexed]


def gap_in_vectors(connection: Connection, number: int, embedder: str) -> Gap | None:
    """Return which messages have no vectors; None if the conversation was removed."""
    for row in connection.rows(ONE, embedder, number):
        return gap_of(connection, row)
    return None


def next_messages(connection: Connection, number: int, embedder: str, last: int) -> Messages:
    """Return the next messages without vectors, at most a page, and none after `last`."""
    gap = gap_in_vectors(connection, number, embedder)
    if gap is None:
        return []
    stop = min(gap.indexed + PAGE_MESSAGES, gap.last, last)
    return list(read(connection, number, gap.indexed + 1, stop))


def embed_page(number: int, messages: Messages, embedder: Embedder) -> Page:
    """Embed consecutive messages, and return their page.

    Raises:
        UsageError: the embedder did not return vectors.
    """
    from contextwright.recall.vectors.matrix import pack

    chunks = [(seq, chunk) for seq, message in messages for chunk in embedded_texts(message)]
    vectors = embedder([chunk for _, chunk in chunks])
    body = pack([seq for seq, _ in chunks], vectors)
    first, last = messages[0][0], messages[-1][0]
    return Page(
        number, embedder.name, vectors.shape[1], first, last, with_checksum(first, last, body)
    )


def embedded_texts(message: Message) -> list[str]:
    """Return the chunks of a message's text to embed, without tool results and names."""
    return chunks_of(spoken_text(message)[:MAX_TEXT_CHARS])


def store_page(page: Page) -> Work[bool]:
    """Return work that stores a page and returns True.

    It returns False if another process was faster, or the conversation was removed.
    """

    def work(connection: Connection) -> bool:
        head = Head(page.conversation, ((page.conversation, 1),))
        if conversations.locked_length(connection, head) is None:
            return False
        gap = gap_in_vectors(connection, page.conversation, page.embedder)
        if gap is None or gap.indexed != page.first - 1:
            return False
        kind = register_embedder(connection, page.embedder, page.width)
        whole = merge_small_pages(connection, page, kind)
        if whole is not page:
            connection.run(REMOVE, page.conversation, kind.number, whole.first)
        place = (page.conversation, kind.number, whole.first, whole.last)
        connection.run(KEEP, *place, whole.body)
        return True

    return work


def merge_small_pages(connection: Connection, page: Page, kind: StoredEmbedder) -> Page:
    """Return a page merged with the pages before it, if they are no larger and fit in one page.

    A conversation that is indexed message by message then has few small pages. A page at least
    doubles when it is merged, so a vector is written again eight times at most.
    """
    place = page.conversation, kind.number
    for first, last in connection.rows(BEFORE, *place, page.first):
        count = last - first + 1
        if count > page.count or count + page.count > PAGE_MESSAGES:
            break
        ((body,),) = connection.rows(BODY, *place, first)
        before = checked_content(first, last, body)
        if before is None or len(before) % row_size(kind.width):
            break
        contents = before, memoryview(page.body)[CHECKSUM.size :]
        halves = zip(*(split_page(one, kind.width) for one in contents), strict=True)
        whole = with_checksum(first, page.last, b"".join(chain.from_iterable(halves)))
        page = Page(page.conversation, page.embedder, page.width, first, page.last, whole)
    return page


def split_page(content: memoryview, width: int) -> tuple[memoryview, memoryview]:
    """Return the bytes of a page's message numbers, and those of its vectors."""
    numbers = len(content) // row_size(width) * NUMBER_BYTES
    return content[:numbers], content[numbers:]


def register_embedder(connection: Connection, embedder: str, width: int) -> StoredEmbedder:
    """Return the row of an embedder; add it if it is new. Its first vectors fix the dimension.

    Raises:
        UsageError: the store has vectors of that name with another dimension.
    """
    connection.run(NEW_KIND, embedder)
    connection.run(WIDTH, width, embedder)
    number, known = connection.rows(KIND, embedder)[0]
    if width:
        require_dimension(embedder, width, known)
    return StoredEmbedder(number, known)


def require_dimension(embedder: str, width: int, known: int) -> None:
    """Raise an error if vectors do not have the dimension of the stored ones."""
    if width != known:
        raise UsageError(
            f"the embedder {shown(embedder)} gave vectors of {width} numbers, after {known} before",
            hint="give another model another name",
        )


def find_embedder(connection: Connection, embedder: str) -> StoredEmbedder | None:
    """Return the row of an embedder; None if nothing was ever stored for it."""
    for row in connection.rows(KIND, embedder):
        return StoredEmbedder(*row)
    return None


# --- reading and removing ------------------------------------------------------------------------


def extent_of(connection: Connection, number: int, kind: StoredEmbedder) -> Extent:
    """Return which messages of a conversation have vectors."""
    for row in connection.rows(STATE, kind.number, number):
        return Extent(*row)
    return Extent(0, 0)


def extents_of(
    connection: Connection, tenant: str, kind: StoredEmbedder
) -> dict[int, tuple[int, int]]:
    """Return the extent of each conversation of a tenant that has vectors, as a plain tuple."""
    rows = connection.rows(STATES, kind.number, tenant)
    return {number: (last, rewritten) for number, last, rewritten in rows if last is not None}


def pages_after(
    connection: Connection, number: int, kind: StoredEmbedder, last: int
) -> Iterator[tuple[int, Numbers, Vectors]]:
    """Yield the vectors after a message, page by page, with the last message of each."""
    while rows := connection.rows(AFTER, number, kind.number, last):
        for first, last, body in rows:
            yield last, *vectors_in(first, last, body, kind.width)


def vectors_in(first: int, last: int, body: bytes, width: int) -> tuple[Numbers, Vectors]:
    """Return the message numbers and the vectors of a page.

    Raises:
        StoreError: the page is damaged.
    """
    from contextwright.recall.vectors.matrix import unpack

    rest = checked_content(first, last, body)
    if rest is None or len(rest) % row_size(width):
        raise StoreError("a page of vectors is damaged", hint="cw doctor --repair removes it")
    return unpack(rest, width)


def checked_content(first: int, last: int, body: bytes) -> memoryview | None:
    """Return a page without its checksum; None if it is damaged."""
    rest = memoryview(body)[CHECKSUM.size :]
    if len(body) < CHECKSUM.size or CHECKSUM.unpack_from(body)[0] != checksum(first, last, rest):
        return None
    return rest


def with_checksum(first: int, last: int, content: bytes) -> bytes:
    """Return a page with its checksum."""
    return CHECKSUM.pack(checksum(first, last, content)) + content


def checksum(first: int, last: int, content: bytes | memoryview) -> int:
    """Return the checksum of a page."""
    return crc32(content, crc32(f"{first} {last}".encode()))


def row_size(width: int) -> int:
    """Return the bytes that a vector takes in a page, with the number of its message."""
    return NUMBER_BYTES + width * VALUE_BYTES


def remove(connection: Connection, number: int, embedder: str) -> None:
    """Remove the vectors of a conversation by one embedder."""
    kind = find_embedder(connection, embedder)
    if kind is not None:
        connection.run(REMOVE, number, kind.number, 0)


def remove_others(connection: Connection, tenant: str, embedder: str) -> int:
    """Remove a tenant's vectors by all other embedders; return how many messages had any."""
    ((messages,),) = connection.rows(COUNT + OTHERS, embedder, tenant)
    connection.run("DELETE FROM vectors " + OTHERS, embedder, tenant)
    return messages


# --- the doctor ----------------------------------------------------------------------------------


def page_faults(connection: Connection, number: int, before: int, end: int) -> Iterator[Fault]:
    """Yield the first faulty page of each embedder; it and all after it can be rebuilt.

    Args:
        before: the message before the conversation's own ones.
        end: its last message.
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
    """Return the problem with a page; empty if there is none.

    Args:
        done: the last message of the page before.
        end: the last message of the conversation.
    """
    if first != done + 1 or not first <= last <= end:
        return "are not those of the messages that follow"
    rest = checked_content(first, last, body)
    if rest is None:
        return "are damaged"
    count, odd = divmod(len(rest), row_size(width))
    seqs = array("i", bytes(rest[: count * NUMBER_BYTES]))
    if byteorder == "big":
        seqs.byteswap()
    in_order = all(one <= other for one, other in pairwise([first, *seqs, last]))
    return "" if not odd and in_order else "are not those of their messages"
