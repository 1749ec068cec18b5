"""The server that a gateway runs in: short heads of requests, and an end that does not wait."""

from __future__ import annotations

import logging
from asyncio import CancelledError, TimerHandle
from socket import socket
from typing import Any

import uvicorn
from httptools import HttpParserUpgrade, HttpRequestParser
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from contextwright.serve.http.stream import CLOSE, hang_up

__all__ = ["GatewayServer"]

GRACE_SECONDS = 5
"""How long answers may continue after the gateway was asked to stop."""
KEEP_ALIVE_SECONDS = 75
"""How long a connection may be idle: longer than clients keep theirs, or a request could meet a
connection that is just being closed.
"""
MAX_HEAD_BYTES = 64 << 10
"""The size of a request's first line and headers."""
HEAD_SECONDS = 30.0
"""How long a client may take to send them."""
STALLED_SECONDS = 300.0
"""How long a client may take nothing of what it is sent: it holds one of the places for requests.
"""
TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)

log = logging.getLogger("contextwright.serve")


class GatewayServer(uvicorn.Server):
    """A server for one application that `create_app` made."""

    def __init__(self, app: Starlette, **options: Any) -> None:
        self.app = app
        chosen: dict[str, Any] = {
            "http": BoundedProtocol,
            "access_log": False,
            "proxy_headers": False,
            # Of an answer that is passed on, those of the upstream go along.
            "date_header": False,
            "server_header": False,
            "log_level": "warning",
            "timeout_graceful_shutdown": GRACE_SECONDS,
            "timeout_keep_alive": KEEP_ALIVE_SECONDS,
            **options,
        }
        super().__init__(uvicorn.Config(ends_quietly(app), **chosen))

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End streams of events, which never end by themselves, and then everything else."""
        api = getattr(self.app.state, "api", None)
        if api is not None:
            api.stop()
        await super().shutdown(sockets)


def ends_quietly(app: ASGIApp) -> ASGIApp:
    """Return an application that closes the connections of calls which the server cancels.

    uvicorn would log each as an error of the application.
    """

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except CancelledError as error:
            await hang_up(scope, receive, error)

    return call


def until_close(cycle: RequestResponseCycle) -> Send:
    """Return what sends an answer to a client of HTTP/1.0: one without a length ends by closing.

    uvicorn would send it in chunks, which such a client takes for the answer.
    """
    counted = True

    async def send(message: Any) -> None:
        nonlocal counted
        if message["type"] == "http.response.start":
            counted = any(name.lower() == b"content-length" for name, _ in message["headers"])
            if not counted:
                cycle.chunked_encoding = False
        elif not counted:
            cycle.expected_content_length = len(message.get("body", b""))
        await RequestResponseCycle.send(cycle, message)

    return send


async def refuse_head(_: Scope, __: Receive, send: Send) -> None:
    """Answer 431 to a request whose head is too long."""
    headers = [(b"content-length", b"0"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 431, "headers": headers})
    await send({"type": "http.response.body"})


class PlainParser(HttpRequestParser):
    """Reads a request that offers to go on in HTTP/2 as one that does not offer it.

    Java's client offers that with every first request. httptools would take the body for the new
    protocol, and drop it.
    """

    def __init__(self, protocol: BoundedProtocol) -> None:
        super().__init__(protocol)
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        self.protocol = protocol

    def feed_data(self, data: Any) -> None:
        """Read what came."""
        try:
            super().feed_data(data)
        except HttpParserUpgrade as upgrade:
            if not self.protocol.offers_another_protocol():
                raise
            head = self.protocol.head_without_offer()
            self.protocol.parser = PlainParser(self.protocol)
            self.protocol.parser.feed_data(head + bytes(data[upgrade.args[0] :]))


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a head that is too long, and closes a connection whose head does not come.

    Also one whose client does not read. uvicorn itself would wait for both without an end, and keep
    all of a head in memory. An application can close the connection too.
    """

    head_bytes: int = 0
    in_head: bool = True
    timer: TimerHandle | None = None
    stall_timer: TimerHandle | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.parser = PlainParser(self)

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self.wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self.stop_waiting()
        self.stop_waiting_for_reader()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for a client that has not read what it was sent."""
        super().pause_writing()
        self.wait_for_reader()

    def resume_writing(self) -> None:
        """Go on with a client that has read."""
        super().resume_writing()
        self.stop_waiting_for_reader()

    def wait_for_reader(self) -> None:
        """Break the connection off unless the client takes something; nothing is added to it."""
        unread = self.transport.get_write_buffer_size()

        def look() -> None:
            if self.transport.get_write_buffer_size() < unread:
                self.wait_for_reader()
            else:
                log.warning("a client read nothing for %g seconds", STALLED_SECONDS)
                self.transport.abort()  # it cannot be closed in order

        self.stall_timer = self.loop.call_later(STALLED_SECONDS, look)

    def stop_waiting_for_reader(self) -> None:
        """Let a connection stay open."""
        if self.stall_timer is not None:
            self.stall_timer.cancel()
            self.stall_timer = None

    def data_received(self, data: bytes) -> None:
        """Take what came, unless it is a head without an end."""
        self.head_bytes += len(data) if self.in_head else 0
        super().data_received(data)
        if self.in_head and self.head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to wait for the rest of a head."""
        super().on_message_begin()
        self.scope["extensions"] = {CLOSE: self.transport}  # pyright: ignore
        self.wait_for_head()

    def on_headers_complete(self) -> None:
        """Go on with a request whose head is whole."""
        if self.offers_another_protocol():
            return  # it is read again without the offer
        self.in_head, self.head_bytes = False, 0
        self.stop_waiting()
        size = len(self.url) + sum([len(name) + len(value) + 4 for name, value in self.headers])
        if size > MAX_HEAD_BYTES:  # it came all at once
            self.app = refuse_head
        super().on_headers_complete()
        if self.scope["http_version"] == "1.0":
            self.cycle.send = until_close(self.cycle)  # pyright: ignore[reportAttributeAccessIssue]

    def on_message_complete(self) -> None:
        """Go on with a request that is whole."""
        if not self.offers_another_protocol():
            super().on_message_complete()

    def offers_another_protocol(self) -> bool:
        """Whether a request can go on in another protocol, but not over a WebSocket."""
        if not self.parser.should_upgrade() or self._should_upgrade():
            return False
        return any(name == b"upgrade" for name, _ in self.headers)

    def head_without_offer(self) -> bytes:
        """Return the head of a request without what offers another protocol."""
        version = self.parser.get_http_version().encode()
        lines = [b" ".join((self.parser.get_method(), self.url, b"HTTP/" + version))]
        lines += [b": ".join(pair) for pair in self.headers if pair[0] != b"upgrade"]
        return b"\r\n".join((*lines, b"", b""))

    def wait_for_head(self) -> None:
        """Close the connection unless a head comes in time."""
        self.in_head = True
        self.stop_waiting()
        self.timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def stop_waiting(self) -> None:
        """Let a connection stay open."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
