"""An HTTP client: bytes in; status, headers and bytes out as they arrive, uninterpreted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from contextwright.errors import MissingExtra, ProviderError, UsageError, in_one_line

if TYPE_CHECKING:
    import ssl

    import aiohttp

__all__ = ["HttpClient", "HttpResponse", "require_aiohttp"]

CONNECT_SECONDS, READ_SECONDS = 10.0, 300.0
MAX_HEADER_BYTES = 64 << 10
"""The size of a response's header; aiohttp would take 8 KB, and the vendors' clients take more."""
ADDED = ("accept", "content-type", "user-agent")
"""Headers that aiohttp would add where there are none."""
CROSSING_SECONDS = 1.0
"""How soon the end of an idle connection shows. Later, the host may have been at work on the
request, and sending it again could cost twice.
"""


class HttpResponse:
    """A response that has begun to arrive: its status, its headers, and its body in chunks.

    Its opener closes it; closing it before its end cancels the request.
    """

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        end_with_connection(response)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the bytes as they arrive, including all that came before a broken connection.

        Nothing is read ahead of the caller beyond the buffer of the connection.

        Raises:
            ProviderError: the connection broke; the bytes before are yielded first.
        """
        client = require_aiohttp()
        content = self._response.content
        try:
            async for piece in content.iter_any():
                yield piece
        except (client.ClientError, TimeoutError, OSError) as error:
            # aiohttp raises before it returns buffered bytes, and has no public way to get them.
            rest = content._read_nowait(-1)  # pyright: ignore[reportPrivateUsage]
            if rest:
                yield rest
            raise broken_off(error) from None

    async def read(self, limit: int, seconds: float) -> bytes:
        """Return the first bytes of the body; fewer if it breaks off, or takes longer."""
        client = require_aiohttp()
        pieces: list[bytes] = []
        with suppress(client.ClientError, TimeoutError, OSError):
            async with asyncio.timeout(seconds):
                while limit > 0 and (piece := await self._response.content.read(limit)):
                    pieces.append(piece)
                    limit -= len(piece)
        return b"".join(pieces)

    async def drain(self, seconds: float) -> None:
        """Wait a moment for the end of the body, because only then the connection is used again."""
        client = require_aiohttp()
        content = self._response.content
        with suppress(client.ClientError, TimeoutError, OSError):
            async with asyncio.timeout(seconds):
                while not content.at_eof():
                    await content.readany()

    def close(self) -> None:
        """Close the connection."""
        self._response.close()


class HttpClient:
    """Connections to any number of hosts. Use it in `async with`, in one event loop.

    Redirects are not followed, because they would send a key to another host. Cookies are not kept,
    because a host's answer to one client must not reach another. Proxies come from the environment.
    Without `decompress` the bytes are passed on as on the wire, and a request gets no `accept`,
    `content-type` or `user-agent` but its own.
    """

    def __init__(
        self,
        *,
        connect_timeout: float = CONNECT_SECONDS,
        read_timeout: float = READ_SECONDS,
        ssl_context: ssl.SSLContext | None = None,
        decompress: bool = True,
    ) -> None:
        self.timeouts = (connect_timeout, read_timeout)
        self.ssl_context = ssl_context
        self.decompress = decompress
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[tuple[str, str], str | None] = {}

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
            UsageError: the address or a header is not valid.
        """
        client = require_aiohttp()
        from contextwright.providers.connections import REUSED

        if self._session is None:
            self._session = self._new_session()
        while True:
            try:
                response = await self._session.request(
                    method,
                    url,
                    data=body,
                    headers=headers,
                    allow_redirects=False,
                    ssl=self.ssl_context or True,
                    proxy=self._proxy_for(url),
                )
            except (client.ServerDisconnectedError, client.ClientOSError) as error:
                reused = REUSED.get()
                if reused is None or monotonic() - reused > CROSSING_SECONDS:
                    raise broken(error) from None
            except (client.ClientError, TimeoutError, OSError) as error:
                raise broken(error) from None
            except ValueError as error:
                raise UsageError(f"the request cannot be sent: {in_one_line(error)}") from None
            else:
                return HttpResponse(response)

    def _new_session(self) -> aiohttp.ClientSession:
        client = require_aiohttp()
        from contextwright.providers.connections import Connections

        connect, read = self.timeouts
        return client.ClientSession(
            connector=Connections(),
            timeout=client.ClientTimeout(total=None, sock_connect=connect, sock_read=read),
            auto_decompress=self.decompress,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            cookie_jar=client.DummyCookieJar(),
            skip_auto_headers=() if self.decompress else ADDED,
        )

    def _proxy_for(self, url: str) -> str | None:
        """Return the proxy that the environment names for a host, looked up once.

        Without a scheme it is one of HTTP, as for curl. aiohttp would ask for it, and for passwords
        in `.netrc`, in a thread at every request.
        """
        from urllib.request import getproxies, proxy_bypass

        parts = urlsplit(url)
        key = (parts.scheme, parts.netloc)
        if key not in self._proxies:
            bypassed = proxy_bypass(parts.hostname or "")
            proxy = None if bypassed else getproxies().get(parts.scheme)
            self._proxies[key] = f"http://{proxy}" if proxy and "://" not in proxy else proxy
        return self._proxies[key]

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def end_with_connection(response: aiohttp.ClientResponse) -> None:
    """Break a body off when its connection is lost.

    aiohttp does so itself, except after a malformed chunk: its reader would wait forever.
    """
    client, content, connection = require_aiohttp(), response.content, response.connection
    protocol = None if connection is None else connection.protocol
    closed = None if protocol is None else protocol.closed
    if closed is None:
        return  # all of it is here

    def end(_: object) -> None:
        if not content.is_eof() and content.exception() is None:
            content.set_exception(client.ClientPayloadError("the connection was lost"))

    def forget() -> None:
        closed.remove_done_callback(end)

    closed.remove_done_callback(note_end)  # of an answer before this one
    closed.add_done_callback(note_end)
    closed.add_done_callback(end)
    content.on_eof(forget)


def note_end(closed: asyncio.Future[None]) -> None:
    """Take note of why a connection ended; asyncio would log an error that nobody asks for."""
    if not closed.cancelled():
        closed.exception()


def broken(error: Exception) -> ProviderError:
    """Return the error for a connection that failed or broke, without words of the host's."""
    client = require_aiohttp()
    is_refusal = isinstance(error, client.ClientHttpProxyError)
    if isinstance(error, client.ClientResponseError) and not is_refusal:
        message: str = getattr(error, "message", "")
        reason = message.partition(":")[0]  # behind it is what the host sent
        return ProviderError(f"the answer is not HTTP: {reason}", kind="connection")
    return ProviderError(in_one_line(error), kind="connection")


def broken_off(error: Exception) -> ProviderError:
    """Return the error for an answer that does not come to its end."""
    slow = isinstance(error, TimeoutError)
    reason = "the provider sent nothing for too long" if slow else "the connection broke"
    return ProviderError(f"the answer broke off: {reason}", kind="connection")


def require_aiohttp() -> Any:
    """Import the HTTP client on first use."""
    try:
        import aiohttp
    except ImportError as error:
        raise MissingExtra("asking a provider", "ask") from error
    return aiohttp
