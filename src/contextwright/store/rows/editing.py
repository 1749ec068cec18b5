"""Editing: replaces a message; its old version is kept or erased."""

from __future__ import annotations

import msgspec

from contextwright.errors import NotFound, UsageError, shown
from contextwright.messages.message import Message
from contextwright.messages.parts import Text, ToolCall, ToolResult
from contextwright.messages.times import now_text
from contextwright.store.engines.base import Connection
from contextwright.store.records import Version
from contextwright.store.rows import conversations
from contextwright.store.rows.damage import missing
from contextwright.store.rows.erasing import requote, requote_versions
from contextwright.store.rows.messages import without_lost_quotes
from contextwright.store.rows.recorded import requests
from contextwright.store.rows.rewriting import messages_at, rewrite
from contextwright.store.rows.validation import body_of, decode_message

__all__ = ["edit", "replace_message", "versions_of"]

KEEP = """
INSERT INTO versions (conversation, seq, number, replaced, body)
SELECT ?, ?, coalesce(max(number), 0) + 1, ?, ? FROM versions WHERE conversation = ? AND seq = ?"""
DROP = "DELETE FROM versions WHERE conversation = ? AND seq = ?"
VERSIONS = """
SELECT replaced, body FROM versions WHERE conversation = ? AND seq = ? ORDER BY number"""


def edit(
    connection: Connection, tenant: str, id: str, seq: int, message: Message | str, *, keep: bool
) -> int:
    """Replace a message, or its text; return the conversation that owns it.

    Raises:
        NotFound: there is no such message.
        UsageError: it was erased, or the new one has another role, other calls or other results.
    """
    if not isinstance(message, str):
        body_of(message, "message")
    head = conversations.require(connection, tenant, id)
    if not 1 <= seq <= conversations.length_of(connection, head, id):
        raise NotFound(f"there is no message {seq} in {shown(id)}")
    number = head.owner(seq)
    conversations.locked_end(connection, number)
    old = dict(messages_at(connection, number, [seq])).get(seq)
    if old is None:
        raise missing(seq)
    if old.visibility == "erased":
        raise UsageError(f"message {seq} of {shown(id)} was erased", hint="add a new one")
    if isinstance(message, str):
        message = with_words(old, message)
    if structure_of(old) != structure_of(message):
        hint = "words can be edited; role, calls and results stay"
        raise UsageError(f"message {seq} of {shown(id)} is of another shape", hint=hint)
    replace_message(connection, number, seq, old, message, keep=keep)
    return number


def replace_message(
    connection: Connection,
    number: int,
    seq: int,
    old: Message,
    new: Message,
    *,
    keep: bool,
    marked: bool = True,
) -> Message:
    """Replace a message and return the new one; replies then quote the new text.

    It is `marked` as edited, unless its own source says so.
    """
    now = now_text()
    meta = {**new.meta, "edited": now} if marked else new.meta
    # Its visibility is stored in its mark, which stays.
    new = msgspec.structs.replace(new, meta=meta, visibility=old.visibility, pinned=old.pinned)
    if keep:
        connection.run(KEEP, number, seq, now, body_of(old, "message").decode(), number, seq)
    else:
        connection.run(DROP, number, seq)
    for reader in rewrite(connection, number, {seq: new}):
        requote(connection, reader, [old], new.text or None)
        if not keep:
            requote_versions(connection, reader, [old], new.text or None)
            requests.forget_words(connection, reader.tenant, reader.number, reader.seqs)
    return new


def with_words(message: Message, words: str) -> Message:
    """Return a message with another text; its other parts stay."""
    others = [part for part in message.parts if not isinstance(part, Text)]
    return message.with_parts((Text(words), *others))


def structure_of(message: Message) -> object:
    """Return what an edit cannot change, because other messages depend on it."""
    parts = [
        (type(part), part.id if isinstance(part, ToolCall) else part.call_id)
        for part in message.parts
        if isinstance(part, ToolCall | ToolResult)
    ]
    return message.role, parts


def versions_of(connection: Connection, tenant: str, id: str, seq: int) -> list[Version]:
    """Return the earlier versions of a message, oldest first.

    Raises:
        NotFound: there is no such message.
    """
    head = conversations.seen(connection, tenant, id)
    if not 1 <= seq <= conversations.length_of(connection, head, id):
        raise NotFound(f"there is no message {seq} in {shown(id)}")
    rows = connection.rows(VERSIONS, head.owner(seq), seq)
    messages = [decode_message(body) for _, body in rows]
    messages = without_lost_quotes(connection, head.number, messages)
    return [Version(row[0], message) for row, message in zip(rows, messages, strict=True)]
