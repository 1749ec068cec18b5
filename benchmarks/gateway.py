"""What the gateway costs a request, beside a bare proxy in the same run.

    uv run python benchmarks/gateway.py [--seconds 30] [--clients 64] [--pieces 44] [--requests N]

An upstream, a bare proxy (Starlette and aiohttp, nothing read) and `cw serve` with a store of its
own run as processes on this machine; nothing leaves it. Each client has sessions of twenty
requests, and sends the whole history with each: 33 to 68 KB, 20 tools. Answers are streamed:
passed through, and translated from Anthropic's API to Chat Completions. They come piece by piece,
as a model writes them, or at once, which leaves what a request costs beside its pieces. CPU is that
of the server alone, user and system, until all is recorded. Each piece of an answer says when it
was sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import aiohttp

PIECES = 44
"""Pieces of an answer: the mean of the 18 streams of Claude that pydantic-ai's tests recorded (1 to
148, of 19 characters each).
"""
PAUSE = 0.02
SENT = re.compile(rb"<([0-9.]+)>")
TURNS = 21
"""Turns of the history that a session begins with."""
REQUESTS = 20
"""Requests of a session."""
ROUNDS = 3
HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
MODELS = {"bare proxy": "claude-x", "pass-through": "claude-x", "translated": "other-x"}
TICKS = os.sysconf("SC_CLK_TCK")


class Server(NamedTuple):
    """A process that answers at an address."""

    pid: int
    address: str
    seconds: float
    """How long it took until it answered."""
    cpu: float
    """The seconds of CPU that this took; more where Python may not keep its bytecode."""


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--pieces", type=int, default=PIECES)
    options.add_argument("--requests", type=int, default=20_000)
    options.add_argument("--serve", choices=("upstream", "bare"), help=argparse.SUPPRESS)
    options.add_argument("--at", type=int, help=argparse.SUPPRESS)
    options.add_argument("--to", default="", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve == "upstream":
        asyncio.run(serve_upstream(given.at, given.pieces))
        return 0
    if given.serve == "bare":
        serve_bare(given.at, given.to)
        return 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstream = stack.enter_context(started(own("upstream", pieces=given.pieces), "/health"))
        bare = stack.enter_context(started(own("bare", upstream.address), "/health"))
        gateway = stack.enter_context(started(*cw_serve(upstream.address, folder)))
        for name, server in (("cw serve", gateway), ("the bare proxy", bare)):
            print(f"{name}: up in {server.seconds:.2f} s, CPU {server.cpu:.2f} s")
        print()
        token = (folder / "token").read_text().strip()
        servers = {"bare proxy": bare, "pass-through": gateway, "translated": gateway}
        asyncio.run(measure(servers, upstream.address, token, given))
    return 0


# --- what is measured ------------------------------------------------------------------------


async def measure(
    servers: dict[str, Server], upstream: str, token: str, given: argparse.Namespace
) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    headers = {**HEADERS, "x-api-key": token}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        await print_load(session, servers, given)
        await print_costs(session, servers, upstream)
        await print_memory(session, servers["pass-through"], given.requests)


async def print_load(
    session: aiohttp.ClientSession, servers: dict[str, Server], given: argparse.Namespace
) -> None:
    """Many slow streams at once: what do they cost, and is each piece passed on as it comes?"""
    print(f"{given.clients} streaming clients for {given.seconds:g} s, {given.pieces} pieces each")
    print(f"{'':16}{'CPU ms':>10}{'event loop':>12}{'of bare':>10}{'answers':>10}", end="")
    print(f"{'errors':>8}{'bunched':>9}{'late ms p50':>13}{'p99':>8}")
    base = 0.0
    for name, server in servers.items():
        await ask_many(session, server.address, MODELS[name], 50)  # connections, caches
        await settled(session, server.address)
        before, found = spent_by(server), Load(given.pieces)
        end = time.monotonic() + given.seconds
        await asyncio.gather(
            *(
                found.repeat(session, server.address, MODELS[name], end)
                for _ in range(given.clients)
            )
        )
        await settled(session, server.address)
        cpu, loop = cost(server, before, found.answers)
        base = base or cpu
        late = [value * 1e3 for value in found.late] or [0.0, 0.0]
        print(
            f"{name:16}{cpu:>10.2f}{loop:>12.2f}{cpu / base:>10.1f}{found.answers:>10,}"
            f"{found.errors:>8}{found.bunched:>9}"
            f"{median(late):>13.1f}{quantiles(late, n=100)[98]:>8.1f}"
        )


async def print_costs(
    session: aiohttp.ClientSession, servers: dict[str, Server], upstream: str
) -> None:
    """CPU of a request whose answer comes at once, and how much later its first byte comes.

    The least of some rounds, because the machine may be busy.
    """
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in servers}
    added: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(ROUNDS):
        direct = await first_byte(session, upstream, "claude-x")
        for name, server in servers.items():
            await ask_many(session, server.address, MODELS[name], 50)  # connections, caches
            await settled(session, server.address)
            before = spent_by(server)
            await ask_many(session, server.address, MODELS[name], 400)
            await settled(session, server.address)
            spent[name].append(cost(server, before, 400))
            first = await first_byte(session, server.address, MODELS[name])
            added[name].append((first - direct) * 1e3)
    base, _ = min(spent["bare proxy"])
    print("\nAnswers that come at once, eight clients")
    print(f"{'':16}{'CPU ms':>10}{'event loop':>12}{'of bare':>10}{'first byte, added ms p50':>28}")
    for name in servers:
        least, loop = min(spent[name])
        ratio, first = least / base, min(added[name])
        print(f"{name:16}{least:>10.2f}{loop:>12.2f}{ratio:>10.1f}{first:>28.1f}")


async def print_memory(session: aiohttp.ClientSession, server: Server, requests: int) -> None:
    """Resident memory while requests go on."""
    print(f"\nMemory over {requests:,} requests")
    step = max(1, requests // 10)
    for done in range(0, requests + 1, step):
        print(f"{done:>10,}{memory_of(server.pid):>8.0f} MB", flush=True)
        if done < requests:
            await ask_many(session, server.address, MODELS["pass-through"], step)


class Load:
    """What many clients saw."""

    def __init__(self, pieces: int) -> None:
        self.pieces = pieces
        self.answers = self.errors = self.bunched = 0
        self.late: list[float] = []

    async def repeat(
        self, session: aiohttp.ClientSession, address: str, model: str, end: float
    ) -> None:
        client = Client(session, address, f"{model}-slow")
        while time.monotonic() < end:
            try:
                pieces = 0
                async for chunk in client.ask():
                    sent = SENT.findall(chunk)
                    self.late += [time.time() - float(moment) for moment in sent]
                    self.bunched += len(sent) > 1
                    pieces += len(sent)
                self.errors += pieces != self.pieces
                self.answers += 1
            except aiohttp.ClientError:
                self.errors += 1


async def ask_many(session: aiohttp.ClientSession, address: str, model: str, count: int) -> None:
    """Ask so many times, eight at once."""
    left = iter(range(count))

    async def ask() -> None:
        client = Client(session, address, model)
        for _ in left:
            async for _ in client.ask():
                pass

    await asyncio.gather(*(ask() for _ in range(8)))


async def settled(session: aiohttp.ClientSession, address: str) -> None:
    """Wait until all that passed is recorded."""
    while True:
        async with session.get(f"{address}/metrics") as response:
            if b"waiting_bytes 0\n" in await response.read() or response.status != 200:
                return
        await asyncio.sleep(0.05)


async def first_byte(session: aiohttp.ClientSession, address: str, model: str) -> float:
    """The median seconds until an answer begins."""
    taken: list[float] = []
    client = Client(session, address, model)
    for _ in range(100):
        begun = time.perf_counter()
        first = True
        async for _ in client.ask():
            if first:
                taken.append(time.perf_counter() - begun)
                first = False
    return median(taken)


class Client:
    """A client that goes on with its session, and begins another after some requests."""

    numbers = count()

    def __init__(self, session: aiohttp.ClientSession, address: str, model: str) -> None:
        self.session, self.address, self.model = session, address, model
        self.turns: list[bytes] = []
        self.asked, self.name = REQUESTS, ""

    async def ask(self) -> AsyncGenerator[bytes, None]:
        """Ask the next question; yield the pieces of the answer."""
        if self.asked == REQUESTS:
            self.asked, self.name = 0, f"session-{next(self.numbers)}"
            self.turns = [turn_of(place) for place in range(TURNS)]
        self.asked += 1
        head, tail = FRAME
        body = b"".join((head.replace(b"MODEL", self.model.encode()), b",".join(self.turns), tail))
        headers, answer = {"x-session-id": self.name}, b""
        url = f"{self.address}/v1/messages"
        async with self.session.post(url, data=body, headers=headers) as response:
            response.raise_for_status()
            async for chunk in response.content.iter_any():
                answer += chunk
                yield chunk
        said = "".join(f"<{moment.decode()}>" for moment in SENT.findall(answer))
        self.turns += [turn_of(len(self.turns), said), turn_of(len(self.turns) + 1)]


WORDS = "The quick brown fox jumps over the lazy dog, and nobody knows why it does so. "


def turn_of(place: int, text: str = "") -> bytes:
    """A turn of a history; every second one is the client's."""
    role = ("user", "assistant")[place % 2]
    return json.dumps({"role": role, "content": text or f"{place}: {WORDS * 12}"}).encode()


def frame() -> tuple[bytes, bytes]:
    """What stands before the turns of a request, and after them."""
    schema = {"type": "object", "properties": {"path": {"type": "string", "description": WORDS}}}
    tools = [
        {"name": f"tool_{place}", "description": WORDS * 5, "input_schema": schema}
        for place in range(20)
    ]
    payload = {"model": "MODEL", "max_tokens": 1_000, "stream": True, "system": WORDS}
    head, _, tail = json.dumps({**payload, "messages": [], "tools": tools}).partition("[]")
    return f"{head}[".encode(), f"]{tail}".encode()


FRAME = frame()


def cpu_of(pid: int) -> float:
    """The seconds of CPU that a process has used."""
    return seconds_in(Path(f"/proc/{pid}/stat"))


def spent_by(server: Server) -> tuple[float, float]:
    """The CPU of a process, and that of its first thread, which runs the event loop."""
    return cpu_of(server.pid), seconds_in(Path(f"/proc/{server.pid}/task/{server.pid}/stat"))


def cost(server: Server, before: tuple[float, float], requests: int) -> tuple[float, float]:
    """The milliseconds of CPU that each request took since then: all, and those of the loop."""
    cpu, loop = spent_by(server)
    return (cpu - before[0]) / requests * 1e3, (loop - before[1]) / requests * 1e3


def seconds_in(stat: Path) -> float:
    """The seconds of CPU, user and system, in a file of `/proc`."""
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_of(pid: int) -> float:
    """The resident megabytes of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# --- the processes ---------------------------------------------------------------------------


def own(kind: str, to: str = "", pieces: int = PIECES) -> tuple[list[str], int]:
    port = free_port()
    command = [sys.executable, __file__, "--serve", kind, "--at", str(port), "--to", to]
    return [*command, "--pieces", str(pieces)], port


def cw_serve(upstream: str, folder: Path) -> tuple[tuple[list[str], int], str]:
    port, routes = free_port(), folder / "routes.toml"
    (folder / "token").write_text("a-token-for-the-benchmark\n")
    rows = [("claude-*", "anthropic", upstream), ("*", "openrouter", f"{upstream}/v1")]
    routes.write_text(
        "\n".join(
            f'[[routes]]\nmodel = "{model}"\nupstream = "{name}"\nbase_url = "{base}"'
            for model, name, base in rows
        )
    )
    command = [sys.executable, "-m", "contextwright", "serve", "--port", str(port)]
    command += ["--routes", str(routes), "--token-file", str(folder / "token")]
    return ([*command, "--store", str(folder / "store.db")], port), "/health"


@contextmanager
def started(command: tuple[list[str], int], path: str) -> Iterator[Server]:
    """A process, once it answers."""
    words, port = command
    begun = time.perf_counter()
    environment = {**os.environ, "OPENROUTER_API_KEY": "none"}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, env=environment, **silent)
    try:
        while not answers(port, path):
            assert process.poll() is None, words
            time.sleep(0.01)
        taken = time.perf_counter() - begun
        yield Server(process.pid, f"http://127.0.0.1:{port}", taken, cpu_of(process.pid))
    finally:
        process.terminate()
        process.wait()


def answers(port: int, path: str) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            request = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
            connection.sendall(request.encode())
            return b" 200 " in connection.recv(100)
    except OSError:
        return False


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


async def serve_upstream(port: int, pieces: int) -> None:
    """Answer every request with a stream in the API of its path."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = re.search(r"content-length: (\d+)", head)
                body = await reader.readexactly(int(length[1])) if length else b""
                await stream(writer, head, pieces, PAUSE if b"-slow" in body else 0)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, limit=1 << 20)
    await server.serve_forever()


async def stream(writer: asyncio.StreamWriter, head: str, pieces: int, pause: float) -> None:
    kind = "text/event-stream"
    writer.write(
        f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    )
    begin, piece, end = CHAT if "/chat/completions" in head else CLAUDE

    def send(text: str) -> None:
        writer.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())

    send(begin)
    for _ in range(pieces):
        if pause:
            await asyncio.sleep(pause)
        send(piece.replace("TEXT", f"<{time.time():.6f}>"))
        await writer.drain()
    send(end)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def event(name: str, **fields: Any) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    fields = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**fields, 'choices': [choice]})}\n\n"


USAGE = {"input_tokens": 12_000, "output_tokens": 40}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
CLAUDE = (
    event("message_start", message={**MESSAGE, "usage": USAGE})
    + event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    event("content_block_delta", index=0, delta={"type": "text_delta", "text": "TEXT"}),
    event("content_block_stop", index=0)
    + event("message_delta", delta={"stop_reason": "end_turn"}, usage=USAGE)
    + event("message_stop"),
)
CHAT = (
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "TEXT"}),
    chunk({}, "stop") + "data: [DONE]\n\n",
)


def serve_bare(port: int, upstream: str) -> None:
    """A proxy that reads nothing."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response, StreamingResponse
    from starlette.routing import Route

    sessions: list[aiohttp.ClientSession] = []

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def pass_on(request: Request) -> Response:
        if not sessions:
            sessions.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        body = await request.body()
        headers = {"content-type": "application/json", "x-api-key": request.headers["x-api-key"]}
        came = await sessions[0].post(f"{upstream}{request.url.path}", data=body, headers=headers)

        async def chunks() -> AsyncGenerator[bytes, None]:
            async with came:
                async for piece in came.content.iter_any():
                    yield piece

        return StreamingResponse(chunks(), came.status, {"content-type": came.content_type})

    routes = [Route("/health", health), Route("/{path:path}", pass_on, methods=["POST"])]
    uvicorn.run(Starlette(routes=routes), port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    sys.exit(main())
