"""Group commit: concurrent writers share one transaction, and so one sync."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from contextwright.errors import ContextwrightError, StoreBusy, StoreError, StoreLost
from contextwright.store.engines.base import Connection, Outcomes, Result, Work

__all__ = ["Entry", "Writer"]

LARGEST = 256
"""Maximum works in one transaction, so that the first does not wait too long for the last."""


class Entry:
    """Queued work, and its outcome."""

    def __init__(self, order: str, work: Work[Any]) -> None:
        self.order, self.work = order, work
        self.is_done = False
        self.result: Any = None
        self.error: ContextwrightError | None = None

    def do(self, connection: Connection) -> None:
        """Run the work; one of our errors is its own outcome, unless something was written.

        Raises:
            ContextwrightError: if the transaction has to be rolled back.
        """
        self.result, self.error = None, None
        written = connection.written
        try:
            self.result = self.work(connection)
        except ContextwrightError as error:
            if connection.written != written:
                raise
            self.error = error


class Writer:
    """One transaction at a time; work that arrives meanwhile shares the next.

    There is no extra thread: the first to arrive writes for all that wait, and the others find
    their work done when it is their turn.
    """

    def __init__(self, transact: Callable[[Sequence[Entry]], None]) -> None:
        self._transact = transact
        self._waiting: deque[Entry] = deque()
        self._lock = threading.Lock()

    def write(self, work: Work[Result], order: str) -> Result:
        """Do work, and return its result when it is durable."""
        entry = Entry(order, work)
        self._ensure([entry])
        if entry.error is not None:
            raise entry.error
        return entry.result

    def write_each(self, works: Sequence[tuple[str, Work[Result]]]) -> Outcomes[Result]:
        """Do several works in one transaction; what fails, fails alone."""
        entries = [Entry(order, work) for order, work in works]
        self._ensure(entries)
        return [entry.result if entry.error is None else entry.error for entry in entries]

    def _ensure(self, entries: Sequence[Entry]) -> None:
        """Ensure that these entries are done, by this thread or another."""
        self._waiting.extend(entries)
        with self._lock:
            while not all(entry.is_done for entry in entries):
                self._write_next()

    def _write_next(self) -> None:
        """Run what is queued, as one transaction."""
        batch: list[Entry] = []
        while self._waiting and len(batch) < LARGEST:
            batch.append(self._waiting.popleft())
        # A stable order for all processes prevents deadlocks; the turns of one conversation keep
        # their order.
        batch.sort(key=order_of)
        try:
            self._together(batch)
        except BaseException:
            interrupted = StoreError(
                "the write was interrupted before it was known to be stored",
                hint="send it again with the same key",
            )
            for entry in batch:
                entry.error = entry.error or interrupted
            raise
        finally:
            for entry in batch:
                entry.is_done = True

    def _together(self, batch: Sequence[Entry]) -> None:
        """Run one transaction for all; if it fails, one for each.

        So an entry that is too large for the disk, or that finds damage halfway, does not fail the
        others.
        """
        try:
            self._transact(batch)
        except (StoreBusy, StoreLost) as error:  # every entry would fail the same way
            for entry in batch:
                entry.error = error
        except ContextwrightError as error:
            if len(batch) == 1:
                batch[0].error = error
                return
            for entry in batch:
                self._together([entry])


def order_of(entry: Entry) -> str:
    """Return the sort key of entries."""
    return entry.order
