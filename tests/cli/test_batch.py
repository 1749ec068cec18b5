"""`cw batch`: what it prints, and its exit codes."""

import json
from pathlib import Path

import pytest

from batch.data_sets import chat, lines
from commands import Run, only_line


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a data set, in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.jsonl").write_bytes(lines(20))
    (tmp_path / "bad.jsonl").write_bytes(lines(20, broken=True))


@pytest.mark.usefixtures("data")
def test_what_is_printed(cw: Run) -> None:
    good = cw("batch", "convert", "good.jsonl", "--to", "openai-batch", "-o", "one", "-j", "1")
    assert good == (0, "20 rows in 1 file in one\n", "")
    bad = cw("batch", "convert", "bad.jsonl", "--to", "gemini-batch", "-o", "two", "-j", "1")
    assert bad == (
        1,
        "20 rows in 1 file in two\n",
        "cw: 20 changes: invent.model ×20\ncw: 2 rows rejected (see two/rejects.jsonl)\n",
    )
    again = cw("batch", "convert", "bad.jsonl", "--to", "gemini-batch", "-o", "two", "-j", "1")
    assert again == bad
    rejected = [json.loads(line) for line in Path("two/rejects.jsonl").read_text().splitlines()]
    assert [Path(row["file"]).name for row in rejected] == ["bad.jsonl", "bad.jsonl"]
    assert [row["row"] for row in rejected] == ["{\n", "[1, 2\n"]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("operation", ["build", "check", "count", "simulate", "recall"])
def test_other_operations(operation: str, cw: Run) -> None:
    done = cw("batch", operation, "good.jsonl", "-m", "gpt-5.6-sol", "-o", "out", "--json")
    assert done.code == 0
    manifest = json.loads(done.out)
    assert (manifest["operation"], manifest["rows"], manifest["finished"]) == (operation, 20, True)
    first = json.loads(Path("out/part-00000.jsonl").read_text().splitlines()[0])
    assert ("messages" in first) if operation == "build" else (first["id"] == "0-0")


@pytest.mark.usefixtures("data")
def test_errors_that_check_finds(cw: Run) -> None:
    row = {**chat(1), "messages": []}
    Path("x.jsonl").write_text(json.dumps(row))
    done = cw("batch", "check", "x.jsonl", "--from", "openai-chat", "-o", "out")
    assert done == (1, "1 row in 1 file in out\n", "cw: errors in 1 row\n")


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("convert", "good.jsonl"), "convert needs a target"),
        (("convert", "nowhere", "--to", "aya"), "there is no file at 'nowhere'"),
        (("convert", "good.jsonl", "--to", "aya", "--runner", "moon"), "unknown runner 'moon'"),
        (("count", "good.jsonl"), "count needs a model"),
        (("fly", "good.jsonl"), "Invalid value for 'OPERATION'"),
        ((), "Missing argument 'OPERATION'. Choose from: convert, build, check,"),
    ],
)
def test_a_wrong_call(arguments: tuple[str, ...], fault: str, cw: Run) -> None:
    done = cw("batch", *arguments, "-o", "out")
    assert (done.code, done.out) == (2, "")
    assert fault in only_line(done.err)
