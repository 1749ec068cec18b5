"""The command line as people and pipes use it: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

from commands import Run, only_line
from contextwright import formats
from samples.command_inputs import CHAT, CLAUDE, COMMAND

# Converting


def test_convert(cw: Run) -> None:
    code, out, err = cw("convert", "-", "--from", "openai-chat", "--to", "anthropic", input=CHAT)
    assert code == 0
    assert json.loads(out) == CLAUDE
    assert out == json.dumps(CLAUDE, indent=2, ensure_ascii=False) + "\n"
    assert only_line(err) == (
        "cw: 3 changes: invent.max_tokens ×1, invent.model ×1, invent.result ×1"
        " (--changes lists them)"
    )


def test_convert_lists_changes(cw: Run) -> None:
    arguments = [
        "--from",
        "openai-chat",
        "--to",
        "anthropic",
        "--changes",
        "-m",
        "claude-haiku-5-5",
    ]
    assert cw("convert", "-", *arguments, input=CHAT).err.splitlines() == [
        "invent.result messages[2].parts[0]: no result of clock was recorded",
        "invent.max_tokens max_tokens: required by this API and not set; using 4,096",
    ]


def test_convert_into_a_file(cw: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    arguments = ["--from", "openai-chat", "--to", "anthropic", "-o", str(target)]
    assert cw("convert", "-", *arguments, input=CHAT)[:2] == (0, "")
    assert json.loads(target.read_bytes()) == CLAUDE
    assert cw("convert", "-", *arguments, input=b"{").code == 1
    assert json.loads(target.read_bytes()) == CLAUDE, "a failure leaves the old file as it was"
    assert list(tmp_path.iterdir()) == [target], "and no half-written one beside it"


def test_convert_into_a_device(cw: Run) -> None:
    arguments = ["--from", "openai-chat", "--to", "anthropic", "-o", os.devnull]
    assert cw("convert", "-", *arguments, input=CHAT).code == 0
    assert not os.path.isfile(os.devnull)


def test_convert_passes_options_on(cw: Run) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi", "name": "Bob"}]}
    arguments = ["--from", "openai-chat", "--to", "anthropic", "--speaker-prefix"]
    out = json.loads(cw("convert", "-", *arguments, input=chat).out)
    assert out["messages"][0]["content"] == [{"type": "text", "text": "Bob: Hi"}]


def test_convert_strictly(cw: Run) -> None:
    entries = [{"index": 0, "turn": "0", "timestamp": "2023-04-04T12:33:00Z"}]
    entries[0] |= {"role": "user", "content": {"userid": "<@U1>", "text": "Hi"}}
    arguments = ["convert", "-", "--from", "aya", "--to", "openai-chat"]
    assert cw(*arguments, input=entries).code == 0
    code, out, err = cw(*arguments, "--strict", input=entries)
    assert (code, out) == (1, "")
    assert only_line(err).startswith("cw: standard input: [0].turn: ")


@pytest.mark.parametrize("target", formats.NAMES)
@pytest.mark.parametrize("source", formats.NAMES)
def test_every_pair_of_formats_converts(cw: Run, source: str, target: str) -> None:
    chat = {"messages": CHAT["messages"][:2]}
    code, payload, _ = cw("convert", "-", "--from", "openai-chat", "--to", source, input=chat)
    assert code == 0
    code, out, _ = cw("convert", "-", "--from", source, "--to", target, input=payload.encode())
    assert code == 0
    assert "Котра година?" in out


# The streaming contract


def test_lines_in_lines_out(cw: Run) -> None:
    good = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
    lines = [good, '{"messages": [', "", '{"messages": [{"role": "wizard"}]}', good]
    code, out, err = cw(
        *["convert", "-", "--from", "openai-chat", "--to", "openai-chat", "--jsonl"],
        *["--model", "gpt-4o"],
        input="\n".join(lines).encode(),
    )
    payload = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
    found = [json.loads(line) for line in out.splitlines()]
    assert found[0] == found[3] == payload
    assert found[1] == {
        "error": {
            "line": 2,
            "path": "messages[0]",
            "message": "line 2: messages[0]: the document ends in the middle at column 15",
            "hint": "is it complete?",
        }
    }
    assert found[2]["error"]["line"] == 4
    assert found[2]["error"]["path"] == "messages[0].role"
    assert len(found) == 4
    assert code == 1
    assert err.splitlines()[-1] == "cw: 2 lines failed (see the error lines in the output)"


def test_each_line_is_answered_before_the_next_is_sent() -> None:
    arguments = ["convert", "-", "--from", "openai-chat", "--to", "gemini", "--jsonl"]
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in ("one", "{", "two"):
            line = word if word == "{" else json.dumps([{"role": "user", "content": word}])
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            if word == "{":
                assert answer["error"]["line"] == 2
            else:
                assert answer["contents"] == [{"role": "user", "parts": [{"text": word}]}]
        process.stdin.close()
        assert process.wait(timeout=30) == 1


def test_a_line_of_64_mb_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as stream:
        stream.write(b'[{"role": "user", "content": "')
        for _ in range(64):
            stream.write(b"x" * 10**6)
        stream.write(b'"}]\n[{"role": "user", "content": "short"}]\n')
    limit = 500 * 10**6
    done = subprocess.run(
        [*COMMAND, "convert", path, "--from", "openai-chat", "--to", "openai-chat", "--jsonl"],
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    first, second = done.stdout.splitlines()
    assert json.loads(first)["error"]["message"] == "line 1: the line is longer than 48 MiB"
    assert json.loads(second)["messages"] == [{"role": "user", "content": "short"}]
    assert done.returncode == 1


# Bad input

BAD = {
    "truncated": b'{"messages": [{"role": "us',
    "empty": b"",
    "not an object": b"7",
    "wrong types": b'{"messages": {"role": "user"}, "contents": 7, "input": 7, "history": 7}',
    "unknown role": b'{"messages": [{"role": "wizard", "content": "x"}],'
    b' "contents": [{"role": "wizard", "parts": [{"text": "x"}]}],'
    b' "input": [{"role": "wizard", "content": "x"}]}',
    "depth 100,000": b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "NaN": b'{"messages": [{"role": "user", "content": NaN}]}',
    "duplicate keys": b'{"messages": [{"role": "user", "role": "system", "content": "x"}]}',
    "lone surrogate": rb'{"messages": [{"role": "user", "content": "\ud83d"}]}',
    "UTF-16": '{"messages": []}'.encode("utf-16"),
    "binary": bytes(range(256)) * 10,
    "5,000 digits": b'{"messages": [{"role": "user", "content": ' + b"1" * 5000 + b"}]}",
    "terminal escapes": b'{"messages": [{"role": "\x1b[2J\\u001b[2J", "content": "x"}]}',
}


@pytest.mark.parametrize("format", formats.NAMES)
@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_no_output(cw: Run, data: bytes, format: str) -> None:
    code, out, err = cw("convert", "-", "--from", format, "--to", "openai-chat", input=data)
    assert (code, out) == (1, "")
    assert only_line(err).startswith("cw: standard input: ")
    assert err.isprintable() or err[:-1].isprintable()
    assert len(err) < 1_000


@pytest.mark.parametrize("format", ["anthropic", "aya", "openai-chat"])
@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_bad_input_among_lines(cw: Run, data: bytes, format: str) -> None:
    line = data.replace(b"\n", b"")
    code, out, _ = cw("convert", "-", "--from", format, "--to", "aya", "--jsonl", input=line)
    if not line.strip():
        assert (code, out) == (0, "")
    else:
        assert code == 1
        assert json.loads(only_line(out))["error"]["line"] == 1


@pytest.mark.parametrize("format", ["anthropic", "aya", "openai-chat"])
@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_bad_input_to_the_other_commands(cw: Run, data: bytes, format: str) -> None:
    for arguments in (
        ["show", "-", "--format", format],
        ["check", "-", "--format", format],
        ["count", "-", "--format", format, "--model", "gpt-4o"],
    ):
        code, _, err = cw(*arguments, input=data)
        assert code in (0, 1)
        assert "Traceback" not in err


WRONG_CALLS = {
    "no such command": (["frobnicate"], "cw: No such command 'frobnicate' (see cw --help)"),
    "no such option": (
        ["check", "x", "--frm", "y"],
        "cw: No such option '--frm'. (Did you mean one of: '--format', '--from'?) "
        "(see cw check --help)",
    ),
    "an option before the command": (
        ["--store", "a.db", "list"],
        "cw: No such option '--store': options stand after the command (see cw --help)",
    ),
    "a misspelt option of cw itself": (
        ["--verison"],
        "cw: No such option '--verison'. Did you mean '--version'? (see cw --help)",
    ),
    "option without its value": (
        ["build", "x", "--model"],
        "cw: Option '--model' requires an argument (see cw build --help)",
    ),
    "no number": (
        ["build", "x", "--model", "gpt-4o", "--budget", "many"],
        "cw: Invalid value for '--budget' / '-b': 'many' is not a whole number "
        "(see cw build --help)",
    ),
    "number out of range": (
        ["recall", "x", "--min-score", "2"],
        "cw: Invalid value for '--min-score': '2' is out of range: 0 to 1 (see cw recall --help)",
    ),
    "endless number": (
        ["recall", "x", "--min-score", "nan"],
        "cw: Invalid value for '--min-score': 'nan' is not a finite number (see cw recall --help)",
    ),
    "missing argument": (["check"], "cw: Missing argument 'FILE' (see cw check --help)"),
    "missing option": (
        ["convert", "x", "--from", "aya"],
        "cw: Missing option '--to' (see cw convert --help)",
    ),
    "unknown format": (
        ["convert", "x", "--from", "aya", "--to", "nope"],
        "cw: unknown format 'nope' (known: " + ", ".join(formats.NAMES) + ")",
    ),
    "missing file": (
        ["show", "missing.json", "--format", "aya"],
        "cw: cannot read 'missing.json': no such file or directory"
        " (name a file, or - for standard input)",
    ),
    "a folder": (
        ["show", ".", "--format", "aya"],
        "cw: cannot read '.': is a directory (name a file, or - for standard input)",
    ),
    "a value that is no choice": (
        ["add", "lunch", "Hi", "--role", "king"],
        "cw: Invalid value for '--role': 'king' is not one of 'user', 'assistant', 'system'"
        " (see cw add --help)",
    ),
    "facts in a folder": (
        ["demo", "-m", "mine", "--models", "."],
        "cw: cannot read '.': is a directory (name a TOML or JSON file)",
    ),
    "a store without --store": (
        ["list", "postgresql://me:secret@host/chats"],
        "cw: Got unexpected extra argument (postgresql://…@host/chats) (see cw list --help)",
    ),
    "a store that is no format": (
        ["convert", "x", "--to", "Postgres:me:" + "secret" * 20 + "@host/chats"],
        "cw: unknown format 'Postgres:…@host/chats' (known: " + ", ".join(formats.NAMES) + ")",
    ),
    "a store without a name": (
        ["list", "--store", ""],
        "cw: '' is not a valid store location"
        " (a file, or a URL such as postgresql://host/database)",
    ),
    "a model's name that is no text": (
        ["demo", "-m", "\udcff"],
        "cw: '\\udcff' is not a valid model name (see cw models)",
    ),
    "facts about no model": (
        ["check", "-", "--format", "aya", "--models", "mine.toml"],
        "cw: --models needs --model",
    ),
    "a mistyped file to count": (
        ["count", "payload.jsn", "-m", "gpt-4o"],
        "cw: there is no file 'payload.jsn' (--text counts the text)",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_wrong_calls(cw: Run, arguments: list[str], message: str) -> None:
    code, out, err = cw(*arguments)
    assert (code, out, only_line(err)) == (2, "", message)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no/out.json", "no such file or directory"),
        (".", "is a directory"),
        ("", "no such file or directory"),
    ],
)
def test_a_file_that_cannot_be_written(
    cw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--from", "openai-chat", "--to", "aya", "-o", name]
    code, out, err = cw("convert", "-", *arguments, input=CHAT)
    hint = "name a file in a folder that exists and that you may write to"
    assert (code, out, only_line(err)) == (2, "", f"cw: cannot write {name!r}: {reason} ({hint})")
    assert list(tmp_path.iterdir()) == []
