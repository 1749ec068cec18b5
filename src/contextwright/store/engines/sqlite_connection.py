"""One connection to an SQLite file, and its transactions."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import apsw

from contextwright.store.engines.base import Row, TextIndex, Value, Version

__all__ = ["SqliteConnection", "transaction", "view"]

PATIENCE = 60.0
"""Seconds to wait for other processes."""

WRITABLE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
READABLE = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI

NUMBERS = count()
"""Numbers of connections."""

BODY = re.compile(r"\b(?:[a-z]\.)?(?:body|record)\b")

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
        return self._number, self.number("data_version"), self.written

    @property
    def written(self) -> int:
        """The number of rows that were written."""
        return self.database.total_changes()

    def lock(self, names: Iterable[str]) -> None:
        """Do nothing, because only one transaction writes at a time."""

    def text(self, utf8: bytes) -> Value:
        """Return the bytes, which SQLite reads as text."""
        return utf8

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """Run a statement and return all its rows.

        If a body or a record has damaged bytes that are not UTF-8, all are returned as bytes.
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

    def leave_log(self) -> None:
        """Switch from the log to a rollback journal, unless others have the file open."""
        self.database.set_busy_timeout(0)
        try:
            with suppress(apsw.BusyError):
                self.database.pragma("journal_mode", "delete")
        finally:
            self.database.set_busy_handler(self._wait)

    def close(self) -> None:
        """Close, whatever happened before."""
        with suppress(apsw.Error):
            self.database.close(True)


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
