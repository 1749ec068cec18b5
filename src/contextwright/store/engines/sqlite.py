"""SQLite by apsw, which brings its own library.

Python's is often older, and loses pages when two processes write and checkpoint at once (fixed in
3.51.3).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from glob import escape, glob
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import apsw

from contextwright.errors import ContextwrightError, StoreBusy, StoreError, StoreFull, UnknownSchema
from contextwright.store.engines.address import shown_address
from contextwright.store.engines.backup import back_up
from contextwright.store.engines.base import (
    UNREADABLE,
    Outcomes,
    Sync,
    Work,
    unreadable_row,
)
from contextwright.store.engines.group_commit import Entry, Writer
from contextwright.store.engines.pool import Pool
from contextwright.store.engines.schema.steps import STEPS, Step, steps_after
from contextwright.store.engines.sqlite_connection import (
    PATIENCE,
    READABLE,
    SqliteConnection,
    transaction,
    view,
)

__all__ = ["SqliteEngine"]

Result = TypeVar("Result")

MARK = 0x63774358
"""The application id in the file's header, which identifies our files."""

CONNECTIONS = 64
"""Maximum number of connections."""

PAGE = 8_192
"""Bytes of a page. Messages of a kilobyte leave much of 4,096 unused (1.31 times the JSON of the
messages on disk, against 1.19); with 16,384 every commit writes more than it saves (1.13)."""

SCRUB_PATIENCE = 5.0
"""Seconds to wait for readers that still need the log."""

LARGE_LOG = 16 * 2**20
"""Size in bytes from which the write-ahead log is emptied after exclusive work, like an import."""

ANY_CONVERSATION = "SELECT 1 FROM conversations LIMIT 1"

WAL_LIMIT = 64 * 2**20
"""The log is truncated to this size once it has been copied into the file."""


class SqliteEngine:
    """One file, any number of threads and processes."""

    kind: Literal["sqlite"] = "sqlite"
    names_turns = False  # no response can be lost between us and the file

    def __init__(self, path: str, sync: Sync, steps: Sequence[Step] = STEPS) -> None:
        self.path, self.where, self._sync = path, path, sync
        # One pool for all work, because a reader finds the pages of the last turn in its writer's
        # cache.
        self._connections = Pool(self._connect, SqliteConnection.close, CONNECTIONS)
        self._writer = Writer(self._transact)
        self.is_read_only = is_read_only(path)
        if not self.is_read_only:
            make_private(path)
        try:
            with self._translated(), self._connections.borrowed() as connection:
                with view(connection):
                    lacking = self._lacking(connection, steps)
                if self.is_read_only:
                    self._require_current(lacking)
                    return
                if lacking:
                    connection.database.pragma("page_size", PAGE)  # for a file that is still empty
                    self._migrate(connection, steps)
                use_log(connection)
        except BaseException:
            self.close()
            raise

    # --- transactions ------------------------------------------------------------------------

    def read(self, work: Work[Result]) -> Result:
        """Run read-only work on one unchanging view of the store."""
        with self._translated(), self._connections.borrowed() as connection, view(connection):
            return work(connection)

    def write(self, work: Work[Result], order: str = "") -> Result:
        """Run work in a transaction that it may share, and return when it is durable."""
        return self._writer.write(work, order)

    def write_each(self, works: Sequence[tuple[str, Work[Result]]]) -> Outcomes[Result]:
        """Run several works in one transaction; each fails alone."""
        return self._writer.write_each(works)

    def write_alone(self, work: Work[Result]) -> Result:
        """Run work that cannot be repeated, in its own transaction."""
        with self._translated(), self._connections.borrowed() as connection:
            with transaction(connection):
                result = work(connection)
            self._empty_log(connection)
            return result

    def write_much(self, work: Work[Result]) -> Result:
        """Run work that may fill the store, in its own transaction.

        An empty file that nobody else has open is filled without the log, so that each page is
        written once instead of twice. A process that opens the file meanwhile waits.
        """
        with self._translated(), self._connections.borrowed() as connection:
            # Without a log, a sync at the end alone would not keep the file whole.
            if self._sync == "full" and not connection.rows(ANY_CONVERSATION):
                connection.leave_log()
        try:
            return self.write_alone(work)
        finally:
            # If others use the file already, one of them has returned to the log.
            with suppress(StoreError, apsw.Error), self._connections.borrowed() as connection:
                use_log(connection)

    def scrub(self) -> list[str]:
        """Rewrite the file and empty its log, so that nothing of what was removed is left."""
        with self._translated(), self._connections.borrowed() as connection:
            # The index only marks what was removed; rebuilding it removes the data.
            connection.run("INSERT INTO words (words) VALUES ('optimize')")
            connection.run("VACUUM")
            deadline = time.monotonic() + SCRUB_PATIENCE
            while connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
                if time.monotonic() > deadline:
                    return [f"{self.where}-wal, until other processes stop reading: scrub again"]
                time.sleep(0.05)
        return []

    def backups(self) -> list[str]:
        """Return the backups next to the file, and parts of those that a crash interrupted."""
        return sorted(glob(f"{escape(os.path.abspath(self.path))}.*.backup*"))

    def close(self) -> None:
        """Release everything."""
        self._connections.close()

    def _transact(self, entries: Sequence[Entry]) -> None:
        """Run all entries in one transaction."""
        with self._translated(), self._connections.borrowed() as connection:
            with transaction(connection):
                for entry in entries:
                    entry.do(connection)

    # --- opening -----------------------------------------------------------------------------

    def _connect(self) -> SqliteConnection:
        """Open a connection."""
        if self.is_read_only:
            return SqliteConnection(read_only_url(self.path), READABLE)
        connection = SqliteConnection(self.path)
        database = connection.database
        database.pragma("synchronous", "FULL" if self._sync == "full" else "NORMAL")
        database.pragma("foreign_keys", True)
        database.pragma("journal_size_limit", WAL_LIMIT)
        return connection

    def _lacking(self, connection: SqliteConnection, steps: Sequence[Step]) -> Sequence[Step]:
        """Return the steps this file still needs, if it is one of ours; in a transaction.

        Between two reads outside one, another process could create the tables.
        """
        version, mark = connection.number("user_version"), connection.number("application_id")
        tables = connection.rows("SELECT count(*) FROM sqlite_schema")[0][0]
        where = shown_address(self.path)
        if mark != MARK and (tables or version or mark):
            raise UnknownSchema(f"{where} is an SQLite file, but not a contextwright store")
        return steps_after(version, steps, where)

    def _require_current(self, lacking: Sequence[Step]) -> None:
        """Raise for a read-only file of an older release, because its tables cannot be migrated."""
        if lacking:
            where, hint = shown_address(self.path), "copy it to where you may write; open the copy"
            raise StoreError(f"{where} is read-only and of an older release", hint=hint)

    def _empty_log(self, connection: SqliteConnection) -> None:
        """Copy a large log into the file and truncate it, unless others are reading it."""
        with suppress(OSError):
            if os.path.getsize(f"{self.path}-wal") >= LARGE_LOG:
                connection.empty_log()

    def _migrate(self, connection: SqliteConnection, steps: Sequence[Step]) -> None:
        """Migrate the tables, while other writers wait."""
        with transaction(connection):
            # check again: another process may have been faster
            lacking = self._lacking(connection, steps)
            version = connection.number("user_version")
            if lacking and version:
                back_up(self.path, f"{self.path}.version-{version}.backup")
            for step in lacking:
                connection.run(step.sqlite)
                if step.fill is not None:
                    step.fill(connection)
            connection.database.pragma("application_id", MARK)
            connection.database.pragma("user_version", len(steps))

    @contextmanager
    def _translated(self) -> Generator[None]:
        """Translate an error of SQLite."""
        try:
            yield
        except apsw.Error as error:
            raise self._explained(error) from error
        except UNREADABLE as error:
            raise unreadable_row(self.where) from error
        except ContextwrightError:
            raise
        except Exception as error:
            # A value of another type than its column's ends in any error; in a sound file it is
            # our own mistake.
            if self._is_damaged():
                raise unreadable_row(self.where) from error
            raise

    def _is_damaged(self) -> bool:
        """Whether SQLite finds the file damaged, or a value of the wrong type in it."""
        with self._connections.borrowed() as connection:
            return connection.rows("PRAGMA quick_check(1)") != [("ok",)]

    def _explained(self, error: apsw.Error) -> StoreError:
        where = shown_address(self.path)
        match error:
            case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
                hint = "another process holds a transaction open"
                return StoreBusy(f"{where} has been busy for {PATIENCE:.0f} seconds", hint=hint)
            case apsw.FullError():
                return StoreFull(f"no room to write {where}", hint="free some space and try again")
            case apsw.CantOpenError() if os.path.isdir(self.path):
                return StoreError(f"{where} is a folder", hint="name a file")
            case apsw.CantOpenError():
                hint = "does the folder exist, and may you write there?"
                return StoreError(f"cannot open {where}", hint=hint)
            case apsw.ReadOnlyError() | apsw.PermissionsError():
                return StoreError(f"{where} is not writable", hint="check its permissions")
            case apsw.NotADBError():
                return UnknownSchema(f"{where} is not an SQLite file")
            case apsw.CorruptError():
                return StoreError(f"{where} is damaged", hint="see cw doctor")
            case apsw.IOError():
                return io_error(error, where)
            case _:
                return StoreError(f"{where}: {error}")


def io_error(error: Any, where: str) -> StoreError:
    """Return the error for a failed write, most often a full disk; only some systems say so."""
    if error.extendedresult == apsw.SQLITE_IOERR_WRITE:
        return StoreFull(f"cannot write {where}", hint="a full disk, or a limit on file sizes?")
    return StoreError(f"the disk of {where} fails: {error}", hint="nothing was stored; try again")


def make_private(path: str) -> None:
    """Create a file that only its owner can read, because it holds people's messages."""
    with suppress(OSError):  # SQLite reports what is wrong with the path
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def is_read_only(path: str) -> bool:
    """Whether a file exists, and neither it nor a log next to it can be written."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.isfile(path) and not (os.access(path, os.W_OK) and os.access(folder, os.W_OK))


def read_only_url(path: str) -> str:
    """Return the URL that opens a file for reading.

    A log needs a shared index next to it. If there is no log, and none can be made, the URL says
    that the file does not change.
    """
    address = f"file:{quote(os.path.abspath(path))}?mode=ro"
    has_log = os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0
    return address if has_log else f"{address}&immutable=1"


def use_log(connection: SqliteConnection) -> None:
    """Switch to write-ahead logging, which needs exclusive access for a moment."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if connection.database.pragma("journal_mode", "wal") == "wal":
                return
            raise StoreError(
                "this file system does not support a write-ahead log", hint="use a local disk"
            )
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.001, 0.01))
