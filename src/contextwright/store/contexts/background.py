"""Work in the background: one piece after another, in a thread of the store."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from contextwright.errors import ContextwrightError

__all__ = ["Background"]


class Background:
    """A thread that starts with the first piece of work; per key, one piece runs at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._under_way: dict[Hashable, Future[str]] = {}
        self._failures: dict[Hashable, str] = {}
        self.refusals: dict[Hashable, tuple[int, str]] = {}
        """The last message of the summary that a summariser failed at, and the reason, by key: it
        is not asked for the same summary with every request.
        """
        self._is_closed = False

    def start(self, key: Hashable, work: Callable[[], str]) -> None:
        """Start work that returns the reason it failed, or an empty string.

        Does nothing while work with the same key is running.
        """
        with self._lock:
            if key not in self._under_way and not self._is_closed:
                self._thread = self._thread or ThreadPoolExecutor(1, "contextwright-background")
                self._under_way[key] = self._thread.submit(self._done, key, work)

    def failure(self, key: Hashable) -> str:
        """Return why the last work with this key failed; empty if it did not."""
        return self._failures.get(key, "")

    def wait(self) -> None:
        """Wait until nothing is running."""
        while pending := [*self._under_way.values()]:
            futures.wait(pending)

    def close(self) -> None:
        """Accept no more work, and wait for what was accepted."""
        with self._lock:
            self._is_closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown()

    def _done(self, key: Hashable, work: Callable[[], str]) -> str:
        """Do the work; an error of the store counts as a failure.

        In any case the key is released, so that the next build may try again.
        """
        failure = "it was interrupted"
        try:
            failure = work()
        except ContextwrightError as error:
            failure = f"it failed: {error}"
        finally:
            with self._lock:
                self._under_way.pop(key, None)
                self._failures.pop(key, None)
                if failure:
                    self._failures[key] = failure
        return failure
