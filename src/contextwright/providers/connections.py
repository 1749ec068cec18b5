"""Connections that are used for one request after another."""

from __future__ import annotations

from contextvars import ContextVar
from time import monotonic
from typing import Any

from aiohttp import TCPConnector

__all__ = ["REUSED", "Connections"]

REUSED: ContextVar[float | None] = ContextVar("reused", default=None)
"""When this task's request took a connection that others had used before; None if it did not."""


class Connections(TCPConnector):
    """Connections to any number of hosts, without those that hold an answer nobody asked for.

    A host that sends more than its answer's `content-length` may leave such an answer behind. It
    would be taken for that of the next request, which may be another client's.
    """

    async def _get(self, key: Any, traces: Any) -> Any:
        # aiohttp asks this only when a request is over: https://github.com/aio-libs/aiohttp/issues/13656
        for connection, _ in self._conns.get(key, ()):
            if connection.should_close:
                connection.close()
        found = await super()._get(key, traces)
        # A trace of aiohttp's would tell it too, and take a tenth of the time of a request.
        REUSED.set(None if found is None else monotonic())
        return found
