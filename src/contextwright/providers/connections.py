"""Connections of HTTP/1.1 to hosts: one request after another, each answer taken apart as it comes.

A general client would cost a request more than all else that the gateway does for it.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from functools import cache
from socket import SO_KEEPALIVE, SOCK_STREAM, SOL_SOCKET
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult, unquote

import aiohappyeyeballs
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

__all__ = ["Address", "Connection", "address_of", "connected", "verified"]

MAX_UNREAD_BYTES = 1 << 16
"""Bytes of an answer that are read ahead of those who ask for it."""
MAX_HEAD_BYTES = 1 << 18
"""Bytes of an answer that may come before its body."""
NEXT_ADDRESS_SECONDS = 0.25
"""How long one address of a host is tried before the next one is tried beside it (RFC 8305)."""
SWITCHED = 101
"""The status of an answer behind which there is no HTTP any more."""
PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    """Where requests go."""

    scheme: str
    host: str
    port: int
    name: str
    """The host and perhaps its port, as requests name it."""
    login: str = ""
    """The name and password in it, as a header has them."""


class Connection(asyncio.Protocol):
    """A connection to a host; it holds one answer at a time."""

    transport: asyncio.Transport
    parser: HttpResponseParser

    def __init__(self, patience: float) -> None:
        self.loop = asyncio.get_running_loop()
        self.patience = patience
        """How long nothing may come, in seconds."""
        self.is_lost = False
        self.ended = True
        """Whether the answer is whole, or none is expected."""
        self._waiter: asyncio.Future[None] | None = None

    async def ask(self, head: bytes, body: bytes, *, bodiless: bool = False) -> None:
        """Send a request; come back when the head of its answer is here.

        A `bodiless` answer has no body, whatever its headers say: one to HEAD or CONNECT.

        Raises:
            OSError: the connection broke, the answer is not HTTP, or nothing came for too long.
        """
        self.parser = HttpResponseParser(self)
        # Small servers of models are written by hand.
        self.parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.headed, self.ended, self.keeps_alive = False, False, False
        self.broken: OSError | None = None
        self.silent = True
        """Whether nothing came yet."""
        self._bodiless = bodiless
        self._pieces: list[bytes] = []
        self._unread, self._paused = 0, False
        self.transport.writelines((head, body) if body else (head,))
        while not self.headed:
            if self.broken is not None:
                raise self.broken
            await self._more()

    async def read(self) -> bytes:
        """Return what came since the last call, when something came; nothing at the end.

        Raises:
            OSError: the connection broke; what came before is returned first.
        """
        while not self._pieces:
            if self.broken is not None:
                raise self.broken
            if self.ended:
                return b""
            await self._more()
        piece = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._unread = 0
        if self._paused and not self.transport.is_closing():
            self._paused = False
            self.transport.resume_reading()
        return piece

    @property
    def is_reusable(self) -> bool:
        """Whether the next request can be sent on it."""
        is_open = self.keeps_alive and not self.is_lost and not self.transport.is_closing()
        return is_open and self.ended and not self.transport.get_write_buffer_size()

    def abort(self) -> None:
        """Close it at once."""
        self.transport.abort()

    async def _more(self) -> None:
        """Come back when something came, or nothing will."""
        self._waiter = self.loop.create_future()
        timer = self.loop.call_later(self.patience, self._break, TimeoutError())
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _break(self, error: OSError) -> None:
        """Give the answer up, and the connection with it."""
        if not self.ended and self.broken is None:
            self.broken = error
        self.keeps_alive = False
        self.transport.abort()
        self._wake()

    # --- called by the event loop ------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        if self.ended:  # nobody asked for it
            self.abort()
            return
        self.silent = False
        try:
            self.parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._break(ConnectionError("the answer is not HTTP"))
        if not self.headed:
            self._unread += len(data)
            if self._unread > MAX_HEAD_BYTES:
                self._break(ConnectionError("the head of the answer is too long"))
        elif self._unread > MAX_UNREAD_BYTES and not (self.ended or self.transport.is_closing()):
            self._paused = True
            self.transport.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Notice the end."""
        self.is_lost = True
        if self.ended:
            return
        if exc is None and self.headed and self._ends_with_connection():
            self.ended = True
            self._wake()
        else:
            self._break(ConnectionResetError("the connection was closed"))

    def _ends_with_connection(self) -> bool:
        """Whether only the end of the connection ends the answer."""
        names = {name.lower() for name, _ in self.headers}
        return names.isdisjoint((b"content-length", b"transfer-encoding"))

    # --- called by the parser ----------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Refuse an answer behind the answer."""
        if self.ended:
            raise ValueError("nobody asked for it")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Begin an answer, or pass over one that only says that it will come."""
        self.status = self.parser.get_status_code()
        if self.status < 200 and self.status != SWITCHED:
            self.headers = []
        else:
            self.headed, self._unread = True, 0
            self.ended = self._bodiless or self.status == SWITCHED

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        if not self.ended:
            self._pieces.append(body)
            self._unread += len(body)

    def on_message_complete(self) -> None:
        """End an answer."""
        if self.headed and not self.ended:
            self.ended = True
            self.keeps_alive = self.parser.should_keep_alive()


async def connected(
    to: Address, proxy: Address | None, patience: float, context: ssl.SSLContext | None
) -> Connection:
    """Return a connection to a host, perhaps through a proxy.

    Raises:
        OSError: there is none.
    """
    connection = await open_to(proxy or to, patience, context)
    if proxy is None or to.scheme == "http":
        return connection
    host = f"[{to.host}]" if ":" in to.host else to.host
    head = f"CONNECT {host}:{to.port} HTTP/1.1\r\nhost: {host}:{to.port}\r\n"
    head += f"proxy-authorization: {proxy.login}\r\n" if proxy.login else ""
    try:
        await connection.ask(f"{head}\r\n".encode(), b"", bodiless=True)
        if connection.status != 200:
            raise ConnectionError(f"the proxy answered {connection.status}")
        transport = await connection.loop.start_tls(
            connection.transport, connection, context or verified(), server_hostname=to.host
        )
        if transport is None:
            raise ConnectionResetError("the connection was closed")
    except BaseException:
        connection.abort()
        raise
    connection.transport = transport
    return connection


async def open_to(to: Address, patience: float, context: ssl.SSLContext | None) -> Connection:
    """Return a connection to an address."""
    loop = asyncio.get_running_loop()
    places: Any = await loop.getaddrinfo(to.host, to.port, type=SOCK_STREAM)
    opened = await aiohappyeyeballs.start_connection(  # pyright: ignore[reportUnknownMemberType]
        places, happy_eyeballs_delay=NEXT_ADDRESS_SECONDS
    )
    opened.setsockopt(SOL_SOCKET, SO_KEEPALIVE, 1)  # some answers are silent for very long
    secure: dict[str, Any] = {}
    if to.scheme == "https":
        secure = {"ssl": context or verified(), "server_hostname": to.host}
    try:
        _, connection = await loop.create_connection(
            lambda: Connection(patience), sock=opened, **secure
        )
    except BaseException:
        opened.close()
        raise
    return connection


@cache
def verified() -> ssl.SSLContext:
    """Return what checks the certificates of hosts; it takes a while to make."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def address_of(url: SplitResult) -> Address:
    """Return where a URL leads.

    Raises:
        OSError: it leads nowhere.
    """
    try:
        host, port = url.hostname or "", url.port or PORTS[url.scheme]
        name = host if host.isascii() else host.encode("idna").decode()
    except (KeyError, UnicodeError, ValueError):
        host = name = ""
        port = 0
    if not name:
        raise OSError("the address of the host is not one of HTTP")
    login = ""
    if url.username is not None:
        pair = f"{unquote(url.username)}:{unquote(url.password or '')}"
        login = f"Basic {b64encode(pair.encode()).decode()}"
    shown = f"[{name}]" if ":" in name else name
    shown += f":{url.port}" if url.port not in (None, PORTS[url.scheme]) else ""
    return Address(url.scheme, name, port, shown, login)
