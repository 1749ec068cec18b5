"""Rewriting: another body for a message, and updates of everything derived from the old one.

A message belongs to the conversation it was written in; every later fork reads it there. So
lengths, marks, summaries and episodes of all of them are updated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from contextwright.messages.lengths import length_of
from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall, ToolResult
from contextwright.recall.episodes.episode import Episode
from contextwright.store.engines.base import Connection
from contextwright.store.engines.digests import digest_of
from contextwright.store.engines.lengths import length_until
from contextwright.store.engines.numbers import LARGEST, damaged
from contextwright.store.rows import conversations, index, pairing, summaries
from contextwright.store.rows import memories as notes
from contextwright.store.rows.damage import STAND_IN, read_message
from contextwright.store.rows.kinds import kind_of
from contextwright.store.rows.validation import body_of

__all__ = ["Reader", "messages_at", "rewrite"]

FORKS = """
SELECT number, tenant, id, fork_at FROM conversations WHERE parent = ? AND number > parent"""
NAME = "SELECT tenant, id FROM conversations WHERE number = ?"
BODY = "SELECT body, digest FROM messages WHERE conversation = ? AND seq = ?"
SET = """
UPDATE messages SET body = ?, kind = ?, digest = ? WHERE conversation = ? AND seq = ?"""
SHIFT = """
UPDATE messages SET length = length + ? WHERE conversation = ? AND seq BETWEEN ? AND ?"""
GROW = "UPDATE heads SET length = length + ?, marked = marked + 1 WHERE conversation = ?"
EPISODES = "SELECT id, body FROM memories WHERE tenant = ? AND scope = ? AND kind = 'episode'"
REWRITTEN = "UPDATE heads SET rewritten = rewritten + 1 WHERE conversation = ?"
DIVIDED = "UPDATE divided SET last = ? WHERE conversation = ? AND last > ?"
END = 1 << 60


class Reader(Struct, frozen=True):
    """A conversation that shows some of the messages in question: their owner, or a fork of it."""

    number: int
    tenant: str
    id: str
    seqs: tuple[int, ...]


def readers_of(connection: Connection, number: int, seqs: Collection[int]) -> list[Reader]:
    """Return the conversation that owns messages, and all forks that show some of them.

    Locks each of them, so that nobody adds to it or forks it meanwhile.
    """
    conversations.locked_end(connection, number)
    ((tenant, id),) = connection.rows(NAME, number)
    return [
        Reader(number, tenant, id, tuple(sorted(seqs))),
        *forks_of(connection, number, sorted(seqs)),
    ]


def forks_of(connection: Connection, number: int, seqs: Sequence[int]) -> Iterator[Reader]:
    """Yield the forks of a conversation, and theirs, that show some of its messages.

    A client that goes back with every request makes a line of thousands.
    """
    waiting = deque([(number, tuple(seqs))])
    while waiting:
        parent, seqs = waiting.popleft()
        for fork, tenant, id, fork_at in connection.rows(FORKS, parent):
            shown = tuple(seq for seq in seqs if seq <= fork_at)
            if shown and conversations.locked_end(connection, fork) is not None:
                yield Reader(fork, tenant, id, shown)
                waiting.append((fork, shown))


def messages_at(
    connection: Connection, number: int, seqs: Collection[int]
) -> Iterator[tuple[int, Message]]:
    """Yield some of a conversation's own messages."""
    for seq in sorted(seqs):
        for body, digest in connection.rows(BODY, number, seq):
            yield seq, read_message(body, digest)


def rewrite(connection: Connection, number: int, messages: Mapping[int, Message]) -> list[Reader]:
    """Replace the messages with these numbers; return the conversations that show them.

    Removes what was derived from the old text: index, vectors, summaries and episodes. They are
    rebuilt when needed.
    """
    readers = readers_of(connection, number, messages)
    is_paired = any(
        tools_of(old) != tools_of(messages[seq])
        for seq, old in messages_at(connection, number, messages)
    )
    added = {
        seq: length_of(one) - old_length(connection, number, seq) for seq, one in messages.items()
    }
    rows: list[tuple[str, int | None, int, int, int]] = []
    for seq, message in messages.items():
        body = body_of(message, f"message {seq}")
        rows.append((body.decode(), kind_of(message), digest_of(body), number, seq))
    connection.run_many(SET, rows)
    for reader in readers:
        shift(connection, reader, added, is_own=reader.number == number)
        summaries.forget_from(connection, reader.number, reader.seqs[0])
        forget_episodes(connection, reader)
        if is_paired:
            head = conversations.require(connection, reader.tenant, reader.id)
            last = conversations.length_of(connection, head, reader.id)
            pairing.pair_again(connection, head, last)
    forget_index(connection, number, min(messages))
    return readers


def tools_of(message: Message) -> object:
    """Return what decides which calls are answered by which results; None if it is damaged."""
    if STAND_IN in message.meta:
        return None
    tools = [
        (place, type(part), part.id if isinstance(part, ToolCall) else part.call_id, part.name)
        for place, part in enumerate(message.parts)
        if isinstance(part, ToolCall | ToolResult)
    ]
    return tools and (message.role, tools)


def old_length(connection: Connection, number: int, seq: int) -> int:
    """Return the stored length of a message.

    Raises:
        StoreError: there is no such length.
    """
    length = length_until(connection, number, seq) - length_until(connection, number, seq - 1)
    if not 0 <= length < LARGEST:
        raise damaged(connection, number, f"length of message {seq}")
    return length


def shift(
    connection: Connection, reader: Reader, added: Mapping[int, int], *, is_own: bool
) -> None:
    """Update the lengths of a conversation after those of some of its messages changed."""
    total = 0
    stops = [*(seq - 1 for seq in reader.seqs[1:]), END]
    for seq, stop in zip(reader.seqs, stops, strict=True):
        total += added[seq]
        if is_own and total:
            connection.run(SHIFT, total, reader.number, seq, stop)
    if not is_own and total:
        connection.run(SHIFT, total, reader.number, 0, END)
    connection.run(GROW, total, reader.number)


def forget_episodes(connection: Connection, reader: Reader) -> None:
    """Remove the episodes that were made from some messages; the next call rebuilds them."""
    for id, body in connection.rows(EPISODES, reader.tenant, reader.id):
        episode = Episode.of(notes.decoded(body) or notes.DAMAGED)
        if episode is not None and not set(reader.seqs).isdisjoint(episode.messages):
            notes.remove(connection, reader.tenant, id)
            before = episode.first - 1
            connection.run(DIVIDED, before, reader.number, before)


def forget_index(connection: Connection, number: int, seq: int) -> None:
    """Remove the index of a conversation's own messages, and the vectors from a message on.

    Other processes have them in memory, and see by the counter that they are no longer valid.
    """
    connection.run(REWRITTEN, number)
    index.remove(connection, number)
    connection.run("DELETE FROM indexed WHERE conversation = ?", number)
    connection.run("DELETE FROM vectors WHERE conversation = ? AND last >= ?", number, seq)
