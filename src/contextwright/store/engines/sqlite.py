"""SQLite by apsw, which brings its own library.

Python's is often older, and loses pages when two processes write and checkpoint at once (fixed in
3.51.3).
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from glob import escape, glob
from itertools import count
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import apsw

from contextwright.errors import StoreBusy, StoreError, StoreFull, UnknownSchema
from contextwright.store.engines.address import shown_address
from contextwright.store.engines.backup import back_up
from contextwright.store.engines.base import (
    UNREADABLE,
    Outcomes,
    Row,
    Sync,
    TextIndex,
    Value,
    Version,
    Work,
    unreadable_row,
)
from contextwright.store.engines.group_commit import Entry, Writer
from contextwright.store.engines.pool import Pool
from contextwright.store.engines.schema import STEPS, Step, steps_after

__all__ = ["SqliteEngine"]

Result = TypeVar("Result")

MARK = 0x63774358
"""The application id in the file's header, which identifies our files."""

PATIENCE = 60.0
"""Seconds to wait for other processes."""

CONNECTIONS = 64
"""Maximum number of connections."""

PAGE = 8_192
"""Bytes of a page. Messages of a kilobyte leave much of 4,096 unused (1.31 times the JSON of the
messages on disk, against 1.19); with 16,384 every commit writes more than it saves (1.13)."""

WRITABLE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
READABLE = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI

NUMBERS = count()
"""Numbers of connections."""

BODY = re.compile(r"\b(?:[a-z]\.)?body\b")

SCRUB_PATIENCE = 5.0
"""Seconds to wait for readers that still need the log."""

LARGE_LOG = 16 * 2**20
"""Size in bytes from which the write-ahead log is emptied after exclusive work, like an import."""

WAL_LIMIT = 64 * 2**20
"""The log is truncated to this size once it has been copied into the file."""


TEXTS = TextIndex(
    # A row's id encodes conversation and position, so the messages of a conversation are one range.
    insert="INSERT INTO words (rowid, terms) VALUES (?1 << 32 | ?2, ?3)",
    find="""
SELECT json_group_array(seq) FROM (
    SELECT rowid & 4294967295 AS seq FROM words
    WHERE words MATCH '"' || ?4 || '"' AND rowid BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | ?3
    ORDER BY rowid DESC LIMIT ?5)""",
    # From the newest on it would read the whole list of a frequent term backwards.
    find_within="""
SELECT json_group_array(rowid & 4294967295) FROM words
WHERE words MATCH '"' || ?4 || '"' AND rowid BETWEEN ?1 << 32 | ?2 AND ?1 << 32 | ?3""",
    find_all="""
SELECT json_group_array(rowid) FROM (
    SELECT rowid FROM words
    WHERE words MATCH '"' || ?1 || '" "' || ?2 || '"' ORDER BY rowid DESC LIMIT ?3)""",
    remove="DELETE FROM words WHERE rowid BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295",
)


class SqliteConnection:
    """One connection to a file."""

    for_update = ""  # only one transaction writes at a time
    texts = TEXTS

    def __init__(self, path: str, flags: int = WRITABLE) -> None:
        # apsw's stub leaves some types open
        self.database: Any = apsw.Connection(path, flags=flags)
        self.database.set_busy_handler(self._wait)
        # We keep no statistics: without this SQLite plans many statements again at every call, in
        # search of some, which takes longer than the statements themselves.
        self.database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self._deadline = 0.0
        self._number = next(NUMBERS)

    def _wait(self, tries: int) -> bool:
        """Sleep a little while others write; SQLite's own steps of 100 ms are too coarse."""
        now = time.monotonic()
        if tries == 0:
            self._deadline = now + PATIENCE
        # Nobody sleeps for long, so that everyone has the same chance at the next moment.
        time.sleep(random.uniform(0.0002, min(0.001 * (tries + 1), 0.01)))
        return now < self._deadline

    def version(self) -> Version:
        """Return the version of what this transaction sees."""
        # The first changes with others' commits, the second with rows this connection writes.
        return self._number, self.number("data_version"), self.database.total_changes()

    def lock(self, names: Iterable[str]) -> None:
        """Do nothing, because only one transaction writes at a time."""

    def text(self, utf8: bytes) -> Value:
        """Return the bytes, which SQLite reads as text."""
        return utf8

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """Run a statement and return all its rows.

        If a body has damaged bytes that are not UTF-8, all bodies are returned as bytes.
        """
        try:
            return self.database.execute(sql, values).fetchall()
        except UnicodeDecodeError:
            as_bytes = BODY.sub(r"CAST(\g<0> AS BLOB)", sql)
            return self.database.execute(as_bytes, values).fetchall()

    def run(self, sql: str, *values: Value) -> None:
        """Run a statement that returns no rows."""
        self.database.execute(sql, values)

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run a statement once for each row of values."""
        self.database.executemany(sql, rows)

    def number(self, pragma: str) -> int:
        """Return a numeric pragma."""
        return self.database.pragma(pragma)

    def empty_log(self) -> None:
        """Copy the log into the file and truncate it; does nothing while others read it."""
        self.database.set_busy_timeout(0)
        try:
            self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self.database.set_busy_handler(self._wait)

    def close(self) -> None:
        """Close, whatever happened before."""
        with suppress(apsw.Error):
            self.database.close(True)


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
        entry = Entry(order, work)
        self._writer.write([entry])
        return entry.outcome()

    def write_each(self, works: Sequence[tuple[str, Work[Result]]]) -> Outcomes[Result]:
        """Run several works in one transaction; each fails alone."""
        entries = [Entry(order, work) for order, work in works]
        self._writer.write(entries)
        return [entry.result if entry.error is None else entry.error for entry in entries]

    def write_alone(self, work: Work[Result]) -> Result:
        """Run work that cannot be repeated, in its own transaction."""
        with self._translated(), self._connections.borrowed() as connection:
            with transaction(connection):
                result = work(connection)
            self._empty_log(connection)
            return result

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
        """Return the backups next to the file."""
        return sorted(glob(f"{escape(os.path.abspath(self.path))}.*.backup"))

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

    def _explained(self, error: apsw.Error) -> StoreError:
        where = shown_address(self.path)
        match error:
            case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
                hint = "another process holds a transaction open"
                return StoreBusy(f"{where} is busy since {PATIENCE:.0f} seconds", hint=hint)
            case apsw.FullError():
                return StoreFull(f"no room to write {where}", hint="free some space and try again")
            case apsw.CantOpenError() if os.path.isdir(self.path):
                return StoreError(f"{where} is a folder", hint="name a file")
            case apsw.CantOpenError():
                hint = "does the folder exist, and may you write there?"
                return StoreError(f"cannot open {where}", hint=hint)
            case apsw.ReadOnlyError() | apsw.PermissionsError():
                return StoreError(f"{where} may not be written", hint="see its permissions")
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


@contextmanager
def transaction(connection: SqliteConnection) -> Generator[None]:
    """Run a transaction, alone among writers."""
    connection.run("BEGIN IMMEDIATE")
    try:
        yield
        connection.run("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


@contextmanager
def view(connection: SqliteConnection) -> Generator[None]:
    """Read one unchanging view of the file, whatever others write."""
    connection.run("BEGIN")
    try:
        yield
    finally:
        roll_back(connection)  # it has nothing to commit


def roll_back(connection: SqliteConnection) -> None:
    """Roll back a failed transaction; a further failure must not hide the reason."""
    with suppress(apsw.Error):
        if connection.database.in_transaction:
            connection.run("ROLLBACK")


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

    A log needs a shared index next to it. If there is no log, and none can be made, SQLite is told
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
            raise StoreError("this file system keeps no write-ahead log", hint="use a local disk")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.001, 0.01))
