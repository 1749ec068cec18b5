"""An HTTP client: bytes in; status, headers and bytes out as they arrive, uninterpreted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from contextwright.errors import MissingExtra, ProviderError, in_one_line

if TYPE_CHECKING:
    import ssl

    from contextwright.providers.connections import Connection
    from contextwright.providers.pool import Pool

__all__ = ["HttpClient", "HttpResponse", "require_http"]

CONNECT_SECONDS, READ_SECONDS = 10.0, 300.0
CROSSING_SECONDS = 1.0
"""How soon the end of an idle connection shows. Later, the host may have been at work on the
request, and sending it again could cost twice.
"""


class HttpResponse:
    """A response that has begun to arrive: its status, its headers, and its body in chunks.

    Its opener closes it; closing it before its end cancels the request.
    """

    def __init__(self, connection: Connection, release: Callable[[Connection], None]) -> None:
        self._connection: Connection | None = connection
        self._release = release
        self.status = connection.status
        self.raw_headers = connection.headers
        """As they were sent."""

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """By their names in lower case; several with one name are one list."""
        found: dict[str, str] = {}
        for raw_name, raw_value in self.raw_headers:
            name = raw_name.decode("latin-1").lower()
            value = raw_value.decode(errors="surrogateescape")
            found[name] = f"{found[name]}, {value}" if name in found else value
        return found

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the bytes as they arrive, including all that came before a broken connection.

        Nothing is read ahead of the caller beyond the buffer of the connection.

        Raises:
            ProviderError: the connection broke; the bytes before are yielded first.
        """
        try:
            while self._connection is not None and (piece := await self._connection.read()):
                yield piece
        except OSError as error:
            raise broken_off(error) from None
        self.close()

    async def read(self, limit: int) -> bytes:
        """Return the first bytes of the body; fewer if the connection breaks."""
        found = b""
        with suppress(OSError):
            while len(found) < limit and self._connection is not None:
                piece = await self._connection.read()
                if not piece:
                    break
                found += piece
        return found[:limit]

    async def drain(self, seconds: float) -> None:
        """Wait a moment for the end of the body, because only then the connection is used again."""
        with suppress(OSError):
            async with asyncio.timeout(seconds):
                while self._connection is not None and await self._connection.read():
                    pass

    def close(self) -> None:
        """Let go of the connection: it is used again if the answer came to its end."""
        if self._connection is not None:
            self._release(self._connection)
            self._connection = None


class HttpClient:
    """Connections to any number of hosts. Use it in `async with`, in one event loop.

    Redirects are not followed, because they would send a key to another host. Cookies are not kept,
    because a host's answer to one client must not reach another. Proxies come from the environment.
    A request has the headers that it is given, `host` and `content-length`.
    """

    def __init__(
        self,
        *,
        connect_timeout: float = CONNECT_SECONDS,
        read_timeout: float = READ_SECONDS,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.timeouts = (connect_timeout, read_timeout)
        self.ssl_context = ssl_context
        self._pools: dict[tuple[str, str], Pool] = {}

    async def open(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        method: str = "POST",
    ) -> HttpResponse:
        """Send a request; return when the status and the headers have arrived.

        Cancelling the call, or closing the response, ends the request at the host. A request that
        meets a connection which the host is just closing, because it was idle, is sent again.

        Raises:
            ProviderError: the host cannot be reached, of the kind `connection`.
        """
        try:
            pool = self._pool_for(url)
            head = pool.head_of(method, url, headers, body)
            while True:
                connection = pool.idle()
                reused = monotonic() if connection else None
                if connection is None:
                    async with asyncio.timeout(self.timeouts[0]):
                        connection = await pool.connect()
                try:
                    await connection.ask(head, body or b"", bodiless=method == "HEAD")
                except ConnectionResetError:
                    crossed = reused is not None and monotonic() - reused <= CROSSING_SECONDS
                    if not (crossed and connection.silent):
                        raise
                except BaseException:
                    connection.abort()
                    raise
                else:
                    return HttpResponse(connection, pool.release)
        except (OSError, UnicodeError) as error:
            raise broken(error) from None

    def _pool_for(self, url: str) -> Pool:
        """Return the connections to the host of a URL."""
        parts = urlsplit(url)
        key = (parts.scheme, parts.netloc)
        if key not in self._pools:
            self._pools[key] = require_http().pool_for(parts, self.timeouts[1], self.ssl_context)
        return self._pools[key]

    async def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def broken(error: Exception) -> ProviderError:
    """Return the error for a connection that failed or broke."""
    if isinstance(error, TimeoutError):
        return ProviderError("the host does not answer", kind="connection")
    own = isinstance(error, OSError) and error.errno is None
    return ProviderError(str(error) if own else in_one_line(error), kind="connection")


def broken_off(error: Exception) -> ProviderError:
    """Return the error for an answer that does not come to its end."""
    slow = isinstance(error, TimeoutError)
    reason = "nothing came for too long" if slow else "the connection broke"
    return ProviderError(f"the answer broke off: {reason}", kind="connection")


def require_http() -> Any:
    """Import what connections need on first use; it takes a while."""
    try:
        from contextwright.providers import pool
    except ImportError as error:
        raise MissingExtra("asking a provider", "ask") from error
    return pool
