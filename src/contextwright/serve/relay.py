"""Pass-through: the bytes of a request go up, and those of its answer come down, unchanged."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from urllib.parse import parse_qsl, urlencode

from contextwright.errors import ProviderError
from contextwright.providers.hosts import Host, headers_for
from contextwright.providers.http import HttpClient, HttpResponse
from contextwright.serve.calls import KEY_HEADERS, UPLOADS, Call
from contextwright.serve.http.stream import BrokenOff, StreamedAnswer

__all__ = ["relay"]

HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade host content-length accept-encoding expect".split()
)
"""Headers that belong to one connection, not to the message; `connection` may name more."""

FINAL = range(200, 600)
"""Statuses of answers."""


async def relay(call: Call, host: Host, client: HttpClient, key: str | None) -> StreamedAnswer:
    """Send a request on, and answer with what the upstream answers.

    With a `key` of the gateway's own, it stands in the place of the client's; an empty one is none.

    Raises:
        ProviderError: the upstream cannot be reached, or answers with a status that HTTP has not.
    """
    url, headers = url_of(call, host, key), headers_of(call, host, key)
    upstream = await client.open(url, headers, call.sent or None, method=call.method)
    if upstream.status not in FINAL:
        upstream.close()
        reason = f"{host.name}: HTTP status {upstream.status}"
        raise ProviderError(reason, kind="server", status=upstream.status)
    dropped = of_connection(upstream.headers)
    kept = [pair for pair in upstream.headers.items() if pair[0].lower() not in dropped]
    answer = StreamedAnswer(chunks(upstream, host), upstream.status, kept)
    answer.held.callback(upstream.close)
    return answer


async def chunks(upstream: HttpResponse, host: Host) -> AsyncGenerator[bytes, None]:
    """Yield the bytes as they come.

    Raises:
        BrokenOff: the upstream broke off.
    """
    try:
        async for chunk in upstream.chunks():
            yield chunk
    except ProviderError as error:
        raise BrokenOff(f"{host.name}: {error}") from None


def url_of(call: Call, host: Host, key: str | None) -> str:
    """Return the address at the upstream."""
    base = host.base_url.rstrip("/")
    if host.format == "anthropic":
        base = base.removesuffix("/v1")
    elif call.path.startswith(UPLOADS):
        base = base.removesuffix("/v1beta")
    query = call.query
    if key is not None and query:
        query = urlencode([pair for pair in parse_qsl(query, True) if pair[0] != "key"])
    return f"{base}{call.path}{'?' if query else ''}{query}"


def headers_of(call: Call, host: Host, key: str | None) -> Mapping[str, str]:
    """Return the client's headers without those of its connection."""
    dropped = {*of_connection(call.headers), *(KEY_HEADERS if key is not None else ())}
    headers = {name: value for name, value in call.headers.items() if name not in dropped}
    if key is not None:
        own = headers_for(host, key)
        headers.update({name: own[name] for name in KEY_HEADERS if name in own})
    return {**headers, "accept-encoding": "identity"}


def of_connection(headers: Mapping[str, str]) -> set[str]:
    """Return the names of the headers that go no further than a connection."""
    named = headers.get("connection", "").lower().split(",")
    return {*HOP_BY_HOP, *map(str.strip, named)}
