"""`cw record` with programs that are told where the gateway is by variables alone."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import contextwright as cw
from providers.standin import KEY, said, serving
from serve.clients.cell import SECONDS, clients_folder

ANSWER = "Everything is well."


class Program(NamedTuple):
    """A program that asks one question."""

    package: str
    command: tuple[str, ...]
    client: str
    """How it calls itself."""


PROGRAMS = (
    Program("llm", ("llm", "--no-log", "-m", "gpt-4o-mini", "How are you?"), "openai"),
    Program("qwen", ("qwen", "--auth-type", "openai", "-y", "-p", "How are you?"), "qwen-code"),
    Program(
        "aider",
        (
            *("aider", "--model", "openai/gpt-4o", "--no-git", "--yes-always", "--no-pretty"),
            *("--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"),
            *("--analytics-disable", "--no-gitignore", "--message", "How are you?"),
        ),
        "openai",
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=[each.package for each in PROGRAMS])
def test_a_program_is_recorded(program: Program, tmp_path: Path) -> None:
    place = clients_folder() / program.package
    if not place.is_dir():
        pytest.skip(f"{program.package} is not installed; see tests/serve/clients/install.py")
    paths = [place / "bin", *(place / "node_modules" / name for name in (".bin", "node/bin"))]
    store = tmp_path / "store.db"
    with serving(lambda _: said(ANSWER)) as server:
        record = [sys.executable, "-m", "contextwright", "record", "--store", str(store), "--"]
        done = subprocess.run(
            [*record, *program.command],
            cwd=tmp_path,
            env={
                "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]]),
                "HOME": str(tmp_path),
                "OPENAI_BASE_URL": server.base_url("openai-chat"),
                "OPENAI_API_KEY": KEY,
                "OPENAI_MODEL": "gpt-4o",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            text=True,
        )
    assert ANSWER in done.stdout, done.stderr[-2_000:]
    with cw.Store(store) as held:
        records = held.requests()
    assert {(one.state, one.mode) for one in records} == {("answered", "pass-through")}
    assert {one.client.partition("/")[0] for one in records} == {program.client}
