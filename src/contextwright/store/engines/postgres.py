"""Postgres by psycopg 3: reconnects when the server restarts, and never stores a turn twice."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from typing import Any, Literal, TypeVar

from contextwright.errors import (
    ContextwrightError,
    MissingExtra,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreLost,
    UnknownSchema,
    UsageError,
)
from contextwright.store.engines.base import (
    UNREADABLE,
    Outcomes,
    Row,
    Sync,
    TextIndex,
    Value,
    Work,
    unreadable_row,
)
from contextwright.store.engines.group_commit import Entry, Writer
from contextwright.store.engines.pool import Pool
from contextwright.store.engines.schema.steps import STEPS, Step, steps_after

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError as error:
    raise MissingExtra("a Postgres store", "postgres") from error

__all__ = ["PostgresEngine"]

Result = TypeVar("Result")

LOCK = 0x63774358
"""The advisory lock that is held while tables are migrated."""

CONNECTIONS = 16
"""Maximum number of connections, for reading and for writing each."""

PATIENCE, OPENING = 60.0, 3.0
"""Seconds to wait for a server that was there, and for one that never answered yet."""

SCRUBBING = 10.0
"""Seconds that a scrub waits for transactions that may still see what was removed."""

DEFAULTS = {
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "tcp_user_timeout": 30_000,
    "application_name": "contextwright",
    "client_encoding": "utf8",
}
"""Notices a dead server within half a minute; the URL may override this."""

SET_UP = """
SET search_path = contextwright;
SET lock_timeout = '60s';
SET synchronous_commit = {commit}
"""


BYTES = re.compile(r"CAST\(([a-z.]+) AS BLOB\)")
"""What `AS_BYTES` writes."""

RETURNING = "RETURNING"
"""What statements have that write and return rows."""

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'contextwright' ORDER BY tablename"

# VACUUM FULL copies removed rows that an open transaction may still see: one of this database with
# an older snapshot, or any that writes on the server, since the snapshot of VACUUM goes back to it.
NOW = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
SEEN_SINCE = """
SELECT pg_snapshot_xmin(pg_current_snapshot()) >= ?::xid8 AND NOT EXISTS (
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND age(backend_xmin) > age(?::xid8::xid))"""

# The index knows terms alone: one of them says which conversation it is, and no text has it.
# `seq + 0`, and no word about the conversation: the primary key looks as good to the planner,
# and would read the terms of all messages (100 ms a term in a chat of 100,000, not 0.4).
WITHIN = """
    SELECT w.seq FROM words w,
    (VALUES (?::bigint, ?::bigint, ?::bigint, ?)) AS wanted (place, first, last, term)
    WHERE w.terms @> ARRAY['#' || wanted.place, wanted.term]
    AND w.seq + 0 BETWEEN wanted.first AND wanted.last"""

TEXTS = TextIndex(
    insert="""
INSERT INTO words (conversation, seq, terms)
SELECT place, seq, string_to_array(terms, ' ') || ('#' || place)
FROM (VALUES (?::bigint, ?::bigint, ?)) AS new (place, seq, terms)""",
    find=f"""
SELECT coalesce(json_agg(seq), '[]')::text FROM ({WITHIN}
    ORDER BY w.seq DESC LIMIT ?) AS newest""",
    find_within=f"SELECT coalesce(json_agg(seq), '[]')::text FROM ({WITHIN}) AS found",
    find_all="""
SELECT coalesce(json_agg(place), '[]')::text FROM (
    SELECT conversation << 32 | seq AS place FROM words WHERE terms @> ARRAY[?::text, ?::text]
    ORDER BY conversation DESC, seq DESC LIMIT ?) AS newest""",
    remove="DELETE FROM words WHERE conversation = ?",
)


@cache
def in_dialect(sql: str) -> Any:
    """Return a statement with psycopg's placeholders; ours have neither % nor a quoted ?.

    What SQLite reads as bytes stays text, because bytes are sent in hexadecimal.
    """
    return BYTES.sub(r"\1", sql).replace("?", "%s")


def lock_key(name: str) -> int:
    """Return the number of an advisory lock for a name."""
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def all_seen(connection: PostgresConnection, patience: float) -> bool:
    """Wait until every open transaction sees what was committed so far; return whether all do."""
    ((now,),) = connection.rows(NOW)
    deadline = time.monotonic() + patience
    while not connection.rows(SEEN_SINCE, now, now)[0][0]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class PostgresConnection:
    """One connection to a server."""

    for_update = " FOR UPDATE"
    texts = TEXTS

    def __init__(self, session: psycopg.Connection[Row]) -> None:
        self.session = session
        self.written = 0
        """The number of statements that may have written."""

    def version(self) -> None:
        """Return None, because a server does not say whether anything was written."""

    def lock(self, names: Iterable[str]) -> None:
        """Wait until no other transaction holds one of these names, and hold them to the end."""
        # In one order for all, so that no two transactions wait for each other.
        for key in sorted(set(map(lock_key, names))):
            self.rows("SELECT pg_advisory_xact_lock(?)", key)

    def text(self, utf8: bytes) -> Value:
        """Return the text, because Postgres does not read bytes as text."""
        return utf8.decode()

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """Run a statement and return all its rows."""
        self.written += RETURNING in sql
        return self.session.execute(in_dialect(sql), values or None).fetchall()

    def run(self, sql: str, *values: Value) -> None:
        """Run a statement that returns no rows."""
        self.written += 1
        self.session.execute(in_dialect(sql), values or None)

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run a statement once for each row of values."""
        self.written += 1
        with self.session.cursor() as cursor:
            cursor.executemany(in_dialect(sql), rows)

    def close(self) -> None:
        """Close, whatever happened before."""
        with suppress(psycopg.Error):
            self.session.close()


class PostgresEngine:
    """Our tables in the schema `contextwright` of a database."""

    kind: Literal["postgres"] = "postgres"
    names_turns = True  # a commit whose answer is cut off is sent again

    def __init__(self, url: str, sync: Sync, steps: Sequence[Step] = STEPS) -> None:
        given = settings_of(url)
        self._address = make_conninfo("", **{**DEFAULTS, **given})
        self.where = f"database {given.get('dbname', 'postgres')!r}"  # never the password
        self.is_read_only = False
        self._set_up = SET_UP.format(commit="on" if sync == "full" else "off")
        self._readers = Pool(self._reader, PostgresConnection.close, CONNECTIONS)
        self._writers = Pool(self._connect, PostgresConnection.close, CONNECTIONS)
        self._writer = Writer(self._transact)
        try:
            self._insist(lambda: self._prepare(steps), OPENING)
        except BaseException:
            self.close()
            raise

    # --- transactions ------------------------------------------------------------------------

    def read(self, work: Work[Result]) -> Result:
        """Run read-only work on one unchanging view of the store."""

        def attempt() -> Result:
            with self._readers.borrowed() as connection:
                try:
                    return work(connection)
                finally:
                    with suppress(psycopg.Error):  # the error of the work is the one that counts
                        connection.session.rollback()

        return self._insist(attempt, PATIENCE)

    def write(self, work: Work[Result], order: str = "") -> Result:
        """Run work in a transaction that it may share, and return when it is durable."""
        return self._writer.write(work, order)

    def write_each(self, works: Sequence[tuple[str, Work[Result]]]) -> Outcomes[Result]:
        """Run several works in one transaction; each fails alone."""
        return self._writer.write_each(works)

    def write_alone(self, work: Work[Result]) -> Result:
        """Run work that cannot be repeated, in its own transaction.

        Until the work begins, a lost connection is replaced, as one that a restart left behind.
        """
        has_begun = False

        def attempt() -> Result:
            nonlocal has_begun
            with self._writers.borrowed() as connection, connection.session.transaction():
                has_begun = True
                return work(connection)

        return self._insist(attempt, PATIENCE, lambda: not has_begun)

    def write_much(self, work: Work[Result]) -> Result:
        """Run work that may fill the store, in its own transaction."""
        return self.write_alone(work)

    def scrub(self) -> list[str]:
        """Rewrite the tables; others wait meanwhile."""
        remains = [
            "the server's write-ahead log, its archive, standbys and the dead rows of its "
            "statistics, until they are recycled"
        ]
        if not self._insist(self._vacuum, PATIENCE):
            remains.append("what a transaction that is still open may see: scrub again")
        return remains

    def _vacuum(self) -> bool:
        """Rewrite the tables; return whether no open transaction sees what was removed."""
        with self._writers.borrowed() as connection:
            session = connection.session
            session.autocommit = True
            try:
                is_seen = all_seen(connection, SCRUBBING)
                for (table,) in connection.rows(TABLES):
                    connection.run(f"VACUUM (FULL, ANALYZE) {table}")  # statistics quote
                return is_seen
            finally:
                session.autocommit = False

    def backups(self) -> list[str]:
        """Return none, because copies of a server are made elsewhere."""
        return []

    def close(self) -> None:
        """Release everything."""
        self._readers.close()
        self._writers.close()

    def _transact(self, entries: Sequence[Entry]) -> None:
        """Run all entries in one transaction; repeat it until it is known to be stored."""

        def attempt() -> None:
            with self._writers.borrowed() as connection:
                try:
                    for entry in entries:
                        entry.do(connection)
                except ContextwrightError:
                    connection.session.rollback()
                    raise
                connection.session.commit()

        self._insist(attempt, PATIENCE)

    def _insist(
        self,
        attempt: Callable[[], Result],
        patience: float,
        may_repeat: Callable[[], bool] = lambda: True,
    ) -> Result:
        """Try until the server is there again, as long as the attempt may be repeated."""
        deadline = time.monotonic() + patience
        while True:
            try:
                return attempt()
            except psycopg.Error as error:
                is_over = not may_repeat() or time.monotonic() > deadline
                if is_over or not is_passing(error):
                    raise self._explained(error) from error
            except UNREADABLE as error:
                raise unreadable_row(self.where) from error
            # All other connections were open to the server that is gone.
            self._readers.drop()
            self._writers.drop()
            time.sleep(random.uniform(0.02, 0.1))

    # --- opening -----------------------------------------------------------------------------

    def _connect(self) -> PostgresConnection:
        """Open a connection that writes."""
        session = psycopg.connect(self._address)
        try:
            session.execute(in_dialect(self._set_up))
            session.commit()
            # A writer that waited for a conversation's row has to see what was added meanwhile.
            session.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            encoding = session.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise StoreError(f"{self.where} is encoded in {encoding}", hint="it has to be UTF8")
        except BaseException:
            session.close()
            raise
        return PostgresConnection(session)

    def _reader(self) -> PostgresConnection:
        """Open a connection that cannot write, and sees one moment per transaction."""
        connection = self._connect()
        connection.session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.session.read_only = True
        return connection

    def _prepare(self, steps: Sequence[Step]) -> None:
        """Migrate the tables to this release; one process does, while others wait."""
        with self._writers.borrowed() as connection, connection.session.transaction():
            self.is_read_only = connection.rows("SHOW transaction_read_only") == [("on",)]
            if not self._lacking(connection, steps):
                return
            connection.run("SELECT pg_advisory_xact_lock(?)", LOCK)
            lacking = self._lacking(connection, steps)  # again: another may have been faster
            connection.run("CREATE SCHEMA IF NOT EXISTS contextwright")
            connection.run("CREATE TABLE IF NOT EXISTS version (number bigint NOT NULL)")
            for step in lacking:
                connection.run(step.postgres)
                if step.fill is not None:
                    step.fill(connection)
            connection.run("DELETE FROM version")
            connection.run("INSERT INTO version VALUES (?)", len(steps))

    def _lacking(self, connection: PostgresConnection, steps: Sequence[Step]) -> Sequence[Step]:
        """Return the steps these tables still need, if they are ours."""
        tables = connection.rows(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'contextwright'"
        )
        if not tables:
            return steps
        if ("version",) not in tables:
            where = f"the schema contextwright of {self.where}"
            raise UnknownSchema(f"{where} is not a contextwright store")
        return steps_after(connection.rows("SELECT number FROM version")[0][0], steps, self.where)

    def _explained(self, error: psycopg.Error) -> StoreError:
        """Translate an error of PostgreSQL, without its details, because they may quote data."""
        errors = psycopg.errors
        said = (error.diag.message_primary or str(error).split("\n", 1)[0])[:200]
        match error:
            case errors.LockNotAvailable():
                hint = "another process holds a transaction open"
                return StoreBusy(f"{self.where} has been busy for a minute", hint=hint)
            case errors.DiskFull():
                return StoreFull(f"no room in {self.where}", hint="free some space and try again")
            case _ if is_passing(error):
                hint = "is the server running, and the URL right?"
                return StoreLost(f"no connection to {self.where}: {said}", hint=hint)
            case _:
                return StoreError(f"{self.where}: {said}")


def settings_of(url: str) -> dict[str, Any]:
    """Return the settings of a URL.

    Raises:
        UsageError: it cannot be read. The error quotes nothing of it: a part of a password that
            is not percent-encoded looks like a host or a port.
    """
    hint = "postgresql://user:password@host/database, with a percent-encoded password"
    try:
        given: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.Error:
        raise UsageError("this is not a valid Postgres URL", hint=hint) from None
    hosts, ports = str(given.get("host", "")), str(given.get("port", ""))
    if "@" in hosts or (ports and not ports.replace(",", "").isdecimal()):
        raise UsageError("this is not a valid Postgres URL", hint=hint)
    return given


def is_passing(error: psycopg.Error) -> bool:
    """Whether an error is temporary: a lost connection, a restart, a deadlock."""
    if isinstance(error, psycopg.errors.LockNotAvailable | psycopg.errors.DiskFull):
        return False
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
