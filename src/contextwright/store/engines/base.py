"""The protocols of a database: an engine runs work in transactions over one set of statements.

All SQL of the store is written once, with `?` for values, in the part of the language that SQLite
and Postgres share. An engine opens connections, runs work in transactions, and translates the
errors of its database into ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from contextwright.errors import ContextwrightError, StoreError

__all__ = [
    "AS_BYTES",
    "Connection",
    "Engine",
    "Outcomes",
    "Row",
    "Sync",
    "TextIndex",
    "UNREADABLE",
    "Value",
    "Version",
    "Work",
    "unreadable_row",
]

Value: TypeAlias = str | int | bytes | None
Row: TypeAlias = tuple[Any, ...]
Version: TypeAlias = tuple[int, ...]
"""A value that changes whenever anything in a database does."""
Sync: TypeAlias = Literal["full", "fast"]
Result = TypeVar("Result")

AS_BYTES = "CAST({} AS BLOB)"
"""A text column as bytes where that takes less time: SQLite; Postgres gives the text."""

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)
"""The errors of rows that changed on disk; callers' values are checked before."""


def unreadable_row(where: str) -> StoreError:
    """Return the error for a row that changed on disk."""
    return StoreError(f"a row of {where} is damaged", hint="cw doctor names it")


class TextIndex(Struct, frozen=True):
    """The statements about indexed terms: the only ones that differ between databases."""

    insert: str
    """Conversation, number of the message, its terms separated by blanks."""
    find: str
    """Conversation, first and last message, one term, limit: a JSON list of the newest numbers,
    because thousands of rows would take twice as long to read.
    """
    find_within: str
    """Conversation, first and last message, one term: a JSON list of all numbers."""
    find_all: str
    """Two terms that a message must both have, limit: a JSON list of the newest messages, each as
    the number of its conversation, shifted by 32 bits, and its own.
    """
    remove: str
    """Conversation."""


class Connection(Protocol):
    """A transaction, for the work inside it."""

    @property
    def texts(self) -> TextIndex:
        """The statements of this database for terms."""
        ...

    @property
    def for_update(self) -> str:
        """The suffix of a SELECT that locks its rows until the transaction ends."""
        ...

    def version(self) -> Version | None:
        """Return the version of the data that this transaction sees; None if the database has none.

        Versions of several connections are never equal.
        """
        ...

    @property
    def written(self) -> int:
        """A number that grows with all that this connection writes."""
        ...

    def lock(self, names: Iterable[str]) -> None:
        """Wait until no other transaction holds one of these names, and hold them to the end."""
        ...

    def text(self, utf8: bytes) -> Value:
        """Return a text as the value of a `CAST(? AS TEXT)`, without coding it twice."""
        ...

    def rows(self, sql: str, *values: Value) -> list[Row]:
        """Run a statement and return all its rows."""
        ...

    def run(self, sql: str, *values: Value) -> None:
        """Run a statement that returns no rows."""
        ...

    def run_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run a statement once for each row of values."""
        ...


Work: TypeAlias = Callable[[Connection], Result]
"""Statements that belong together. What work writes before it raises an error is taken back; and
running it twice has the same effect as running it once.
"""

Outcomes: TypeAlias = list[Result | ContextwrightError]
"""The outcomes of several works: a result or an error each."""


class Engine(Protocol):
    """A database with our tables in it."""

    @property
    def kind(self) -> Literal["sqlite", "postgres"]:
        """The kind of database."""
        ...

    @property
    def where(self) -> str:
        """The file, or the database, without a password."""
        ...

    @property
    def names_turns(self) -> bool:
        """Whether a turn without a key needs one, because a response may be lost."""
        ...

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written: a file without permission, a standby server."""
        ...

    def read(self, work: Work[Result]) -> Result:
        """Run read-only work on one unchanging view of the store."""
        ...

    def write(self, work: Work[Result], order: str = "") -> Result:
        """Run work in a transaction, and return when it is durable.

        Concurrent work shares one transaction, sorted by `order`.
        """
        ...

    def write_each(self, works: Sequence[tuple[str, Work[Result]]]) -> Outcomes[Result]:
        """Run several works, each with its order, in one transaction; each fails alone."""
        ...

    def write_alone(self, work: Work[Result]) -> Result:
        """Run work that cannot be repeated, in its own transaction."""
        ...

    def write_much(self, work: Work[Result]) -> Result:
        """Run work that may fill the store, in its own transaction; others may have to wait."""
        ...

    def scrub(self) -> list[str]:
        """Rewrite the files, so that nothing of what was removed is left in them.

        Takes as long as writing the whole database. Returns a description of what it could not
        reach.
        """
        ...

    def backups(self) -> list[str]:
        """Return the backups next to the file."""
        ...

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        ...
