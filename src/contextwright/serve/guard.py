"""Access control: names of this machine, no foreign pages, a token where a key is at stake."""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from contextwright.errors import ProviderError, UsageError
from contextwright.serve.settings import Api, Route

__all__ = ["Guard", "Keys", "LOOPBACK", "is_loopback", "own_token", "same_token"]

CLOSING_SECONDS = 0.1
TOKEN = re.compile("[!-~]+").fullmatch
"""Matches a token that a header can hold."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


BUSY = {"error": {"type": "overloaded_error", "message": "the gateway is busy"}}
"""Every client finds the message in it."""


class Guard:
    """Refuses calls under foreign names, from foreign pages, over WebSockets, and one too many.

    A page that a browser shows can reach loopback; its Host or Origin gives it away.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], max_requests: int) -> None:
        self.app = app
        self.hosts = frozenset((*LOOPBACK, *map(str.lower, hosts)))
        self.max_requests = max_requests
        self.running = 0
        """Requests whose answer has not come to its end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, or refuse it."""
        if scope["type"] == "websocket":
            await refuse_websocket(send)
        elif scope["type"] == "http":
            refused = self.refused(scope)
            if refused is not None:
                await refused(scope, receive, send)
                return
            self.running += 1
            try:
                await self.app(scope, receive, send)
            finally:
                self.running -= 1
        else:
            await self.app(scope, receive, send)

    def refused(self, scope: Scope) -> Response | None:
        """Return the answer to a call that is refused; None if it is not."""
        reason = self.refusal(scope["headers"])
        if reason:
            return JSONResponse({"error": {"type": "forbidden", "message": reason}}, 403)
        if self.running >= self.max_requests:
            return JSONResponse(BUSY, 503, {"retry-after": "1"})
        return None

    def refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> str:
        """Return why a call is refused; empty if it is not."""
        hosts = [host_name(b"//" + value) for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self.hosts.issuperset(hosts):
            return "this gateway is not served under that host name"
        origins = [host_name(value) for name, value in headers if name == b"origin"]
        if not self.hosts.issuperset(origins):
            return "requests from pages of other sites are refused"
        return ""


class Keys:
    """The gateway's token, and the keys that it adds for those who show it."""

    def __init__(
        self,
        token: str,
        exposed: bool,
        environment: Mapping[str, str],
        routes: Iterable[Route],
    ) -> None:
        self.token, self.exposed, self.environment = token, exposed, environment
        self.routes = routes

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The secrets of the gateway itself: its token, and the keys of its upstreams."""
        formats = get_args(Api)
        names = {one.key_source(each, always=True) for one in self.routes for each in formats}
        return (self.token, *(self.environment.get(name, "").strip() for name in names if name))

    def own_key(self, route: Route, format: str, shown: Sequence[str]) -> str | None:
        """Return the key to send in place of those that a client has `shown`.

        None if the client's own goes on, and empty if none does: the gateway's token never leaves.

        Raises:
            ProviderError: the token is wrong, or the key is not there.
        """
        name = route.key_source(format, always=self.exposed)
        if name is None and not self.exposed:
            return "" if self.is_token_in(shown) else None
        self.require_token(shown)
        if name is None:
            return ""
        key = self.environment.get(name, "").strip()
        if not key:
            raise ProviderError(f"{name} is not set", kind="authentication", status=401)
        return key

    def require_token(self, shown: Sequence[str]) -> None:
        """Refuse a client that does not show the token.

        Raises:
            ProviderError: it is not among the keys.
        """
        if not self.is_token_in(shown):
            raise ProviderError(
                "this route needs the gateway's token instead of the provider's key",
                kind="authentication",
                status=401,
            )

    def are_own(self, shown: Sequence[str]) -> bool:
        """Whether a client shows keys, and all are its own; an exposed gateway takes none."""
        return bool(shown) and not self.exposed and not self.is_token_in(shown)

    def is_token_in(self, shown: Sequence[str]) -> bool:
        """Whether a client shows the token; a client may show several keys."""
        return bool(self.token) and any(same_token(key, self.token) for key in shown)


@lru_cache(16)
def host_name(address: bytes) -> str | None:
    """Return the name in an address; None if there is none."""
    try:
        return urlsplit(address.decode("latin-1")).hostname
    except ValueError:
        return None


async def refuse_websocket(send: Send) -> None:
    """Answer 426, after which clients that prefer WebSockets use POST."""
    headers = [(b"content-type", b"text/plain"), (b"upgrade", b"HTTP/1.1")]
    await send({"type": "websocket.http.response.start", "status": 426, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": b"use HTTP"})
    # uvicorn logs an error if this ends before the connection does.
    await asyncio.sleep(CLOSING_SECONDS)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host in LOOPBACK


def same_token(given: str | None, token: str) -> bool:
    """Whether a token is the right one; takes the same time for any wrong one."""
    return hmac.compare_digest((given or "").encode(), token.encode())


def own_token(path: Path) -> str:
    """Return the gateway's token; made at the first start, in a file that nobody else can read.

    Raises:
        UsageError: the file holds something else.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")
        # It gets its name when it is whole; of gateways that start together, one gives it.
        with suppress(OSError):
            os.link(part, path)
        if not path.exists():  # there are no links here
            part.rename(path)
        part.unlink(missing_ok=True)
    token = path.read_bytes().strip().decode("latin-1")
    if not TOKEN(token):
        raise UsageError(f"{path} does not hold a token", hint="remove it to have one made")
    return token
