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

__all__ = ["updated"]

ORIGINS = """
SELECT seq, origin FROM marks WHERE conversation = ? AND visibility = 'erased'"""
GONE = "SELECT seq FROM marks WHERE conversation = ? AND visibility IN ('deleted', 'erased')"


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
    stored = known_messages(connection, head)
    places: dict[str, deque[int]] = {}
    for number, one in enumerate(stored):
        if one.origin is not None:  # an export may have a message twice
            places.setdefault(one.origin, deque()).append(number)
    gone = {seq for (seq,) in connection.rows(GONE, head.number)}

    def delete(missing: list[Known]) -> Iterator[Message]:
        for one in missing:
            if one.seq not in gone:
                turns.mark(connection, tenant, id, one.seq, {"visibility": "deleted"})
                report.change("update.deleted", f"messages[{one.seq}]", "deleted at its source")
            yield one.message

    reached = 0
    for message in messages:
        known = places.get(source_id(message) or "")
        place = first_ahead(known, reached) if known else None
        if place is None and reached < len(stored) and is_behind(message, stored[-1].message):
            place = len(stored)  # the newest stored messages were deleted
        if place is None or place < reached:
            place = reached
        yield from delete(stored[reached:place])
        reached = place + 1
        if place < len(stored) and stored[place].origin == source_id(message):
            yield compared(
                connection, head.owner(stored[place].seq), stored[place], message, report
            )
        else:
            yield message
    if latest:
        yield from delete(stored[reached:])
    for one in stored[reached:] if not latest else ():
        if one.seq not in gone:
            report.change("guess.later", f"messages[{one.seq}]", LATER)


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


def is_behind(message: Message, other: Message) -> bool:
    """Whether a message was sent after another."""
    return message.time is not None and other.time is not None and message.time > other.time
