"""The table of commands: help, completion, negative numbers, and what is loaded when."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import Run, only_line
from contextwright.cli import commands
from contextwright.cli.commands import GROUPS, load

NAMES = [name for group in GROUPS.values() for name in group]
PRINTS_JSON = {"append-stream", "build", "convert", "dump", "export", "inspect", "mcp", "serve"}
"""Commands whose output is JSON without an option, or that print nothing."""


def command(name: str) -> commands.Command:
    found = commands.find(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_help_in_the_table_is_the_first_line_of_the_command(name: str) -> None:
    help = load(name, command(name)).help
    assert help is not None
    assert help.splitlines()[0] == command(name).help
    assert len(command(name).help) <= 60


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example(cw: Run, name: str) -> None:
    code, out, err = cw(name, "--help")
    assert (code, err) == (0, "")
    assert re.search(rf"^ +(.*\| )?cw {name}\b", out, re.M)


@pytest.mark.parametrize("name", sorted(set(NAMES) - PRINTS_JSON))
def test_every_command_that_prints_can_print_json(name: str) -> None:
    assert "as_json" in [each.name for each in load(name, command(name)).params]


@pytest.mark.parametrize("name", NAMES)
def test_from_always_means_a_format(name: str) -> None:
    for parameter in load(name, command(name)).params:
        if "--from" in parameter.opts:
            assert parameter.name in ("source", "format")


def test_help_lists_every_command_by_task(cw: Run) -> None:
    lines = cw("--help").out.splitlines()
    for title, group in GROUPS.items():
        place = lines.index(f"{title}:")
        listed = [line.split()[0] for line in lines[place + 1 : place + 1 + len(group)]]
        assert listed == list(group)


def test_help_loads_no_command() -> None:
    script = """
import sys
from contextwright.cli import main
main(["--help"])
heavy = ("contextwright.cli.requests", "contextwright.store",
         "contextwright.context", "rich", "apsw")
print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr == "[]\n"


BARE = ("contextwright.context.build", "contextwright.importers", "contextwright.systems", "rich")


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["list"], BARE),
        (["read", "lunch"], BARE),
        (["count", "Hi", "--model", "gpt-4o"], (*BARE[2:], "contextwright.formats.gryag.format")),
        (["check", "-", "--format", "openai-chat"], (*BARE[2:], "contextwright.store")),
    ],
)
def test_a_command_loads_only_what_it_needs(
    arguments: list[str], absent: tuple[str, ...], cw: Run, tmp_path: Path
) -> None:
    """Where nothing keeps compiled files, what is loaded is most of the time of a call."""
    store = str(tmp_path / "chat.db")
    cw("add", "lunch", "Hi", "--store", store)
    script = f"""
import sys
from contextwright.cli import main
code = main({arguments!r})
print([name for name in {("pydantic", "typer", *absent)!r} if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "CONTEXTWRIGHT_STORE": store},
        input='{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}',
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]")


def test_simple_streams_do_without_the_parser(tmp_path: Path) -> None:
    script = f"""
import sys
from contextwright.cli import main
main(["append-stream", "--store", {str(tmp_path / "chat.db")!r}])
print("click" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.stdout == "False\n"


def test_a_mistyped_command_gets_a_hint(cw: Run) -> None:
    code, _, err = cw("expot", "x")
    assert code == 2
    assert only_line(err) == ("cw: No such command 'expot'. Did you mean 'export'? (see cw --help)")


# Negative numbers


def test_negative_ids_are_arguments(cw: Run, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "chat.db"))
    assert cw("add", "-100200", "Hi", "--author", "-7", *store).out == "1\n"
    assert cw("add", *store, "-100200", "-5").out == "2\n"
    assert cw("read", "-100200", *store).out == "     1 user -7: Hi\n     2 user: -5\n"
    assert json.loads(cw("dump", "-100200", *store).out.splitlines()[0])["text"] == "Hi"
    memory = cw("remember", "-100200", "Likes coffee", *store).out.strip()
    assert memory in cw("memories", "-100200", *store).out
    assert cw("add", *store, "--", "-100200", "--text").out == "3\n"


def test_an_option_that_does_not_exist_is_still_an_error(cw: Run) -> None:
    assert cw("add", "lunch", "-x").code == 2
    assert cw("recall", "soup", "--limit", "-1").code == 2


# Completion


def completed(words: str, **environment: str) -> list[str]:
    """What a shell is offered."""
    asked = {"_CW_COMPLETE": "bash_complete"}
    count = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "contextwright"],
        env={**os.environ, **asked, **count, **environment},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    return [line.removeprefix("plain,") for line in done.stdout.split()]


def test_completion(cw: Run, tmp_path: Path) -> None:
    store = str(tmp_path / "chat.db")
    cw("add", "lunch", "Hi", "--store", store)
    assert completed("cw sho") == ["show", "show-again", "show-request"]
    assert completed("cw convert x --from ay") == ["aya"]
    assert completed("cw import x --from tele") == ["telegram"]
    assert completed("cw build x --recipe def") == ["default"]
    assert "gpt-4o" in completed("cw count x --model gpt-4")
    assert completed("cw read l", CONTEXTWRIGHT_STORE=store) == ["lunch"]
    assert completed("cw read l", CONTEXTWRIGHT_STORE=str(tmp_path / "none.db")) == []


@pytest.mark.parametrize(
    ("shell", "script", "profile"),
    [
        ("bash", ".bash_completions/cw.sh", ".bashrc"),
        ("zsh", ".zfunc/_cw", ".zshrc"),
        ("fish", ".config/fish/completions/cw.fish", None),
    ],
)
def test_completion_is_installed_once(
    shell: str,
    script: str,
    profile: str | None,
    cw: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    written = "# été\nalias ll='ls -l'".encode("latin-1")
    if profile is not None:
        (tmp_path / profile).write_bytes(written)
    for _ in range(2):
        assert cw("--install-completion").code == 0
    assert (tmp_path / script).read_text() in cw("--show-completion").out
    assert "_CW_COMPLETE" in (tmp_path / script).read_text()
    if profile is not None:
        now = (tmp_path / profile).read_bytes()
        assert now.startswith(written + b"\n")
        assert now.count(b"\n") == 3


def test_a_shell_without_completion(cw: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/dash")
    code, out, err = cw("--install-completion")
    assert (code, out) == (2, "")
    assert only_line(err) == (
        "cw: no completion for the shell 'dash' (set SHELL to one of bash, zsh, fish)"
    )


# Broken pipes


@pytest.mark.parametrize("arguments", [("dump", "lunch"), ("read", "lunch")])
def test_a_closed_pipe_is_quiet(cw: Run, tmp_path: Path, arguments: tuple[str, str]) -> None:
    store = str(tmp_path / "chat.db")
    line = json.dumps(
        {"conversation": "lunch", "messages": [{"role": "user", "content": "x" * 1_000}] * 300}
    )
    cw("append-stream", "--store", store, input=line.encode() + b"\n")
    with subprocess.Popen(
        [sys.executable, "-m", "contextwright", *arguments, "--store", store],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 1
