"""Pass-through: not a byte changes, in either direction."""

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.serve import GatewaySettings, Route
from contextwright.serve.calls import read_call
from contextwright.serve.reading import read_fields
from contextwright.serve.relay import without_stand_ins
from contextwright.text.json import encode_json
from contextwright.wire.anthropic.types import UNSIGNED
from providers.standin import KEY, Held, said, serving
from serve.gateways import TOKEN, Running, running

UPSTREAMS = {
    "/v1/messages": ("anthropic", ""),
    "/v1/chat/completions": ("openai", "/v1"),
    "/v1/responses": ("openai", "/v1"),
    "/v1beta/models/m:generateContent": ("gemini", "/v1beta"),
    "/v1beta/models/m:streamGenerateContent": ("gemini", "/v1beta"),
}
UPWARDS = ("../../x", "%2e%2E/x", "a/..%2F..%2fx", "a%5c..\\x", "a/..;b/x")
ANSWER = b'data: {"half": "\xd0\n\ndata: \xff\x00'
"""Bytes that no parser would let through as they are."""


class Upstream(ThreadingHTTPServer):
    """Answers every request with the same bytes, and remembers what came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.headers = {"content-type": "text/event-stream", "x-own": "kept"}
        self.status, self.body = 203, ANSWER


class Answering(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Upstream  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.path, headers, body))
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = do_DELETE = do_PATCH = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def between(path: str, server: Upstream) -> Iterator[Running]:
    name, ending = UPSTREAMS[path]
    base = f"http://127.0.0.1:{server.server_port}{ending}"
    with running(GatewaySettings((Route("*", name, base_url=base),))) as gateway:
        yield gateway


@pytest.mark.parametrize("path", UPSTREAMS)
def test_not_a_byte_changes(path: str) -> None:
    body = b'{ "model":"m",  "stream" :true, "x": 1.0, "contents":[], "\\u00e9": "\xc3\xa9" }\n'
    sent = {"authorization": "Bearer own", "anthropic-beta": "a,b", "x-session-id": "s"}
    with upstream() as server, between(path, server) as gateway:
        answer = gateway.ask(f"{path}?beta=true&alt=sse", body, sent)
    assert (answer.status, answer.body, answer.headers["x-own"]) == (203, ANSWER, "kept")
    [(asked, headers, came)] = server.seen
    assert (asked, came) == (f"{path}?beta=true&alt=sse", body)
    assert sent.items() <= headers.items()
    assert headers["host"] == f"127.0.0.1:{server.server_port}"


def test_headers_go_along_but_those_of_the_connection() -> None:
    """Go's SDK sends a header for each beta; curl asks whether to send a large body."""
    with upstream() as server, between("/v1/messages", server) as gateway:
        connection = HTTPConnection("127.0.0.1", gateway.port, timeout=30)
        connection.putrequest("POST", "/v1/messages")
        for name, value in (
            ("anthropic-beta", "a"),
            ("Anthropic-Beta", "b"),
            ("expect", "100-continue"),
            ("connection", "close, X-Hop"),
            ("x-hop", "of the client"),
            ("content-length", "13"),
        ):
            connection.putheader(name, value)
        server.headers |= {"connection": "x-hop", "x-hop": "of the upstream", "retry-after": "3"}
        connection.endheaders(b'{"model":"m"}')
        answer = connection.getresponse()
        assert answer.read() == ANSWER
        connection.close()
    [(_, headers, _)] = server.seen
    assert headers == {
        "host": f"127.0.0.1:{server.server_port}",
        "anthropic-beta": "a, b",
        "accept-encoding": "identity",
        "content-length": "13",
    }
    names = sorted(name.lower() for name, _ in answer.getheaders())
    assert names == [
        *("connection", "content-type", "date", "retry-after", "server", "transfer-encoding"),
        "x-own",
    ]


def test_headers_may_hold_any_text() -> None:
    """Python's own client and server read the bytes of UTF-8 as Latin-1."""
    with upstream() as server, between("/v1/messages", server) as gateway:
        words = "Київ".encode().decode("latin-1")
        server.headers |= {"x-place": words, "x-old": "caf\xe9"}
        answer = gateway.ask("/v1/messages", {"model": "m"}, {"x-place": words})
    assert (answer.status, answer.headers["x-place"], answer.headers["x-old"]) == (
        203,
        words,
        "caf\xe9",
    )
    assert server.seen[0][1]["x-place"] == words


@pytest.mark.parametrize("model", ["", "..", "a//b", *UPWARDS])
def test_the_name_of_a_model_leads_to_no_other_path(model: str) -> None:
    path = "/v1beta/models/m:generateContent"
    with upstream() as server, between(path, server) as gateway:
        answer = gateway.ask(path.replace("/m:", f"/{model}:"), {"contents": []})
        assert gateway.ask(path.replace("/m:", "/google/m:"), {"contents": []}).status == 203
    assert (answer.status, answer.json["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert [asked for asked, *_ in server.seen] == ["/v1beta/models/google/m:generateContent"]


def test_compressed_bytes_stay_compressed() -> None:
    with upstream() as server, between("/v1/messages", server) as gateway:
        server.headers["content-encoding"] = "gzip"
        server.body = gzip.compress(ANSWER)
        answer = gateway.ask("/v1/messages", {"model": "m"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.body == server.body


def test_a_cookie_of_one_client_does_not_reach_another() -> None:
    with upstream() as server:
        server.headers["set-cookie"] = "session=of-the-first; Path=/"
        base = f"http://localhost:{server.server_port}"  # no cookies are kept for numbers
        route = Route("*", "anthropic", base_url=base)
        with running(GatewaySettings((route,))) as gateway:
            answers = [gateway.ask("/v1/messages", {"model": "m"}) for _ in range(2)]
    assert {answer.headers["set-cookie"] for answer in answers} == {"session=of-the-first; Path=/"}
    assert all("cookie" not in headers for _, headers, _ in server.seen)


@pytest.mark.parametrize(("name", "ending"), sorted(set(UPSTREAMS.values())))
def test_every_recorded_request_goes_up_as_it_is(name: str, ending: str, data_folder: Path) -> None:
    """Body, path, query and headers, of requests that only count too."""
    sent = 0
    with (
        upstream() as server,
        running(
            GatewaySettings(
                (Route("*", name, base_url=f"http://127.0.0.1:{server.server_port}{ending}"),)
            )
        ) as gateway,
    ):
        for file in sorted((data_folder / "clients").glob("*.json")):
            record = json.loads(file.read_bytes())
            asked = record["request"]
            if not file.name.split(".")[-3].startswith(name) or asked["method"] != "POST":
                continue
            body = json.dumps(record["body"], ensure_ascii=False).encode()
            address = f"{asked['path']}{'?' if asked['query'] else ''}{asked['query']}"
            headers = {key: value for key, value in asked["headers"].items() if key != "connection"}
            answer = gateway.ask(address, body, headers)
            assert hashed(answer.body) == hashed(ANSWER)
            path, got, came = server.seen[-1]
            assert hashed(came) == hashed(body), file
            # Gemini has one address; its clients know three.
            expected = (
                address.replace("/v1/models", "/v1beta/models") if name == "gemini" else address
            )
            assert path == expected
            changed = {key for key in headers if got.get(key) != headers[key]}
            assert changed <= {"accept-encoding", "content-length", "host"}
            sent += 1
    assert sent > 10


def hashed(body: bytes) -> str:
    return sha256(body).hexdigest()


def test_the_gateways_key_stands_for_the_clients() -> None:
    with upstream() as server:
        base = f"http://127.0.0.1:{server.server_port}/v1beta"
        route = Route("*", "gemini", base_url=base, key_variable="OWN")
        with running(GatewaySettings((route,)), environment={"OWN": "own-key"}) as gateway:
            path = f"/v1beta/models/m:generateContent?key={TOKEN}&alt=sse"
            assert gateway.ask(path, {"contents": []}).status == 203
    [(asked, headers, _)] = server.seen
    assert asked == "/v1beta/models/m:generateContent?alt=sse"
    assert headers["x-goog-api-key"] == "own-key"
    assert TOKEN not in str(headers)


@pytest.mark.parametrize("exposed", [False, True])
@pytest.mark.parametrize("name", ["ollama", "openai"])
def test_the_token_goes_no_further(name: str, exposed: bool) -> None:
    """Whether the upstream needs a key, and whether the client had to show the token, or not."""
    with upstream() as server:
        route = Route("*", name, base_url=f"http://127.0.0.1:{server.server_port}/v1")
        keys = {"OPENAI_API_KEY": "own-key"}
        with running(GatewaySettings((route,)), environment=keys, exposed=exposed) as gateway:
            headers = {"authorization": f"Bearer {TOKEN}"}
            path = "/v1/chat/completions"
            assert gateway.ask(path, {"model": "m"}, headers).status == 203
            assert gateway.ask(f"{path}?key={TOKEN}", {"model": "m"}).status == 203
            both = {"authorization": "Bearer another", "x-api-key": TOKEN}
            assert gateway.ask(path, {"model": "m"}, both).status == 203
    used = "Bearer own-key" if exposed and name == "openai" else None
    assert [headers.get("authorization") for _, headers, _ in server.seen] == [used] * 3
    assert TOKEN not in str(server.seen)


@pytest.mark.parametrize(
    ("status", "trace", "fault"),
    [
        *((status, "", f"HTTP status {status}") for status in (101, 600, 999)),
        (200, "a\x01b", "control characters in the headers of the answer"),
    ],
)
def test_what_no_answer_has_is_an_error(status: int, trace: str, fault: str) -> None:
    with upstream() as server:
        server.status, server.headers["x-trace"] = status, trace
        route = Route("*", "anthropic", base_url=f"http://127.0.0.1:{server.server_port}")
        with running(GatewaySettings((route,))) as gateway:
            answer = gateway.ask("/v1/messages", {"model": "m"}, {"x-api-key": KEY})
    assert answer.status == 502
    assert answer.json["error"]["message"] == f"anthropic: {fault}"


def test_a_client_that_goes_away_ends_the_request() -> None:
    held = Held(said("One two three"), threading.Event(), threading.Event())
    with serving(held) as server:
        route = Route("*", "anthropic", base_url=server.base_url("anthropic"))
        with running(GatewaySettings((route,))) as gateway:
            payload = cw.render([cw.user("Hello")], "anthropic", model="claude-sonnet-5-5").payload
            body = json.dumps({**payload, "model": "claude-sonnet-5-5", "stream": True}).encode()
            with socket.create_connection(("127.0.0.1", gateway.port)) as connection:
                connection.sendall(
                    f"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: {KEY}\r\n"
                    "anthropic-version: 2023-06-01\r\n"
                    f"content-length: {len(body)}\r\n\r\n".encode()
                    + body
                )
                came = b""
                while b"One" not in came:
                    came += connection.recv(1_000)
            assert held.noticed.wait(20)


OTHER_CALLS = [
    ("POST", "/v1/embeddings", {}, "openai", "/v1/embeddings"),
    ("GET", "/v1/files/f%20%2F1?limit=2", {}, "openai", "/v1/files/f%20%2F1?limit=2"),
    ("DELETE", "/v1/responses/r1", {}, "openai", "/v1/responses/r1"),
    ("GET", "/v1/models", {}, "openai", "/v1/models"),
    ("GET", "/v1/models/m", {}, "openai", "/v1/models/m"),
    ("POST", "/v1/messages/batches", {"anthropic-version": "1"}, "anthropic", None),
    ("GET", "/v1/models?limit=5", {"anthropic-version": "1"}, "anthropic", None),
    ("POST", "/v1beta/models/m:embedContent", {"x-goog-api-key": KEY}, "gemini", None),
    ("GET", f"/v1beta/models?key={KEY}", {}, "gemini", None),
    ("PATCH", "/v1beta/cachedContents/c", {"x-goog-api-key": KEY}, "gemini", None),
    ("POST", "/upload/v1beta/files", {"x-goog-api-key": KEY}, "gemini", None),
]
ENDINGS = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta"}


@pytest.mark.parametrize(("method", "path", "headers", "name", "expected"), OTHER_CALLS)
def test_calls_that_ask_no_model_pass_as_they_are(
    method: str, path: str, headers: dict[str, str], name: str, expected: str | None
) -> None:
    body = b"" if method in ("GET", "DELETE") else b"\x00not JSON"
    own = {"authorization": f"Bearer {KEY}", "x-own": "kept", **headers}
    with upstream() as server:
        routes = (
            Route("*", one, api=api, base_url=f"http://127.0.0.1:{server.server_port}{ending}")
            for one, ending in ENDINGS.items()
            for api in (("openai-chat", "openai-responses") if one == "openai" else (one,))
        )
        with running(GatewaySettings(tuple(routes))) as gateway:
            answer = gateway.ask(path, body, own, method)
    assert (answer.status, answer.body) == (203, ANSWER)
    [(asked, came, got)] = server.seen
    assert (asked, got) == (expected or path, body)
    assert (came["authorization"], came["x-own"]) == (f"Bearer {KEY}", "kept")


@pytest.mark.parametrize(
    ("path", "key", "route"),
    [
        ("/v1/embeddings", "", {}),
        ("/v1/embeddings", TOKEN, {}),
        ("/v1/embeddings", KEY, {"key_variable": "OWN"}),
        ("/v1/embeddings", KEY, {"mend": True}),
        *((f"/v1/{steps}", KEY, {}) for steps in UPWARDS),
        ("/v2/embeddings", KEY, {}),
    ],
)
def test_calls_that_ask_no_model_pass_with_a_key_of_the_clients_only(
    path: str, key: str, route: dict[str, Any]
) -> None:
    with upstream() as server:
        base = f"http://127.0.0.1:{server.server_port}/v1"
        settings = GatewaySettings((Route("*", "openai", base_url=base, **route),))
        with running(settings, environment={"OWN": "own-key"}) as gateway:
            answer = gateway.ask(path, b"{}", {"authorization": f"Bearer {key}"} if key else {})
    assert (answer.status, server.seen) == (404, [])


def test_an_exposed_gateway_passes_nothing_that_asks_no_model() -> None:
    with upstream() as server:
        route = Route("*", "openai", base_url=f"http://127.0.0.1:{server.server_port}/v1")
        keys = {"OPENAI_API_KEY": "own-key"}
        with running(GatewaySettings((route,)), environment=keys, exposed=True) as gateway:
            for key, status in ((TOKEN, 404), (KEY, 401)):
                headers = {"authorization": f"Bearer {key}"}
                assert gateway.ask("/v1/embeddings", b"{}", headers).status == status
    assert server.seen == []


ASKED = '{"role": "user",  "content": "Say \\u0022not-signed-by-anthropic\\u0022."}'
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": UNSIGNED}
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
TEXT = {"type": "text", "text": UNSIGNED}


@pytest.mark.parametrize(
    ("content", "kept", "places"),
    [
        ([THOUGHT, TEXT], [TEXT], [0]),
        ([THOUGHT, SIGNED, THOUGHT, TEXT], [SIGNED, TEXT], [0, 2]),
        ([THOUGHT], None, [0]),
        ([SIGNED, TEXT], [SIGNED, TEXT], []),
        (UNSIGNED, UNSIGNED, []),
        ([UNSIGNED, None, {"signature": UNSIGNED}], [UNSIGNED, None, {"signature": UNSIGNED}], []),
    ],
)
def test_only_thinking_with_the_stand_in_is_left_out(
    content: Any, kept: Any, places: list[int]
) -> None:
    def body_of(content: Any) -> bytes:
        turn = {"role": "assistant", "content": content}
        turns = [ASKED, *([] if content is None else [encode_json(turn).decode()]), ASKED]
        return f'{{ "model":"m", "messages": [{",".join(turns)}] }}\n'.encode()

    call = read_call("anthropic", "generate", body_of(content), {"content-encoding": "gzip"})
    sent = without_stand_ins(call)
    assert [change.path for change in sent.changes] == [
        f"messages[1].content[{place}]" for place in places
    ]
    assert {**sent.fields} == read_fields(body_of(kept))
    assert sent.sent == sent.body
    assert (sent is call) is not bool(places)
    assert ("content-encoding" in sent.headers) is not bool(places)


def test_a_client_may_change_to_claude_in_the_middle(tmp_path: Path) -> None:
    """It sends thinking of the other model along, which Claude would refuse."""
    thought = said(cw.Thinking("Hm."), "Hello")
    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(thought) as server:
        routes = (
            Route("claude-*", "anthropic", base_url=server.base_url("anthropic")),
            Route("*", "openrouter", base_url=server.base_url("openai-chat"), key_variable="K"),
        )
        with running(GatewaySettings(routes), environment={"K": KEY}, store=store) as gateway:
            asked = {"max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}
            first = gateway.generate("anthropic", {**asked, "model": "gpt-4o"}, model="gpt-4o")
            turn = {"role": "assistant", "content": first.json["content"]}
            assert turn["content"][0]["signature"] == UNSIGNED
            messages = [*asked["messages"], turn, {"role": "user", "content": "Go on"}]
            body = {**asked, "messages": messages, "model": "claude-sonnet-5-5"}
            answer = gateway.generate("anthropic", body, model=body["model"], key=KEY)
        second, _ = store.requests()
    assert (answer.status, server.refused) == (200, [])
    assert answer.headers["x-contextwright-changes"] == "1; loss.thinking"
    assert server.bodies[-1]["messages"][1]["content"] == turn["content"][1:]
    assert (second.mode, [one.code for one in second.changes]) == (
        "pass-through",
        ["loss.thinking"],
    )
