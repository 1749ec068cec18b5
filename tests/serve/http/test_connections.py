"""How requests come over a connection: in any pieces, with offers of other protocols."""

import json
import socket

import pytest

from serve.gateways import running

BODY = json.dumps({"model": "echo", "messages": [{"role": "user", "content": "hello"}]}).encode()
CHUNKED = b"5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (BODY[:5], len(BODY) - 5, BODY[5:])
OFFER = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP\r\n"
"""Java's client sends this with the first request of a connection."""
BODIES = {
    "counted": b"content-length: %d\r\n\r\n%b" % (len(BODY), BODY),
    "chunked": b"transfer-encoding: chunked\r\n\r\n%b" % CHUNKED,
}


def post(body: bytes, headers: bytes = b"") -> bytes:
    """Return a question to the echo as it goes over the wire."""
    return b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n%b%b" % (headers, body)


def answers(port: int, *pieces: bytes) -> bytes:
    """Send some pieces and return what comes back, until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("size", [1, 50, 10_000])
def test_an_offer_of_http_2_is_passed_over(body: bytes, size: int) -> None:
    """All requests of the connection are answered, whatever each offers."""
    requests = post(body, OFFER) + post(body) + post(body, OFFER + b"connection: close\r\n")
    pieces = [requests[start : start + size] for start in range(0, len(requests), size)]
    with running() as gateway:
        answer = answers(gateway.port, *pieces)
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert answer.count(b'"content":"hello"') == 3


def test_a_tunnel_is_refused() -> None:
    with running() as gateway:
        for headers in (b"", OFFER):
            asked = b"CONNECT localhost:1 HTTP/1.1\r\nhost: localhost\r\n%b\r\n" % headers
            assert answers(gateway.port, asked).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("names", [[], ["localhost", "localhost"], ["evil.example", "localhost"]])
def test_a_request_names_one_host(names: list[str]) -> None:
    hosts = "".join(f"host: {name}\r\n" for name in names)
    with running() as gateway:
        answer = answers(gateway.port, f"GET /health HTTP/1.0\r\n{hosts}\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize("last", ["http://localhost", "https://evil.example"])
def test_every_origin_counts(last: str) -> None:
    origins = f"origin: https://evil.example\r\norigin: {last}\r\n"
    head = f"GET /health HTTP/1.0\r\nhost: localhost\r\n{origins}\r\n"
    with running() as gateway:
        answer = answers(gateway.port, head.encode())
    assert answer.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_a_client_of_http_1_0_gets_no_chunks(streams: bool) -> None:
    """It knows none: their sizes would be a part of its answer."""
    body = BODY[:-1] + b', "stream": true}' if streams else BODY
    asked = post(b"content-length: %d\r\n\r\n%b" % (len(body), body)).replace(b"1.1", b"1.0", 1)
    with running() as gateway:
        head, _, answer = answers(gateway.port, asked).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head
    if streams:
        assert answer.startswith(b"data: ")
        assert answer.endswith(b"data: [DONE]\n\n")
    else:
        assert json.loads(answer)["choices"]
