"""Later exports of conversations whose messages have ids of their own.

A message that went on at its source after it was imported, such as a reply that an agent was still
writing to its log, is replaced. A message that was edited or erased in the store stays. Where a
later export shows another version of a conversation, after a question was edited or an answer was
written again, the version becomes a fork of the stored one, so that neither is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from contextwright.errors import shown
from contextwright.importers.base import Imported, Report, as_id
from contextwright.importers.updates import Known, known_messages
from contextwright.messages.message import Message
from contextwright.messages.parts import Part
from contextwright.messages.quotes import SOURCE, source_id
from contextwright.store.engines.base import Connection
from contextwright.store.rows import conversations, turns
from contextwright.store.rows.editing import replace_message

__all__ = ["LOGS", "VERSIONED", "Versions"]

VERSIONED = ("chatgpt", "claude", "port42")
"""Sources that show one version of a conversation at a time."""
NAMELESS = ("port42",)
"""Sources whose messages have no ids; the same words at the same time are the same message."""
LOGS = ("claude-code", "codex")
"""Sources that only add, and whose last message may not be whole yet."""

MARK = "SELECT visibility, origin FROM marks WHERE conversation = ? AND seq = ?"

replace = msgspec.structs.replace


class Versions:
    """The stored versions of the conversations of one import."""

    def __init__(self, connection: Connection, tenant: str, report: Report) -> None:
        self.connection, self.tenant, self.report = connection, tenant, report

    def placed(self, one: Imported) -> Imported:
        """Return the conversation, or the rest of it as a fork of the stored version."""
        id = one.id
        if not self.may_differ(one):
            return one
        one = replace(one, messages=tuple(one.messages))
        while (forked := self.forked(one)) is not None:
            one = forked
            reason = f"another version than the stored one; in the fork {shown(one.id)}"
            self.report.change("update.version", f"{id}: message {one.at + 1}", reason)
        return one

    def may_differ(self, one: Imported) -> bool:
        """Whether the stored messages may be others; those of a log are only if one was added."""
        head, length = self.stored(one.id)
        if head is None or one.format in VERSIONED:
            return head is not None
        last = turns.message_at(self.connection, head, length)
        return SOURCE not in last.meta and last.visibility != "erased"

    def forked(self, one: Imported) -> Imported | None:
        """Return the rest of a conversation as a fork; None if it goes on as it is stored."""
        head, length = self.stored(one.id)
        if head is None:
            return None
        messages = tuple(one.messages)
        has_ids = one.format not in NAMELESS
        last = turns.message_at(self.connection, head, length)
        if has_ids and has_at(messages, length - head.fork_at - 1, last):
            return None  # each message follows the one before it
        place = first_other(known_messages(self.connection, head), messages, has_ids=has_ids)
        if place is None:
            return None
        at = head.fork_at + place
        named = source_id(messages[place]) if has_ids else None
        fork = as_id(one.id, named or str(at + 1))
        return replace(one, id=fork, messages=messages[place:], parent=one.id, at=at)

    def stored(self, id: str) -> tuple[conversations.Head | None, int]:
        """Return a stored conversation that has messages of its own, and its length."""
        head = conversations.find(self.connection, self.tenant, id)
        length = 0 if head is None else conversations.length_of(self.connection, head, id)
        return (None, 0) if head is None or length == head.fork_at else (head, length)

    def settled(self, id: str, number: int, seq: int, stored: Message, message: Message) -> bool:
        """Bring a stored message up to date; return whether it is the same one at its source.

        Fields of the source alone, which may change in every export, are left as they are.
        """
        marks = self.connection.rows(MARK, number, seq)
        erased = stored.visibility == "erased"
        origin = marks[0][1] if erased and marks else source_id(stored)
        if origin is None or origin != source_id(message):
            return False
        if erased or "edited" in stored.meta:
            return True
        path = f"{id}: message {seq}"
        if message.visibility == "hidden" and stored.visibility == "public" and not marks:
            turns.mark(self.connection, self.tenant, id, seq, "visibility", "hidden")
            self.report.change("update.hidden", path, "retracted at its source")
        if message.role == stored.role and begins_with(stored.parts, message.parts):
            return True  # or an older copy
        is_longer = message.role == stored.role and begins_with(message.parts, stored.parts)
        replace_message(
            self.connection, number, seq, stored, message, keep=not is_longer, marked=False
        )
        reason = "continued at its source" if is_longer else "edited at its source"
        self.report.change("update.edited", path, reason)
        return True


def begins_with(parts: Sequence[Part], others: Sequence[Part]) -> bool:
    """Whether parts are the others, or those and more."""
    return parts[: len(others)] == others


def has_at(messages: Sequence[Message], place: int, message: Message) -> bool:
    """Whether one of the messages, at this place, is another one at its source."""
    origin = source_id(message)
    return place < len(messages) and origin is not None and origin == source_id(messages[place])


def first_other(
    stored: Iterable[Known], messages: Iterable[Message], *, has_ids: bool
) -> int | None:
    """Return the place of the first message that is not the stored one; None if all are."""
    for place, (known, message) in enumerate(zip(stored, messages, strict=False)):
        is_same = known.origin == source_id(message) if has_ids else is_alike(known, message)
        if not is_same:
            return place
    return None


def is_alike(known: Known, message: Message) -> bool:
    """Whether a message without an id is the stored one, which may have been changed here."""
    stored = known.message
    is_changed = stored.visibility == "erased" or "edited" in stored.meta
    return is_changed or (stored.parts, stored.sent_at) == (message.parts, message.sent_at)
