"""`cw requests`, `show-request`, `diff`, `replay`, `record`: what passed, and what it would be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import contextwright
from commands import Run, only_line
from contextwright.cli.gateway.record import ProgramUsage, lines_of
from contextwright.formats.replies.compactions import HEADING, MARK
from contextwright.formats.replies.events import Usage
from contextwright.serve import GatewaySettings, Route
from providers.standin import KEY, BreakOff, said, serving
from serve.claude_code import MODEL, ClaudeCode
from serve.gateways import running
from store.rows.recorded.test_requests import RECORD
from store.rows.recorded.test_requests import recorded as record_requests

PROGRAM = """
import json, os, sys, urllib.request
body = {"model": "echo", "messages": [{"role": "user", "content": "Hello"}]}
address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
request = urllib.request.Request(address, json.dumps(body).encode())
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
sys.exit(7)
"""


@pytest.fixture
def recorded(own_store: None) -> list[dict[str, Any]]:
    """Three requests of one session: asked, went on, and went on after an edit."""
    usage = Usage(1_000, 10, 900)
    with (
        contextwright.Store(os.environ["CONTEXTWRIGHT_STORE"], sync="fast") as store,
        serving(replace(said("One."), usage=usage)) as server,
    ):
        route = Route("*", "anthropic", base_url=server.base_url("anthropic"))
        with running(GatewaySettings((route,)), store=store) as gateway:
            client = ClaudeCode(gateway.address)
            client.ask("First?")
            client.ask("Second?")
            client.messages[2]["content"] = "Edited."
            client.ask("Third?")
        return server.bodies


def test_requests_are_listed(recorded: object, cw: Run) -> None:
    code, out, _ = cw("requests")
    assert code == 0
    head, *rows = out.splitlines()
    assert head.split()[:4] == ["#", "time", "client", "model"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert all(f"claude-code  {MODEL}  answered  1,000  90%" in row for row in rows)
    assert rows[2].endswith("the client changed an earlier message")
    listed = json.loads(cw("requests", "--limit", "1", "--json").out)
    assert [one["number"] for one in listed] == [3]
    forked = cw("requests", "claude-code/5e551011~3").out.splitlines()
    assert len(forked) == 2
    assert "there is no conversation" in only_line(cw("requests", "elsewhere").err)


def test_a_model_name_cannot_forge_a_line(own_store: None, cw: Run) -> None:
    with contextwright.Store(os.environ["CONTEXTWRIGHT_STORE"], sync="fast") as store:
        forged = replace(RECORD, sent_model="m\n9  claude\r\n\u2028free", client="a\vb/1")
        record_requests(store, None, [b"{}"], forged)
    assert len(cw("requests").out.splitlines()) == 2
    assert "  m 9  claude  free  " in cw("requests").out
    shown = cw("show-request", "1").out.splitlines()
    assert [line.split()[0] for line in shown][:4] == ["request", "started", "client", "upstream"]
    assert "model           m 9  claude  free (asked for: claude-sonnet-5-5)" in shown


def test_one_request_is_shown(recorded: list[dict[str, Any]], cw: Run) -> None:
    out = cw("show-request", "3").out
    assert "edit: leaves claude-code/5e551011 after message 3" in out
    assert "1,000 input: 900 cached (90.0%), 0 written; 10 output" in out
    assert json.loads(cw("show-request", "2", "--json").out)["conversation"].endswith("5e551011")
    assert json.loads(cw("show-request", "2", "--body", "request").out) == recorded[1]
    assert "message_start" in cw("show-request", "2", "--body", "reply").out
    missing = cw("show-request", "2", "--body", "upstream")
    assert missing.code == 1
    assert "no upstream body is kept of request 2" in only_line(missing.err)
    assert "there is no recorded request 9" in only_line(cw("show-request", "9").err)


def test_two_requests_are_compared(recorded: object, cw: Run) -> None:
    assert "nothing changed, only added" in cw("diff", "1", "2").out
    compared = json.loads(cw("diff", "2", "3", "--json").out)
    assert compared["first_difference"] == "messages[2]"
    assert compared["cause"] == "messages[2] changed"
    assert cw("diff", "3").out == cw("diff", "2", "3").out
    first = cw("diff", "1")
    assert (first.code, first.out) == (1, "")
    assert only_line(first.err).endswith("(name the request to compare it with: cw diff N 1)")
    assert "no recorded request 9" in only_line(cw("diff", "9").err)
    for others in (["2", "--at", "1"], ["2", "lunch"], ["1", "2", "3"]):
        assert "--model is missing" in only_line(cw("diff", *others).err)


def test_a_body_that_a_key_tore_apart_is_named(own_store: None, cw: Run) -> None:
    """A key becomes stars wherever it stands, also in the place of JSON."""
    key = '"messages":'
    body = b'{"model": "claude-x", "messages": [{"role": "user", "content": "Hello"}]}'
    with (
        contextwright.Store(os.environ["CONTEXTWRIGHT_STORE"], sync="fast") as store,
        serving(said("One.")) as server,
    ):
        route = Route("*", "anthropic", base_url=server.base_url("anthropic"))
        with running(GatewaySettings((route,)), store=store) as gateway:
            gateway.ask("/v1/messages", body, {"x-api-key": key})
    assert "***" in cw("show-request", "1", "--body", "request").out
    assert "cannot be read" in only_line(cw("diff", "1", "1").err)
    assert "is not a JSON object" in only_line(cw("replay", "1").err)


def test_a_request_is_written_for_another_provider(
    recorded: list[dict[str, Any]], cw: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = json.loads(cw("replay", "2").out)
    assert same == recorded[1]
    outcome = cw("replay", "2", "--to", "gemini", "--model", "gemini-3.8-flash", "--changes")
    payload = json.loads(outcome.out)
    assert contextwright.check(payload, "gemini", model="gemini-3.8-flash") == []
    assert "loss." in outcome.err
    assert "both name an API" in only_line(
        cw("replay", "2", "--to", "gemini", "--format", "gemini").err
    )
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    unsent = cw("replay", "2", "--to", "anthropic", "--send")
    assert "set ANTHROPIC_API_KEY" in unsent.err
    assert cw("replay", "2", "--to", "echo", "--send").out == "Second?\n"
    with serving(said("Once more.")) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        assert cw("replay", "2", "--to", "anthropic", "--send").out.strip() == "Once more."


@pytest.mark.parametrize("format", ["anthropic", "openai-responses"])
def test_a_summary_of_the_gateway_is_replayed_in_words(
    format: str, own_store: None, cw: Run
) -> None:
    """Only the gateway can read the item that Codex keeps it in."""
    item = {"type": "compaction", "encrypted_content": MARK + b64encode(b"We added.").decode()}
    body = {"model": "gpt-5.6-sol", "input": [item, {"role": "user", "content": "Sure?"}]}
    with contextwright.Store(os.environ["CONTEXTWRIGHT_STORE"], sync="fast") as store:
        responses = replace(RECORD, format="openai-responses", model="gpt-5.6-sol")
        record_requests(store, None, [json.dumps(body).encode()], responses)
    replayed = cw("replay", "1", "--format", format, "--changes")
    assert f"{HEADING}\\n\\nWe added." in replayed.out
    assert "repair.compaction" in replayed.err
    assert "loss.opaque" not in replayed.err


def test_a_program_is_recorded(own_store: None, cw: Run) -> None:
    outcome = cw("record", "--", sys.executable, "-c", PROGRAM)
    assert outcome.code == 7
    assert outcome.err.splitlines() == [
        "cw: requests  1",
        "cw: tokens    not known",
        "cw: cached    not known",
        "cw: price     not known",
        "cw: cache     never broken",
    ]
    (listed,) = json.loads(cw("requests", "--json").out)
    assert (listed["model"], listed["mode"]) == ("echo", "translated")


def test_figures_are_of_the_requests_whose_figures_are_known() -> None:
    counted = replace(RECORD, state="answered", usage=Usage(1_000, 10, 900), price=0.0125)
    unpriced = replace(counted, price=None)
    uncounted = replace(unpriced, usage=None)
    assert lines_of(ProgramUsage.of([counted, unpriced, uncounted]))[:4] == [
        "requests  3",
        "tokens    2,000 input, 20 output for 2 of them",
        "cached    90% of the input for 2 of them",
        "price     $0.0125 for 1 of them",
    ]


def test_the_terminal_is_the_programs_until_it_ends(own_store: None) -> None:
    """An upstream that breaks off is a line of the gateway's, which waits."""
    program = """
import os, sys, time, urllib.request
body = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hello"}]}'
address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
try:
    urllib.request.urlopen(urllib.request.Request(address, body, headers)).read()
except Exception:
    time.sleep(0.1)
    print("over", file=sys.stderr)
"""
    with serving(BreakOff(said("One two three four"), 2)) as server:
        done = subprocess.run(
            [sys.executable, "-m", "contextwright", "record", "--", sys.executable, "-c", program],
            env={
                **os.environ,
                "OPENAI_BASE_URL": server.base_url("openai-chat"),
                "OPENAI_API_KEY": KEY,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
    first, second, *_ = done.stderr.splitlines()
    assert (first, second) == ("over", "cw: openai: the answer broke off: the connection broke")


def test_a_program_that_cannot_start_ends_as_in_a_shell(
    own_store: None, cw: Run, tmp_path: Path
) -> None:
    text = tmp_path / "text"
    text.write_text("words")
    expected = {
        "nosuchprogram": (127, "cw: nosuchprogram: command not found"),
        f"{tmp_path}/none": (127, f"cw: {tmp_path}/none: No such file or directory"),
        str(text): (126, f"cw: {text}: Permission denied"),
        str(tmp_path): (126, f"cw: {tmp_path}: Permission denied"),
    }
    outcomes = {program: cw("record", "--", program) for program in expected}
    assert expected == {name: (one.code, only_line(one.err)) for name, one in outcomes.items()}


def test_signals_reach_the_program(own_store: None, tmp_path: Path) -> None:
    """And its end is the end of the gateway."""
    wait = "import signal, time; print('ready', flush=True); time.sleep(60)"
    command = [sys.executable, "-m", "contextwright", "record", "--", sys.executable, "-c", wait]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert "no request was recorded" in told
