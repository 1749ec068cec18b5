"""Conversations of a source into a store: all of a file in one transaction, or nothing.

A conversation that is there already is compared message by message. What it has, stays; what is
new at its end is added; if the two differ, nothing of the file is stored. So the same file again
stores nothing, and a later export of the same account adds what was said since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeAlias

import msgspec
from msgspec import Struct

from contextwright import importers
from contextwright.errors import Conflict, ParseError, UsageError, shown
from contextwright.importers.base import Imported, Report
from contextwright.importers.files import Files
from contextwright.messages import Message, encode_json
from contextwright.store import conversations, reading, turns
from contextwright.store.base import Store
from contextwright.store.engine import Connection
from contextwright.store.hygiene import (
    body_of,
    decode_message,
    require_name,
    require_text,
    settings_text,
)
from contextwright.store.records import Details

__all__ = ["Intake", "Outcome"]

BATCH = 256
"""So many messages are held and written at once."""
NUL = rb"\u0000"
EMPTY = "conversation without messages"

Progress: TypeAlias = Callable[[int, int], None]
Batch: TypeAlias = list[tuple[Message, str]]
"""Messages, each with the JSON that is stored."""


class Outcome(Struct):
    """What became of a source."""

    format: str
    conversations: int = 0
    messages: int = 0
    """Those that were stored."""
    known: int = 0
    """Those that were there already."""
    report: Report = msgspec.field(default_factory=Report)


class Intake(Struct, frozen=True, kw_only=True):
    """How to take in a source."""

    format: str
    id: str | None = None
    """What its one conversation is to be called."""
    branches: bool = False
    replace: bool = False
    progress: Progress | None = None

    def into(self, store: Store, files: Files) -> Outcome:
        """Store everything, or nothing if anything is wrong.

        Raises:
            ParseError: the source cannot be read, or not be stored.
            Conflict: a conversation is there with other messages.
        """
        return store.engine.write_alone(
            lambda connection: self.run(files, Shelf(connection, store.tenant))
        )

    def rehearse(self, files: Files) -> Outcome:
        """Read everything, and store nothing."""
        return self.run(files, None)

    def run(self, files: Files, shelf: Shelf | None) -> Outcome:
        """Take conversation after conversation."""
        outcome = Outcome(self.format)
        read = importers.read(files, self.format, branches=self.branches, replace=self.replace)
        for one in read:
            self.take(self.named(one, outcome), shelf, outcome, files)
        if files.replaced:
            reason = f"{files.replaced:,} characters that cannot be stored became U+FFFD"
            outcome.report.change("repair.text", "", reason)
        return outcome

    def named(self, one: Imported, outcome: Outcome) -> Imported:
        """The conversation under the name that was asked for, if one was."""
        if self.id is None:
            return one
        if outcome.conversations:
            raise UsageError(
                "one name for several conversations", hint="leave --as out, or split the file"
            )
        return msgspec.structs.replace(one, id=require_name(self.id, "conversation's id"))

    def take(self, one: Imported, shelf: Shelf | None, outcome: Outcome, files: Files) -> None:
        """One conversation with its messages."""
        place = shelf.place(one) if shelf else None
        empty = True
        for batch in batches(one, files.label):
            empty = False
            known = place.add(batch) if place else 0
            outcome.known += known
            outcome.messages += len(batch) - known
            if self.progress:
                self.progress(files.position, files.total)
        if empty:
            one.report.skip(EMPTY)
        else:
            outcome.conversations += 1
        merge(one.report, outcome.report, one.id)


def batches(one: Imported, file: str) -> Iterator[Batch]:
    """The messages with their JSON, some at a time; what no store can keep is refused."""
    try:
        require_text(one.title, "title")
        if NUL in encode_json(one.settings):  # all else was refused when the file was read
            settings_text(one.settings)
        numbered = enumerate(one.messages)
        while batch := [
            (message, stored_body(message, number)) for number, message in islice(numbered, BATCH)
        ]:
            yield batch
    except UsageError as error:
        hint = "--replace-bad-text puts U+FFFD in its place"
        message = f"{shown(one.id)}: {error.args[0]}"
        raise ParseError(message, file=file, hint=hint) from None


def stored_body(message: Message, number: int) -> str:
    """A message as it is stored.

    It was made from sound JSON, so that reading it once more to see whether it can be read is left
    out: a sixth of all the work. That it can is a law the tests hold.
    """
    body = encode_json(message)
    if NUL in body:  # perhaps: a backslash before u0000 looks the same
        return body_of(message, f"messages[{number}]")
    return body.decode()


def merge(report: Report, into: Report, id: str) -> None:
    """Add what one conversation had to say."""
    for change in report.changes[: into.room]:
        path = f"{id}: {change.path}"
        into.changes.append(msgspec.structs.replace(change, path=path))
    into.codes.update(report.codes)
    for reason, number in report.skipped.items():
        into.skip(reason, number)


class Shelf(Struct, frozen=True):
    """A tenant's conversations, within a transaction."""

    connection: Connection
    tenant: str

    def place(self, one: Imported) -> Place:
        """Where the messages of a conversation go; a fork is made, others come with a message."""
        if one.parent is not None:
            turns.fork(self.connection, self.tenant, one.parent, one.id, one.at, None)
        head = conversations.find(self.connection, self.tenant, one.id)
        length = conversations.length_of(self.connection, head, one.id) if head else 0
        at = head.fork_at if head else 0
        return Place(self, one, head.number if head else None, at, length - at)


class Place:
    """A conversation of the store, compared with what comes, then continued."""

    def __init__(
        self, shelf: Shelf, one: Imported, number: int | None, start: int, stored: int
    ) -> None:
        self.shelf = shelf
        self.one = one
        self.number = number
        self.next = start + 1
        """The number of the message that comes next."""
        self.stored = stored
        """How many messages are left that are there already."""

    def add(self, batch: Batch) -> int:
        """Store messages; gives how many of them were there already."""
        known = min(self.stored, len(batch))
        if known:
            self.compare(batch[:known])
            self.stored -= known
        self.next += len(batch)
        if batch[known:]:
            self.write(batch[known:])
        return known

    def compare(self, batch: Batch) -> None:
        """Refuse a conversation that is there with other messages."""
        number = self.number or 0
        last = self.next + len(batch) - 1
        stored = reading.bodies_between(self.shelf.connection, number, self.next, last)
        for place, (old, (message, body)) in enumerate(zip(stored, batch, strict=True)):
            # The same message may be spelled otherwise: fields of an object in another order.
            if old != body and decode_message(old) != message:
                raise Conflict(
                    f"{shown(self.one.id)} is in the store with another message "
                    f"{self.next + place}",
                    hint="forget it first, or give the import another name with --as",
                )

    def write(self, batch: Batch) -> None:
        """Store new messages as one turn."""
        connection, tenant = self.shelf.connection, self.shelf.tenant
        if self.number is None:
            one = self.one
            details = Details(one.id, 0, one.title, one.agent, one.settings)
            self.number = conversations.create(connection, tenant, details)
        messages, bodies = columns(batch)
        turns.add(connection, tenant, (self.one.id, messages, bodies, None))


def columns(batch: Iterable[tuple[Message, str]]) -> tuple[list[Message], list[str]]:
    """Messages and their JSON, apart."""
    messages: list[Message] = []
    bodies: list[str] = []
    for message, body in batch:
        messages.append(message)
        bodies.append(body)
    return messages, bodies
