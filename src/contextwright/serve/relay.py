"""Pass-through: the bytes of a request go up, and those of its answer come down, unchanged."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response, StreamingResponse

from contextwright.providers.hosts import Host, headers_for
from contextwright.providers.http import HttpClient, HttpResponse
from contextwright.serve.calls import KEY_HEADERS, Call

__all__ = ["relay"]

HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade host content-length accept-encoding".split()
)
"""Headers that belong to one connection, not to the message."""


async def relay(call: Call, host: Host, client: HttpClient, key: str | None) -> Response:
    """Send a request on, and answer with what the upstream answers.

    With a `key` of the gateway's own, it stands in the place of the client's.

    Raises:
        ProviderError: the upstream cannot be reached.
    """
    upstream = await client.open(url_of(call, host, key), headers_of(call, host, key), call.body)
    headers = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in upstream.headers.items()
        if name.lower() not in HOP_BY_HOP
    ]
    response = StreamingResponse(chunks(upstream), upstream.status)
    response.raw_headers = headers
    return response


async def chunks(upstream: HttpResponse) -> AsyncGenerator[bytes, None]:
    """The bytes as they come; a client that goes away ends the request at the upstream.

    A connection that breaks off there breaks off here too: the client sees what happened.
    """
    try:
        async for chunk in upstream.chunks():
            yield chunk
    finally:
        upstream.close()


def url_of(call: Call, host: Host, key: str | None) -> str:
    """The address at the upstream."""
    base = host.base_url.rstrip("/")
    if host.format == "anthropic":
        base = base.removesuffix("/v1")
    query = call.query
    if key is not None and query:
        query = urlencode([pair for pair in parse_qsl(query, True) if pair[0] != "key"])
    return f"{base}{call.path}{'?' if query else ''}{query}"


def headers_of(call: Call, host: Host, key: str | None) -> Mapping[str, str]:
    """The client's headers without those of its connection."""
    dropped = {*HOP_BY_HOP, *(KEY_HEADERS if key is not None else ())}
    headers = {name: value for name, value in call.headers.items() if name not in dropped}
    if key is not None:
        own = headers_for(host, key)
        headers.update({name: own[name] for name in KEY_HEADERS if name in own})
    return {**headers, "accept-encoding": "identity"}
