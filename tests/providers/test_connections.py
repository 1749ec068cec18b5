"""Connections, beside hosts that send what hosts may send."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextwright.errors import ProviderError
from contextwright.providers import HttpClient, HttpResponse
from contextwright.providers.connections import MAX_HEAD_BYTES, MAX_UNREAD_BYTES, Connection

OK = b"HTTP/1.1 200 OK\r\n"
SIZED = OK + b"content-length: 2\r\n\r\nhi"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


class Host:
    """Answers every request with the same bytes, and keeps what it was sent.

    A request that asks for a tunnel gets one to `target`.
    """

    def __init__(self, answer: bytes, *, closes: bool = False, target: int = 0) -> None:
        self.answer, self.closes, self.target = answer, closes, target
        self.heads: list[str] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.heads.append(head)
                if head.startswith("CONNECT"):
                    await self.tunnel(reader, writer)
                    return
                for line in head.lower().splitlines():
                    if line.startswith("content-length: "):
                        await reader.readexactly(int(line.partition(" ")[2]))
                writer.write(self.answer)
                if self.closes:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while piece := await source.read(65_536):
                sink.write(piece)
            sink.close()

        try:
            await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
        finally:
            far_writer.close()


loops: list[Any] = [None]
"""What the last of these makes is the event loop; None stands for that of asyncio."""


@pytest.fixture(params=[None, "uvloop"], ids=["asyncio", "uvloop"], autouse=True)
def loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test runs on the loop of a program, and on that of the gateway."""
    made_by = request.param and pytest.importorskip(request.param).new_event_loop
    loops.append(made_by)
    yield
    loops.pop()


def talk(
    host: Host,
    work: Callable[[HttpClient, int], Any],
    *,
    tls: ssl.SSLContext | None = None,
    **options: Any,
) -> Any:
    """What comes of some work beside a host."""

    async def run() -> Any:
        server = await asyncio.start_server(host.serve, "127.0.0.1", ssl=tls)
        port = server.sockets[0].getsockname()[1]
        async with server, HttpClient(**options) as client, asyncio.timeout(20):
            return await work(client, port)

    with asyncio.Runner(loop_factory=loops[-1]) as runner:
        return runner.run(run())


async def body_of(response: HttpResponse) -> bytes:
    return b"".join([piece async for piece in response.chunks()])


@pytest.mark.parametrize(
    ("answer", "closes", "status", "body", "connections"),
    [
        (SIZED, False, 200, b"hi", 1),
        (CHUNKED + b"2\r\nhi\r\n0\r\n\r\n", False, 200, b"hi", 1),
        (CHUNKED + b"2;a=b\r\nhi\r\n0\r\nx-trailer: 1\r\n\r\n", False, 200, b"hi", 1),
        (CHUNKED + b"2 \r\nhi\r\n0\r\n\r\n", False, 200, b"hi", 1),
        (SIZED.replace(b"\r", b""), False, 200, b"hi", 1),
        (b"HTTP/1.1 204 No Content\r\n\r\n", False, 204, b"", 1),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + SIZED, False,
         200, b"hi", 1),
        (OK + b"\r\nall until the end", True, 200, b"all until the end", 2),
        (OK + b"connection: close\r\ncontent-length: 2\r\n\r\nhi", False, 200, b"hi", 2),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi", False, 200, b"hi", 2),
        (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n??", False,
         101, b"", 2),
    ],
)  # fmt: skip
def test_answers_end_where_http_says(
    answer: bytes, closes: bool, status: int, body: bytes, connections: int
) -> None:
    host = Host(answer, closes=closes)

    async def ask_twice(client: HttpClient, port: int) -> Any:
        found: list[tuple[int, bytes]] = []
        for _ in range(2):
            response = await client.open(f"http://127.0.0.1:{port}/", {}, b"x")
            found.append((response.status, await body_of(response)))
        return found

    assert talk(host, ask_twice) == [(status, body)] * 2
    assert host.connections == connections


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"SMTP ready\r\n", "the answer is not HTTP"),
        (OK + b"x: " + b"y" * MAX_HEAD_BYTES, "the head of the answer is too long"),
        (OK + b"content-le", "the connection was closed"),
    ],
)
def test_an_answer_without_a_head_is_an_error(answer: bytes, reason: str) -> None:
    async def ask(client: HttpClient, port: int) -> None:
        await client.open(f"http://127.0.0.1:{port}/", {}, b"x")

    with pytest.raises(ProviderError) as caught:
        talk(Host(answer, closes=True), ask)
    assert (caught.value.kind, str(caught.value)) == ("connection", reason)


@pytest.mark.parametrize(
    "answer", [OK + b"content-length: 5\r\n\r\nhi", CHUNKED + b"2\r\nhi\r\n", CHUNKED + b"9\r\nhi"]
)
def test_a_body_that_is_cut_off_is_no_whole_one(answer: bytes) -> None:
    async def ask(client: HttpClient, port: int) -> Any:
        response = await client.open(f"http://127.0.0.1:{port}/", {}, b"x")
        chunks = response.chunks()
        first = await anext(chunks)
        with pytest.raises(ProviderError, match="the answer broke off"):
            await anext(chunks)
        response.close()
        return first

    assert talk(Host(answer, closes=True), ask) == b"hi"


@pytest.mark.parametrize(
    ("answer", "reason"), [(b"", "the host does not answer"), (OK, "the host does not answer")]
)
def test_a_host_that_is_silent_is_given_up(answer: bytes, reason: str) -> None:
    async def ask(client: HttpClient, port: int) -> None:
        await client.open(f"http://127.0.0.1:{port}/", {}, b"x")

    with pytest.raises(ProviderError, match=reason):
        talk(Host(answer), ask, read_timeout=0.05)


def test_an_answer_that_stops_is_given_up() -> None:
    async def ask(client: HttpClient, port: int) -> Any:
        response = await client.open(f"http://127.0.0.1:{port}/", {}, b"x")
        with pytest.raises(ProviderError, match="nothing came for too long"):
            await body_of(response)
        response.close()

    talk(Host(OK + b"content-length: 5\r\n\r\nhi"), ask, read_timeout=0.05)


def test_an_answer_to_head_has_no_body_whatever_it_says() -> None:
    host = Host(OK + b"content-length: 500\r\n\r\n")

    async def ask(client: HttpClient, port: int) -> Any:
        response = await client.open(f"http://127.0.0.1:{port}/", {}, method="HEAD")
        return response.headers, await body_of(response)

    assert talk(host, ask) == ({"content-length": "500"}, b"")
    assert "content-length" not in host.heads[0]


def test_a_long_answer_waits_for_its_reader() -> None:
    body = bytes(MAX_UNREAD_BYTES * 40)
    host = Host(OK + b"content-length: %d\r\n\r\n" % len(body) + body)

    async def ask(client: HttpClient, port: int) -> Any:
        response = await client.open(f"http://127.0.0.1:{port}/", {}, b"x")
        await asyncio.sleep(0.2)
        chunks = response.chunks()
        first = await anext(chunks)
        rest = [piece async for piece in chunks]
        return len(first) <= 20 * MAX_UNREAD_BYTES, b"".join((first, *rest)) == body

    assert talk(host, ask) == (True, True)


def test_headers_come_and_go_as_they_are() -> None:
    pairs = [(b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2"), (b"X-Odd", b"\xe9 \xff")]
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in pairs)
    host = Host(b"HTTP/1.1 204 No Content\r\n" + lines + b"\r\n")

    async def ask(client: HttpClient, port: int) -> Any:
        url = f"http://user:p%40ss@127.0.0.1:{port}/a%2Fb/\u00e9?q=1&r=%20"
        response = await client.open(url, {"x-odd": "\u00e9\udcff"}, method="GET")
        return response.raw_headers, response.headers["set-cookie"], port

    raw, cookies, port = talk(host, ask)
    assert (raw, cookies) == (pairs, "a=1, b=2")
    assert host.heads == [
        "GET /a%2Fb/%C3%A9?q=1&r=%20 HTTP/1.1\r\n"
        f"host: 127.0.0.1:{port}\r\n"
        "x-odd: \u00c3\u00a9\u00ff\r\n"
        "authorization: Basic dXNlcjpwQHNz\r\n\r\n"
    ]


@pytest.mark.parametrize("value", ["a\nx-more: b", "a\r\nx-more: b", "a\rb", "a\0b"])
def test_a_header_is_one_line(value: str) -> None:
    host = Host(SIZED)

    async def ask(client: HttpClient, port: int) -> None:
        await client.open(f"http://127.0.0.1:{port}/", {"x": value}, b"x")

    with pytest.raises(ProviderError, match="more than one line"):
        talk(host, ask)
    assert host.heads == []


@pytest.mark.parametrize("url", ["", "host/path", "ftp://host/", "http://", "http://h:99999/"])
def test_an_address_that_is_none_is_an_error(url: str) -> None:
    async def ask(client: HttpClient, _: int) -> None:
        await client.open(url, {}, b"x")

    with pytest.raises(ProviderError) as caught:
        talk(Host(SIZED), ask)
    assert caught.value.kind == "connection"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and its key in one file."""
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", "-", "-out", "-"]
    path.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    return path


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificate with openssl")
@pytest.mark.parametrize("through_proxy", [False, True])
def test_hosts_prove_who_they_are(
    certificate: Path, through_proxy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    host, proxy = Host(SIZED), Host(b"")

    async def ask(outer: HttpClient, port: int) -> Any:
        await outer.close()
        proxy.target = port
        between = await asyncio.start_server(proxy.serve, "127.0.0.1")
        if through_proxy:
            near = between.sockets[0].getsockname()[1]
            monkeypatch.setenv("https_proxy", f"http://me:secret@127.0.0.1:{near}")
        trusting = ssl.create_default_context(cafile=str(certificate))
        for name, context in (("localhost", None), ("127.0.0.1", trusting)):
            async with HttpClient(ssl_context=context) as client:
                with pytest.raises(ProviderError, match="certificate verify failed"):
                    await client.open(f"https://{name}:{port}/", {}, b"x")
        found: list[bytes] = []
        async with between, HttpClient(ssl_context=trusting) as client:
            for _ in range(2):
                response = await client.open(f"https://localhost:{port}/", {}, b"x")
                found.append(await body_of(response))
        return found, port

    found, port = talk(host, ask, tls=tls)
    assert found == [b"hi", b"hi"]
    name = f"localhost:{port}"
    assert host.heads == [f"POST / HTTP/1.1\r\nhost: {name}\r\ncontent-length: 1\r\n\r\n"] * 2
    tunnel = f"CONNECT {name} HTTP/1.1\r\nhost: {name}\r\n"
    tunnel += "proxy-authorization: Basic bWU6c2VjcmV0\r\n\r\n"
    assert proxy.heads[-1:] == ([tunnel] if through_proxy else [])


BODIES = st.binary(max_size=40) | st.sampled_from([b"0\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
EARLY = st.lists(
    st.sampled_from([b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 x\r\na: b\r\n\r\n"])
)


@st.composite
def answers(draw: st.DrawFn) -> tuple[bytes, bytes, bool]:
    """An answer as bytes, its body, and whether only the end of the connection ends it."""
    parts = draw(st.lists(BODIES, max_size=4))
    framing = draw(st.sampled_from(["sized", "chunked", "closed"]))
    head = (
        b"".join(draw(EARLY))
        + OK
        + draw(st.sampled_from([b"", b"x: y\r\n", b"Set-Cookie: \xff\r\n"]))
    )
    if framing == "sized":
        sent = head + b"content-length: %d\r\n\r\n" % sum(map(len, parts)) + b"".join(parts)
    elif framing == "chunked":
        chunks = [b"%x\r\n%b\r\n" % (len(part), part) for part in parts if part]
        sent = head + b"transfer-encoding: chunked\r\n\r\n" + b"".join(chunks) + b"0\r\n\r\n"
    else:
        sent = head + b"\r\n" + b"".join(parts)
    return sent, b"".join(parts), framing == "closed"


class Line(asyncio.Transport):
    """A transport that keeps what is done with it."""

    def __init__(self) -> None:
        super().__init__()
        self.aborted = False

    def writelines(self, list_of_data: Any) -> None:
        pass

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted

    def get_write_buffer_size(self) -> int:
        return 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers(), st.data())
def test_an_answer_is_the_same_however_it_is_cut(
    answer: tuple[bytes, bytes, bool], data: st.DataObject
) -> None:
    sent, body, closes = answer
    places = st.integers(0, len(sent))
    cuts = sorted(data.draw(st.lists(places, max_size=6)))
    lost_at = data.draw(st.none() | places)
    surplus = data.draw(st.sampled_from([b"", b"", b"x", b"HTTP/1.1 200 OK\r\n\r\n"]))
    whole = sent + (b"" if closes else surplus)
    came = whole if lost_at is None else sent[:lost_at]

    async def run() -> None:
        connection, line = Connection(20.0), Line()
        connection.connection_made(line)
        asked = asyncio.ensure_future(connection.ask(b"head", b""))
        await asyncio.sleep(0)
        for start, stop in pairwise([0, *[cut for cut in cuts if cut < len(came)], len(came)]):
            if not line.aborted:
                connection.data_received(came[start:stop])
        if lost_at is not None or closes:
            connection.connection_lost(None)
        found, error = b"", False
        try:
            await asked
            while piece := await connection.read():
                found += piece
        except OSError:
            error = True
        head_size = sent.index(OK) + sent[sent.index(OK) :].index(b"\r\n\r\n") + 4
        is_whole = lost_at is None or lost_at == len(sent) or (closes and lost_at >= head_size)
        assert error == (not is_whole)
        if is_whole and lost_at in (None, len(sent)):
            assert found == body
        assert body.startswith(found)
        assert connection.is_reusable == (lost_at is None and not closes and not surplus)

    asyncio.run(run())
