"""`cw chat`: in a pipe, and through a real pseudo-terminal as a person uses it."""

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import contextwright
from commands import Run
from contextwright.cli.chat.screen import Blocks
from providers.standin import KEY, Held, said, serving

pexpect = pytest.importorskip("pexpect")

ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])")
PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


@pytest.fixture
def place(empty_store: Path, tmp_path: Path) -> Path:
    file = tmp_path / "store.db"
    file.write_bytes(empty_store.read_bytes())
    return file


# --- in a pipe -------------------------------------------------------------------------------


def test_a_question_in_an_answer_out(cw: Run, place: Path) -> None:
    done = cw("chat", "lunch", "--model", "echo", "--store", str(place), input=b"How are you?\n")
    assert (done.code, done.out) == (0, "How are you?\n")
    assert re.fullmatch(
        r"cw: \d+ tokens in · 0% cached · \d+ out · \$0\.00 · .* s · estimated\n", done.err
    )
    done = cw("chat", "lunch", "-m", "echo", "-s", str(place), "--json", input=b"And now?")
    events = [json.loads(line) for line in done.out.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["step_start", "reply_start"]
    assert kinds[-1] == "answer"
    assert events[-1]["seqs"] == [3, 4]
    assert cw("chat", "lunch", "-m", "echo", "-s", str(place), input=b" \n").code == 2


def test_files_go_along(cw: Run, place: Path, tmp_path: Path) -> None:
    (tmp_path / "my notes.txt").write_text("Buy ``` milk\n")
    (tmp_path / "dot.png").write_bytes(PIXEL)
    question = f'See @"{tmp_path}/my notes.txt" and @home'
    options = ["--model", "echo", "--store", str(place)]
    done = cw("chat", "c", *options, "--attach", str(tmp_path / "dot.png"), input=question.encode())
    assert done.code == 0
    with contextwright.Store(place) as store:
        parts = store.conversation("c").tail(2)[0].message.parts
    assert [type(part).__name__ for part in parts] == ["Media", "Text", "Text"]
    assert parts[1].text == "'my notes.txt':\n````\nBuy ``` milk\n````"  # pyright: ignore
    done = cw("chat", "c", *options, "--attach", str(tmp_path / "none"), input=b"Hi")
    assert (done.code, "No such file" in done.err) == (2, True)


def test_wrong_calls(cw: Run, place: Path) -> None:
    options = ["--store", str(place)]
    done = cw("chat", "c", "--model", "claude-sonnet-5-5", *options, input=b"Hi")
    assert (done.code, "set ANTHROPIC_API_KEY" in done.err) == (1, True)
    done = cw("chat", "c", "--model", "echo", "--base-url", "http://x", *options, input=b"Hi")
    assert (done.code, "--base-url needs --provider" in done.err) == (2, True)


# --- on a terminal ---------------------------------------------------------------------------


class Terminal:
    """A person at `cw chat`."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        names = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        self.child = pexpect.spawn(
            sys.executable,
            ["-X", "utf8", "-m", "contextwright", "chat", *arguments],
            env={**kept, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **environment},
            encoding="utf-8",
            dimensions=(40, 100),
            timeout=60,
            # Tests that run in the background of a shell are deaf to Ctrl-C; a person is not.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )

    def type(self, text: str) -> None:
        self.child.send(text)

    def enter(self, text: str) -> None:
        self.type(text)
        self.child.expect_exact(text.splitlines()[-1][-20:])
        self.type("\r")

    def sees(self, text: str) -> str:
        """Wait for a text; return what came before it, without escape sequences."""
        self.child.expect_exact(text)
        return ESCAPES.sub("", self.child.before)

    def leave(self) -> int:
        self.type("\x04")
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus


@pytest.fixture
def terminal(place: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str, **environment: str) -> Terminal:
        opened.append(Terminal("lunch", "--store", str(place), *arguments, **environment))
        opened[-1].sees("Ctrl-D leaves")
        return opened[-1]

    yield start
    for one in opened:
        one.child.close(force=True)


def messages(place: Path, id: str = "lunch") -> list[Any]:
    with contextwright.Store(place, embedder=None) as store:
        return [stored.message for stored in store.conversation(id).read()]


@pytest.mark.slow
def test_a_talk(place: Path, terminal: Callable[..., Terminal]) -> None:
    """Typing, several lines, Markdown, every command, resizing, leaving."""
    person = terminal("--model", "echo")
    person.enter("Hello **you**")
    person.sees("\x1b[1myou\x1b[0m")  # bold
    person.sees("tokens in")
    person.type("First line\x1b\rsecond line")
    person.child.expect_exact("second line")
    person.type("\r")
    person.sees("tokens in")
    person.enter("/explain")
    person.sees("echo · openai-chat")
    person.enter("/context")
    person.sees('"content": "First line\\nsecond line"')
    person.enter("/diff")
    person.sees("nothing changed, only added")
    person.enter("/recall hello")
    person.sees(", user: ")
    person.enter("/budget 5000")
    person.sees("budget 5,000 tokens")
    person.enter("/recipe aya")
    person.sees("recipe aya")
    person.enter("/recipe default")
    person.sees("recipe default")
    person.enter("/model claude-sonnet-5-5")
    person.sees("model claude-sonnet-5-5")
    person.enter("/explain")
    person.sees("claude-sonnet-5-5 · anthropic")  # that needs no key
    person.enter("Without a key")
    person.sees("set ANTHROPIC_API_KEY")
    person.enter("/model echo")
    person.sees("model echo")
    person.enter("/undo")
    person.sees("deleted: 'First line")
    person.enter("/fork dinner")
    person.sees("now in 'dinner'")
    person.enter("/nonsense")
    person.sees("there is no command /nonsense")
    person.child.setwinsize(40, 40)
    person.type("word " * 30 + "end\r")
    lines = re.split(r"[\r\n]+", person.sees("tokens in"))
    assert 20 < max(len(line.rstrip()) for line in lines if line.startswith("word")) <= 40
    person.type("\x1b[A")  # up: the history
    person.child.expect_exact("word word word")
    person.type("\x03")  # Ctrl-C at the prompt: an empty line again
    person.enter("Still here")
    person.sees("tokens in")
    assert person.leave() == 0
    public = [one.text for one in messages(place, "dinner") if one.visibility == "public"]
    assert public[:2] == ["Hello **you**"] * 2
    assert public[-2:] == ["Still here"] * 2
    assert len(public) == 6


def test_ctrl_c_stops_an_answer_and_not_the_program(
    place: Path, terminal: Callable[..., Terminal]
) -> None:
    held = Held(said("One two three"), threading.Event(), threading.Event())
    with serving(held, said("Fine")) as server:
        address = server.base_url("openai-chat")
        options = ["--model", "gpt-5.6-sol", "--provider", "openai", "--base-url", address]
        person = terminal(*options, OPENAI_API_KEY=KEY)
        person.enter("Count")
        person.sees("One")  # while the rest is still to come
        person.type("\x03")
        person.sees("stopped; what came is kept")
        assert held.noticed.wait(20)  # at the provider too
        person.enter("How are you?")
        person.sees("Fine")
        person.sees("tokens in")
        assert person.leave() == 0
    question, stopped, _, answer = messages(place)
    assert question.text == "Count"
    assert (stopped.text, stopped.meta["finish"]) == ("One ", "interrupted")
    assert answer.text == "Fine "


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("one", []),
        ("one\n\ntwo", ["one\n\n"]),
        ("\n\none\n", []),
        ("```\na\n\nb", []),
        ("x\n\n````\na\n```\n\nb", ["x\n\n"]),
        ("```\na\n\nb\n```\n\nc", ["```\na\n\nb\n```\n\n"]),
    ],
)
def test_blocks_that_are_finished(text: str, blocks: list[str]) -> None:
    whole, pieces = Blocks(), Blocks()
    assert whole.add(text) == blocks
    assert [block for letter in text for block in pieces.add(letter)] == blocks
    assert pieces.tail == whole.tail
