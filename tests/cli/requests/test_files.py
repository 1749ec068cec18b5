"""Files without `--from`, `cw fix`, `--at` and `--json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import Run, only_line
from samples.exports import CHATGPT, CLAUDE_CODE, CODEX, write_json, write_lines

CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "Two?"},
    ],
}
CLAUDE = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 10,
    "system": "Be brief.",
    "messages": [{"role": "user", "content": "One?"}],
}
BROKEN = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 10,
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "One?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}],
        },
        {"role": "user", "content": "Two?"},
    ],
}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "One?"}]}]}
RESPONSES = {"model": "gpt-4o", "input": [{"role": "user", "content": "One?"}]}
DETECTED = {
    "openai-chat": CHAT,
    "anthropic": CLAUDE,
    "gemini": GEMINI,
    "openai-responses": RESPONSES,
}


@pytest.mark.parametrize(("format", "data"), DETECTED.items(), ids=DETECTED)
def test_the_content_shows_the_format(cw: Run, format: str, data: Any) -> None:
    to = ("--to", "contextwright")
    for arguments in (
        ("convert", "-", *to),
        ("show", "-"),
        ("build", "-", "--model", "gpt-4o"),
        ("explain", "-", "--model", "gpt-4o"),
        ("diff", "-", "--model", "gpt-4o", "--at", "1"),
        ("check", "-"),
        ("fix", "-"),
    ):
        detected = cw(*arguments, input=data)
        option = "--format" if arguments[0] in ("show", "check", "fix") else "--from"
        assert detected == cw(*arguments, option, format, input=data)


def test_each_line_shows_its_format(cw: Run) -> None:
    lines = b"\n".join(json.dumps(data).encode() for data in DETECTED.values())
    code, out, _ = cw("convert", "-", "--to", "chatml", "--jsonl", input=lines)
    assert code == 0
    assert len(out.splitlines()) == len(DETECTED)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"hello": 1}, "the format cannot be detected (name it with --from: anthropic, "),
        (b'{"role": "user", "content": "a"}\n{', "line 2"),
    ],
)
def test_what_no_content_shows(cw: Run, data: Any, message: str) -> None:
    code, out, err = cw("show", "-", input=data)
    assert (code, out) == (1, "")
    assert only_line(err).startswith(f"cw: standard input: {message}")


def test_a_file_is_read_unless_a_store_is_named(
    cw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTEXTWRIGHT_STORE", "chat.db")
    cw("add", "lunch", "From the store")
    assert "From the store" in cw("show", "lunch").out
    Path("lunch").write_text(json.dumps(CHAT))
    assert "Two?" in cw("show", "lunch").out
    assert "From the store" in cw("show", "lunch", "--store", "chat.db").out


TOOLS = {
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "openai-chat": [{"role": "user", "content": "One?"}, {"role": "assistant", "content": "1"}],
}
"""Logs: several lines make up one conversation."""


@pytest.mark.parametrize("name", TOOLS)
def test_a_log_is_one_conversation(cw: Run, name: str, tmp_path: Path) -> None:
    """Every command reads it as if it had been imported."""
    log = str(write_lines(tmp_path / "log.jsonl", *TOOLS[name]))
    store = ("--store", str(tmp_path / "chat.db"))
    cw("import", log, "--as", "log", *store)
    model = ("--model", "claude-sonnet-5-5")
    exported = cw("export", "log", "--format", "openai-chat", *store).out
    assert cw("convert", log, "--to", "openai-chat").out == exported
    assert cw("convert", log, "--from", name, "--to", "openai-chat").out == exported
    assert cw("build", log, *model).out == cw("build", "log", *model, *store).out
    for command in ("explain", "simulate", "tune"):
        assert cw(command, log, *model).code == 0
    assert cw("show", log).out


def test_a_single_message_is_a_conversation(cw: Run) -> None:
    message = {"role": "user", "content": "One?"}
    for arguments in (("show", "-"), ("convert", "-", "--to", "anthropic")):
        assert cw(*arguments, input=message) == cw(*arguments, input=[message])


def test_a_file_of_several_conversations(cw: Run, tmp_path: Path) -> None:
    for file in (
        write_lines(tmp_path / "lines.jsonl", CHAT, CHAT),
        write_json(tmp_path / "export.json", [CHATGPT[0], {**CHATGPT[0], "conversation_id": "2"}]),
    ):
        code, out, err = cw("convert", str(file), "--to", "anthropic")
        assert (code, out) == (1, "")
        assert err.splitlines()[-1] == (
            f"cw: {file}: it holds 2 conversations (--jsonl reads a conversation per line; "
            "cw import stores them, to name one)"
        )
        assert cw("simulate", str(file), "--model", "gpt-4o").code == 0


def test_a_log_is_no_request(cw: Run, tmp_path: Path) -> None:
    log = str(write_lines(tmp_path / "log.jsonl", *CLAUDE_CODE))
    for command in ("check", "fix"):
        code, out, err = cw(command, log)
        assert (code, out) == (1, "")
        assert only_line(err).endswith("(cw batch reads JSON Lines, from a file named .jsonl)")


def test_a_strict_conversion_refuses_what_a_log_loses(cw: Run, tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
    lines = [{"role": "user", "content": "One?"}, {"role": "assistant", "tool_calls": [call]}]
    log = str(write_lines(tmp_path / "log.jsonl", *lines))
    assert cw("convert", log, "--to", "anthropic").code == 0
    code, out, err = cw("convert", log, "--to", "anthropic", "--strict")
    assert (code, out) == (1, "")
    assert only_line(err).startswith(f"cw: {log}: repair.")
    piped = cw("convert", "-", "--to", "anthropic", "--strict", input=Path(log).read_bytes())
    assert only_line(piped.err).startswith("cw: standard input: repair.")


def test_the_lines_of_a_log_are_no_conversations(cw: Run, tmp_path: Path) -> None:
    log = str(write_lines(tmp_path / "log.jsonl", *CLAUDE_CODE))
    model = ("--model", "gpt-4o")
    for command in (
        ("convert", log, "--to", "gemini"),
        ("build", log, *model),
        ("simulate", log, *model),
    ):
        code, out, err = cw(*command, "--jsonl", "--from", "claude-code")
        assert (code, out) == (2, "")
        assert only_line(err).startswith("cw: unknown format 'claude-code'")
    assert cw("tune", log, *model, "--from", "claude-code").code == 0


# Fixing


def test_fix_leaves_a_sound_request_as_it_is(cw: Run) -> None:
    code, out, err = cw("fix", "-", input=CLAUDE)
    assert (code, json.loads(out), err) == (0, CLAUDE, "cw: 0 changes\n")


def test_fix_repairs_and_says_what(cw: Run, tmp_path: Path) -> None:
    assert cw("check", "-", input=BROKEN).code == 1
    code, out, err = cw("fix", "-", input=BROKEN)
    assert code == 1
    assert err.splitlines()[0].startswith("invent.result messages[")
    assert err.splitlines()[-1] == "cw: 1 change"
    fixed = json.loads(out)
    assert fixed["messages"][2]["content"][0]["type"] == "tool_result"
    assert cw("check", "-", input=fixed).code == 0
    assert cw("fix", "-", input=fixed).code == 0
    told = json.loads(cw("fix", "-", "--json", input=BROKEN).out)
    assert told["payload"] == fixed
    assert [change["code"] for change in told["changes"]] == ["invent.result"]
    assert told["errors"] == []
    file = tmp_path / "request.json"
    file.write_text(json.dumps(BROKEN))
    assert cw("fix", str(file), "-o", str(file)).code == 1
    assert json.loads(file.read_bytes()) == fixed


# Earlier points, and JSON


def test_at_stops_after_a_message(cw: Run, tmp_path: Path) -> None:
    model = ("--model", "gpt-4o")
    store = ("--store", str(tmp_path / "chat.db"))
    cw("import", "-", "--as", "lunch", *store, input=CHAT)
    for place in (("-",), ("lunch", *store)):
        built = json.loads(cw("build", *place, *model, "--at", "2", input=CHAT).out)
        assert built["messages"] == CHAT["messages"][:2]
        shown = cw("show", *place, "--at", "2", "--ascii", input=CHAT).out
        assert shown == "[SYS] System: Be brief.\n\n[USER] User [Turn 0]\n> One?\n"
        assert "Messages: 2 kept" in cw("explain", *place, *model, "--at", "2", input=CHAT).out
    assert cw("show", "-", "--at", "9", input=CHAT).code == 2


def test_explain_and_show_print_json(cw: Run) -> None:
    arguments = ("--model", "gpt-4o", "--budget", "100")
    receipt = json.loads(cw("explain", "-", *arguments, "--json", input=CHAT).out)
    built = json.loads(cw("build", "-", *arguments, "--receipt", input=CHAT).out)
    assert receipt == built["receipt"]
    shown = json.loads(cw("show", "-", "--json", input=CHAT).out)
    again = cw("convert", "-", "--to", "openai-chat", input=shown)
    assert json.loads(again.out) == CHAT


# gryag's compact text

COMPACT = "Alice#987654: Як справи, гряг?\ngryag: Не набридай.\n"


@pytest.mark.parametrize("named", [("--from", "gryag"), ()], ids=["named", "detected"])
def test_compact_text_is_read_wherever_a_conversation_is(
    cw: Run, tmp_path: Path, named: tuple[str, ...]
) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(COMPACT, "utf-8")
    outcome = cw("convert", str(file), *named, "--to", "openai-chat")
    messages = json.loads(outcome.out)["messages"]
    assert [one["content"] for one in messages] == ["Як справи, гряг?", "Не набридай."]
    store = ("--store", str(tmp_path / "s.db"))
    assert cw("import", str(file), *named, *store).code == 0
    assert "Не набридай." in cw("show", "chat", *store).out
    outcome = cw("import", "-", *named, "--as", "piped", *store, input=COMPACT.encode())
    assert outcome.code == 0
    assert "Як справи, гряг?" in cw("show", "piped", *store).out
    build = cw("build", str(file), *named, "--model", "gpt-4o")
    assert json.loads(build.out)["messages"][0]["content"] == "Як справи, гряг?"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"Just some words.\n", "line 1: unexpected 'Just'"),
        (b"Alice#9: \xff\n", "line 1: not UTF-8"),
        (b"Alice#9: " + "ї".encode() * 4_096 + b"\n\xff", "line 2: not UTF-8"),
    ],
)
def test_text_that_is_not_compact(cw: Run, tmp_path: Path, content: bytes, error: str) -> None:
    file = tmp_path / "chat.txt"
    file.write_bytes(content)
    for command in (("convert", str(file), "--to", "gryag"), ("import", str(file), "--dry-run")):
        outcome = cw(*command)
        assert (outcome.code, error in outcome.err) == (1, True)
