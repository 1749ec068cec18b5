"""A provider to send requests to: one HTTP client, asynchronous, with a synchronous face."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self

from contextwright.errors import MissingExtra, ProviderError, UsageError, in_one_line
from contextwright.formats.replies.events import Event, ReplyError
from contextwright.formats.replies.failures import read_error
from contextwright.formats.replies.reply import ModelReply, gather
from contextwright.formats.replies.streams import read_stream_async
from contextwright.providers.base import AnyProvider
from contextwright.providers.hosts import Host, body_for, headers_for, host_for, key_for, url_for
from contextwright.providers.offline import Echo
from contextwright.providers.retries import Retries
from contextwright.text.json import encode_json

if TYPE_CHECKING:
    import ssl

    import aiohttp

__all__ = ["Provider", "SyncProvider", "connect", "connect_sync"]

MAX_ERROR_BYTES = 65_536
CONNECT_SECONDS, READ_SECONDS = 10.0, 300.0


class Provider(AnyProvider):
    """Sends requests to one host. Use it in `async with`, or call `close`.

    The key is kept in memory only, and shown nowhere. Redirects are not followed, because they
    would take the key to another host. Proxies are those of the environment.
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
        self.host = host
        self.format = host.format
        self.retries = retries or Retries()
        self.timeouts = (connect_timeout, read_timeout)
        self.ssl_context = ssl_context
        self._key = key
        self._sleep = sleep
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"Provider({self.host.name!r}, {self.host.base_url!r})"

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def stream(
        self, payload: Mapping[str, Any], *, model: str
    ) -> AsyncGenerator[Event, None]:
        """Send a request and give the events of the answer as they arrive.

        Closing the iterator, or cancelling its task, ends the request at the provider. An answer
        that breaks off ends in `ErrorEvent` and `Finish`.

        Raises:
            ProviderError: the provider refused it, or could not be reached; nothing arrived.
        """
        body = encode_json(body_for(self.host, payload, model))
        tried = 0
        while True:
            response = await self._post(body, model)
            if not isinstance(response, ReplyError):
                break
            wait = self.retries.wait(response, tried)
            if wait is None:
                raise self._refusal(response)
            tried += 1
            await self._sleep(wait)
        try:
            source = bytes_of(response.content)
            async with aclosing(read_stream_async(source, self.format)) as events:
                async for event in events:
                    yield event
        finally:
            response.close()

    async def _post(self, body: bytes, model: str) -> aiohttp.ClientResponse | ReplyError:
        """One try: the answer as it begins to arrive, or why there is none."""
        client = require_aiohttp()
        session = self._session
        if session is None:
            connect, read = self.timeouts
            timeout = client.ClientTimeout(total=None, sock_connect=connect, sock_read=read)
            session = self._session = client.ClientSession(timeout=timeout, trust_env=True)
        try:
            response = await session.post(
                url_for(self.host, model),
                data=body,
                headers=headers_for(self.host, self._key),
                allow_redirects=False,
                ssl=self.ssl_context or True,
            )
        except (client.ClientError, TimeoutError, OSError) as error:
            return ReplyError("connection", in_one_line(error))
        if response.status == 200:
            return response
        try:
            text = await response.content.read(MAX_ERROR_BYTES)
        except (client.ClientError, TimeoutError, OSError):
            text = b""  # the status alone says enough
        response.close()
        return read_error(response.status, response.headers, text)

    def _refusal(self, error: ReplyError) -> ProviderError:
        """The error to raise; a key that the provider repeats is taken out."""
        message = f"{self.host.name}: {error.message}"
        if self._key:
            message = message.replace(self._key, "…")
        hint = ""
        if error.kind == "authentication" and self.host.key_variable:
            hint = f"check {self.host.key_variable}"
        return ProviderError(
            message,
            kind=error.kind,
            status=error.status,
            retry_after=error.retry_after,
            hint=hint,
        )


class SyncProvider:
    """The same without an event loop: `for event in provider.stream(payload, model=…)`."""

    def __init__(self, provider: AnyProvider) -> None:
        self.provider = provider
        self.format = provider.format
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"SyncProvider({self.provider!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._loop is not None:
            self._loop.run_until_complete(self.provider.close())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
            self._loop = None

    def send(self, payload: Mapping[str, Any], *, model: str) -> ModelReply:
        """Send a request and wait for the whole answer.

        Raises:
            ProviderError: the provider refused it, or could not be reached.
        """
        return gather(self.stream(payload, model=model), self.format)

    def stream(self, payload: Mapping[str, Any], *, model: str) -> Iterator[Event]:
        """Send a request and give the events of the answer as they arrive.

        Nothing is read ahead; closing the iterator ends the request at the provider.
        """
        loop = self._own_loop()
        events = self.provider.stream(payload, model=model)
        try:
            while True:
                try:
                    yield loop.run_until_complete(anext(events))
                except StopAsyncIteration:
                    return
        finally:
            loop.run_until_complete(events.aclose())

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._loop = self._loop or asyncio.new_event_loop()
            return self._loop
        raise UsageError("an event loop is running here", hint="use connect() and async for")


def connect(
    target: str | Host,
    key: str | None = None,
    *,
    base_url: str | None = None,
    **options: Any,
) -> AnyProvider:
    """A provider by the name of a host, of a format or of a model; `echo` works offline.

    The key is `key`, or the host's environment variable. `base_url` is the address of another
    host that speaks the same API. `options` are those of `Provider`.

    Raises:
        UsageError: no host is known by that name.
        ProviderError: no key is given, and none is in the environment.
    """
    if target == "echo":
        return Echo()
    host = host_for(target, base_url)
    return Provider(host, key if key is not None else key_for(host), **options)


def connect_sync(
    target: str | Host,
    key: str | None = None,
    *,
    base_url: str | None = None,
    **options: Any,
) -> SyncProvider:
    """The same for programs without an event loop."""
    return SyncProvider(connect(target, key, base_url=base_url, **options))


async def bytes_of(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """The bytes of an answer as they arrive, all of them, also when the connection breaks.

    aiohttp raises the break before it hands over the bytes that came first, and has no public
    way to ask for them.
    """
    try:
        async for piece in content.iter_any():
            yield piece
    except Exception:
        rest = content._read_nowait(-1)  # pyright: ignore[reportPrivateUsage]
        if rest:
            yield rest
        raise


def require_aiohttp() -> Any:
    """The HTTP client, loaded when first needed."""
    try:
        import aiohttp
    except ImportError as error:
        raise MissingExtra("asking a provider", "ask") from error
    return aiohttp
