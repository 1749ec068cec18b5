"""Standard streams that are closed, full or without a reader: one line, and no lost result."""

import json
import subprocess
from pathlib import Path

import pytest

from samples.command_inputs import COMMAND

CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
CONVERT = ["convert", "-", "--from", "openai-chat", "--to", "anthropic"]
FULL = "cw: cannot write: No space left on device\n"


def redirected(arguments: list[str], streams: str, folder: Path) -> tuple[int, str, str]:
    """Run `cw` in a shell with other standard streams; return its code and what it wrote."""
    done = subprocess.run(
        ["sh", "-c", f'"$@" {streams}', "sh", *COMMAND, *arguments],
        cwd=folder,
        input=json.dumps(CHAT).encode(),
        capture_output=True,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize(
    "arguments", [CONVERT, ["formats"], ["--help"], ["dump", "lunch", "--store", "a.db"]]
)
def test_a_full_disk_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    redirected(["add", "lunch", "Hi", "--store", "a.db"], "", tmp_path)
    assert redirected(arguments, ">/dev/full", tmp_path) == (1, "", FULL)
    assert redirected(arguments, ">/dev/full 2>/dev/full", tmp_path) == (1, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("streams", ["2>/dev/full", "2>&-"])
def test_remarks_that_cannot_be_written_cost_no_result(streams: str, tmp_path: Path) -> None:
    code, out, err = redirected(CONVERT, "", tmp_path)
    assert code == 0
    assert "changes: " in err
    assert redirected(CONVERT, streams, tmp_path) == (0, out, "")
    assert redirected(["check", "missing.json"], streams, tmp_path) == (2, "", "")


@pytest.mark.parametrize(
    ("arguments", "streams", "error"),
    [
        (CONVERT, "<&-", "cw: there is no standard input (name a file)\n"),
        (
            ["formats"],
            ">&-",
            "cw: there is no standard output (send it to a file or to /dev/null)\n",
        ),
        *[
            (
                ["mcp", "--store", "a.db"],
                streams,
                "cw: MCP needs standard input and standard output"
                " (let the program that uses the tools start this command)\n",
            )
            for streams in ("<&-", ">&-", "<&- >&-")
        ],
    ],
)
def test_a_closed_stream_is_named(
    arguments: list[str], streams: str, error: str, tmp_path: Path
) -> None:
    assert redirected(arguments, streams, tmp_path) == (2, "", error)
