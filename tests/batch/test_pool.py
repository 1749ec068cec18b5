"""Workers on this machine: they end with the command, whatever ends it, and say why they failed."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batch.data_sets import lines
from batch.jobs import SCRIPT, job
from contextwright.batch import run
from contextwright.errors import ContextwrightError


def command(source: Path, output: Path) -> list[str]:
    return [
        *(sys.executable, "-c", SCRIPT, "batch", "convert", str(source)),
        *("--to", "anthropic-batch", "-j", "2", "-o", str(output)),
    ]


def stopped(begun: subprocess.Popen[str], output: Path, sign: signal.Signals) -> tuple[int, str]:
    """Stop a command when the first piece is done; return its code and what was printed.

    Its workers share the pipe, so that this waits for their end too.
    """
    with begun:
        while begun.poll() is None and not list(output.glob("pieces/*.json")):
            time.sleep(0.005)
        os.killpg(begun.pid, sign)
        _, errors = begun.communicate(timeout=60)
    return begun.returncode, errors


@pytest.mark.slow
def test_interrupted(tmp_path: Path) -> None:
    source, output = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_bytes(lines(20_000, turns=4))
    begun = subprocess.Popen(
        command(source, output),
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets what it runs in the background ignore Ctrl-C, and children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    assert stopped(begun, output, signal.SIGINT) == (130, "")


@pytest.mark.slow
def test_killed_and_resumed(tmp_path: Path) -> None:
    source, output = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_bytes(lines(10_000, turns=4, broken=True))
    begun = subprocess.Popen(
        command(source, output), start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    assert stopped(begun, output, signal.SIGKILL) == (-signal.SIGKILL, "")
    assert not json.loads((output / "manifest.json").read_text())["finished"]
    assert list(output.glob("pieces/*.json"))
    done = subprocess.run([*command(source, output), "--json"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    manifest = json.loads(done.stdout)
    requests = json.loads((output / "part-00000.json").read_text())["requests"]
    ids = [request["custom_id"] for request in requests]
    assert len(set(ids)) == len(ids) == 10_000 == manifest["rows"] - manifest["rejected"]
    assert ids == sorted(ids, key=lambda id: int(id[2:]))
    assert manifest["rejected"] == 1_000


@pytest.mark.usefixtures("small_pieces")
def test_a_worker_that_fails_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(60))
    pq.write_table(pa.table({"other": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ContextwrightError, match="there is no column 'document' or 'messages'"):
        run(job(tmp_path / "out"), [str(tmp_path)], workers=2)


OWN = """
import os, sys
from contextwright import Recipe, Section, batch
from contextwright.batch import inputs

fault = sys.argv[1:]

class Own(Section):
    def write(self, moment):
        print("a record?")
        if fault == ["dies"]:
            os._exit(7)
        return "Be brief."

    def __reduce__(self):
        return made, ()

def made():
    if fault == ["breaks"]:
        raise ValueError("broken")
    return Own()

inputs.MIN_PIECE = 1_000
operation = batch.operation_of("build", model="gpt-4.1", recipes=[Recipe(system=[Own()])])
batch.run(batch.Job(operation=operation, output=batch.Place("out")), ["a.jsonl"], workers=2)
"""
"""A script without a guard, with a class of its own."""


@pytest.mark.slow
def test_a_section_of_a_script(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "a.jsonl").write_bytes(lines(60))
    done = subprocess.run([sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True)
    rows = [json.loads(row) for row in (tmp_path / "out/part-00000.jsonl").read_text().splitlines()]
    assert ["Be brief." in str(row["messages"]) for row in rows] == [True] * 60
    assert (done.returncode, done.stdout, "a record?" in done.stderr) == (0, "", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "code", "error"), [("dies", 7, ""), ("breaks", 1, "\nValueError: broken\n")]
)
def test_a_worker_that_ends(fault: str, code: int, error: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "a.jsonl").write_bytes(lines(60))
    command = [sys.executable, "own.py", fault]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, error in done.stderr) == (1, True)
    reason = f"a worker ended with exit code {code} (the same command goes on where it stopped)"
    assert done.stderr.endswith(f"ContextwrightError: {reason}\n")
