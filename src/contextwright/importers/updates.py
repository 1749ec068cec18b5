"""Applies a later export of a stored conversation: edits and deletions at its source.

Messages are identified by the ids they have at their source. An older export changes nothing: newer
edits stay, and so do messages after the last one of the file, unless the caller knows that it is
the latest export. Nothing in an export tells whether its end was deleted or not yet written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import cast

from msgspec import Struct

from contextwright.importers.base import Report
from contextwright.messages.message import Message
from contextwright.messages.quotes import source_id
from contextwright.messages.times import read_time
from contextwright.store.engines.base import Connection
from contextwright.store.rows import conversations, turns
from contextwright.store.rows import messages as reading
from contextwright.store.rows.editing import replace_message

__all__ = ["continued", "updated"]

ORIGINS = """
SELECT seq, origin FROM marks WHERE conversation = ? AND visibility = 'erased'"""
GONE = "SELECT seq FROM marks WHERE conversation = ? AND visibility IN ('deleted', 'erased')"

BETWEEN = "between stored messages (to add it, use cw rm and import again)"
LATER = "it follows the end of the file and stays: --latest deletes it"


class Known(Struct, frozen=True):
    """A stored message, and the id it has at its source."""

    seq: int
    message: Message
    origin: str | None


def updated(
    connection: Connection,
    tenant: str,
    id: str,
    messages: Iterable[Message],
    report: Report,
    *,
    latest: bool,
) -> Iterator[Message]:
    """Apply the changes of the source; yield the conversation as stored, then new messages.

    Edited messages get their new text, and the old text is kept as a version. Messages that the
    source no longer has are marked as deleted; those after its last message only if it is the
    `latest` export, and otherwise a change names them.
    """
    head = conversations.find(connection, tenant, id)
    if head is None:
        yield from messages
        return
    update = Update(connection, tenant, id, head, report)
    yield from update.applied(messages)
    if latest:
        yield from update.delete_until(len(update.stored))
    else:
        update.name_later()


def continued(
    connection: Connection, tenant: str, id: str, messages: Iterable[Message], report: Report
) -> Iterator[Message]:
    """Yield the messages from the first that is stored; without a stored one, all of them.

    An earlier version may not have imported those before it, and nothing can be put there.
    """
    head = conversations.find(connection, tenant, id)
    stored = reading.each_message(connection, head, head.fork_at + 1) if head else iter(())
    first = next((source_id(message) for _, message in stored), None)
    before: list[Message] = []
    for message in messages:
        if first is not None and source_id(message) != first:
            before.append(message)
            continue
        if before:
            report.skip(BETWEEN, len(before))
        first, before = None, []
        yield message
    yield from before


class Update:
    """The stored messages of a conversation, passed one by one as a later export goes on."""

    def __init__(
        self, connection: Connection, tenant: str, id: str, head: conversations.Head, report: Report
    ) -> None:
        self.connection, self.tenant, self.id = connection, tenant, id
        self.head, self.report = head, report
        self.stored = known_messages(connection, head)
        self.places: dict[str, deque[int]] = {}
        for place, one in enumerate(self.stored):
            if one.origin is not None:  # an export may have a message twice
                self.places.setdefault(one.origin, deque()).append(place)
        self.gone = {seq for (seq,) in connection.rows(GONE, head.number)}
        self.reached = 0
        """How many of the stored messages are passed."""

    def applied(self, messages: Iterable[Message]) -> Iterator[Message]:
        """Yield the conversation as stored, as far as the export goes, and its new messages."""
        waiting: list[Message] = []
        for message in messages:
            if self._is_unknown(message):
                waiting.append(message)
                continue
            if waiting and self._place_of(message) == self.reached < len(self.stored):
                self.report.skip(BETWEEN, len(waiting))
                waiting = []
            yield from self._placed((*waiting, message))
            waiting = []
        yield from self._placed(waiting)

    def _is_unknown(self, message: Message) -> bool:
        """Whether a message is not stored, but may stand before one that is."""
        is_before = self.reached < len(self.stored) and not self._is_after_end(message)
        return is_before and (source_id(message) or "") not in self.places

    def _is_after_end(self, message: Message) -> bool:
        return is_sent_after(message, self.stored[-1].message)

    def _placed(self, messages: Iterable[Message]) -> Iterator[Message]:
        """Yield each message as it is stored, or as new."""
        for message in messages:
            place = self._place_of(message)
            yield from self.delete_until(place)
            self.reached = place + 1
            known = self.stored[place] if place < len(self.stored) else None
            if known is not None and known.origin == source_id(message):
                number = self.head.owner(known.seq)
                yield compared(self.connection, number, known, message, self.report)
            else:
                yield message

    def _place_of(self, message: Message) -> int:
        """Return the place of a message among the stored ones; those before it were deleted."""
        known = self.places.get(source_id(message) or "")
        place = first_ahead(known, self.reached) if known else None
        if place is None and self.reached < len(self.stored):
            if self._is_after_end(message):
                place = len(self.stored)  # the newest stored messages were deleted
        return self.reached if place is None else max(place, self.reached)

    def delete_until(self, place: int) -> Iterator[Message]:
        """Mark stored messages that the source no longer has as deleted; yield each."""
        for one in self.stored[self.reached : place]:
            if one.seq not in self.gone:
                turns.mark(self.connection, self.tenant, self.id, one.seq, "visibility", "deleted")
                reason = "deleted at its source"
                self.report.change("update.deleted", f"messages[{one.seq}]", reason)
            yield one.message

    def name_later(self) -> None:
        """Name the stored messages after the end of the export, which stay."""
        for one in self.stored[self.reached :]:
            if one.seq not in self.gone:
                self.report.change("guess.later", f"messages[{one.seq}]", LATER)


def first_ahead(places: deque[int], reached: int) -> int:
    """Return the first of these places that is not passed yet, else the last of them."""
    while len(places) > 1 and places[0] < reached:
        places.popleft()
    return places[0]


def known_messages(connection: Connection, head: conversations.Head) -> list[Known]:
    """Return the conversation's own messages with their ids, including erased ones."""
    last = conversations.length_of(connection, head, "")
    origins = dict(connection.rows(ORIGINS, head.number))
    return [
        Known(seq, message, source_id(message) or origins.get(seq))
        for seq, message in reading.each_message(connection, head, last)
        if seq > head.fork_at
    ]


def compared(
    connection: Connection, number: int, known: Known, message: Message, report: Report
) -> Message:
    """Return a stored message, with its new text if the source has a newer one."""
    old = known.message
    is_kept = old == message or old.visibility == "erased" or "edited" in old.meta
    if is_kept or edited_at(message) < edited_at(old):
        return old
    is_edit = (old.parts, old.role) != (message.parts, message.role)
    new = replace_message(connection, number, known.seq, old, message, keep=is_edit, marked=False)
    if is_edit:
        report.change("update.edited", f"messages[{known.seq}]", "edited at its source")
    return new


def edited_at(message: Message) -> float:
    """Return when a message was edited at its source, in seconds since 1970; 0 if never."""
    for fields in message.meta.values():
        edited = field_of(fields, "edited_unixtime") or field_of(fields, "edited")
        edited = edited if isinstance(edited, str) else field_of(edited, "ts")
        time = read_time(edited) if isinstance(edited, str) else None
        if time is not None:
            return time.timestamp()
    return 0.0


def field_of(value: object, name: str) -> object:
    """Return a field of an object; None if there is none."""
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


def is_sent_after(message: Message, other: Message) -> bool:
    """Whether a message was sent after another."""
    return message.time is not None and other.time is not None and message.time > other.time
