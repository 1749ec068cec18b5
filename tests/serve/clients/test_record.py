"""`cw record` with programs that are told where the gateway is by variables alone."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.events import Usage
from providers.standin import KEY, said, serving
from serve.clients.cell import PROGRAMS as PROGRAMS_FOLDER
from serve.clients.cell import SECONDS, clients_folder

ANSWER = "Everything is well."


class Program(NamedTuple):
    """A program that asks one question; one that ends only by its tool is given a call of it."""

    package: str
    command: tuple[str, ...]
    client: str
    """How it calls itself."""
    tool: str = ""


AIDER = (
    *("--no-git", "--yes-always", "--no-pretty", "--no-check-update", "--no-show-release-notes"),
    *("--no-show-model-warnings", "--analytics-disable", "--no-gitignore"),
    *("--message", "How are you?"),
)
MINI = ("--yolo", "--exit-immediately", "--cost-limit", "0", "--task", "How are you?")
LAST = f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo {ANSWER}"
LIBRARIES = str(PROGRAMS_FOLDER / "libraries.py")
NAMES = {
    "smolagents": ("openai", "litellm", "litellm"),
    "dspy": ("dspy", "dspy", "dspy"),
    "openhands": ("openai", "litellm", "litellm"),
    "browser_use": ("openai", "anthropic", "google-genai-sdk"),
    "autogen": ("openai",),
}
"""What libraries call themselves to each provider."""
MODELS = ("openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-3.8-flash")
PROGRAMS = (
    Program("llm", ("llm", "--no-log", "-m", "gpt-4o-mini", "How are you?"), "openai"),
    Program("qwen", ("qwen", "--auth-type", "openai", "-y", "-p", "How are you?"), "qwen-code"),
    Program("aider", ("aider", "--model", "openai/gpt-4o", *AIDER), "openai"),
    Program("aider", ("aider", "--model", "anthropic/claude-sonnet-4-5", *AIDER), "litellm"),
    Program("aider", ("aider", "--model", "gemini/gemini-3.8-flash", *AIDER), "litellm"),
    Program("mini", ("mini", "-m", "openai/gpt-4o", *MINI), "openai", "bash"),
    Program("mini", ("mini", "-m", "anthropic/claude-sonnet-4-5", *MINI), "litellm", "bash"),
    Program("gptme", ("gptme", "-n", "-y", "-m", "openai/gpt-4o", "How are you?"), "openai"),
    Program("sgpt", ("sgpt", "--no-md", "--no-interaction", "How are you?"), "openai"),
    *(
        Program(library, ("python", LIBRARIES, library, model), client)
        for library, clients in NAMES.items()
        for model, client in zip(MODELS, clients, strict=False)
    ),
)


def name_of(program: Program) -> str:
    """The command, as far as it tells programs apart."""
    return " ".join([program.package, *program.command[2:4]][:3])


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=[name_of(one) for one in PROGRAMS])
def test_a_program_is_recorded(program: Program, tmp_path: Path) -> None:
    place = clients_folder() / program.package
    if not place.is_dir():
        pytest.skip(f"{program.package} is not installed; see tests/serve/clients/install.py")
    paths = [place / "bin", *(place / "node_modules" / name for name in (".bin", "node/bin"))]
    store = tmp_path / "store.db"
    answer = cw.ToolCall(program.tool, {"command": LAST}, "call_1") if program.tool else ANSWER
    usage = Usage(1_000, 50, cached=600)
    with serving(replace(said(answer), usage=usage)) as server:
        record = [sys.executable, "-m", "contextwright", "record", "--store", str(store), "--"]
        done = subprocess.run(
            [*record, *program.command],
            cwd=tmp_path,
            env={
                "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]]),
                "HOME": str(tmp_path),
                "TMPDIR": str(tmp_path),  # where shell-gpt keeps answers
                "OPENAI_BASE_URL": server.base_url("openai-chat"),
                "ANTHROPIC_BASE_URL": server.base_url("anthropic"),
                "GOOGLE_GEMINI_BASE_URL": server.address,
                "OPENAI_API_KEY": KEY,
                "ANTHROPIC_API_KEY": KEY,
                "GEMINI_API_KEY": KEY,
                "OPENAI_MODEL": "gpt-4o",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "MSWEA_CONFIGURED": "true",
                "MSWEA_COST_TRACKING": "ignore_errors",
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
