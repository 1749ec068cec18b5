"""A pool of open connections."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Generic, TypeVar

from contextwright.errors import ContextwrightError, UsageError

__all__ = ["Pool"]

Opened = TypeVar("Opened")


class Pool(Generic[Opened]):
    """Open connections, each used by one thread at a time; opens one when none is free."""

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
        """Lend a connection; after an error that is not ours it is not used again."""
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
        """Keep a connection for the next user."""
        self._free.append(connection)
        if self._is_closed:
            self.drop()

    def drop(self) -> None:
        """Close idle connections."""
        while self._free:
            try:
                connection = self._free.pop()
            except IndexError:
                return
            self._close(connection)

    def close(self) -> None:
        """Close everything; connections in use are closed when they are returned."""
        self._is_closed = True
        if self._process == os.getpid():
            self.drop()
