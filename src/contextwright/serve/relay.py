"""Pass-through: the bytes of a request go up, and those of its answer come down, unchanged."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from msgspec import Raw

from contextwright.errors import ProviderError
from contextwright.formats.anthropic.thinking import settle_open_loop
from contextwright.messages.changes import Change
from contextwright.models import Model, as_model
from contextwright.providers.hosts import Host, headers_for
from contextwright.providers.http import HttpClient, HttpResponse
from contextwright.providers.secrets import masked, spellings
from contextwright.serve.calls import UPLOADS, Call, value_of, with_body
from contextwright.serve.history.continuations import RESPONSES, is_own_item
from contextwright.serve.http.stream import BrokenOff, StreamedAnswer
from contextwright.serve.reading import decode_turns
from contextwright.serve.secrets import KEY_HEADERS
from contextwright.serve.translate import CHANGES_HEADER, named
from contextwright.text.json import encode_json
from contextwright.wire.anthropic.types import UNSIGNED
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import is_list, is_object

__all__ = ["relay", "without_stand_ins"]

HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade host content-length accept-encoding expect".split()
)
"""Headers that belong to one connection, not to the message; `connection` may name more."""

FINAL = range(200, 600)
"""Statuses of answers."""
SUCCESS = range(200, 300)
ANTHROPIC = "anthropic"
OF_THINKING = ("thinking", "context_management")
"""The fields of a request to Claude that say whether it thinks, and which thinking it forgets."""
CALL_OF_CLAUDE = "toolu_"
"""The beginning of its calls' ids, on every platform."""
OTHER_RESULT = re.compile(rb'"tool_use_id"\s*:\s*"(?!toolu_)')
AS_READ = ("utf-8", "surrogateescape")
"""How aiohttp reads headers."""
ESCAPE_CHARS = len(r"\u0041")
CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


async def relay(call: Call, host: Host, client: HttpClient, key: str | None) -> StreamedAnswer:
    """Send a request on, and answer with what the upstream answers.

    A `key` of the gateway's own replaces the client's; an empty one is none. The client does not
    get it, if the upstream repeats it in an error.

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
    body = chunks(upstream, host)
    if key:
        kept = [(name, header_without_key(value, key)) for name, value in kept]
        body = body if upstream.status in SUCCESS else without_key(body, key)
    answer = StreamedAnswer(body, upstream.status, kept)
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


async def without_key(body: AsyncGenerator[bytes, None], key: str) -> AsyncGenerator[bytes, None]:
    """Yield a body with stars instead of a key, in whatever pieces it comes."""
    keys, held = frozenset((key,)), b""
    # Each character may be an escape of JSON.
    room = max((ESCAPE_CHARS * len(spelling) for spelling in spellings(key)), default=1) - 1
    async with aclosing(body):
        try:
            async for chunk in body:
                held = masked(held + chunk, keys)
                done = len(held) - room
                if done > 0:
                    yield held[:done]
                    held = held[done:]
        except BrokenOff:
            yield held
            raise
    if held:
        yield held


def header_without_key(value: str, key: str) -> str:
    """Return the value of a header with stars instead of a key."""
    return masked(value.encode(*AS_READ), (key,)).decode(*AS_READ)


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
    """Return a request that the client's own provider takes, also after answers of other models.

    The client sends those on when it changes in mid-conversation to a model of its own API, whose
    provider would refuse this request and every later one. Their thinking bears the gateway's
    stand-in for a signature (Claude), or an id of the gateway's (Responses), and is left out. All
    other turns and fields keep their bytes.
    """
    own = OWN_THINKING.get(call.format)
    if own is None:
        return call
    changes: list[Change] = []
    fields = call.fields
    if own.mark.search(call.body) is not None:
        fields = without_own_thinking(fields, own, changes)
    if call.format == ANTHROPIC and (changes or is_after_calls_of_others(call)):
        fields = with_open_loop(fields, as_model(call.model), changes)
    return with_body(call, encode_json(fields), changes) if changes else call


def without_own_thinking(
    fields: Mapping[str, Raw], own: OwnThinking, changes: list[Change]
) -> Mapping[str, Raw]:
    """Return the fields of a request without thinking that a translated answer brought."""
    turns = value_of(fields, own.field)
    if not is_list(turns):
        return fields
    kept: list[bytes] = []
    for index, raw in enumerate(decode_turns(fields[own.field])):
        turn, places = own.rest(turns[index])
        path = f"{own.field}[{index}]"
        changes += [Change("loss.thinking", f"{path}{place}", own.reason) for place in places]
        if not places:
            kept.append(bytes(raw))
        elif turn is not None:
            kept.append(encode_json(turn))
    return {**fields, own.field: Raw(b"[%b]" % b",".join(kept))}


def is_after_calls_of_others(call: Call) -> bool:
    """Whether a request to Claude, which is to think, ends in results of another model's calls."""
    if b"enabled" not in bytes(call.fields.get("thinking", b"")):
        return False
    if OTHER_RESULT.search(call.body) is None:
        return False
    turns = value_of(call.fields, "messages")
    last = turns[-1] if is_list(turns) and turns else None
    blocks = objects_in(last.get("content") if is_object(last) else None)
    named = [block.get("tool_use_id") for _, block in blocks if block.get("type") == "tool_result"]
    return any(isinstance(id, str) and not id.startswith(CALL_OF_CLAUDE) for id in named)


def with_open_loop(
    fields: Mapping[str, Raw], model: Model, changes: list[Change]
) -> Mapping[str, Any]:
    """Return the fields of a request to Claude without thinking in a tool loop that has none.

    Claude goes on with a loop that another model began only if it does not think in it.
    """
    found = {name: value_of(fields, name) for name in ("messages", *OF_THINKING) if name in fields}
    settled = dict(found)
    if not settle_open_loop(settled, model, changes):
        return fields
    changed = [name for name in found if settled.get(name) is not found[name]]
    kept = {name: raw for name, raw in fields.items() if name not in changed}
    return {**kept, **{name: settled[name] for name in changed if name in settled}}


def turn_without(turn: Any) -> tuple[Any, list[str]]:
    """Return a turn without blocks that bear the stand-in, and their places; None if it is empty.

    A turn without content would be refused.
    """
    blocks = turn.get("content") if is_object(turn) else None
    places = [
        place
        for place, block in enumerate(blocks if is_list(blocks) else ())
        if is_object(block)
        and (block.get("type"), block.get("signature")) == ("thinking", UNSIGNED)
    ]
    if not places:
        return turn, []
    rest = [block for place, block in enumerate(blocks or ()) if place not in places]
    return {**turn, "content": rest} if rest else None, [f".content[{one}]" for one in places]


def item_without(item: Any) -> tuple[Any, list[str]]:
    """Return an item, and its place if it is reasoning of another model."""
    is_own = is_object(item) and item.get("type") == "reasoning" and is_own_item(item.get("id"))
    return (None, [""]) if is_own else (item, [])


class OwnThinking(NamedTuple):
    """How thinking of a translated answer is known in the requests of an API."""

    field: str
    mark: re.Pattern[bytes]
    """What no request without such thinking has, or hardly any."""
    rest: Callable[[Any], tuple[Any, list[str]]]
    reason: str


OWN_THINKING = {
    ANTHROPIC: OwnThinking(
        "messages",
        re.compile(re.escape(UNSIGNED.encode())),
        turn_without,
        "written by another model: Claude refuses thinking without a signature of its own",
    ),
    RESPONSES: OwnThinking(
        "input",
        re.compile(rb'"rs_[0-9a-f]{32}_'),
        item_without,
        "written by another model: OpenAI refuses reasoning that it does not know",
    ),
}
