"""`cw append-stream` and `cw dump`: their output, and what kills and concurrent writers leave."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import contextwright
from commands import Run

CW = [sys.executable, "-m", "contextwright"]


def turn(conversation: str, key: str | None, *texts: str) -> str:
    messages = [{"role": "user", "content": text} for text in texts]
    return json.dumps({"conversation": conversation, "key": key, "messages": messages})


def dumped(cw: Run, store: str) -> list[dict[str, Any]]:
    """The messages of the conversation `a`, as `cw dump` prints them."""
    done = cw("dump", "a", "--store", store)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_turns_go_in_and_messages_come_out(cw: Run, place: str) -> None:
    chat = [
        {"role": "user", "content": "What is 6 × 7?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":6}'}}
            ],
        },
        {"role": "tool", "content": "42", "tool_call_id": "c"},
    ]
    ours = [{"role": "system", "parts": [{"type": "text", "text": "Be brief."}], "pinned": True}]
    lines = [
        json.dumps({"conversation": "a", "key": "1", "messages": chat}),
        json.dumps({"conversation": "a", "key": None, "messages": ours}),
        json.dumps({"conversation": "a", "key": "1", "messages": chat}),
    ]
    done = cw("append-stream", "--store", place, input="\n".join(lines).encode())
    assert done == (0, '{"ack":"1"}\n{"ack":null}\n{"ack":"1"}\n', "")
    call = {"id": "c", "name": "f", "arguments": {"a": 6}}
    assert dumped(cw, place) == [
        {"seq": 1, "key": "1", "role": "user", "text": "What is 6 × 7?"},
        {"seq": 2, "key": "1", "role": "assistant", "text": "Let me see.", "calls": [call]},
        {"seq": 3, "key": "1", "role": "tool", "text": "42", "answers": ["c"]},
        {"seq": 4, "key": None, "role": "system", "text": "Be brief.", "pinned": True},
    ]


BAD = [
    ("{", None, "line 2"),
    ("[1]", None, "a turn must be an object, not [1]"),
    ('{"key":"k"}', "k", "messages: a turn needs a list of messages"),
    ('{"conversation":"a","key":"k","messages":[]}', "k", "a turn has at least one message"),
    ('{"key":"k","messages":[{"role":"user","content":"x"}]}', "k", "has to be text, not None"),
    (turn("", "k", "x"), "k", "the conversation's id '' is too short"),
    (turn("a", "", "x"), "", "the key '' is too short"),
    (turn("a", "k", "nul \x00"), "k", "messages[0].parts[0].text, character 5: a NUL"),
    ('{"conversation":"a","key":"k","messages":[{"role":"king","content":"x"}]}', "k", "messages"),
    ('{"conversation":"a","key":["k"],"messages":[{"role":"user","content":"x"}]}', ["k"], "key"),
]


@pytest.mark.parametrize(("line", "key", "reason"), BAD)
def test_a_bad_line_is_answered_and_the_stream_goes_on(
    cw: Run, tmp_path: Path, line: str, key: Any, reason: str
) -> None:
    store = str(tmp_path / "store.db")
    stdin = "\n".join([turn("a", "1", "one"), line, "", turn("a", "2", "two")])
    done = cw("append-stream", "--store", store, input=stdin.encode())
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert (answers[0], answers[2]) == ({"ack": "1"}, {"ack": "2"})
    assert answers[1]["key"] == key
    assert answers[1]["error"].startswith("line 2: ")
    assert reason in answers[1]["error"]
    assert done.code == 1
    assert done.err == "cw: 1 line failed (see the error lines in the output)\n"
    assert [one["text"] for one in dumped(cw, store)] == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("nul \x00", " messages[0].parts[0].text: characters that cannot be stored became U+FFFD"),
        ("half \ud800", ": 1 character that cannot be stored became U+FFFD"),
    ],
)
def test_characters_are_replaced_on_request(
    cw: Run, tmp_path: Path, text: str, change: str
) -> None:
    store = str(tmp_path / "store.db")
    line = turn("a", "1", text).encode()
    done = cw("append-stream", "--store", store, "--replace-invalid", input=line)
    assert json.loads(done.out) == {"ack": "1", "changes": [f"repair.text{change}"]}
    assert [one["text"] for one in dumped(cw, store)] == [f"{text[:-1]}\ufffd"]


def test_long_lines_arrive_in_pieces(cw: Run, tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    long = "x" * 3_000_000
    line = f"{turn('a', '1', long)}\n\n".encode()
    done = cw("append-stream", "--store", store, input=line)
    assert done.out == '{"ack":"1"}\n'
    assert [one["text"] for one in dumped(cw, store)] == [long]


def test_where_the_store_is(cw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, home = str(tmp_path / "named.db"), str(tmp_path / "home")
    monkeypatch.setenv("CONTEXTWRIGHT_STORE", named)
    cw("append-stream", input=turn("a", "1", "named").encode())
    assert dumped(cw, named)[0]["text"] == "named"
    if sys.platform == "linux":
        monkeypatch.setenv("CONTEXTWRIGHT_STORE", "")
        monkeypatch.setenv("XDG_DATA_HOME", home)
        assert cw("list").err.startswith("cw: there is no store at ")
        assert not Path(home).exists(), "reading has made a folder"
        cw("append-stream", input=turn("a", "1", "own").encode())
        own = Path(home, "contextwright", "store.db")
        assert dumped(cw, str(own))[0]["text"] == "own"
        assert own.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a home")
def test_a_user_without_a_home(cw: Run, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container or a service whose user is not in the list of users."""
    for name in ("CONTEXTWRIGHT_STORE", "XDG_DATA_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 54321)
    assert cw("add", "lunch", "Soup?", "--store", place).out == "1\n"
    done = cw("list")
    assert done.code == 2
    assert done.err == (
        "cw: this user has no home folder for a store "
        "(name a store with --store, or set CONTEXTWRIGHT_STORE)\n"
    )


WRONG = [
    (("dump", "nobody"), 1, "cw: there is no conversation 'nobody'\n"),
    (("dump", ""), 2, "cw: the conversation's id '' is too short (1 to 256 bytes)\n"),
    (("dump",), 2, "cw: Missing argument 'CONVERSATION' (see cw dump --help)\n"),
    (("append-stream", "--sync", "off"), 2, "see cw append-stream --help"),
    (("append-stream", "word"), 2, "see cw append-stream --help"),
    (("dump", "a", "--stoer", "x"), 2, "see cw dump --help"),
]


@pytest.mark.parametrize(("arguments", "code", "complaint"), WRONG)
def test_wrong_calls(
    cw: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    complaint: str,
) -> None:
    monkeypatch.setenv("CONTEXTWRIGHT_STORE", str(tmp_path / "store.db"))
    contextwright.Store(tmp_path / "store.db").close()
    done = cw(*arguments)
    assert (done.code, done.out) == (code, "")
    assert complaint in done.err
    assert done.err.count("\n") == 1


def test_streams_start_without_the_parser() -> None:
    script = (
        "import sys; from contextwright.cli import main\n"
        "main(['dump', 'nobody', '--store', sys.argv[1]])\n"
        "print([name for name in ('click', 'pydantic', 'rich', 'asyncio', 'psycopg')"
        " if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, os.devnull + "x"], capture_output=True, text=True
    )
    assert done.stdout == "[]\n"


# --- kills and crowds: the short version of benchmarks/durability.py -----------------------------


class Writer:
    """A process that is sent turns and remembers which were acknowledged."""

    def __init__(self, store: str, limit: int = resource.RLIM_INFINITY) -> None:
        self.process = subprocess.Popen(
            [*CW, "append-stream", "--store", store],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        self.acknowledged: list[str] = []
        self.errors: dict[str, str] = {}
        self.thread = threading.Thread(target=self._listen)
        self.thread.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as answers:
            for line in answers:
                answer = json.loads(line) if line.endswith("\n") else {}
                if "ack" in answer:
                    self.acknowledged.append(answer["ack"])
                elif answer:
                    self.errors[answer["key"]] = answer["error"]

    def send(self, lines: list[str]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write("".join(f"{line}\n" for line in lines))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it was killed meanwhile

    def end(self) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it may have ended by itself
            self.process.stdin.close()
        self.process.wait(60)
        self.thread.join()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.thread.join()
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass


def whole_turns(store: str) -> list[str]:
    """The keys of a conversation in order; every turn has its two messages side by side."""
    with contextwright.Store(store) as opened:
        rows = list(opened.conversation("c").read())
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    firsts, seconds = rows[::2], rows[1::2]
    assert [row.key for row in firsts] == [row.key for row in seconds]
    assert [row.message.text for row in firsts] == [f"{row.key} a" for row in firsts]
    assert [row.message.text for row in seconds] == [f"{row.key} b" for row in seconds]
    return [str(row.key) for row in firsts]


def turns_of(writer: str, count: int) -> dict[str, str]:
    keys = [f"{writer}-{number}" for number in range(count)]
    return {key: turn("c", key, f"{key} a", f"{key} b") for key in keys}


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))]
)
def test_a_kill_loses_nothing_and_a_retry_doubles_nothing(tmp_path: Path, seed: int) -> None:
    store, chance = str(tmp_path / "store.db"), random.Random(seed)
    lines = turns_of("w", 300)
    writer = Writer(store)
    writer.send(list(lines.values()))
    goal = chance.randint(1, 200)
    while len(writer.acknowledged) < goal:
        pass
    writer.kill()
    stored = whole_turns(store)
    assert stored == list(lines)[: len(stored)]
    assert set(writer.acknowledged) <= set(stored)
    again = Writer(store)
    again.send(list(lines.values()))
    again.end()
    assert again.acknowledged == list(lines)
    assert whole_turns(store) == list(lines)


def test_a_crowd_writes_to_one_conversation(place: str) -> None:
    crowd = {f"w{number}": turns_of(f"w{number}", 40) for number in range(4)}
    writers = [Writer(place) for _ in crowd]
    for writer, lines in zip(writers, crowd.values(), strict=True):
        writer.send(list(lines.values()))
    for writer in writers:
        writer.end()
    stored = whole_turns(place)
    assert len(stored) == 160
    for writer, (name, lines) in zip(writers, crowd.items(), strict=True):
        assert writer.acknowledged == list(lines)
        assert [key for key in stored if key.startswith(f"{name}-")] == list(lines)


def test_a_full_disk_is_told_and_takes_nothing(tmp_path: Path, empty_store: Path) -> None:
    store = str(tmp_path / "store.db")
    lines = turns_of("w", 1_500)
    writer = Writer(store, limit=empty_store.stat().st_size + 150_000)
    for line in lines.values():
        writer.send([line])
    writer.end()
    assert 0 < len(writer.acknowledged) < 1_500
    assert {*writer.acknowledged, *writer.errors} == set(lines)
    assert "cannot write" in next(iter(writer.errors.values()))
    assert set(whole_turns(store)) == set(writer.acknowledged)
    again = Writer(store)
    again.send([lines[key] for key in writer.errors])
    again.end()
    assert set(whole_turns(store)) == set(lines)
