"""`cw check`, `count`, `show`, `models`, `demo`, help, pipes and terminals."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import contextwright
from commands import Run, only_line
from contextwright import __version__, formats
from samples.command_inputs import CHAT, CLAUDE, COMMAND

# Checking, counting, showing


def test_check(cw: Run) -> None:
    sound = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
    outcome = cw("check", "-", "--format", "openai-chat", input=sound)
    assert outcome == (0, "", "cw: 0 errors, 0 warnings\n")
    code, out, err = cw("check", "-", "--format", "anthropic", input=CLAUDE)
    assert out.startswith("warning ")
    assert (code, err) == (0, "cw: 0 errors, 1 warning\n")
    code, out, err = cw("check", "-", "--model", "claude-sonnet-5-5", input=CHAT)
    assert code == 1
    assert "error T-required max_tokens: required field is missing\n" in out
    assert only_line(err).startswith("cw: ")
    code, out, _ = cw("check", "-", "--format", "anthropic", "--json", input=CHAT)
    assert code == 1
    assert {"code", "path", "message", "level"} == set(json.loads(out)[0])


def test_count(cw: Run, tmp_path: Path) -> None:
    assert cw("count", "Hello world", "-m", "gpt-4o") == (0, "2 tokens (exact)\n", "")
    assert cw("count", "-", "-m", "gpt-4o", input=b"Hello world").out == "2 tokens (exact)\n"
    path = tmp_path / "text.md"
    path.write_text("\ufeffHello world")
    assert cw("count", str(path), "-m", "gpt-4o").out == "2 tokens (exact)\n"
    assert cw("count", str(path), "-m", "gpt-4o", "--text").out != "2 tokens (exact)\n"
    chat = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello world"}]}
    code, out, _ = cw("count", "-", "-m", "gpt-4o", "--json", input=chat)
    assert code == 0
    assert json.loads(out)["tokens"] == 9
    assert json.loads(out)["exact"] is True


def test_count_of_what_is_no_text(cw: Run) -> None:
    for payload, wrong in ((b"[[]]", "[[]]"), (b"[1]", "[1]"), (b'[{}, "a"]', "[{}, 'a']")):
        code, out, err = cw("count", "-", "-m", "gpt-4o", input=payload)
        assert (code, out) == (1, "")
        assert err.endswith(f"an object or a list of objects, not {wrong}\n")
    code, out, err = cw("count", "-", "-m", "gpt-4o", input="text".encode("utf-16-be"))
    assert (code, out) == (1, "")
    assert only_line(err).startswith("cw: standard input: it holds NUL bytes: it is not text")
    code, out, err = cw("count", "-", "-m", "gpt-4o", input=b"ab\xff")
    assert (code, out) == (1, "")
    assert only_line(err) == (
        "cw: standard input: byte 2 is not UTF-8 text (only text and JSON can be counted)"
    )


def test_show(cw: Run) -> None:
    code, out, err = cw("show", "-", "--format", "openai-chat", "--width", "5", input=CHAT)
    assert (code, err) == (0, "")
    assert out == (
        "🧠 System: Be br...\n\n👤 User [Turn 0]\n> Котра година?\n\n"
        "🤖 Assistant [Turn 1]\n🔧 clock\n"
    )
    ascii = cw("show", "-", "--format", "openai-chat", "--ascii", input=CHAT).out
    assert ascii.startswith("[SYS] System: Be brief.\n\n[USER] User [Turn 0]\n")
    colored = cw("show", "-", "--format", "openai-chat", "--color", input=CHAT).out
    assert "\x1b[1m" in colored


# Tables


def test_formats(cw: Run) -> None:
    assert [line.split()[0] for line in cw("formats").out.splitlines()] == list(formats.NAMES)
    listed = json.loads(cw("formats", "--json").out)
    assert [entry["name"] for entry in listed] == list(formats.NAMES)
    streaming = {entry["name"] for entry in listed if entry["streams"]}
    assert streaming >= {"anthropic", "gemini", "openai-chat", "openai-responses"}


def test_models(cw: Run, tmp_path: Path) -> None:
    lines = cw("models").out.splitlines()
    assert lines[0].split() == [
        "model",
        "format",
        "input",
        "output",
        "tokenizer",
        "$",
        "in",
        "$",
        "out",
    ]
    assert any(line.startswith("claude-sonnet-5-5 ") for line in lines)
    facts = json.loads(cw("models", "claude-sonnet-5-5", "--json").out)
    assert (facts["id"], facts["format"]) == ("claude-sonnet-5-5", "anthropic")
    mine = tmp_path / "mine.toml"
    mine.write_text('[models."our-model"]\nformat = "gemini"\nmax_input = 7\n')
    facts = json.loads(cw("models", "our-model", "--json", "--models", str(mine)).out)
    assert (facts["format"], facts["max_input"]) == ("gemini", 7)
    code, out, err = cw("models", "claude-saga-7")
    assert code == 0
    assert "claude-saga-7" in out
    assert only_line(err).startswith("cw: 'claude-saga-7' is not in the table")


@pytest.mark.parametrize(
    "model", ["claude-sonnet-5-5", "gpt-4o", "o1-pro", "gemini-3.8-flash", "some-unknown-model"]
)
def test_demo(cw: Run, model: str) -> None:
    code, out, err = cw("demo", "--model", model)
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert f"\n{model} · " in out
    assert "\n  - dropped " in out
    assert "\nstepped (default) " in out
    assert "\nsliding " in out
    assert "Maya: One thing that must not get lost: my father is allergic to nickel." in out
    requests = [line for line in out.splitlines() if line.endswith(" tokens, 0 problems")]
    assert len(requests) == 2
    assert requests[0].startswith(f"{model} (")


def test_demo_as_json(cw: Run) -> None:
    code, out, err = cw("demo", "--json")
    assert (code, err) == (0, "")
    shown = json.loads(out)
    assert list(shown) == [
        *["messages", "tokens", "budget", "receipt", "windows", "recall", "requests"],
    ]
    assert shown["tokens"] > 2 * shown["budget"]
    assert len(shown["receipt"]["decisions"]) == shown["messages"]
    stepped, sliding = shown["windows"]
    assert stepped["share"] > sliding["share"]
    assert stepped["dollars"] < sliding["dollars"] / 2
    found = shown["recall"]["items"][0]
    assert "nickel" in found["message"]["parts"][0]["text"]
    assert shown["receipt"]["decisions"][found["seq"] - 1]["action"] == "dropped"
    formats = [request["format"] for request in shown["requests"]]
    assert formats == ["anthropic", "openai-chat"]
    for request in shown["requests"]:
        assert request["problems"] == []
        assert cw("check", "-", "-f", request["format"], input=request["payload"]).code == 0


# The process


@pytest.mark.parametrize("command", ["", "convert", "check", "count", "show", "models", "demo"])
def test_help_teaches_with_examples(cw: Run, command: str) -> None:
    code, out, err = cw(*command.split(), "--help")
    assert (code, err) == (0, "")
    assert f"cw {command or 'demo'}" in out


def test_without_arguments_it_helps(cw: Run) -> None:
    assert cw() == cw("--help")


def test_version(cw: Run) -> None:
    assert cw("--version") == (0, f"contextwright {__version__}\n", "")


@pytest.mark.parametrize("name", ["cw", "contextwright"])
def test_installed_commands(name: str) -> None:
    command = Path(sys.executable).with_name(name)
    done = subprocess.run([command, "count", "Hello world", "-m", "gpt-4o"], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"2 tokens (exact)\n", b"")


@pytest.mark.parametrize(
    "encoding",
    [
        "ascii",
        pytest.param("latin-1", marks=pytest.mark.slow),
        pytest.param("utf-16", marks=pytest.mark.slow),
    ],
)
def test_help_is_utf_8_whatever_the_locale(encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for arguments in (["serve", "--help"], ["serve", "--ports…"]):
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, env=environment)
        assert "…" in (done.stdout or done.stderr).decode("utf-8")
        assert b"Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error_worth_a_word() -> None:
    lines = b'[{"role": "user", "content": "Hi"}]\n' * 5_000
    arguments = ["convert", "-", "--from", "openai-chat", "--to", "aya", "--jsonl"]
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines[:36])
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"[")
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(lines, timeout=30)
    assert err == b""
    assert process.returncode == 1


def test_interrupted() -> None:
    arguments = ["convert", "-", "--from", "openai-chat", "--to", "aya", "--jsonl"]
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell lets what it runs in the background ignore Ctrl-C, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'[{"role": "user", "content": "Hi"}]\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"")


LOADING = """
import sys

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        self.loaded = getattr(self, "loaded", 0) + 1
        if {where!r} in (name, self.loaded):
            raise KeyboardInterrupt

from contextwright.cli import main
sys.meta_path.insert(0, Interrupted())
sys.exit(main(["formats", "--json"]))
"""


@pytest.mark.parametrize("where", ["datetime", 1, 40, 120])
def test_interrupted_while_loading(where: str | int) -> None:
    """Something in C takes an interrupted import for a success, and crashes later."""
    script = LOADING.format(where=where)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_the_command_catches_ctrl_c_before_anything_long_is_loaded() -> None:
    script = "import sys, contextwright.cli; sys.exit('typing' in sys.modules)"
    environment = {"PYTHONPATH": str(Path(contextwright.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-S", "-c", script], env=environment).returncode == 0


def on_a_terminal(arguments: list[str], data: bytes) -> bytes:
    """What a terminal receives."""
    outside, inside = pty.openpty()
    with os.fdopen(outside, "rb", buffering=0) as screen:
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=inside, stderr=inside
        )
        os.close(inside)
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.close()
        received = b""
        try:
            while chunk := screen.read(65_536):
                received += chunk
        except OSError:  # Linux says EIO when the other side is gone
            pass
        process.wait(timeout=30)
    return received


HOSTILE = "\x1b[2J\x9b2J\u202ereversed\u2069\x7f\U000e0041"


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "-", "--from", "openai-chat", "--to", "anthropic", "--changes"],
        ["show", "-", "--format", "openai-chat", "--no-color"],
        ["check", "-", "--format", "openai-chat"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_content_cannot_move_a_terminal(arguments: list[str]) -> None:
    message = {"role": "user", "content": HOSTILE, "name": HOSTILE, HOSTILE: 1}
    data = json.dumps({"model": "gpt-4o", "messages": [message]}).encode()
    received = on_a_terminal(arguments, data).decode()
    assert "reversed" in received
    for character in set(HOSTILE) - set("[2Jreversed"):
        assert character not in received


def test_a_terminal_without_escapes_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    received = on_a_terminal(["show", "-"], json.dumps(CHAT).encode())
    assert b"\x1b" not in received


def test_json_on_a_terminal_still_means_the_same() -> None:
    data = json.dumps([{"role": "user", "content": HOSTILE}]).encode()
    arguments = ["convert", "-", "--from", "openai-chat", "--to", "openai-chat", "-m", "gpt-4o"]
    payload = json.loads(on_a_terminal(arguments, data))
    assert payload["messages"] == [{"role": "user", "content": HOSTILE}]
