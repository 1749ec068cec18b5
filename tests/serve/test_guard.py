"""Who may call a gateway, and what it refuses."""

import json
import os
import re
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import pytest

from contextwright.cli.gateway.serve import listening
from contextwright.errors import UsageError
from contextwright.serve import GatewaySettings, Route, read_settings
from contextwright.serve.guard import own_token
from providers.standin import KEY, Held, said, serving
from serve.gateways import TOKEN, running

ECHO = {"model": "echo", "messages": [{"role": "user", "content": "hello"}]}
CHAT = "/v1/chat/completions"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:1"}, 200),
        ({"host": "[::1]"}, 200),
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"host": "["}, 403),
        ({"origin": "http://localhost:3000"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_foreign_names_and_pages_are_refused(headers: dict[str, str], status: int) -> None:
    with running() as gateway:
        answer = gateway.ask(CHAT, ECHO, headers)
    assert answer.status == status
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (CHAT, b"{", 400),
        (CHAT, b"[]", 400),
        (CHAT, b"{}", 400),
        (CHAT, b'{"model": 7}', 400),
        (CHAT, b"[" * 100_000, 400),
        (CHAT, b"x" * 2_000_001, 413),
        ("/v1beta/models/echo:nothing", b"{}", 404),
        ("/v1beta/models/echo", b"{}", 404),
        ("/v1/nothing", b"{}", 404),
    ],
)
def test_bad_requests_are_refused_in_the_clients_words(path: str, body: bytes, status: int) -> None:
    with running(GatewaySettings(max_body_bytes=2_000_000)) as gateway:
        answer = gateway.ask(path, body)
        assert answer.status == status
        assert answer.json["error"]["message"]
        assert gateway.ask(CHAT, ECHO).status == 200


def test_websockets_are_told_to_post() -> None:
    with running() as gateway:
        with socket.create_connection(("127.0.0.1", gateway.port)) as connection:
            connection.sendall(
                b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n"
                b"connection: upgrade\r\nsec-websocket-version: 13\r\n"
                b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
            assert connection.recv(100).startswith(b"HTTP/1.1 426")


def test_one_too_many_is_told_to_come_back() -> None:
    """An answer counts until its last byte, not only until its first."""
    held = Held(said("One two three"), threading.Event(), threading.Event())
    with serving(held) as server:
        route = Route("*", "openai", base_url=server.base_url("openai-chat"))
        settings = GatewaySettings((Route("echo", "echo"), route), max_requests=1)
        with running(settings) as gateway:
            long = HTTPConnection("127.0.0.1", gateway.port, timeout=30)
            body = {**ECHO, "model": "gpt-4o", "stream": True}
            key = {"authorization": f"Bearer {KEY}"}
            long.request("POST", CHAT, json.dumps(body).encode(), key)
            answer = long.getresponse()
            assert answer.status == 200
            busy = gateway.ask(CHAT, ECHO)
            assert (busy.status, busy.headers["retry-after"]) == (503, "1")
            assert busy.json["error"]["message"] == "the gateway is busy"
            held.go.set()
            assert b"three" in answer.read()
            long.close()
            assert gateway.ask(CHAT, ECHO).status == 200


@pytest.mark.parametrize(("key", "status"), [("", 401), ("wrong", 401), (TOKEN, 200)])
def test_an_exposed_gateway_wants_its_token(key: str, status: int) -> None:
    with running(exposed=True) as gateway:
        assert gateway.generate("openai-chat", ECHO, model="echo", key=key).status == status


def test_an_exposed_gateway_reads_no_body_of_a_stranger() -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer no\r\n"
    with running(exposed=True) as gateway:
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as connection:
            connection.sendall(f"{head}content-length: 1000\r\n\r\n{{".encode())
            answer = b"".join(iter(lambda: connection.recv(1_000), b""))
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"connection: close" in answer


def test_names_of_hosts_are_the_same_in_capitals() -> None:
    with running(GatewaySettings(hosts=("Gateway.Example",))) as gateway:
        for name in ("Gateway.Example", "gateway.example:80", "GATEWAY.EXAMPLE"):
            assert gateway.ask(CHAT, ECHO, {"host": name}).status == 200


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}: Address already in use"):
            listening("127.0.0.1", port)
    with listening("127.0.0.1", 0) as free:
        assert free.getsockname()[1]


def test_the_token_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "new" / "token"
    token = own_token(path)
    assert own_token(path) == token
    assert len(token) == 43  # 256 bits, six to a character
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_gateways_that_start_together_have_one_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    with ThreadPoolExecutor(16) as threads:
        tokens = set(threads.map(own_token, [path] * 64))
    assert tokens == {own_token(path)}
    assert [file.name for file in tmp_path.iterdir()] == ["token"]


@pytest.mark.parametrize("held", [b"", b"\n", b"one two", b"one\ntwo", "tök".encode(), b"\xff\x00"])
def test_a_file_with_something_else_is_no_token(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(held)
    with pytest.raises(UsageError, match="token does not hold a token"):
        own_token(path)
    assert path.read_bytes() == held


class FailingEnvironment(dict[str, str]):
    """Fails with a text that nobody may read."""

    def get(self, key: str, default: object = None) -> str:  # pyright: ignore
        raise RuntimeError("what somebody said")


def test_an_error_of_ours_is_told_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    settings = GatewaySettings((Route("*", "gemini"),))
    with running(settings, environment=FailingEnvironment(a="b")) as gateway:
        answer = gateway.generate("anthropic", {"messages": []}, model="m")
    assert (answer.status, answer.json) == (
        500,
        {"type": "error", "error": {"type": "api_error", "message": "internal error"}},
    )
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "RuntimeError in test_guard.py"
    ]


def test_routes_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "routes.toml"
    file.write_text('[[routes]]\nmodel = "fast-*"\nupstream = "groq"\nsend_as = "llama"\n')
    settings = read_settings(file)
    assert settings.route_for("fast-1", "openai-chat") == Route("fast-*", "groq", send_as="llama")
    with pytest.raises(UsageError, match="no route is set for the model 'slow'"):
        settings.route_for("slow", "openai-chat")


NO_ADDRESSES = (
    "",
    "host/v1",
    "ftp://host",
    "http://",
    "http://[::1",
    "http://h/?a=b",
    "http://h:x",
    "http://h:0",
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("routes = 3", "routes cannot be 3 (a list)"),
        ('[[routes]]\nmodel = "a"\nupstream = "nobody"', "no host is known for 'nobody'"),
        (
            '[[routes]]\nmodel = "a"\nupstream = "groq"\nkeys = 1',
            "has no field 'keys' (known: ",
        ),
        ("max_requests = 0", "max_requests cannot be 0 (at least 1)"),
        ("max_body_bytes = -1", "max_body_bytes cannot be -1 (at least 1)"),
        ("keep_days = -1", "keep_days cannot be -1 (at least 0)"),
        ("keep_days = inf", "keep_days cannot be inf (at most 36,500)"),
        (
            '[[routes]]\nmodel = "a"\nupstream = "groq"\nbudget = 0',
            "routes[0].budget cannot be 0",
        ),
        (
            '[[routes]]\nmodel = "a"\nupstream = "groq"\napi = "openai"',
            "routes[0].api cannot be 'openai' (anthropic, gemini, openai-chat",
        ),
        *(
            (
                f'[[routes]]\nmodel = "a"\nupstream = "groq"\nbase_url = "{address}"',
                f"routes[0]: '{address}' is not the address of an API",
            )
            for address in NO_ADDRESSES
        ),
        (
            '[[routes]]\nmodel = "a"\nupstream = "groq"\nrecipe = "nothing"',
            "routes[0]: unknown recipe 'nothing'",
        ),
        ("\x00", "line 1"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "routes.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(words)):
        read_settings(file)
