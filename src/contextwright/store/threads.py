"""Threads in which the calls of an `AsyncStore` run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import ParamSpec, TypeAlias, TypeVar

from contextwright.errors import UsageError
from contextwright.store.rows.messages import PAGE
from contextwright.store.store import Store

__all__ = ["Opening", "StoreThreads"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Item = TypeVar("Item")
Opening: TypeAlias = Callable[[], Awaitable[Store]]


class StoreThreads:
    """A store that opens at the first call, and threads to call it in."""

    def __init__(self, open: Opening, threads: ThreadPoolExecutor) -> None:
        self._open, self._threads = open, threads
        self._opening = asyncio.Lock()
        self._store: Store | None = None

    async def store(self) -> Store:
        """Return the store itself, for what needs its own thread."""
        async with self._opening:
            if self._store is None:
                self._store = await self._open()
            return self._store

    async def run(
        self,
        function: Callable[Arguments, Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Call a function in one of the store's threads."""
        loop = asyncio.get_running_loop()
        try:
            called = loop.run_in_executor(self._threads, lambda: function(*arguments, **named))
        except RuntimeError:  # the threads accept no more work
            raise UsageError("the store is closed") from None
        return await called

    async def each(self, items: Iterator[Item]) -> AsyncIterator[Item]:
        """Yield items that are fetched in a thread, some at a time."""
        while page := await self.run(lambda: list(islice(items, PAGE))):
            for item in page:
                yield item
