"""Gateways that are killed: each answer recorded or marked lost, each turn stored whole, once."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest

import contextwright as cw
from contextwright.text.json import decode_json
from providers.standin import said, serving
from serve.claude_code import ClaudeCode
from serve.gateways import running

CLIENTS, ANSWERS = 6, 40

ROUTES = """
[[routes]]
model = "*"
upstream = "{}"
base_url = "{}"
{}
"""


@contextmanager
def gateway_process(
    folder: Path,
    base_url: str,
    upstream: str = "anthropic",
    rest: str = "",
    port: int = 0,
    store: str | None = None,
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`cw serve` as a process of its own, and its address; `rest` is for its route."""
    routes = folder / "routes.toml"
    routes.write_text(ROUTES.format(upstream, base_url, rest))
    command = [sys.executable, "-m", "contextwright", "serve", "--port", str(port)]
    options = ["--routes", str(routes), "--store", store or str(folder / "store.db")]
    process = subprocess.Popen(
        [*command, *options, "--token-file", str(folder / "token")],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://[\d.]+:\d+", line)
        assert found, line
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


class Talk(threading.Thread):
    """A client that asks on and on, each time another gateway, and the next if one is gone."""

    def __init__(self, number: int, addresses: list[str], answers: threading.Semaphore) -> None:
        super().__init__()
        self.session, self.addresses, self.answers = f"session-{number}", addresses, answers
        self.client = ClaudeCode(addresses[0], self.session)
        self.asked: dict[str, list[str]] = {}
        """The gateways that each question was sent to; the last one answered it."""
        self.over = threading.Event()

    def run(self) -> None:
        for turn in count():
            start = turn % len(self.addresses)
            order = [*self.addresses[start:], *self.addresses[:start]]
            if self.over.is_set() or not self.is_answered(f"{self.session}, {turn}", order):
                return
            self.answers.release()

    def is_answered(self, question: str, order: list[str]) -> bool:
        for place, address in enumerate(order):
            self.client.client = self.client.client.with_options(base_url=address)
            try:
                if place == 0:
                    self.client.ask(question)
                else:
                    self.client.go_on()
            except Exception:  # the gateway is gone, which each layer of the SDK says in its way
                continue
            self.asked[question] = order[: place + 1]
            return True
        return False

    @property
    def history(self) -> list[tuple[str, str]]:
        """All that was said and answered, in order."""
        spoken = [one for one in self.client.messages if one["role"] != "system"]
        return [(one["role"], one["content"][-1]["text"]) for one in spoken]


@pytest.mark.slow
@pytest.mark.parametrize("gateways", [1, 3])
def test_every_answer_is_recorded_or_marked_lost(tmp_path: Path, place: str, gateways: int) -> None:
    """Gateways on one store, of which one is killed while each client uses all of them by turns."""
    numbers, answers = count(), threading.Semaphore(0)
    with serving(lambda _: said(f"Answer {next(numbers)}.")) as server, ExitStack() as stack:
        started = [
            stack.enter_context(gateway_process(tmp_path, server.address, store=place))
            for _ in range(gateways)
        ]
        addresses = [address for _, address in started]
        talks = [Talk(number, addresses, answers) for number in range(CLIENTS)]
        for talk in talks:
            talk.start()
        for _ in range(ANSWERS):
            assert answers.acquire(timeout=30)
        (killed, address), *others = started
        killed.kill()
        for _ in range(ANSWERS if others else 0):
            assert answers.acquire(timeout=30)
        for talk in talks:
            talk.over.set()
            talk.join()
        for process, _ in others:
            process.terminate()
            process.wait(30)
    with cw.Store(place) as store:
        with running(store=store):
            pass  # a gateway that starts marks what the killed one left open
        check_records(store, talks, address)
        check_turns(store, talks, all_stored=bool(others))


def check_records(store: cw.Store, talks: list[Talk], killed: str) -> None:
    """Every answer has its record; only those of the gateway that was killed may be lost."""
    states: dict[str, set[str]] = {}
    for record in store.requests(limit=10_000):
        body = decode_json(store.request_bodies(record.number).request or b"")
        last = next(one for one in reversed(body["messages"]) if one["role"] == "user")
        states.setdefault(last["content"][-1]["text"], set()).add(record.state)
    for talk in talks:
        for question, gateways in talk.asked.items():
            mishaps = {"lost", "interrupted"} if killed in gateways[:-1] else set[str]()
            expected = {"lost", "answered"} if gateways[-1] == killed else {"answered"}
            assert states[question] & expected
            assert states[question] <= expected | mishaps | {"answered"}


def check_turns(store: cw.Store, talks: list[Talk], *, all_stored: bool) -> None:
    """Each client has one conversation, which holds whole turns of its history in order.

    A client whose answer did not arrive asks again, and may go on from another answer: a fork.
    """
    found = list(store.list())
    assert len([info for info in found if info.parent is None]) == len(talks)
    for talk in talks:
        own = [info.id for info in found if talk.session in info.id]
        lines = [spoken_in(store.conversation(id)) for id in own]
        for line in lines:
            assert line[:-1] == talk.history[: len(line) - 1]
            assert line[-1][0] == "assistant"
        assert lines.count(talk.history) == 1 or not all_stored


def spoken_in(chat: cw.Chat) -> list[tuple[str, str]]:
    """What a conversation holds, without what the client adds to each of its histories."""
    spoken = [one.message for one in chat.read() if one.message.role != "system"]
    return [(one.role, one.text.splitlines()[-1]) for one in spoken]
