"""Keys of clients: wherever they stand, they reach neither store, logs, records nor spans."""

import asyncio
import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec
import pytest
from msgspec.structs import replace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import contextwright as cw
from contextwright.formats.replies.events import ReplyError
from contextwright.formats.replies.reply import ModelReply
from contextwright.providers.secrets import masked
from contextwright.serve import GatewaySettings, Route, create_app
from contextwright.serve.calls import read_call
from contextwright.serve.http.stream import BrokenOff
from contextwright.serve.relay import without_key
from contextwright.serve.secrets import keys_in, secrets_in
from providers.standin import KEY, Request, said, serving
from serve.gateways import PATHS, TOKEN, listening, running
from serve.test_interruptions import Silent
from serve.test_relay import upstream
from serve.upstreams import ENVIRONMENT, FORMATS, open_settings, settings_for

SECOND, THIRD = "second-key-0123456789", "third/key+0123456789"
PLACES: tuple[str, ...] = ("authorization", "x-api-key", "x-goog-api-key", "query")
ROUTES = ("open", "translated", "echo")


@pytest.mark.parametrize(
    ("headers", "query", "keys"),
    [
        ({"authorization": "Bearer one"}, "", ["one"]),
        ({"authorization": "bearer  one "}, "", ["one"]),
        ({"authorization": "one", "x-api-key": "two"}, "key=three", ["one", "two", "three"]),
        (
            {"x-goog-api-key": "one, two"},
            "alt=sse&key=three&key=f%2Fo",
            "one two three f/o".split(),
        ),
        ({"authorization": "Bearer ", "x-api-key": ""}, "key=", []),
    ],
)
def test_keys_are_found(headers: dict[str, str], query: str, keys: list[str]) -> None:
    assert keys_in(headers, query) == keys


class Shown(NamedTuple):
    """How a client shows its keys."""

    keys: tuple[str, ...]
    headers: dict[str, str]
    query: str


def shown(first: str) -> Iterator[Shown]:
    """A client's key in each place, alone and with up to two others behind it."""
    for count in (1, 2, 3):
        keys = (first, SECOND, THIRD)[:count]
        for places in combinations(PLACES, count):
            given: dict[str, str] = dict(zip(places, keys, strict=True))
            query = urlencode({"key": given.pop("query")}) if "query" in given else ""
            if "authorization" in given:
                given["authorization"] = f"Bearer {given['authorization']}"
            yield Shown(keys, given, query)


def repeating(request: Request) -> ModelReply | ReplyError:
    """Repeats all that was said: as an answer, or in an error."""
    words = json.dumps(request.body)
    return said(words) if request.number % 2 else ReplyError("invalid", words, 400)


def body_of(format: str, keys: Sequence[str]) -> dict[str, Any]:
    """A request that has keys in its words, and wherever else a client may write one."""
    question = cw.user(f"My keys are {' '.join(keys)}")
    payload = cw.render([question], format, model="gpt-5.6-sol").payload
    if format == "gemini":
        return payload
    return {**payload, "metadata": {"user_id": json.dumps({"session_id": keys[-1]})}}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("format", FORMATS)
def test_no_key_is_stored_or_told(
    format: str, route: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = TOKEN if route == "translated" else KEY
    upstream = {"open": format, "translated": "anthropic" if format != "anthropic" else "gemini"}
    memory, tracer = InMemorySpanExporter(), TracerProvider()
    tracer.add_span_processor(SimpleSpanProcessor(memory))
    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(repeating) as server:
        make = open_settings if route == "open" else settings_for
        settings = GatewaySettings() if route == "echo" else make(upstream[route], server)
        app = create_app(
            msgspec.structs.replace(settings, telemetry="content"),
            token=TOKEN,
            environment=ENVIRONMENT,
            store=store,
            tracer_provider=tracer,
        )
        with listening(app) as gateway:
            for number, (keys, headers, query) in enumerate(shown(first)):
                model = "echo" if route == "echo" else f"m-{keys[-1]}"
                path = PATHS.get(format) or f"/v1beta/models/{quote(model)}:generateContent"
                body = body_of(format, keys)
                if format != "gemini":
                    body |= {"model": model, "stream": number % 3 == 0}
                others = {"user-agent": f"agent/{keys[-1]}", "anthropic-version": "1"}
                gateway.ask(f"{path}?{query}", body, {**headers, **others})
        records = store.requests()
        assert len(records) == 14
        assert all(record.masked for record in records)
        assert len({record.state for record in records}) == (1 if route == "echo" else 2)
        read = [store.request_bodies(record.number) for record in records]
        stored = [list(store.conversation(info.id).read()) for info in store.list()]
        spans = [span.to_json() for span in memory.get_finished_spans()]
    assert len(spans) == 14
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    told = f"{records} {read} {stored} {spans} {caplog.text}"
    assert "My keys are ****" in told
    for secret in (first, SECOND, THIRD):
        assert secret.encode() not in kept
        assert secret not in told


def test_the_gateways_secrets_are_not_stored_whoever_says_them(tmp_path: Path) -> None:
    """An agent that reads its environment sends the keys of every provider to one of them."""
    secrets = {"UPSTREAM_KEY": SECOND, "GEMINI_API_KEY": THIRD}
    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(repeating) as server:
        (first,) = open_settings("anthropic", server).routes
        own = Route("gpt-*", "openai", key_variable="UPSTREAM_KEY")
        settings = GatewaySettings((own, Route("gemini-*", "gemini"), first))
        with running(settings, environment=secrets, store=store) as gateway:
            for streams in (False, True):
                body = body_of("anthropic", (SECOND, THIRD, TOKEN))
                gateway.generate("anthropic", body, model="m", streams=streams, key=KEY)
        assert [record.masked for record in store.requests()] == [True, True]
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"My keys are ****" in kept
    assert not [secret for secret in (SECOND, THIRD, TOKEN) if secret.encode() in kept]


LOGIN = b64encode(f"user:{THIRD}".encode()).decode()


def secrets_of(
    headers: dict[str, str], query: str = "", body: Mapping[str, Any] | None = None
) -> frozenset[str]:
    """What may be a secret in a request."""
    encoded = json.dumps({"model": "m", **(body or {})}).encode()
    return frozenset(secrets_in(read_call("anthropic", "generate", encoded, headers, query)))


@pytest.mark.parametrize(
    ("headers", "query", "body"),
    [
        ({"authorization": f"Basic {LOGIN}"}, "", {}),
        ({"authorization": f'Token token="{THIRD}", nonce="0123456789abc"'}, "", {}),
        ({"proxy-authorization": f"Bearer {THIRD}"}, "", {}),
        ({"api-key": THIRD}, "", {}),
        ({"x-auth-token": f"{SECOND},{THIRD}"}, "", {}),
        ({"cookie": f"theme=dark; session={THIRD}; a=b"}, "", {}),
        ({}, f"alt=sse&api_key={quote(THIRD, safe='')}", {}),
        ({}, f"ACCESS_TOKEN={quote(THIRD)}", {}),
        ({}, "", {"mcp_servers": [{"url": "https://a", "authorization_token": THIRD}]}),
        ({}, "", {"tools": [{"type": "mcp", "authorization": THIRD}]}),
        ({}, "", {"tools": [{"type": "mcp", "headers": {"Authorization": f"Bearer {THIRD}"}}]}),
        ({}, "", {"tools": [{"type": "mcp", "server_url": f"https://a/?b=c&aApiKey={THIRD}"}]}),
        ({}, "", {"apiKey": THIRD}),
    ],
)
def test_a_secret_is_hidden_wherever_it_stands_and_however_it_is_repeated(
    headers: dict[str, str], query: str, body: dict[str, Any]
) -> None:
    secrets = secrets_of(headers, query, body)
    spelt = [THIRD, THIRD.replace("/", r"\/"), quote(THIRD), quote(THIRD, safe=""), query]
    spelt += [quote(THIRD, safe="").lower(), b64encode(THIRD.encode()).decode()]
    spelt += [THIRD.encode().hex(), THIRD.encode().hex().upper(), *headers.values()]
    hidden = masked("\n".join(spelt).encode(), secrets).decode()
    for secret in (*filter(None, spelt[:4]), *spelt[5:9], LOGIN):
        assert secret not in hidden
    for before, coding in product(("", "x", "xy"), (b64encode, urlsafe_b64encode)):
        coded = coding(f"{before}{THIRD}, and more".encode())
        masked_one = masked(coded, secrets)
        assert len(masked_one) == len(coded)
        assert masked_one.count(b"*") >= len(THIRD) * 4 // 3 - 1


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (
            {"authorization": "Signature dark", "cookie": "theme=dark-mode; a=b"},
            {"prompt_cache_key": THIRD, "metadata": {"max_tokens": THIRD}},
        ),
        (
            {"idempotency-key": "", "x-api-key": "none", "max-tokens": "0123456789abcdef"},
            {"messages": [{"role": "user", "content": [{"type": "text", "token": THIRD}]}]},
        ),
        (
            {"user-agent": THIRD},
            {"tools": [{"input_schema": {"properties": {"token": {"type": THIRD}}}}]},
        ),
    ],
)
def test_plain_words_of_a_request_are_not_hidden(
    headers: dict[str, str], body: dict[str, Any]
) -> None:
    words = f"{THIRD} {' '.join(headers.values())}".encode()
    assert masked(words, secrets_of(headers, "alt=sse", body)) == words


@pytest.mark.parametrize(
    "told",
    [
        "HTTP/1.1 401 No\r\nwww-authenticate: Bearer error={}\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 302 Go\r\nlocation: http://a/?key={}\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n{}\r\n\r\n",
        "HTTP/1.1 200 OK\r\nx: {}\0\r\n\r\n",
        "{} HTTP/1.1\r\n\r\n",
    ],
)
@pytest.mark.parametrize("model", ["claude", "gpt"], ids=["passed on", "translated"])
def test_the_gateways_key_reaches_no_client_in_a_head(told: str, model: str) -> None:
    silent = Silent(told.format(KEY).encode())
    route = Route("*", "anthropic", base_url=silent.address, key_variable="K")
    payload = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    path = "/v1/messages" if model == "claude" else "/v1/chat/completions"
    with running(GatewaySettings((route,)), environment={"K": KEY}) as gateway:
        answer = gateway.ask(path, payload, {"authorization": f"Bearer {TOKEN}"})
    assert KEY not in str(answer)


@pytest.mark.parametrize("breaks", [False, True], ids=["whole", "broken off"])
@pytest.mark.parametrize("status", [200, 401])
def test_the_gateways_key_reaches_no_client_in_an_error(status: int, breaks: bool) -> None:
    """Some hosts repeat the key that they refuse; in pieces cut anywhere."""
    told = b'{"error": "wrong key: %b, %b"}' % (KEY.encode(), b64encode(KEY.encode()))

    async def pieces(size: int) -> AsyncGenerator[bytes, None]:
        for start in range(0, len(told), size):
            yield told[start : start + size]
        if breaks:
            raise BrokenOff("the answer broke off")

    async def read(size: int) -> bytes:
        came = b""
        with suppress(BrokenOff):
            async for piece in without_key(pieces(size), KEY):
                assert piece
                came += piece
        return came

    hidden = masked(told, frozenset((KEY,)))
    assert {asyncio.run(read(size)) for size in range(1, len(told) + 1)} == {hidden}
    with upstream() as server:
        server.status, server.body = status, told
        route = Route("*", "anthropic", base_url=f"http://127.0.0.1:{server.server_port}")
        settings = GatewaySettings((replace(route, key_variable="K"),))
        with running(settings, environment={"K": KEY}) as gateway:
            answer = gateway.ask("/v1/messages", b'{"model": "m"}', {"x-api-key": TOKEN})
    assert (answer.status, answer.body) == (status, told if status == 200 else hidden)
    assert KEY.encode() not in hidden
