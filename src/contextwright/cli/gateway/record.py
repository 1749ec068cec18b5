"""`cw record`: run a program, and record what it asks models."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from contextwright.cli.gateway.requests import share
from contextwright.cli.options import Argument, Option, StoreOptions
from contextwright.cli.output import complain, input_is_terminal, note, table
from contextwright.cli.stores import opened
from contextwright.context.explain import money
from contextwright.errors import MissingExtra
from contextwright.store.requests import RecordedRequest
from contextwright.store.rows.recorded import requests
from contextwright.store.store import Store

__all__ = ["record"]

FORWARDED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP")
"""Signals that are passed on to the program."""
FROM_KEYS = ("SIGINT", "SIGQUIT")
"""Signals that a terminal sends to the program too."""

MAX_WARNINGS = 20
"""The last of those that are printed when the program has ended."""
NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""The exit codes of shells for a program that cannot be started."""


def record(
    command: Annotated[
        list[str], Argument("COMMAND...", help="Program to run, with its arguments, after --.")
    ],
    where: StoreOptions,
    routes: Annotated[
        str | None,
        Option(
            "--routes",
            metavar="FILE.toml",
            help="File with routes. Default: the usual providers.",
        ),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print the table as JSON.")] = False,
) -> int:
    """Run a program and record what it asks models.

    Starts a gateway for this program alone, and gives its address to Claude Code, Codex, Gemini
    CLI, opencode, pi, Qwen Code, aider, mini-swe-agent, gptme, llm, shell-gpt, and to programs on
    the providers' SDKs. Requests go on to their provider byte for byte, with the program's own key.
    When the program ends, a table on standard error sums up its requests, and `cw requests` lists
    them. The exit code is the program's, 127 if there is no such program, and 126 if it cannot be
    started.

    \b
    cw record -- claude -p "What does this project do?"
    cw record --store run.db -- python agent.py
    """
    try:
        from contextwright.serve import read_settings
        from contextwright.serve.programs import launch, passing_settings
        from contextwright.serve.recording.processes import process_name
    except ImportError as error:
        raise MissingExtra("a gateway", "serve") from error
    settings = read_settings(routes) if routes else passing_settings(os.environ)
    with opened(where, sync="fast") as store, TemporaryDirectory() as folder:
        newest = store.requests(limit=1)
        with hold_warnings(), private_gateway(settings, store) as address:
            prepared = launch(command, address, os.environ, Path(folder))
            try:
                code = run(prepared.command, prepared.environment)
            except OSError as error:
                return report_failed_start(command[0], error)
            finally:
                if prepared.copy is not None:
                    prepared.copy.give_back()
        after = newest[0].number if newest else 0
        made = store.engine.read(
            lambda one: requests.of_process(one, store.tenant, process_name(), after)
        )
    used = ProgramUsage.of(made)
    if as_json:
        note(msgspec.json.encode(used).decode())
    else:
        for line in lines_of(used):
            note(f"cw: {line}")
    return code


class Warnings(logging.Handler):
    """Holds the newest warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.held = deque[str](maxlen=MAX_WARNINGS)

    def emit(self, record: logging.LogRecord) -> None:
        """Hold one warning."""
        self.held.append(record.getMessage())


@contextmanager
def hold_warnings() -> Generator[None]:
    """Print warnings only at the end of the block: before, the terminal is the program's."""
    warnings = Warnings()
    logging.getLogger().addHandler(warnings)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(warnings)
        for warning in warnings.held:
            note(f"cw: {warning}")


@contextmanager
def private_gateway(settings: Any, store: Store) -> Generator[str]:
    """Run a gateway on a free port while the block runs; yield its address."""
    from contextwright.cli.gateway.serve import listening
    from contextwright.serve import create_app
    from contextwright.serve.server import GatewayServer

    with listening("127.0.0.1", 0) as listener:
        server = GatewayServer(create_app(settings, records=store), log_level="error")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def run(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run a program in this terminal, and return its exit code.

    Raises:
        OSError: it cannot be started.
    """
    with forward_signals() as running:
        program = subprocess.Popen(command, env=environment)
        running.append(program)
        code = program.wait()
    return 128 - code if code < 0 else code


def report_failed_start(program: str, error: OSError) -> int:
    """Say why a program does not run, and return the exit code that shells have for it."""
    is_missing = isinstance(error, FileNotFoundError)
    is_name = os.path.basename(program) == program
    complain(f"{program}: {'command not found' if is_missing and is_name else error.strerror}")
    return NOT_FOUND if is_missing else NOT_EXECUTABLE


@contextmanager
def forward_signals() -> Generator[list[subprocess.Popen[bytes]]]:
    """Pass signals on to the program, unless a terminal has done that already."""
    running: list[subprocess.Popen[bytes]] = []
    reached = {getattr(signal, name, None) for name in FROM_KEYS if input_is_terminal()}

    def forward(number: int, _: FrameType | None) -> None:
        for program in running if number not in reached else ():
            program.send_signal(number)

    known = [getattr(signal, name) for name in FORWARDED if hasattr(signal, name)]
    old = {number: signal.signal(number, forward) for number in known}
    try:
        yield running
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


class ProgramUsage(Struct, frozen=True):
    """The figures of a program's requests."""

    requests: int
    failed: int
    """Requests without a whole answer."""
    counted: int
    """Requests whose tokens are known."""
    input: int
    cached: int
    output: int
    price: float | None
    """US dollars, as far as prices are known."""
    priced: int
    """Requests whose price is known."""
    breaks: dict[str, int]
    """The causes of cache breaks, and how often each occurred."""

    @classmethod
    def of(cls, records: Sequence[RecordedRequest]) -> ProgramUsage:
        """Return the sum of requests."""
        usages = [each.usage for each in records if each.usage is not None]
        prices = [each.price for each in records if each.price is not None]
        causes = Counter(
            each.prefix.cause
            for each in records
            if each.prefix is not None and each.prefix.first_difference is not None
        )
        return cls(
            requests=len(records),
            failed=sum(each.state != "answered" for each in records),
            counted=len(usages),
            input=sum(one.input for one in usages),
            cached=sum(one.cached for one in usages),
            output=sum(one.output for one in usages),
            price=sum(prices) if prices else None,
            priced=len(prices),
            breaks=dict(causes.most_common()),
        )


def lines_of(used: ProgramUsage) -> list[str]:
    """Return what a program used, line by line."""
    if not used.requests:
        return ["no request was recorded; the program may not know another address (cw serve -h)"]
    failed = f", {used.failed:,} of them without an answer" if used.failed else ""
    tokens = f"{used.input:,} input, {used.output:,} output"
    cached = f"{share(used.cached / used.input if used.input else 0.0)} of the input"
    price = "" if used.price is None else money(used.price)
    causes = "; ".join(f"{cause} (×{count:,})" for cause, count in used.breaks.items())
    rows = [
        ("requests", f"{used.requests:,}{failed}"),
        ("tokens", as_far_as_known(tokens, used.counted, used.requests)),
        ("cached", as_far_as_known(cached, used.counted, used.requests)),
        ("price", as_far_as_known(price, used.priced, used.requests)),
        ("cache", f"broken: {causes}" if causes else "never broken"),
    ]
    return table(rows).splitlines()


def as_far_as_known(figure: str, known: int, requests: int) -> str:
    """Return a figure, and of how many requests it is known if that is not all of them."""
    if not known:
        return "not known"
    return figure if known == requests else f"{figure} for {known:,} of them"
