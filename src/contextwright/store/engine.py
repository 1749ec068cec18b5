"""What a database has to offer: transactions over one small set of statements.

All SQL of the store is written once, with `?` for values, in the part of the language that SQLite
and Postgres share. An engine opens connections, runs work in transactions, and turns what its
database says into our errors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from contextwright.errors import ContextwrightError, UsageError, shown

__all__ = [
    "Connection",
    "Engine",
    "Outcomes",
    "Pool",
    "Row",
    "Sync",
    "TextIndex",
    "Value",
    "Work",
    "file_of",
    "is_server",
    "open_engine",
]

Value: TypeAlias = str | int | bytes | None
Row: TypeAlias = tuple[Any, ...]
Sync: TypeAlias = Literal["full", "fast"]
Result = TypeVar("Result")
Opened = TypeVar("Opened")


class TextIndex(Struct, frozen=True):
    """The statements about indexed terms: the only ones that each database has its own of."""

    insert: str
    """Conversation, number of the message, its terms with blanks between them."""
    find: str
    """Conversation, first and last message, one term, how many: a list of the newest numbers, as
    JSON. Thousands of rows would take twice as long to read."""
    find_all: str
    """Two terms that a message has both, how many: conversations and numbers, the newest."""
    remove: str
    """Conversation."""


class Connection(Protocol):
    """A transaction, as the work inside it sees it."""

    @property
    def texts(self) -> TextIndex:
        """How this database keeps terms and finds them."""
        ...

    @property
    def for_update(self) -> str:
        """What follows a SELECT so that nobody else changes the row until the end."""
        ...

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """Run a statement and give all its rows."""
        ...

    def run(self, sql: str, *values: Value) -> None:
        """Run a statement that gives no rows."""
        ...

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run a statement once for each row of values."""
        ...


Work: TypeAlias = Callable[[Connection], Result]
"""Statements that belong together. Work that raises one of our errors has written nothing yet;
doing it a second time has the same effect as doing it once."""

Outcomes: TypeAlias = list[Result | ContextwrightError]
"""What became of several works: what each gave, or its error."""


class Engine(Protocol):
    """A database with our tables in it."""

    @property
    def kind(self) -> Literal["sqlite", "postgres"]:
        """Which one it is."""
        ...

    @property
    def where(self) -> str:
        """The file, or the database, without a password."""
        ...

    @property
    def names_turns(self) -> bool:
        """Whether a turn without a key needs one, because an answer can get lost on its way."""
        ...

    def read(self, work: Work[Result]) -> Result:
        """Do work that only looks, on one unchanging view of the store."""
        ...

    def write(self, work: Work[Result], order: str = "") -> Result:
        """Do work in a transaction, and come back when it is durable.

        Work that waits at the same time shares one transaction, sorted by `order`.
        """
        ...

    def write_each(self, works: Sequence[tuple[str, Work[Result]]]) -> Outcomes[Result]:
        """Do several works, each with its order, in one transaction; what fails, fails alone."""
        ...

    def write_alone(self, work: Work[Result]) -> Result:
        """Do work that cannot be done twice, in a transaction of its own."""
        ...

    def close(self) -> None:
        """Give everything back; a second time does nothing."""
        ...


def open_engine(place: str | Path, sync: Sync) -> Engine:
    """The engine for a path or a URL, with its tables as this release wants them."""
    if sync not in ("full", "fast"):
        raise UsageError(f"sync cannot be {shown(sync)}", hint="full or fast")
    address = os.fspath(place)
    if is_server(address):
        from contextwright.store.postgres import PostgresEngine

        return PostgresEngine(address, sync)
    from contextwright.store.sqlite import SqliteEngine

    return SqliteEngine(file_of(address), sync)


def is_server(address: str) -> bool:
    """Whether an address is that of a database server, and not of a file."""
    return address.startswith(("postgresql://", "postgres://"))


def is_utf8(text: str) -> bool:
    """Whether a text has no half of a surrogate pair, as names of files may that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def file_of(address: str) -> str:
    """The path of an SQLite file."""
    path = address.removeprefix("sqlite://") if address.startswith("sqlite://") else address
    if path.startswith("/") and address.startswith("sqlite:///"):
        path = path[1:] or path  # sqlite:///chat.db is beside us, sqlite:////chat.db at the root
    is_name = path not in ("", ":memory:") and "\0" not in path and is_utf8(path)
    if "://" in path or not is_name:
        hint = "a file, or a URL such as postgresql://host/database"
        raise UsageError(f"no store can be at {shown(path)}", hint=hint)
    return path


class Pool(Generic[Opened]):
    """Open connections, each used by one thread at a time; opened when none is free."""

    def __init__(
        self, connect: Callable[[], Opened], close: Callable[[Opened], None], most: int
    ) -> None:
        self._connect, self._close = connect, close
        self._room = BoundedSemaphore(most)
        self._free: list[Opened] = []
        self._process = os.getpid()
        self._is_closed = False

    @contextmanager
    def borrowed(self) -> Generator[Opened]:
        """A connection; after an error that is not ours it is not used again."""
        if self._is_closed:
            raise UsageError("the store is closed")
        if self._process != os.getpid():
            hint = "open it after the fork, in each process"
            raise UsageError("the store was opened in another process", hint=hint)
        with self._room:
            try:
                connection = self._free.pop()
            except IndexError:
                connection = self._connect()
            try:
                yield connection
            except ContextwrightError:
                self._give_back(connection)
                raise
            except BaseException:
                self._close(connection)
                raise
            self._give_back(connection)

    def _give_back(self, connection: Opened) -> None:
        """Keep a connection for the next who wants one."""
        self._free.append(connection)
        if self._is_closed:
            self.drop()

    def drop(self) -> None:
        """Close what nobody uses."""
        while self._free:
            try:
                connection = self._free.pop()
            except IndexError:
                return
            self._close(connection)

    def close(self) -> None:
        """Close everything, what is in use when it comes back."""
        self._is_closed = True
        if self._process == os.getpid():
            self.drop()
