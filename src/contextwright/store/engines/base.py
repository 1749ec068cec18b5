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
    "Connection",
    "Engine",
    "Outcomes",
    "Row",
    "Sync",
    "TextIndex",
    "UNREADABLE",
    "Value",
    "Work",
    "unreadable_row",
]

Value: TypeAlias = str | int | bytes | None
Row: TypeAlias = tuple[Any, ...]
Sync: TypeAlias = Literal["full", "fast"]
Result = TypeVar("Result")

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)
"""The errors of rows that changed on disk; values that callers pass are checked before."""


def unreadable_row(where: str) -> StoreError:
    """Return the error for a row that changed on disk."""
    return StoreError(f"a row of {where} is damaged", hint="cw doctor names it")


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
        """How this database stores and finds terms."""
        ...

    @property
    def for_update(self) -> str:
        """The end of a SELECT that locks its rows until the transaction ends."""
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
"""The outcome of several works: each one's result, or its error."""


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

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written: a file without permission, a standby server."""
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

    def scrub(self) -> list[str]:
        """Rewrite the files, so that nothing of what was removed is left in them.

        Takes as long as writing the whole database. Returns what it could not reach, in words.
        """
        ...

    def backups(self) -> list[str]:
        """The copies that were put beside the file."""
        ...

    def close(self) -> None:
        """Give everything back; a second time does nothing."""
        ...
