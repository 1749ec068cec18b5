"""Erasing: removes the text of messages, and everything derived from it, from the tables.

A placeholder keeps the place of each message, so that numbers and turns do not change.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from contextwright.messages.message import Author, Message
from contextwright.messages.quotes import quoted_id, source_id, unquoted
from contextwright.messages.speech import spoken_text
from contextwright.store.engines.base import Connection
from contextwright.store.rows import conversations
from contextwright.store.rows import memories as notes
from contextwright.store.rows.conversations import Head
from contextwright.store.rows.damage import decoded, read_message
from contextwright.store.rows.recorded import requests
from contextwright.store.rows.rewriting import Reader, messages_at, rewrite
from contextwright.store.rows.validation import body_of

__all__ = [
    "Erased",
    "erase_messages",
    "forget_person",
    "messages_like",
    "requote",
    "requote_versions",
    "spoken_by",
]

MARK = """
INSERT INTO marks (conversation, seq, visibility, pinned, origin) VALUES (?, ?, 'erased', 0, ?)
ON CONFLICT (conversation, seq) DO UPDATE
SET visibility = excluded.visibility, pinned = 0, origin = excluded.origin"""
LIKE = """
SELECT seq, body, digest FROM messages
WHERE conversation = ? AND seq > ? AND body LIKE ? ORDER BY seq LIMIT 500"""
VERSIONS = "DELETE FROM versions WHERE conversation = ? AND seq = ?"
VERSIONS_LIKE = "SELECT seq, number, body FROM versions WHERE conversation = ? AND body LIKE ?"
SET_VERSION = "UPDATE versions SET body = ? WHERE conversation = ? AND seq = ? AND number = ?"
DROP_VERSION = "DELETE FROM versions WHERE conversation = ? AND seq = ? AND number = ?"
QUOTING = '%"excerpt":%'
"""What the bodies of replies with an excerpt hold."""
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
        requote_versions(connection, reader, gone)
        done.memories += forget_made(connection, reader)
        forget_title(connection, reader.number, gone)
        requests.forget_words(connection, reader.tenant, reader.number, reader.seqs)
    return done


def stone(message: Message) -> Message:
    """Return the placeholder of an erased message: its role and its turn."""
    return Message(message.role, turn=message.turn, visibility="erased")


# --- what others hold of it ----------------------------------------------------------------------


class Quotes(Struct, frozen=True):
    """Texts that replies may quote no more."""

    ids: frozenset[str]
    """Those of their messages, by which replies name them."""
    texts: tuple[str, ...]
    new: str | None
    """What replies quote instead; nothing if None."""

    @classmethod
    def of(cls, gone: Sequence[Message], new: str | None) -> Quotes:
        """Return the texts of messages."""
        ids = frozenset(id for message in gone if (id := source_id(message)) is not None)
        texts = tuple(flat(spoken_text(one)) for one in gone if spoken_text(one).strip())
        return cls(ids, texts, new)

    def removed_from(self, message: Message) -> Message | None:
        """Return a reply without its quote; None if it quotes something else, or nothing."""
        reply = message.reply_to
        if reply is None or reply.excerpt is None:
            return None
        excerpt = flat(reply.excerpt).rstrip("….")
        is_text = excerpt and any(excerpt in text for text in self.texts)
        if not is_text and quoted_id(message) not in self.ids:
            return None
        shortened = None if self.new is None else self.new[: max(len(reply.excerpt), 1)]
        return unquoted(message, shortened)


def requote(
    connection: Connection, reader: Reader, gone: Sequence[Message], new: str | None = None
) -> int:
    """Remove quotes of messages from the replies to them, or replace them."""
    quotes = Quotes.of(gone, new)
    changed = {
        seq: reply
        for seq, message in messages_like(connection, reader.number, QUOTING)
        if (reply := quotes.removed_from(message)) is not None
    }
    if changed:
        rewrite(connection, reader.number, changed)
    return len(changed)


def requote_versions(
    connection: Connection, reader: Reader, gone: Sequence[Message], new: str | None = None
) -> None:
    """Remove quotes of messages from the earlier versions of replies, or replace them."""
    quotes = Quotes.of(gone, new)
    for place, message in versions_like(connection, reader.number, QUOTING):
        reply = None if message is None else quotes.removed_from(message)
        if message is None or reply is not None:
            set_version(connection, place, reply)


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
        if is_person(message.author, person):
            said.append(seq)
        elif reply is not None and is_person(reply.author, person):
            answers.append(seq)
    return said, answers


def pattern_of(text: str) -> str:
    """Return a LIKE pattern that matches at least the bodies with this text."""
    return "%" + re.sub(r"[^0-9A-Za-z-]+", "%", text) + "%"


def versions_like(
    connection: Connection, number: int, pattern: str
) -> Iterator[tuple[tuple[int, int, int], Message | None]]:
    """Yield the earlier versions of a conversation's own messages whose bodies match a pattern.

    Each with its place; None for one that cannot be read, and may hold anything.
    """
    for seq, version, body in connection.rows(VERSIONS_LIKE, number, pattern):
        yield (number, seq, version), decoded(body)


def set_version(
    connection: Connection, place: tuple[int, int, int], message: Message | None
) -> None:
    """Replace an earlier version of a message; remove it if there is none."""
    if message is None:
        connection.run(DROP_VERSION, *place)
    else:
        connection.run(SET_VERSION, body_of(message, "version").decode(), *place)


def messages_like(
    connection: Connection, number: int, pattern: str
) -> Iterator[tuple[int, Message]]:
    """Yield a conversation's own messages whose bodies match a pattern, page by page."""
    seq = 0
    while rows := connection.rows(LIKE, number, seq, pattern):
        for seq, body, digest in rows:
            yield seq, read_message(body, digest)


def forget_person(connection: Connection, number: int, person: str, seqs: Collection[int]) -> int:
    """Remove author and excerpt from replies to a person; return how many there are.

    Earlier versions of messages lose them too, and those that the person wrote are removed.
    """
    changed = {seq: without_person(one) for seq, one in messages_at(connection, number, seqs)}
    if changed:
        rewrite(connection, number, changed)
    for place, message in versions_like(connection, number, pattern_of(person)):
        if message is None or is_person(message.author, person):
            set_version(connection, place, None)
        elif message.reply_to is not None and is_person(message.reply_to.author, person):
            set_version(connection, place, without_person(message))
    return len(changed)


def is_person(author: Author | None, person: str) -> bool:
    """Whether an author is a person."""
    return author is not None and author.id == person


def without_person(message: Message) -> Message:
    """Return a reply without author and excerpt of the message that it answers."""
    reply = message.reply_to
    return replace(message, reply_to=reply and replace(reply, author=None, excerpt=None, media=()))
