"""Asynchronous work in a program without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator
from typing import Any, TypeVar, cast

from contextwright.errors import UsageError

__all__ = ["OwnLoop"]

Item = TypeVar("Item")
END = object()
"""The end of a generator."""


class OwnLoop:
    """A private event loop, which runs only while someone waits for it."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def iterate(self, items: AsyncGenerator[Item, None]) -> Iterator[Item]:
        """Yield the items of an asynchronous generator; nothing is read ahead.

        Closing the iterator, or Ctrl-C, closes the generator.

        Raises:
            UsageError: an event loop is running in this thread.
        """
        try:
            while True:
                item = self.run(following(items))
                if item is END:
                    return
                yield cast("Item", item)
        finally:
            # It still runs if Ctrl-C came twice; closing the loop ends it then.
            if not getattr(items, "ag_running", False):
                self.run(closed(items))

    def run(self, work: Coroutine[Any, Any, Item]) -> Item:
        """Run a coroutine to its end; Ctrl-C cancels it, and is raised when it has ended.

        Raises:
            UsageError: an event loop is running in this thread.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._runner = self._runner or asyncio.Runner()
            return self._runner.run(work)
        work.close()
        raise UsageError("an event loop is running here", hint="use the asynchronous calls")

    def close(self) -> None:
        """Close the loop."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None


async def following(items: AsyncGenerator[Item, None]) -> Item | object:
    """Return the next item, or `END`, because a coroutine must not raise `StopAsyncIteration`."""
    return await anext(items, END)


async def closed(items: AsyncGenerator[Any, None]) -> None:
    """Close a generator."""
    await items.aclose()
