"""Pass-through: the bytes of a request go up, and those of its answer come down, unchanged."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec.structs import replace

from contextwright.errors import ProviderError
from contextwright.messages.changes import Change
from contextwright.providers.hosts import Host, headers_for
from contextwright.providers.http import HttpClient, HttpResponse
from contextwright.serve.calls import KEY_HEADERS, UPLOADS, Call, value_of
from contextwright.serve.http.stream import BrokenOff, StreamedAnswer
from contextwright.serve.reading import decode_turns, read_fields
from contextwright.serve.translate import CHANGES_HEADER, named
from contextwright.text.json import encode_json
from contextwright.wire.anthropic.types import UNSIGNED
from contextwright.wire.values import is_list, is_object

__all__ = ["relay", "without_stand_ins"]

HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade host content-length accept-encoding expect".split()
)
"""Headers that belong to one connection, not to the message; `connection` may name more."""

FINAL = range(200, 600)
"""Statuses of answers."""
CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
STAND_IN = UNSIGNED.encode()
REFUSED = "written by another model: Claude refuses thinking without a signature of its own"


async def relay(call: Call, host: Host, client: HttpClient, key: str | None) -> StreamedAnswer:
    """Send a request on, and answer with what the upstream answers.

    A `key` of the gateway's own replaces the client's; an empty one is none.

    Raises:
        ProviderError: the upstream cannot be reached, or answers what HTTP does not have.
    """
    url, headers = url_of(call, host, key), headers_of(call, host, key)
    upstream = await client.open(url, headers, call.sent or None, method=call.method)
    fault = fault_of(upstream)
    if fault:
        upstream.close()
        raise ProviderError(f"{host.name}: {fault}", kind="server", status=upstream.status)
    dropped = of_connection(upstream.headers)
    kept = [pair for pair in upstream.headers.items() if pair[0].lower() not in dropped]
    answer = StreamedAnswer(chunks(upstream, host), upstream.status, kept)
    answer.held.callback(upstream.close)
    if call.changes:
        answer.headers[CHANGES_HEADER] = named(call.changes)
    return answer


def fault_of(upstream: HttpResponse) -> str:
    """Return what no server can send of the head of an answer; empty if it can send all of it."""
    if upstream.status not in FINAL:
        return f"HTTP status {upstream.status}"
    if CONTROLS.search("".join(upstream.headers.values())):
        return "control characters in the headers of the answer"
    return ""


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


def without_stand_ins(call: Call) -> Call:
    """Return a request without thinking that bears the gateway's stand-in for a signature.

    A client has it from a translated answer, and sends it on when it changes to Claude in the
    middle of a conversation. Claude would refuse this request and every later one. Such blocks are
    the gateway's own; all other turns keep their bytes.
    """
    if call.format != "anthropic" or STAND_IN not in call.body:
        return call
    turns = value_of(call.fields, "messages")
    if not is_list(turns):
        return call
    kept: list[bytes] = []
    changes: list[Change] = []
    for index, raw in enumerate(decode_turns(call.fields["messages"])):
        turn, places = turns[index], stand_ins_in(turns[index])
        changes += [
            Change("loss.thinking", f"messages[{index}].content[{place}]", REFUSED)
            for place in places
        ]
        if not places:
            kept.append(bytes(raw))
        elif len(places) < len(turn["content"]):  # a turn without content would be refused
            blocks = [block for at, block in enumerate(turn["content"]) if at not in places]
            kept.append(encode_json({**turn, "content": blocks}))
    if not changes:
        return call
    body = call.body.replace(bytes(call.fields["messages"]), b"[%b]" % b",".join(kept), 1)
    headers = {name: value for name, value in call.headers.items() if name != "content-encoding"}
    fields = read_fields(body)
    return replace(
        call, body=body, sent=body, fields=fields, headers=headers, changes=tuple(changes)
    )


def stand_ins_in(turn: Any) -> list[int]:
    """Return the places of the blocks of a turn that bear the stand-in."""
    blocks = turn.get("content") if is_object(turn) else None
    return [
        place
        for place, block in enumerate(blocks if is_list(blocks) else ())
        if is_object(block)
        and (block.get("type"), block.get("signature")) == ("thinking", UNSIGNED)
    ]
