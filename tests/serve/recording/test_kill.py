"""A gateway that is killed: each answer is recorded or marked lost, and no turn half stored."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
    folder: Path, base_url: str, upstream: str = "anthropic", rest: str = "", port: int = 0
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`cw serve` as a process of its own, and its address; `rest` is for its route."""
    routes = folder / "routes.toml"
    routes.write_text(ROUTES.format(upstream, base_url, rest))
    command = [sys.executable, "-m", "contextwright", "serve", "--port", str(port)]
    options = ["--routes", str(routes), "--store", str(folder / "store.db")]
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


@pytest.mark.slow
def test_every_answer_is_recorded_or_marked_lost(tmp_path: Path) -> None:
    answered: list[str] = []
    enough = threading.Event()

    def talk(address: str, number: int) -> None:
        client = ClaudeCode(address, f"session-{number}")
        for turn in range(ANSWERS):
            question = f"Question {number}/{turn}."
            try:
                client.ask(question)
            except Exception:  # the gateway is gone
                return
            answered.append(question)
            if len(answered) >= ANSWERS:
                enough.set()

    with serving(lambda request: said(f"Answer {request.number}.")) as server:
        with gateway_process(tmp_path, server.address) as (process, address):
            clients = [
                threading.Thread(target=talk, args=(address, number)) for number in range(CLIENTS)
            ]
            for client in clients:
                client.start()
            assert enough.wait(30)
            process.kill()
            for client in clients:
                client.join()
    with cw.Store(tmp_path / "store.db") as store:
        with running(store=store):
            pass
        check_records(store, answered)


def check_records(store: cw.Store, answered: list[str]) -> None:
    """Every answer has its record; conversations hold whole turns of what was recorded."""
    records = store.requests(limit=1_000)
    assert {record.state for record in records} <= {"answered", "interrupted", "lost"}
    questions: dict[str, str] = {}
    for record in records:
        body = decode_json(store.request_bodies(record.number).request or b"")
        last = next(one for one in reversed(body["messages"]) if one["role"] == "user")
        questions[last["content"][-1]["text"]] = record.state
    assert {questions[question] for question in answered} <= {"answered", "lost"}
    for info in store.list():
        roles = [one.message.role for one in store.conversation(info.id).read()]
        spoken = [role for role in roles if role != "system"]
        assert spoken == ["user", "assistant"] * (len(spoken) // 2)
