"""`cw build`, `explain`, `diff`, `simulate`, `recipes`: what they print, where, and exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import Run, only_line
from samples.commands import ARGUMENTS, CHAT, TRAIN

PAYLOAD = {**CHAT, "max_completion_tokens": 1024}


# Building


def test_build(cw: Run) -> None:
    code, out, err = cw("build", "-", *ARGUMENTS, input=CHAT)
    assert (code, json.loads(out), err) == (0, PAYLOAD, "")
    assert out == json.dumps(PAYLOAD, indent=2) + "\n"


def test_build_within_a_budget(cw: Run) -> None:
    outcome = cw("build", "-", *ARGUMENTS, "--budget", "34", "--recipe", "forge", input=CHAT)
    assert outcome.code == 0
    assert json.loads(outcome.out)["messages"] == [CHAT["messages"][0], *CHAT["messages"][2:]]


def test_build_for_another_format_with_another_answer(cw: Run) -> None:
    arguments = ("--format", "openai-responses", "--max-output-tokens", "77")
    payload = json.loads(cw("build", "-", *ARGUMENTS, *arguments, input=CHAT).out)
    assert payload["max_output_tokens"] == 77
    assert len(payload["input"]) == 3 + ("instructions" not in payload)


def test_a_receipt_beside_the_payload(cw: Run) -> None:
    out = json.loads(cw("build", "-", *ARGUMENTS, "--receipt", input=CHAT).out)
    assert list(out) == ["payload", "receipt"]
    assert out["payload"] == PAYLOAD
    receipt = out["receipt"]
    assert (receipt["model"], receipt["format"]) == ("gpt-4o", "openai-chat")
    decisions = receipt["decisions"]
    assert [(one["seq"], one["action"]) for one in decisions] == [(n, "kept") for n in range(1, 5)]
    assert receipt["ledger"]["tokens"] == sum(receipt["ledger"]["places"].values()) == 35
    assert [unit["place"] for unit in receipt["prefix"]] == [f"messages[{n}]" for n in range(4)]


def test_what_reading_mended_is_in_the_receipt(cw: Run) -> None:
    broken = {"messages": [*CHAT["messages"], {"role": "user"}]}
    outcome = cw("build", "-", *ARGUMENTS, "--receipt", "--changes", input=broken)
    changes = json.loads(outcome.out)["receipt"]["changes"]
    assert changes
    said = [f"{change['code']} {change['path']}: {change['reason']}" for change in changes]
    assert outcome.err.splitlines() == said


def test_lines(cw: Run) -> None:
    lines = [json.dumps(CHAT), "{", json.dumps({"messages": 5}), "", json.dumps(CHAT)]
    code, out, err = cw("build", "-", *ARGUMENTS, "--jsonl", input="\n".join(lines).encode())
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [answers[0], answers[3]] == [PAYLOAD, PAYLOAD]
    assert [list(answer) for answer in answers[1:3]] == [["error"], ["error"]]
    assert [answer["error"]["line"] for answer in answers[1:3]] == [2, 3]
    assert only_line(err) == "cw: 2 lines failed (see the error lines in the output)"


def test_lines_with_receipts_and_a_budget_that_is_too_small(cw: Run) -> None:
    long = {"messages": [{"role": "user", "content": "word " * 100}]}
    lines = "\n".join(map(json.dumps, (CHAT, long))).encode()
    code, out, _ = cw(
        "build", "-", *ARGUMENTS, "--jsonl", "--receipt", "--budget", "40", input=lines
    )
    first, second = map(json.loads, out.splitlines())
    assert code == 1
    assert list(first) == ["payload", "receipt"]
    error = second["error"]
    assert error["line"] == 2
    assert error["message"].startswith("a budget of 40 tokens is too small: messages[0] ")
    assert error["minimum"] > 100
    assert error["hint"] == f"the smallest that works is {error['minimum']:,}"
    again = cw("build", "-", *ARGUMENTS, "--budget", str(error["minimum"]), input=long)
    assert again.code == 0


def test_a_model_that_is_a_guess_is_said(cw: Run) -> None:
    code, _, err = cw("build", "-", "--model", "gtp5", input=CHAT)
    assert code == 0
    assert err.splitlines()[0] == (
        "cw: 'gtp5' is not known; treated as an unknown OpenAI-compatible model"
    )


def test_a_budget_that_is_too_small(cw: Run) -> None:
    code, out, err = cw("build", "-", *ARGUMENTS, "--budget", "10", input=CHAT)
    assert (code, out) == (1, "")
    line = only_line(err)
    assert line.startswith("cw: standard input: a budget of 10 tokens is too small: ")
    minimum = re.search(r"\(the smallest that works is (\d+)\)$", line)
    assert minimum is not None
    assert cw("build", "-", *ARGUMENTS, "--budget", minimum[1], input=CHAT).code == 0


def test_the_clock_that_is_handed_in(cw: Run) -> None:
    arguments = ("--recipe", "gryag", "--now", "2026-11-15T12:00:00+00:00")
    out = cw("build", "-", *ARGUMENTS, *arguments, input=CHAT).out
    assert "Sunday, November 15, 2026 at 14:00:00" in out
    assert "Current Time" not in cw("build", "-", *ARGUMENTS, "--recipe", "gryag", input=CHAT).out


def test_the_clock_of_the_newest_question(cw: Run) -> None:
    said = [
        {"role": "user", "content": "a", "sent_at": "2026-11-15T12:00:00+00:00"},
        {"role": "assistant", "content": "b", "sent_at": "2026-11-15T13:00:00+00:00"},
        {"role": "user", "content": "c", "sent_at": "2026-11-15T14:00:00+00:00"},
    ]
    arguments = ("--from", "contextwright", "--model", "gpt-4o", "--recipe", "gryag")
    assert "15, 2026 at 16:00:00" in cw("build", "-", *arguments, input=said).out


SCHEMA = {"type": "object", "properties": {"zone": {"type": "string"}}}


@pytest.mark.parametrize(
    "tools",
    [
        [{"name": "clock", "description": "Tells.", "parameters": SCHEMA}],
        [{"name": "clock", "description": "Tells.", "input_schema": SCHEMA}],
        [{"type": "function", "name": "clock", "description": "Tells.", "parameters": SCHEMA}],
        [
            {
                "type": "function",
                "function": {"name": "clock", "description": "Tells.", "parameters": SCHEMA},
            }
        ],
        [
            {
                "functionDeclarations": [
                    {"name": "clock", "description": "Tells.", "parametersJsonSchema": SCHEMA}
                ]
            }
        ],
    ],
    ids=["ours", "anthropic", "openai-responses", "openai-chat", "gemini"],
)
def test_tools_in_any_spelling(cw: Run, tmp_path: Path, tools: list[Any]) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(tools))
    out = json.loads(cw("build", "-", *ARGUMENTS, "--tools", str(file), input=CHAT).out)
    assert out["tools"] == [
        {
            "type": "function",
            "function": {"name": "clock", "description": "Tells.", "parameters": SCHEMA},
        }
    ]


def test_into_a_file(cw: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    assert cw("build", "-", *ARGUMENTS, "-o", str(target), input=CHAT) == (0, "", "")
    assert json.loads(target.read_bytes()) == PAYLOAD


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--recipe", "nobody"), "unknown recipe 'nobody'"),
        (("--recipe", "missing.toml"), "cannot read 'missing.toml': no such file or directory"),
        (("--format", "nobody"), "unknown format 'nobody'"),
        (("--budget", "0"), "Invalid value for '--budget'"),
        (("--max-output-tokens", "-1"), "Invalid value for '--max-output-tokens'"),
        (
            ("--now", "noon"),
            "--now 'noon' is not an ISO 8601 time (example: 2026-11-15T13:05:00+02:00)",
        ),
        (("--tools", "missing.json"), "cannot read 'missing.json'"),
    ],
)
@pytest.mark.parametrize("command", ["build", "explain"])
def test_a_wrong_call(cw: Run, command: str, arguments: tuple[str, ...], expected: str) -> None:
    code, out, err = cw(command, "-", *ARGUMENTS, *arguments, input=CHAT)
    assert (code, out) == (2, "")
    assert expected in only_line(err)


def test_tools_that_are_none(cw: Run, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text('{"name": "clock"}')
    code, _, err = cw("build", "-", *ARGUMENTS, "--tools", str(file), input=CHAT)
    assert code == 1
    assert only_line(err).startswith(f"cw: {file}: not a list of tools")


# Explaining


def test_explain(cw: Run) -> None:
    code, out, err = cw("explain", "-", *ARGUMENTS, "--budget", "100", input=CHAT)
    assert (code, err) == (0, "")
    assert out == (
        "gpt-4o · openai-chat · 35 tokens (exact) of 100\n"
        "\n"
        "Tokens\n"
        "  tools             0    0%\n"
        "  history          32   32%  █████████▋\n"
        "  wrappers          3    3%  ▉\n"
        "  free             65   65%\n"
        "\n"
        "Messages: 4 kept\n"
        "  + kept           32  1–4  recent\n"
        "\n"
        "Input price $0.000087, $0.000044 if all of it comes from the cache\n"
    )


def test_explain_says_that_a_model_is_not_known(cw: Run) -> None:
    arguments = ("--from", "openai-chat", "--model", "mystery-9")
    _, out, _ = cw("explain", "-", *arguments, input=CHAT)
    note = "'mystery-9' is not known; treated as an unknown OpenAI-compatible model"
    assert out.splitlines()[1] == note


def test_explain_what_went(cw: Run) -> None:
    out = cw("explain", TRAIN, *ARGUMENTS, "--budget", "400", "--recipe", "forge").out
    assert "Messages: " in out
    assert "  - dropped " in out
    assert "older than the newest that fit" in out


def test_nothing_forges_the_table(cw: Run) -> None:
    chat = {"messages": [{"role": "user", "content": "\x1b[2J", "name": "a\x1b]0;b\x07\nc"}]}
    outcome = cw("explain", "-", *ARGUMENTS, input=chat)
    assert outcome.code == 0
    assert "\x1b" not in outcome.out + outcome.err


def on_a_terminal(*arguments: str) -> str:
    """What a terminal receives."""
    outside, inside = pty.openpty()
    with os.fdopen(outside, "rb", buffering=0) as screen:
        command = [sys.executable, "-m", "contextwright", *arguments]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=inside, stderr=inside)
        os.close(inside)
        received = b""
        try:
            while chunk := screen.read(65_536):
                received += chunk
        except OSError:  # Linux says EIO when the other side is gone
            pass
        process.wait(timeout=30)
    return received.decode()


def test_explain_on_a_terminal_is_the_same_in_colour(cw: Run) -> None:
    arguments = ("explain", TRAIN, *ARGUMENTS, "--budget", "400")
    seen = on_a_terminal(*arguments)
    assert "\x1b[1;32mTokens\x1b[0m" in seen
    plain = re.sub(r"\x1b\[[\d;]*m", "", seen).replace("\r\n", "\n")
    assert plain == cw(*arguments).out


def test_simulate_shows_its_progress_to_a_person() -> None:
    seen = on_a_terminal("simulate", TRAIN, *ARGUMENTS, "--budget", "400")
    assert "14/14" in seen
    assert seen.rstrip().splitlines()[-1].startswith("default ")


# Comparing


DIFF = ("--from", "openai-chat", "--model", "gpt-4o")


def test_diff_of_two_moments(cw: Run) -> None:
    code, out, err = cw("diff", "-", *DIFF, "--at", "2", "--at", "4", input=CHAT)
    assert (code, err) == (0, "")
    assert out == (
        "before  20 tokens for 2 messages\n"
        "now     35 tokens for 4 messages\n"
        "shared  17 tokens, 48.6% of now\n"
        "cause   nothing changed, only added\n"
    )


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-5-5", "gemini-3.8-flash"])
def test_a_request_shares_all_of_itself(cw: Run, model: str) -> None:
    arguments = ("--from", "openai-chat", "--model", model, "--at", "4", "--at", "4")
    rows = cw("diff", "-", *arguments, input=CHAT).out.splitlines()
    tokens = rows[0].split()[1]
    assert rows[2:] == [f"shared  {tokens} tokens, 100.0% of now", "cause   nothing changed"]


def test_diff_says_what_broke(cw: Run) -> None:
    clocks = ("--now", "2026-11-15T12:00:00+00:00", "--now", "2026-11-15T12:01:00+00:00")
    arguments = ("--recipe", "gryag", "--at", "2", "--at", "4", *clocks)
    code, out, _ = cw("diff", "-", *DIFF, *arguments, input=CHAT)
    assert code == 0
    rows = dict(re.split(" {2,}", line, maxsplit=1) for line in out.splitlines())
    assert rows["cause"] == "the system text changed: CurrentTime[1]"
    assert rows["differs at"] == "messages[0], byte 0"
    assert rows["price"].endswith("tokens not shared")


def test_diff_of_two_files_as_json(cw: Run, tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    files[0].write_text(json.dumps({"messages": CHAT["messages"][:2]}))
    files[1].write_text(json.dumps(CHAT))
    code, out, _ = cw("diff", *map(str, files), *DIFF, "--json")
    assert code == 0
    assert json.loads(out) == {
        "shared": 17,
        "tokens": 35,
        "first_difference": None,
        "byte": None,
        "cause": "nothing changed, only added",
        "cost": 0.0,
        "share": 0.4857,
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("-",),
            "there is no second point to compare with (add --at N, or name two conversations)",
        ),
        (("-", "--at", "2", "--at", "9"), "--at 9: the conversation has 4 messages"),
        (("a", "b", "c"), "cw diff compares two requests"),
        (("-", "--at", "0", "--at", "2"), "Invalid value for '--at'"),
    ],
)
def test_a_wrong_diff(cw: Run, arguments: tuple[str, ...], expected: str) -> None:
    code, out, err = cw("diff", *arguments, *DIFF, input=CHAT)
    assert (code, out) == (2, "")
    assert expected in only_line(err)
