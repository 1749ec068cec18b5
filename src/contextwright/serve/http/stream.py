"""An answer that is sent in pieces, and lets go of its source whatever becomes of the client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from contextwright.errors import ProviderError

__all__ = ["CLOSE", "BrokenOff", "StreamedAnswer", "hang_up", "while_connected"]

Value = TypeVar("Value")

CLOSE = "contextwright.close"
"""The extension of ASGI with which an application closes the connection to its client: the
server's transport.
"""
CLOSING_SECONDS = 5.0
"""How long a client may take to read the rest of what it was sent."""
ABORTING_SECONDS = 1.0

log = logging.getLogger("contextwright.serve")


class BrokenOff(ProviderError):
    """The upstream broke off in the middle of an answer."""

    def __init__(self, message: str, *, is_sent: bool = False) -> None:
        super().__init__(message, kind="connection")
        self.is_sent = is_sent
        """Whether the client got the error in the answer itself."""


class StreamedAnswer(Response):
    """Sends chunks as they come.

    At the end, also one before the first chunk, it closes what is `held`: a generator that nobody
    has started cannot do that itself. If the chunks end in `BrokenOff`, the client's connection
    breaks off too, unless the error was sent.
    """

    def __init__(
        self,
        chunks: AsyncGenerator[bytes, None],
        status: int = 200,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        super().__init__(None, status)
        # aiohttp reads headers in this way: bytes that are not UTF-8 become surrogates.
        self.raw_headers = [
            (name.lower().encode(), value.encode(errors="surrogateescape"))
            for name, value in headers
        ]
        self.chunks = chunks
        self.held = AsyncExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, until its end or until the client goes away."""
        async with self.held:
            try:
                await while_connected(receive, self.pass_on(send))
            except ClientDisconnect:
                pass
            except BrokenOff as error:
                await hang_up(scope, receive, error)

    async def pass_on(self, send: Send) -> None:
        """Send everything."""
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        try:
            async for chunk in self.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except BrokenOff as error:
            log.warning("%s", error)
            if not error.is_sent:
                raise
        finally:
            await self.chunks.aclose()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def while_connected(receive: Receive, work: Coroutine[Any, Any, Value]) -> Value:
    """Do some work for a client whose request has been read; cancel it if the client goes away.

    Raises:
        ClientDisconnect: the client went away.
    """
    working = asyncio.current_task()
    assert working is not None
    gone = False

    async def watch() -> None:
        nonlocal gone
        await disconnected(receive)
        gone = True
        working.cancel()

    watching = asyncio.create_task(watch())
    try:
        return await work
    except asyncio.CancelledError:
        if gone and not working.uncancel():
            raise ClientDisconnect from None
        raise
    finally:
        watching.cancel()


async def disconnected(receive: Receive) -> None:
    """Come back when the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def hang_up(scope: Scope, receive: Receive, error: BaseException) -> None:
    """Close the connection in the middle of an answer, after what was sent before.

    Raises:
        BaseException: the `error`, if the server has no other way to close it.
    """
    transport = scope.get("extensions", {}).get(CLOSE)
    if transport is None:
        raise error
    transport.close()
    # A server complains about an answer without an end while its connection is open.
    try:
        await asyncio.wait_for(disconnected(receive), CLOSING_SECONDS)
    except (TimeoutError, asyncio.CancelledError):  # the client does not read, or the server ends
        transport.abort()
        with suppress(TimeoutError):
            await asyncio.wait_for(disconnected(receive), ABORTING_SECONDS)
