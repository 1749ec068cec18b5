"""Bodies that clients compress: passed on as they are, read by everything else."""

import asyncio
import gzip
import json
import socket
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.errors import ContextwrightError, ParseError
from contextwright.serve import GatewaySettings, Route, app
from contextwright.serve.bodies import (
    TooLarge,
    TooSlow,
    UnknownEncoding,
    decompressed,
    read_body,
)
from contextwright.store import Store
from profiles import BODY, examples
from serve.gateways import PATHS, TOKEN, running
from serve.test_relay import ANSWER, UPSTREAMS, between, upstream

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
    "identity": bytes,
}
LIMIT = 10_000


def packed(data: bytes, names: list[str]) -> bytes:
    for name in names:
        data = PACKERS[name](data)
    return data


@examples(BODY)
@given(st.binary(min_size=1, max_size=100), st.lists(st.sampled_from(list(PACKERS)), max_size=3))
def test_what_was_compressed_comes_back(data: bytes, names: list[str]) -> None:
    spelling = " , ".join(names).upper()
    assert decompressed(packed(data, names), spelling, LIMIT * 2) == data


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
def test_a_body_that_cannot_be_read(name: str) -> None:
    whole = packed(b"x" * LIMIT, [name])
    assert len(decompressed(whole, name, LIMIT)) == LIMIT
    with pytest.raises(TooLarge, match="more than 9,999 bytes"):
        decompressed(whole, name, LIMIT - 1)
    with pytest.raises(TooLarge):
        decompressed(packed(bytes(2**24), [name]), name, LIMIT)
    with pytest.raises(ParseError, match="cut off"):
        decompressed(whole[:-1], name, LIMIT)
    with pytest.raises(ParseError, match=f"the body is not {name}"):
        decompressed(b"{}" * 40, name, LIMIT)
    assert decompressed(b"", name, LIMIT) == b""
    with pytest.raises(UnknownEncoding, match="'br'"):
        decompressed(whole, f"{name}, br", LIMIT)


def test_members_of_gzip_are_one_body() -> None:
    assert decompressed(gzip.compress(b"a") + gzip.compress(b"b"), "gzip", 2) == b"ab"
    with pytest.raises(ContextwrightError):
        decompressed(gzip.compress(b"a") + b"rest", "gzip", 9)


@pytest.mark.parametrize("name", PACKERS)
@pytest.mark.parametrize("path", UPSTREAMS)
def test_passed_on_as_it_came(path: str, name: str, tmp_path: Path) -> None:
    body = packed(b'{ "model":"m", "contents":[] }', [name])
    with upstream() as server, between(path, server) as gateway:
        answer = gateway.ask(path, body, {"content-encoding": name})
    assert answer.body == ANSWER
    [(_, headers, came)] = server.seen
    assert (headers["content-encoding"], came) == (name, body)


@pytest.mark.parametrize("format", PATHS)
def test_read_by_everything_else(format: str, tmp_path: Path) -> None:
    """The echo answers what it says, and the record holds it as it was read."""
    field = "input" if format == "openai-responses" else "messages"
    body = {"model": "echo", "max_tokens": 9, field: [{"role": "user", "content": "One?"}]}
    data = packed(json.dumps(body).encode(), ["zstd"])
    with Store(tmp_path / "chat.db", embedder=None) as store:
        with running(GatewaySettings((Route("*", "echo"),)), store=store) as gateway:
            answer = gateway.ask(PATHS[format], data, {"content-encoding": "zstd"})
            refused = gateway.ask(PATHS[format], data, {"content-encoding": "br"})
            damaged = gateway.ask(PATHS[format], data, {"content-encoding": "gzip"})
        assert (answer.status, b"One?" in answer.body) == (200, True)
        assert (refused.status, damaged.status) == (415, 400)
        [record] = store.requests()
        assert record.request_bytes == len(json.dumps(body))


def test_our_own_api_reads_them_too(tmp_path: Path) -> None:
    body = json.dumps({"payload": {"model": "gpt-4o", "messages": []}}).encode()
    kind = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
    with (
        Store(tmp_path / "chat.db", embedder=None) as store,
        running(store=store) as gateway,
    ):
        for name, status in (("gzip", 200), ("br", 415), ("deflate", 422)):
            data = gzip.compress(body)
            answer = gateway.ask("/api/v1/check", data, {**kind, "content-encoding": name})
            assert answer.status == status, answer.body
        headers = {**kind, "content-encoding": "gzip"}
        assert gateway.ask("/api/v1/check", gzip.compress(bytes(70 << 20)), headers).status == 413


def test_a_body_may_take_its_time_but_not_stop() -> None:
    async def pieces(pause: float) -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b"x"
            await asyncio.sleep(0.1)
        await asyncio.sleep(pause)

    async def both() -> bytes:
        with pytest.raises(TooSlow, match=r"nothing of the body came for 0\.4 seconds"):
            await read_body(pieces(60), LIMIT, 0.4)
        return await read_body(pieces(0), LIMIT, 0.4)

    assert asyncio.run(both()) == b"xxxxx"


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [("content-length: 9", b"{", 408), ("transfer-encoding: chunked", b"ff\r\n" + b"x" * 20, 413)],
)
def test_a_connection_whose_body_does_not_end_is_closed(
    head: str, body: bytes, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "BODY_SECONDS", 0.1)
    with (
        running(GatewaySettings(max_body_bytes=10)) as gateway,
        socket.create_connection(("127.0.0.1", gateway.port), timeout=30) as connection,
    ):
        start = f"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\n{head}\r\n\r\n"
        connection.sendall(start.encode() + body)
        came = b"".join(iter(lambda: connection.recv(1_000), b""))
    assert came.startswith(f"HTTP/1.1 {status} ".encode())
    assert b'{"type":"error","error":' in came
