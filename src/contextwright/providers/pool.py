"""The connections to one host: those that wait for a request, and the heads of requests."""

from __future__ import annotations

import ssl
from asyncio import TimerHandle
from collections.abc import Mapping
from urllib.parse import SplitResult, quote, urlsplit
from urllib.request import getproxies, proxy_bypass

from contextwright.providers.connections import (
    Address,
    Connection,
    address_of,
    connected,
    verified,
)

__all__ = ["Pool", "pool_for", "verified"]

IDLE_SECONDS = 15.0
"""How long a connection waits for its next request."""
WITH_BODY = ("POST", "PUT", "PATCH")
"""Methods whose requests tell the length of a body that is empty, too."""
IN_TARGET = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
"""What stands in the target of a request as it is, beside letters and digits."""


class Pool:
    """A host, the way to it, and its idle connections."""

    def __init__(
        self,
        address: Address,
        proxy: Address | None,
        patience: float,
        context: ssl.SSLContext | None,
    ) -> None:
        self.address, self.proxy = address, proxy
        self.patience, self.context = patience, context
        self._idle: dict[Connection, TimerHandle] = {}
        """With what ends their wait."""

    def head_of(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> bytes:
        """Return the head of a request.

        Raises:
            OSError: it would not be the head of one request.
        """
        address, proxy, parts = self.address, self.proxy, urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [f"host: {address.name}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body or method in WITH_BODY:
            lines.append(f"content-length: {len(body or b'')}")
        if address.login and "authorization" not in headers:
            lines.append(f"authorization: {address.login}")
        if proxy is not None and address.scheme == "http":
            target = f"http://{address.name}{target}"
            lines += [f"proxy-authorization: {proxy.login}"] if proxy.login else []
        head = "\n".join((f"{method} {quote(target, IN_TARGET)} HTTP/1.1", *lines))
        if "\r" in head or "\0" in head or head.count("\n") != len(lines):
            raise OSError("a header has more than one line")
        return f"{head}\n\n".replace("\n", "\r\n").encode(errors="surrogateescape")

    def idle(self) -> Connection | None:
        """Return the connection that was used last; None if there is none."""
        while self._idle:
            connection, timer = self._idle.popitem()
            timer.cancel()
            if connection.is_reusable:
                return connection
        return None

    async def connect(self) -> Connection:
        """Return a new connection.

        Raises:
            OSError: the host cannot be reached.
        """
        return await connected(self.address, self.proxy, self.patience, self.context)

    def release(self, connection: Connection) -> None:
        """Keep a connection for the next request, if it can be used again."""
        if connection.is_reusable:
            timer = connection.loop.call_later(IDLE_SECONDS, self._forget, connection)
            self._idle[connection] = timer
        else:
            connection.abort()

    def _forget(self, connection: Connection) -> None:
        """Close a connection that nobody needs."""
        del self._idle[connection]
        connection.abort()

    def close(self) -> None:
        """Close the idle connections."""
        for connection, timer in self._idle.items():
            timer.cancel()
            connection.abort()
        self._idle.clear()


def pool_for(url: SplitResult, patience: float, context: ssl.SSLContext | None) -> Pool:
    """Return the connections to the host of a URL, through the proxy that the environment names.

    Raises:
        OSError: the address is not one.
    """
    address = address_of(url)
    named = None if proxy_bypass(address.host) else getproxies().get(url.scheme)
    if named is None:
        return Pool(address, None, patience, context)
    proxy = address_of(urlsplit(named if "://" in named else f"http://{named}"))
    return Pool(address, proxy, patience, context)
