"""Connections that are used for one request after another."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from time import monotonic
from typing import Any

from aiohttp import TCPConnector
from aiohttp.client_proto import ResponseHandler

__all__ = ["REUSED", "Connections"]

REUSED: ContextVar[float | None] = ContextVar("reused", default=None)
"""When this task's request took a connection that others had used before; None if it did not."""


HEAD_END = b"\r\n\r\n"


class Connection(ResponseHandler):
    """A connection that takes the head of an answer first, and then what came with it.

    aiohttp would give an answer up for bytes behind its end, if all of them came together. They
    end the connection, but the answer is whole.
    """

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        if self._payload is None or self._payload.is_eof():
            head, end, rest = data.partition(HEAD_END)
            if rest:
                super().data_received(head + end)
                data = rest
        super().data_received(data)


class Connections(TCPConnector):
    """Connections to any number of hosts, without those that hold an answer nobody asked for.

    A host that sends more than its answer's `content-length` may leave such an answer behind. It
    would be taken for that of the next request, which may be another client's.
    """

    def __init__(self) -> None:
        # How many requests run at once is decided by those who send them.
        super().__init__(limit=0)  # pyright: ignore[reportUnknownMemberType]
        self._factory = partial(Connection, loop=self._loop)

    async def _get(self, key: Any, traces: Any) -> Any:
        # aiohttp asks this only when a request is over: https://github.com/aio-libs/aiohttp/issues/13656
        for connection, _ in self._conns.get(key, ()):
            if connection.should_close:
                connection.close()
        found = await super()._get(key, traces)
        # A trace of aiohttp's would tell it too, and take a tenth of the time of a request.
        REUSED.set(None if found is None else monotonic())
        return found
