"""A provider to send requests to: payloads in, events out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from contextwright.errors import ProviderError, require, without_login
from contextwright.formats.replies.events import ErrorEvent, Event, Finish, ReplyError
from contextwright.formats.replies.failures import read_error
from contextwright.formats.replies.reader import read_batches
from contextwright.formats.replies.streams import stream_reader
from contextwright.providers.base import AnyProvider, BatchProvider
from contextwright.providers.hosts import (
    Host,
    body_for,
    checked_key,
    headers_for,
    host_for,
    key_for,
    redirected,
    url_for,
)
from contextwright.providers.http import CONNECT_SECONDS, READ_SECONDS, HttpClient, HttpResponse
from contextwright.providers.offline import Echo
from contextwright.providers.retries import Retries
from contextwright.providers.secrets import masked
from contextwright.providers.sync import SyncProvider
from contextwright.providers.traced import Telemetry, TracedProvider
from contextwright.text.json import decoder, encode_json

if TYPE_CHECKING:
    import ssl

__all__ = ["Provider", "connect", "connect_sync"]

MAX_ERROR_BYTES = 65_536
ERROR_SECONDS = 10.0
"""How long the body of an error may take."""
LINGER_SECONDS = 0.5
"""How long the end of a body may take after the last event of a stream."""
HIDDEN = "…".encode()
"""Replaces the key where a provider repeated it."""


class Provider(BatchProvider):
    """Sends requests to one host. Use it in `async with`, or call `close`.

    The key is kept in memory only, and never shown. Redirects are not followed, because they would
    send the key to another host. Proxies come from the environment.
    """

    def __init__(
        self,
        host: Host,
        key: str | None = None,
        *,
        retries: Retries | None = None,
        connect_timeout: float = CONNECT_SECONDS,
        read_timeout: float = READ_SECONDS,
        ssl_context: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        require(host, Host, "a host", "host_for() finds one")
        self.host = host
        self.format = host.format
        self.retries = retries or Retries()
        self.client = HttpClient(
            connect_timeout=connect_timeout, read_timeout=read_timeout, ssl_context=ssl_context
        )
        self._key = checked_key(key, host)
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"Provider({self.host.name!r}, {without_login(self.host.base_url)!r})"

    @property
    def name(self) -> str:
        """The name of the host."""
        return self.host.name

    def without_key(self, text: str) -> str:
        """Return a text without the key."""
        return self._hidden(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def batches(
        self, payload: Mapping[str, Any], *, model: str
    ) -> AsyncGenerator[list[Event], None]:
        """Yield the same, with those events together that arrive together.

        Raises:
            ProviderError: the provider refused it, or could not be reached; nothing arrived.
        """
        body = encode_json(body_for(self.host, payload, model))
        async with aclosing(self.post(body, model=model, join=False)) as batches:
            async for batch in batches:
                yield batch

    async def post(
        self,
        body: bytes,
        *,
        model: str,
        headers: Mapping[str, str] | None = None,
        join: bool = True,
    ) -> AsyncGenerator[list[Event], None]:
        """Send a body as it is, which has to ask for a stream; yield what `batches` yields.

        `headers` go with those of the API. With `join`, pieces of one text that arrive together
        are one event.

        Raises:
            ProviderError: the provider refused it, or could not be reached; nothing arrived.
        """
        response = await self._open(body, model, headers or {})
        try:
            reader = stream_reader(self.format)
            async with aclosing(read_batches(response.chunks(), reader, join=join)) as batches:
                async for batch in batches:
                    yield list(map(self._without_key, batch))
                    if reader.finished:  # some hosts leave the connection open after that
                        await response.drain(LINGER_SECONDS)
                        return
        finally:
            response.close()

    async def _open(self, body: bytes, model: str, headers: Mapping[str, str]) -> HttpResponse:
        """Send a request, with retries, until it is answered or finally refused."""
        tried = 0
        while True:
            response = await self._try(body, model, headers)
            if isinstance(response, HttpResponse):
                return response
            wait = self.retries.wait(response, tried)
            if wait is None:
                raise self._refusal(response)
            tried += 1
            await self._sleep(wait)

    async def _try(
        self, body: bytes, model: str, headers: Mapping[str, str]
    ) -> HttpResponse | ReplyError:
        """Try once: return the response as it begins to arrive, or the error."""
        headers = {**headers_for(self.host, self._key), **headers}
        try:
            response = await self.client.open(url_for(self.host, model), headers, body)
        except ProviderError as error:
            return ReplyError("connection", str(error))
        if response.status == 200:
            return response
        text = self._hidden(await response.read(MAX_ERROR_BYTES, ERROR_SECONDS))
        response.close()
        return read_error(response.status, response.headers, text)

    def _refusal(self, error: ReplyError) -> ProviderError:
        """Return the error to raise."""
        hint = ""
        if error.kind == "authentication" and self.host.key_variable:
            hint = f"check {self.host.key_variable}"
        return ProviderError(
            f"{self.host.name}: {self.without_key(error.message)}",
            kind=error.kind,
            status=error.status,
            retry_after=error.retry_after,
            hint=hint,
        )

    def _without_key(self, event: Event) -> Event:
        """Return the event without the key, which a provider may repeat in an error."""
        if not isinstance(event, ErrorEvent | Finish):
            return event
        encoded = msgspec.json.encode(event)
        hidden = self._hidden(encoded)
        return event if hidden == encoded else decoder(type(event)).decode(hidden)

    def _hidden(self, text: bytes) -> bytes:
        if not self._key:
            return text
        return masked(text.replace(self._key.encode(), HIDDEN), (self._key,))


def connect(
    target: str | Host,
    key: str | None = None,
    *,
    base_url: str | None = None,
    telemetry: Telemetry | None = None,
    **options: Any,
) -> AnyProvider:
    """Return a provider by the name of a host, format or model; `echo` works offline.

    The key is `key`, or the host's environment variable. `base_url` is the address of another host
    that speaks the same API; without it, the variable that the provider's own SDKs read may name
    one (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, `GOOGLE_GEMINI_BASE_URL`). With `telemetry`, each
    request becomes a span of OpenTelemetry: see `TracedProvider`. `options` are those of
    `Provider`.

    Raises:
        UsageError: the name is unknown.
        ProviderError: no key is given, and none is in the environment.
        MissingExtra: there is to be telemetry, and OpenTelemetry is not installed.
    """
    if target == "echo":
        provider = Echo()
    else:
        host = host_for(target, base_url)
        if base_url is None and isinstance(target, str):
            host = redirected(host)
        provider = Provider(host, key if key is not None else key_for(host), **options)
    return provider if telemetry is None else TracedProvider(provider, telemetry)


def connect_sync(
    target: str | Host,
    key: str | None = None,
    *,
    base_url: str | None = None,
    telemetry: Telemetry | None = None,
    **options: Any,
) -> SyncProvider:
    """Return a provider for programs without an event loop."""
    return SyncProvider(connect(target, key, base_url=base_url, telemetry=telemetry, **options))
