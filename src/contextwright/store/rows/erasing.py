"""Erasing: removes the text of messages, and everything derived from it, from the tables.

A placeholder keeps the place of each message, so that numbers and turns do not change.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from contextwright.messages.message import Message
from contextwright.messages.quotes import quoted_id, source_id, unquoted
from contextwright.messages.speech import spoken_text
from contextwright.store.engines.base import Connection
from contextwright.store.rows import conversations
from contextwright.store.rows import memories as notes
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import read_message
from contextwright.store.rows.recorded import requests
from contextwright.store.rows.rewriting import Reader, messages_at, rewrite

__all__ = ["Erased", "erase_messages", "forget_person", "messages_like", "requote", "spoken_by"]

MARK = """
INSERT INTO marks (conversation, seq, visibility, pinned, origin) VALUES (?, ?, 'erased', 0, ?)
ON CONFLICT (conversation, seq) DO UPDATE
SET visibility = excluded.visibility, pinned = 0, origin = excluded.origin"""
LIKE = """
SELECT seq, body, digest FROM messages
WHERE conversation = ? AND seq > ? AND body LIKE ? ORDER BY seq LIMIT 500"""
VERSIONS = "DELETE FROM versions WHERE conversation = ? AND seq = ?"
TITLE = "SELECT title FROM conversations WHERE number = ?"
MADE = "SELECT id, body FROM memories WHERE tenant = ? AND scope = ? AND kind <> 'episode'"
TITLE_CHARS = 40
"""Number of leading characters of a message that a title made from it repeats."""

replace = msgspec.structs.replace


class Erased(Struct):
    """What an erasure removed, counted."""

    messages: int = 0
    quotes: int = 0
    """Excerpts in replies to them."""
    memories: int = 0
    conversations: int = 0

    def __add__(self, other: Erased) -> Erased:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Erased(*(one + another for one, another in pairs))


def erase_messages(connection: Connection, head: Head, seqs: Collection[int]) -> Erased:
    """Erase messages of a conversation, also those that its parents own.

    Messages that are erased already are skipped.
    """
    done = Erased()
    for number in sorted({head.owner(seq) for seq in seqs}):
        conversations.locked_end(connection, number)
        own = [seq for seq in seqs if head.owner(seq) == number]
        old = {
            seq: message
            for seq, message in messages_at(connection, number, own)
            if message.visibility != "erased"
        }
        if old:
            done += erase_own(connection, number, old)
    return done


def erase_own(connection: Connection, number: int, old: dict[int, Message]) -> Erased:
    """Erase messages that a conversation owns, there and in its forks."""
    stones = {seq: stone(message) for seq, message in old.items()}
    done = Erased(messages=len(old))
    for reader in rewrite(connection, number, stones):
        gone = [old[seq] for seq in reader.seqs]
        marks = [
            (reader.number, seq, source_id(one)) for seq, one in zip(reader.seqs, gone, strict=True)
        ]
        connection.run_many(MARK, marks)
        connection.run_many(VERSIONS, [(reader.number, seq) for seq in reader.seqs])
        done.quotes += requote(connection, reader, gone)
        done.memories += forget_made(connection, reader)
        forget_title(connection, reader.number, gone)
        requests.forget_words(connection, reader.tenant, reader.number, reader.seqs)
    return done


def stone(message: Message) -> Message:
    """Return the placeholder of an erased message: its role and its turn."""
    return Message(message.role, turn=message.turn, visibility="erased")


# --- what others hold of it ----------------------------------------------------------------------


def requote(
    connection: Connection, reader: Reader, gone: Sequence[Message], new: str | None = None
) -> int:
    """Remove quotes of messages from the replies to them, or replace them."""
    ids = {id for message in gone if (id := source_id(message)) is not None}
    texts = [flat(spoken_text(message)) for message in gone if spoken_text(message).strip()]
    changed: dict[int, Message] = {}
    for seq, message in messages_like(connection, reader.number, '%"excerpt":%'):
        reply = message.reply_to
        if reply is None or reply.excerpt is None:
            continue
        excerpt = flat(reply.excerpt).rstrip("….")
        if quoted_id(message) in ids or (excerpt and any(excerpt in text for text in texts)):
            shortened = None if new is None else new[: max(len(reply.excerpt), 1)]
            changed[seq] = unquoted(message, shortened)
    if changed:
        rewrite(connection, reader.number, changed)
    return len(changed)


def forget_made(connection: Connection, reader: Reader) -> int:
    """Remove the memories that were made from one of the messages."""
    removed = 0
    for id, body in connection.rows(MADE, reader.tenant, reader.id):
        if not set(reader.seqs).isdisjoint(notes.made_from(notes.decoded(body) or notes.DAMAGED)):
            notes.remove(connection, reader.tenant, id)
            removed += 1
    return removed


def forget_title(connection: Connection, number: int, gone: Iterable[Message]) -> None:
    """Remove a title that repeats the beginning of an erased message."""
    for (title,) in connection.rows(TITLE, number):
        begins = [flat(one.text)[:TITLE_CHARS] for one in gone]
        if title and any(begin and begin in flat(title) for begin in begins):
            connection.run("UPDATE conversations SET title = NULL WHERE number = ?", number)


def flat(text: str) -> str:
    """Return text on one line."""
    return " ".join(text.split())


# --- a person ------------------------------------------------------------------------------------


def spoken_by(connection: Connection, number: int, person: str) -> tuple[list[int], list[int]]:
    """Return the numbers of a conversation's own messages by a person, and of replies to them."""
    said: list[int] = []
    answers: list[int] = []
    for seq, message in messages_like(connection, number, pattern_of(person)):
        reply = message.reply_to
        if message.author is not None and message.author.id == person:
            said.append(seq)
        elif reply is not None and reply.author is not None and reply.author.id == person:
            answers.append(seq)
    return said, answers


def pattern_of(text: str) -> str:
    """Return a LIKE pattern that matches at least the bodies with this text."""
    return "%" + re.sub(r"[^0-9A-Za-z-]+", "%", text) + "%"


def messages_like(
    connection: Connection, number: int, pattern: str
) -> Iterator[tuple[int, Message]]:
    """Yield a conversation's own messages whose bodies match a pattern, page by page."""
    seq = 0
    while rows := connection.rows(LIKE, number, seq, pattern):
        for seq, body, digest in rows:
            yield seq, read_message(body, digest)


def forget_person(connection: Connection, number: int, seqs: Collection[int]) -> int:
    """Remove author and excerpt of the quoted message from replies."""
    changed = {
        seq: replace(one, reply_to=replace(one.reply_to, author=None, excerpt=None, media=()))
        for seq, one in messages_at(connection, number, seqs)
        if one.reply_to is not None
    }
    if changed:
        rewrite(connection, number, changed)
    return len(changed)
