"""Probes: calls that try to get in, to wear out, or to learn something."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette

from contextwright.serve import GatewaySettings
from contextwright.serve import server as bounds
from contextwright.serve.api.routes import api_of
from contextwright.serve.http.api import Api, ApiLimits, ApiRoute
from contextwright.serve.http.operation import Lines, operation
from contextwright.store import Store
from serve.api.client import BEARER, ID, JSON, Client, filled, of, served
from serve.gateways import TOKEN, listening

LISTED = "/api/v1/conversations"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8042"}, 200),
        ({"host": "evil.example"}, 403),
        ({"host": ""}, 403),
        ({"host": "127.0.0.1@evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1.evil.example"}, 403),
    ],
)
def test_names_and_pages_of_others_are_refused_with_the_token_too(
    client: Client, headers: dict[str, str], status: int
) -> None:
    answer = client.gateway.ask(LISTED, b"", {**BEARER, **headers}, "GET")
    assert answer.status == status
    assert not [name for name in answer.headers if name.startswith("access-control")]
    if status == 403:
        assert answer.json["error"]["type"] == "forbidden"


def test_a_refusal_says_nothing_about_what_is_there(client: Client) -> None:
    """Without the token, a conversation that is there and one that is not look the same."""
    paths = (of(), of("nobody"), "/nothing", f"{of()}/messages/1", "/requests/1")
    answers = [client.call(path, headers={}) for path in paths]
    assert {(answer.status, answer.body) for answer in answers} == {
        (
            401,
            b'{"error":{"type":"unauthorized","message":"this route needs the gateway\'s token"}}',
        )
    }


def test_a_body_over_the_limit_is_refused(tmp_path: Path) -> None:
    with served(tmp_path, GatewaySettings(max_body_bytes=1_000)) as client:
        turn = {"messages": [{"role": "user", "content": "x" * 2_000}]}
        assert client.call(f"{of('large')}/turns", turn).status == 413
        assert client.call(of("large")).status == 404
        assert client.call("/conversations").status == 200


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Client]:
    """A server that waits only a moment, and takes only small files."""
    with Store(tmp_path / "store.db", embedder=None) as store:
        api = api_of(store, token=TOKEN, limits=ApiLimits(1_000, 1_000, 0.05))
        with listening(Starlette(routes=[ApiRoute(api)])) as gateway:
            yield Client(gateway, store)


def sent(port: int, *pieces: bytes) -> bytes:
    """Send bytes, and return all that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for piece in pieces:
            connection.sendall(piece)
        answer = b""
        while chunk := connection.recv(65_536):
            answer += chunk
        return answer


def test_a_body_that_does_not_come_is_not_waited_for(impatient: Client) -> None:
    for path, kind in ((f"{of('slow')}/turns", "application/json"), ("/import", "text/plain")):
        head = (
            f"POST /api/v1{path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 900\r\n"
            f"authorization: Bearer {TOKEN}\r\ncontent-type: {kind}\r\n\r\n"
        )
        assert sent(impatient.gateway.port, head.encode() + b"{").startswith(b"HTTP/1.1 408")


def test_a_file_over_the_limit_is_refused(impatient: Client) -> None:
    answer = impatient.gateway.ask("/api/v1/import", b"x" * 1_001, {**BEARER, **JSON})
    assert answer.status == 413


def test_a_head_without_an_end_is_refused(client: Client) -> None:
    line = b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: "
    answer = sent(client.gateway.port, line, b"x" * (bounds.MAX_HEAD_BYTES + 1))
    assert answer.startswith(b"HTTP/1.1 431")
    many = b"GET /health HTTP/1.1\r\n" + b"a: b\r\n" * (bounds.MAX_HEAD_BYTES // 6 + 1)
    assert sent(client.gateway.port, many).startswith(b"HTTP/1.1 431")
    assert client.call("/conversations").status == 200


@pytest.mark.parametrize("header", [b"x: %b\r\n" % (b"x" * 500), b"a: b\r\n"])
def test_a_long_head_is_refused_also_if_it_comes_at_once(client: Client, header: bytes) -> None:
    line = b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
    most = (bounds.MAX_HEAD_BYTES - len(line)) // len(header)
    for count, status in ((most, b"200"), (most + 4, b"431")):
        answer = sent(client.gateway.port, line + count * header + b"\r\n")
        assert answer.startswith(b"HTTP/1.1 " + status)


def test_a_head_that_does_not_come_is_not_waited_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "HEAD_SECONDS", 0.05)
    for begun in (b"", b"GET /health HTTP/1.1\r\nhost: local"):
        assert sent(client.gateway.port, begun) == b""
    assert client.call("/conversations").status == 200


def test_what_no_client_sends_is_refused(client: Client) -> None:
    for text in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        assert sent(client.gateway.port, text).startswith(b"HTTP/1.1 400")


SECRET = "the soup is poisoned"


def broken() -> dict[str, str]:
    """Break."""
    raise RuntimeError(SECRET)


def broken_later() -> Lines:
    """Break in the middle of an answer."""
    yield b"begun"
    raise RuntimeError(SECRET)


def test_an_error_of_ours_tells_nobody_what_it_was_about(caplog: pytest.LogCaptureFixture) -> None:
    """Neither the client nor the log, be it before the answer or in the middle of it."""
    operations = (
        operation("GET", "/broken", broken),
        operation("GET", "/later", broken_later, media="text/plain"),
    )
    api = Api(operations, {}, token=TOKEN)
    with listening(Starlette(routes=[ApiRoute(api)])) as gateway:
        answer = gateway.ask("/api/v1/broken", b"", BEARER, "GET")
        head = f"GET /api/v1/later HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n"
        later = sent(gateway.port, f"{head}\r\n".encode())
    assert (answer.status, answer.json["error"]["type"]) == (500, "internal")
    assert later.endswith(b"5\r\nbegun\r\n")  # and not the last chunk, which ends an answer
    assert SECRET not in answer.body.decode() + later.decode() + caplog.text
    assert caplog.text.count("RuntimeError in test_safety.py:") == 2


def test_content_and_token_are_in_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"), served(tmp_path) as client:
        filled(client.store, "logged", 2)
        for path in (of(), f"{of('logged')}/context?budget=1", "/recall?q=soup", "/nothing"):
            client.call(path)
        client.call(f"{of('logged')}/turns", b'{"messages": [{"role": "user", "content": soup')
    assert "soup" not in caplog.text
    assert TOKEN not in caplog.text
    assert ID not in caplog.text
