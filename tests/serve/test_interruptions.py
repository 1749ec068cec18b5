"""Clients that leave and upstreams that break off: the other side learns of it."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, IncompleteRead
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.replies.reply import events_of
from contextwright.formats.replies.streams import write_stream
from contextwright.serve import GatewaySettings, Route, server
from providers.standin import KEY, BreakOff, StandIn, said, serving
from serve.gateways import TOKEN, Running, running
from serve.test_relay import upstream as plain_upstream
from serve.test_translate import reply_of, request_of
from serve.upstreams import ENVIRONMENT, HOSTS, MODELS, PAIRS, open_settings, settings_for

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
HELLO = request_of("anthropic", [cw.user("Hello")])


class Silent:
    """An upstream that takes a request, sends the beginning of an answer, and then nothing."""

    def __init__(self, beginning: bytes) -> None:
        self.beginning = beginning
        self.asked, self.left = threading.Event(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self) -> None:
        connection, _ = self.listener.accept()
        with connection, self.listener:
            came = b""
            while not came.endswith(b"}"):
                came += connection.recv(100_000)
            with suppress(ConnectionError):
                connection.sendall(self.beginning)
                self.asked.set()
                assert connection.recv(1) == b""
            self.left.set()


@contextmanager
def asking(gateway: Running, payload: dict[str, Any], key: str) -> Iterator[socket.socket]:
    """A client that has sent a request."""
    body = json.dumps({**payload, "model": "claude-sonnet-5-5", "stream": True}).encode()
    head = f"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\n"
    with socket.create_connection(("127.0.0.1", gateway.port)) as connection:
        connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        yield connection


@pytest.mark.parametrize("beginning", [b"", HEAD], ids=["before the head", "before the first byte"])
@pytest.mark.parametrize("upstream", ["anthropic", "openrouter"])
def test_a_client_that_leaves_early_ends_the_request(
    tmp_path: Path, upstream: str, beginning: bytes
) -> None:
    silent = Silent(beginning)
    key = None if upstream == "anthropic" else "UPSTREAM_KEY"
    route = Route("*", upstream, base_url=silent.address, key_variable=key)
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        settings = GatewaySettings((route,))
        with running(settings, environment=ENVIRONMENT, store=store) as gateway:
            with asking(gateway, HELLO, TOKEN):
                assert silent.asked.wait(20)
            assert silent.left.wait(20)
        (record,) = store.requests()
        assert record.state == "interrupted"


@pytest.mark.parametrize("beginning", [b"", HEAD], ids=["before the head", "before the first byte"])
@pytest.mark.parametrize("upstream", ["anthropic", "openrouter"])
def test_a_gateway_that_ends_breaks_off_what_still_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    upstream: str,
    beginning: bytes,
) -> None:
    monkeypatch.setattr(server, "GRACE_SECONDS", 0)
    silent = Silent(beginning)
    key = None if upstream == "anthropic" else "UPSTREAM_KEY"
    settings = GatewaySettings((Route("*", upstream, base_url=silent.address, key_variable=key),))
    with cw.Store(tmp_path / "store.db", sync="fast") as store, ExitStack() as clients:
        with running(settings, environment=ENVIRONMENT, store=store) as gateway:
            client = clients.enter_context(asking(gateway, HELLO, TOKEN))
            assert silent.asked.wait(20)
        with client.makefile("rb") as answer:
            assert b"500" not in answer.read()
        assert [record.state for record in store.requests()] == ["interrupted"]
    assert silent.left.wait(20)
    logged = capsys.readouterr().err
    assert "Cancel 1 running task" in logged
    assert "Traceback" not in logged


def test_a_client_that_does_not_read_stops_no_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its connection cannot be closed in order: there is no room for what it was sent."""
    monkeypatch.setattr(server, "GRACE_SECONDS", 0)
    much = b"x" * (32 << 20)
    silent = Silent(HEAD + f"{len(much):x}\r\n".encode() + much)
    settings = GatewaySettings((Route("*", "anthropic", base_url=silent.address),))
    with ExitStack() as clients:
        with running(settings, environment=ENVIRONMENT) as gateway:
            client = clients.enter_context(asking(gateway, HELLO, TOKEN))
            assert client.recv(1)
        with client.makefile("rb") as answer:
            assert len(answer.read()) < len(much)
    assert silent.left.wait(20)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("is_slow", [False, True], ids=["never", "slowly"])
def test_a_client_that_reads_nothing_loses_its_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    is_slow: bool,
) -> None:
    monkeypatch.setattr(server, "STALLED_SECONDS", 1.0 if is_slow else 0.1)
    much = b"x" * (16 << 20)
    silent = Silent(HEAD + f"{len(much):x}\r\n".encode() + much + b"\r\n0\r\n\r\n")
    settings = GatewaySettings((Route("*", "anthropic", base_url=silent.address),))
    got = bytearray()
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with running(settings, environment=ENVIRONMENT, store=store) as gateway:
            with asking(gateway, HELLO, TOKEN) as client:
                while is_slow and not got.endswith(b"0\r\n\r\n"):
                    time.sleep(0.02)  # all of it takes longer than it may read nothing
                    piece = client.recv(1 << 18)
                    assert piece
                    got += piece
                assert is_slow or silent.left.wait(20)
        (record,) = store.requests()
    assert record.state == ("failed" if is_slow else "interrupted")  # nobody can read it
    assert (got.count(b"x") >= len(much)) is is_slow
    assert ("a client read nothing" in caplog.text) is not is_slow


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("upstream", ["anthropic", "openai-chat", "openai-responses"])
def test_an_upstream_that_leaves_its_connection_open_is_left(upstream: str, streams: bool) -> None:
    """Its last event says that the answer is whole."""
    events = events_of(said("One two three."))
    body = b"".join(write_stream(events, upstream, model=MODELS[upstream]))
    silent = Silent(HEAD + f"{len(body):x}\r\n".encode() + body + b"\r\n")
    name, key = HOSTS.get(upstream, upstream), "UPSTREAM_KEY"
    route = Route("*", name, base_url=silent.address, key_variable=key, mend=True)
    with running(GatewaySettings((route,)), environment=ENVIRONMENT) as gateway:
        answer = gateway.generate("anthropic", HELLO, model=MODELS[upstream], streams=streams)
        assert silent.left.wait(20)
    assert reply_of(answer.body, "anthropic", streams).message.text == "One two three."


def test_what_breaks_off_at_the_upstream_breaks_off_here(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with serving(BreakOff(said("One two three."), 2)) as server:
            with running(open_settings("anthropic", server), store=store) as gateway:
                connection = HTTPConnection("127.0.0.1", gateway.port, timeout=30)
                headers = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
                body = json.dumps({**HELLO, "model": "claude-sonnet-5-5", "stream": True})
                connection.request("POST", "/v1/messages", body, headers)
                with pytest.raises(IncompleteRead) as caught:
                    connection.getresponse().read()
                connection.close()
        assert b"two" in caught.value.partial
        (record,) = store.requests()
        assert (record.state, record.error) == ("interrupted", "")
        assert store.request_bodies(record.number).reply == caught.value.partial
    assert caplog.messages == ["anthropic: the answer broke off: the connection broke"]
    assert all(line.exc_info is None for line in caplog.records)


@contextmanager
def translating(upstream: str, server: StandIn, store: cw.Store) -> Iterator[Running]:
    with running(settings_for(upstream, server), environment=ENVIRONMENT, store=store) as gateway:
        yield gateway


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_a_translated_answer_that_breaks_off_ends_in_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, client: str, upstream: str
) -> None:
    """Of the client's own API: within the stream, or in the place of a whole answer."""
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        with serving(BreakOff(said("One two three."), 2)) as server:
            with translating(upstream, server, store) as gateway:
                body = request_of(client, [cw.user("Hello")])
                streamed = gateway.generate(client, body, model=MODELS[client], streams=True)
                whole = gateway.generate(client, body, model=MODELS[client])
        assert [each.state for each in store.requests()] == ["interrupted"] * 2
    reply = cw.parse_stream([streamed.body], client)
    assert (reply.message.text.strip(), reply.finish) == ("One two", "error")
    assert reply.error is not None
    assert reply.error.message == "the answer broke off: the connection broke"
    assert whole.status == 502
    assert reply.error.message in str(whole.json)
    assert caplog.messages == ["the answer broke off"]


def test_what_an_upstream_says_of_a_break_is_in_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    body = request_of("anthropic", [cw.user("Hello")])
    with cw.Store(tmp_path / "store.db", sync="fast") as store, plain_upstream() as server:
        error = {"code": "bad_gateway", "message": f"nobody took {KEY} and its secret"}
        events = [{"choices": [{"index": 0, "delta": {"content": "One"}}]}, {"error": error}]
        server.body = b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in events)
        server.status = 200
        base_url = f"http://127.0.0.1:{server.server_port}"
        route = Route("*", "openrouter", base_url=base_url, key_variable="UPSTREAM_KEY")
        environment = {"UPSTREAM_KEY": KEY}
        with running(GatewaySettings((route,)), environment=environment, store=store) as gateway:
            answer = gateway.generate("anthropic", body, model="m", streams=True)
    assert b"its secret" in answer.body
    assert KEY.encode() not in answer.body
    assert caplog.messages == ["the answer broke off"]
