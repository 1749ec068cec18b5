"""The bytes of an answer, passed on as they come."""

import asyncio
import gc
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from itertools import pairwise
from typing import Any

import pytest

from contextwright.errors import ProviderError
from contextwright.formats.replies.reply import gather
from contextwright.formats.replies.streams import read_stream
from contextwright.providers import HttpClient
from contextwright.providers.http import CROSSING_SECONDS
from providers.standin import KEY, BreakOff, Held, said, serving

BODY = json.dumps(
    {"model": "gpt-5.6-sol", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
).encode()
HEADERS = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}


def fetch(
    address: str,
    body: bytes = BODY,
    headers: dict[str, str] = HEADERS,
    opened: Callable[[], None] = lambda: None,
) -> Any:
    """Status, content type, pieces, and the error at their end; `opened` is called before them."""

    async def run() -> Any:
        async with HttpClient() as client:
            response = await client.open(f"{address}/v1/chat/completions", headers, body)
            opened()
            pieces: list[bytes] = []
            error = None
            try:
                async with asyncio.timeout(20):
                    async for piece in response.chunks():
                        pieces.append(piece)
            except ProviderError as found:
                error = found
            response.close()
            return response.status, response.headers.get("content-type"), pieces, error

    return asyncio.run(run())


def test_bytes_come_as_they_are() -> None:
    with serving(said("One two three")) as server:
        status, kind, pieces, error = fetch(server.address)
    assert (status, kind, error) == (200, "text/event-stream", None)
    reply = gather(read_stream(pieces, "openai-chat"), "openai-chat")
    assert reply.message.text == "One two three "


def test_a_refusal_is_an_answer_too() -> None:
    with serving(said("never")) as server:
        status, _, pieces, error = fetch(server.address, headers={"authorization": "Bearer x"})
    assert (status, error) == (401, None)
    assert json.loads(b"".join(pieces))["error"]["code"] == "invalid_api_key"


def test_no_request_waits_for_the_end_of_another() -> None:
    """aiohttp would open a hundred connections, and let all other requests wait."""

    async def run() -> None:
        count, arrived, go = 150, 0, asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal arrived
            await reader.readuntil(b"\r\n\r\n")
            arrived += 1
            if arrived == count:
                go.set()
            await go.wait()
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", backlog=count)
        host, port = server.sockets[0].getsockname()
        async with server, HttpClient() as client, asyncio.timeout(20):
            opened = [client.open(f"http://{host}:{port}/", {}, b"") for _ in range(count)]
            assert {response.status for response in await asyncio.gather(*opened)} == {204}

    asyncio.run(run())


def test_a_malformed_chunk_breaks_the_answer_off() -> None:
    """aiohttp closes the connection, and would let its reader wait."""
    opened = threading.Event()
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"

    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(100_000)
            connection.sendall(head)
            assert opened.wait(20)
            connection.sendall(b"5\r\nhello\r\nnot a size\r\n")
            connection.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        _, _, pieces, error = fetch(address, opened=opened.set)
        thread.join()
    assert (pieces, error.kind) == ([b"hello"], "connection")


def test_a_reset_connection_leaves_nothing_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """One is reset in the middle of an answer, the other when it is idle."""
    reset = struct.pack("ii", 1, 0)  # to close is to reset

    def answer(listener: socket.socket) -> None:
        for answer in (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", ANSWER):
            connection, _ = listener.accept()
            with connection:
                connection.recv(100_000)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                connection.sendall(answer)
                time.sleep(0.1)

    async def run(address: str) -> None:
        async with HttpClient() as client:
            for _ in range(2):
                response = await client.open(address, {}, b"")
                with suppress(ProviderError):
                    async for _ in response.chunks():
                        pass
                response.close()
            await asyncio.sleep(0.3)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        asyncio.run(run(f"http://127.0.0.1:{listener.getsockname()[1]}"))
        thread.join()
    gc.collect()
    assert caplog.text == ""


def test_a_header_may_be_long() -> None:
    kind = b"text/" + b"x" * 60_000
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: 1\r\n\r\nx" % kind
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Closing(listener, answer=head).start()
        status, given, pieces, error = fetch(f"http://127.0.0.1:{listener.getsockname()[1]}")
    assert (status, given, pieces, error) == (200, kind.decode(), [b"x"], None)


def test_a_break_hands_over_what_came_first() -> None:
    with serving(BreakOff(said("One two three"), 2)) as server:
        _, _, pieces, error = fetch(server.address)
    assert error is not None
    assert error.kind == "connection"
    assert b"two" in b"".join(pieces)


ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx"


class Closing(threading.Thread):
    """A host that answers once on each connection, and closes it after the next request came.

    It is what a request meets that crosses the end of an idle connection on the way.
    """

    def __init__(
        self, listener: socket.socket, seconds: float = 0.0, answer: bytes = ANSWER
    ) -> None:
        super().__init__(daemon=True)
        self.listener, self.seconds, self.bodies = listener, seconds, list[bytes]()
        self.answer = answer

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                self.bodies.append(connection.recv(100_000)[-1:])
                connection.sendall(self.answer)
                connection.recv(100_000)
                time.sleep(self.seconds)


def test_a_request_that_meets_the_end_of_an_idle_connection_is_sent_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host = Closing(listener)
        host.start()
        asyncio.run(send_three(listener))
    assert host.bodies == [b"1", b"2", b"3"]


def test_a_request_that_a_host_was_at_work_on_is_not_sent_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host = Closing(listener, CROSSING_SECONDS * 1.2)
        host.start()
        with pytest.raises(ProviderError) as caught:
            asyncio.run(send_three(listener))
    assert (caught.value.kind, host.bodies) == ("connection", [b"1"])


async def send_three(listener: socket.socket) -> None:
    """Send three requests, one after the other, with a client that keeps its connections."""
    async with HttpClient() as client:
        for body in (b"1", b"2", b"3"):
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            response = await client.open(address, {}, body)
            [_] = [piece async for piece in response.chunks()]


@pytest.mark.parametrize("when", ["with the answer", "later"])
def test_an_answer_that_nobody_asked_for_answers_no_request(when: str) -> None:
    """aiohttp would take it for the answer to the next request on its connection."""
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n"

    async def run() -> None:
        opened, read, pushed = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            body = (await reader.readuntil(b"\r\n\r\n"), await reader.readexactly(1))[1]
            writer.write(head)
            await opened.wait()
            writer.write(body + (head + b"x" if when == "with the answer" else b""))
            await read.wait()
            writer.write(head + b"x" if when == "later" else b"")
            pushed.set()
            await reader.read()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1")
        host, port = server.sockets[0].getsockname()
        async with server, HttpClient() as client, asyncio.timeout(20):
            for body in (b"1", b"2"):
                response = await client.open(f"http://{host}:{port}/", {}, body)
                opened.set()
                assert [piece async for piece in response.chunks()] == [body]
                read.set()
                await pushed.wait()
                await asyncio.sleep(0.01)  # until it is received

    asyncio.run(run())


SURPLUS = {
    "length": (b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n", b"abc", (200, b"abc")),
    "chunks": (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        b"3\r\nabc\r\n0\r\n\r\n",
        (200, b"abc"),
    ),
    "no body": (b"HTTP/1.1 204 No Content\r\n\r\n", b"", (204, b"")),
}


@pytest.mark.parametrize("segments", [(0, 3), (0, 1, 3), (0, 2, 3), (0, 1, 2, 3)], ids=str)
@pytest.mark.parametrize("framing", SURPLUS)
def test_bytes_behind_an_answer_end_its_connection_only(
    framing: str, segments: tuple[int, ...]
) -> None:
    """The answer is whole, however they come, and the next request gets another connection."""
    head, body, expected = SURPLUS[framing]
    parts = (head, body, b"of nobody")
    pieces = [b"".join(parts[start:end]) for start, end in pairwise(segments)]
    closed: list[bool] = []

    async def run() -> None:
        sent = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n1")
            for piece in filter(None, pieces):
                writer.write(piece)
                await asyncio.sleep(0.02)
            sent.set()
            with suppress(ConnectionError):  # as it ends where not all was read
                closed.append(not await reader.read(1))
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1")
        host, port = server.sockets[0].getsockname()
        async with server, HttpClient() as client, asyncio.timeout(20):
            for _ in range(2):
                response = await client.open(f"http://{host}:{port}/", {}, b"1")
                came = b"".join([piece async for piece in response.chunks()])
                assert (response.status, came) == expected
                await sent.wait()
                sent.clear()
                await asyncio.sleep(0.02)  # until all is received

    asyncio.run(run())
    assert all(closed)


def test_a_new_connection_that_is_closed_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: listener.accept()[0].close())
        thread.start()
        with pytest.raises(ProviderError) as caught:
            fetch(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()
    assert caught.value.kind == "connection"


def test_a_host_that_is_not_there() -> None:
    with pytest.raises(ProviderError) as caught:
        fetch("http://127.0.0.1:1")
    assert caught.value.kind == "connection"


def test_closing_reaches_the_host() -> None:
    held = Held(said("One two"), threading.Event(), threading.Event())

    async def run(address: str) -> bytes:
        async with HttpClient() as client:
            response = await client.open(f"{address}/v1/chat/completions", HEADERS, BODY)
            async with aclosing(response.chunks()) as chunks:
                first = await anext(chunks)
            response.close()
            return first

    with serving(held) as server:
        assert asyncio.run(run(server.address))
        assert held.noticed.wait(20)


def test_a_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(said("Hello")) as server:
        monkeypatch.setenv("http_proxy", server.address)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        for address in ("http://provider.invalid", server.address):
            status, _, pieces, _ = fetch(address)
            assert (status, b"Hello" in b"".join(pieces)) == (200, True)
