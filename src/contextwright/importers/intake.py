"""Conversations of a source into a store: a whole file in one transaction, or nothing.

A stored conversation is compared message by message. Equal messages stay, and new ones at the end
are added; if the two differ, nothing of the file is stored. So importing a file again stores
nothing, and a later export of the same account adds only what is new. If messages have their own
ids, later edits and deletions are applied too (`updates`), and other versions of a conversation
become forks (`versions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import msgspec
from msgspec import Struct

from contextwright.documents.files import Files
from contextwright.errors import Conflict, ContextwrightError, ParseError, UsageError, shown
from contextwright.importers.base import Imported, Report, line_at
from contextwright.importers.inspection import Inspection
from contextwright.importers.read import read
from contextwright.importers.updates import continued, updated
from contextwright.importers.versions import LOGS, VERSIONED, Versions
from contextwright.messages.message import Message
from contextwright.store.engines.base import Connection
from contextwright.store.records import ConversationInfo
from contextwright.store.rows.importing import Importing
from contextwright.store.rows.validation import require_name
from contextwright.store.store import Store

__all__ = ["Intake", "Outcome"]

EMPTY = "conversation without messages"
GROWN = ("codex",)
"""Sources whose first message earlier versions left out: the system text of a session."""

Progress: TypeAlias = Callable[[int, int], None]


class Outcome(Struct):
    """The result of an import."""

    format: str
    conversations: int = 0
    messages: int = 0
    """The number of messages stored."""
    known: int = 0
    """The number of messages that were already stored."""
    has_me: bool = False
    """Whether one of its messages is the assistant's; looked for only if `me` is given."""
    report: Report = msgspec.field(default_factory=Report)


class RehearsedError(ContextwrightError):
    """Ends the transaction of a rehearsal, so that nothing of it is stored.

    One of our errors, because at others a store looks for damage in the whole file.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("a dry run")
        self.outcome = outcome


class Intake(Struct, frozen=True, kw_only=True):
    """How to import a source."""

    format: str
    id: str | None = None
    """The id of its only conversation."""
    branches: bool = False
    replace: bool = False
    me: str | None = None
    threads: bool = False
    latest: bool = False
    """Whether this is the latest export: stored messages after its end were deleted."""
    strict: bool = False
    """Whether to refuse what would need a repair, with its path."""
    progress: Progress | None = None

    def has_messages(self, files: Files) -> bool:
        """Whether the source has a message; reads as far as the first one.

        Raises:
            ParseError: the source cannot be read that far.
        """
        return any(True for one in self.read(files) for _ in one.messages)

    def into(self, store: Store, files: Files) -> Outcome:
        """Store everything, or nothing if anything is wrong.

        Raises:
            ParseError: the source cannot be read or stored.
            Conflict: a conversation exists with other messages.
        """
        return store.engine.write_much(lambda connection: self.run(files, connection, store.tenant))

    def rehearse(self, files: Files, store: Store | None = None) -> Outcome:
        """Read and validate everything, and store nothing.

        With a store, the outcome is that of an import into it: all is taken back at the end.
        """
        if store is None:
            return self.run(files, None, "")

        def work(connection: Connection) -> None:
            raise RehearsedError(self.run(files, connection, store.tenant))

        try:
            store.engine.write_alone(work)
        except RehearsedError as rehearsed:
            return rehearsed.outcome
        raise AssertionError("a rehearsal ends with its outcome")

    def run(self, files: Files, connection: Connection | None, tenant: str) -> Outcome:
        """Import conversation after conversation."""
        outcome = Outcome(self.format)
        importing = Importing(connection, tenant)
        versions = None if connection is None else Versions(connection, tenant, outcome.report)
        try:
            for one in self.read(files):
                self.take(self.named(one, outcome), importing, versions, outcome, files)
            importing.flush()
        except Conflict as error:
            raise Conflict(f"{files.label}: {error.args[0]}", hint=error.hint) from None
        outcome.messages, outcome.known = importing.added, importing.known
        if self.me is not None and outcome.messages + outcome.known and not outcome.has_me:
            hint = "an id, handle or name of the file, or leave --me out"
            raise ParseError(
                f"there is no participant {shown(self.me)}", file=files.label, hint=hint
            )
        if files.unread:
            outcome.report.skip("link, pipe or device in the folder", files.unread)
        if files.replaced:
            reason = f"{files.replaced:,} characters that cannot be stored became U+FFFD"
            outcome.report.change("repair.text", "", reason)
        return outcome

    def read(self, files: Files) -> Iterator[Imported]:
        """Yield the conversations of the source."""
        return read(
            files,
            self.format,
            branches=self.branches,
            replace=self.replace,
            me=self.me,
            threads=self.threads,
        )

    def named(self, one: Imported, outcome: Outcome) -> Imported:
        """Return the conversation under the requested id, if there is one."""
        if self.id is None:
            return one
        if outcome.conversations:
            raise UsageError(
                "one name for several conversations", hint="name none, or split the file"
            )
        return msgspec.structs.replace(one, id=require_name(self.id, "conversation's id"))

    def seen(self, messages: Iterable[Message], outcome: Outcome) -> Iterator[Message]:
        """Yield the messages; record whether one of them is the assistant's."""
        for message in messages:
            if message.role == "assistant":
                outcome.has_me = True
            yield message

    def take(
        self,
        one: Imported,
        importing: Importing,
        versions: Versions | None,
        outcome: Outcome,
        files: Files,
    ) -> None:
        """Store one conversation with its messages."""
        has_versions = one.format in (*LOGS, *VERSIONED)
        if versions is not None and has_versions and not self.branches:
            one = versions.placed(one)
        fork_at = None if one.parent is None else one.at
        about = (one.title, one.agent, one.settings)
        info = ConversationInfo(one.id, 0, *about, one.parent, fork_at)
        empty = True
        inspection = Inspection(one.report, pairs=one.parent is None)
        messages = inspection.watch(one.messages, fork_at or 0)
        if self.me is not None:
            messages = self.seen(messages, outcome)
        connection, tenant = importing.connection, importing.tenant
        if one.has_ids and connection is not None:
            latest = self.latest
            messages = updated(connection, tenant, one.id, messages, one.report, latest=latest)
        elif one.format in GROWN and connection is not None:
            messages = continued(connection, tenant, one.id, messages, one.report)
        settle = versions.settled if versions is not None and has_versions else None
        try:
            for _ in importing.add(info, messages, settle):
                empty = False
                if self.progress:
                    self.progress(files.position, files.total)
        except UsageError as error:
            hint = "--replace-invalid puts U+FFFD in its place"
            message = f"{shown(one.id)}: {error.args[0]}"
            raise ParseError(message, file=files.label, hint=hint) from None
        if self.strict:
            refuse_mends(one, files)
        if empty:
            one.report.skip(EMPTY)
        else:
            outcome.conversations += 1
        merge(one.report, outcome.report, one.id)


def refuse_mends(one: Imported, files: Files) -> None:
    """Raise for the first thing of a conversation that would need a repair."""
    for change in one.report.changes:
        if not change.code.startswith(("guess.", "update.")):
            raise ParseError(
                f"{change.reason} ({change.code})",
                path=f"{shown(one.id)}: {change.path}",
                line=line_at(change.path, one.lines),
                file=files.label,
                hint="mend the file, or import it without --strict",
            )


def merge(report: Report, into: Report, id: str) -> None:
    """Add the report of one conversation."""
    for change in report.changes[: into.room]:
        path = f"{id}: {change.path}"
        into.changes.append(msgspec.structs.replace(change, path=path))
    if report.codes:  # as in few conversations
        into.codes.update(report.codes)
    for reason, number in report.skipped.items():
        into.skip(reason, number)
