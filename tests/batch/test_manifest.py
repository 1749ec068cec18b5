"""Jobs from files to files: the library's bytes, in order, once, also after a crash."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

import contextwright as cw
from batch.data_sets import chat, files_in, lines
from batch.jobs import SCRIPT, job
from contextwright.batch import (
    TARGETS,
    Columns,
    Job,
    Manifest,
    Place,
    manifest,
    operation_of,
    run,
)
from contextwright.batch.targets import Target
from contextwright.documents.read import decode
from contextwright.errors import ContextwrightError, UsageError
from contextwright.importers.detection import format_of


def by_hand(data: bytes, target: str) -> tuple[list[bytes], list[tuple[int, str]]]:
    """What the library makes of lines: the results, and the rejected ones with their errors."""
    results: list[bytes] = []
    rejects: list[tuple[int, str]] = []
    offset = 0
    for line in data.splitlines(keepends=True):
        try:
            value = decode(line)
            results.append(cw.convert(value, format_of(value), target).json + b"\n")
        except ContextwrightError as error:
            # The offset says where the line is; it is not the first one of the file.
            rejects.append((offset, str(error.args[0]).removeprefix("line 1: ")))
        offset += len(line)
    return results, rejects


def rejects_in(output: Path) -> list[tuple[int, str]]:
    rows = [json.loads(line) for line in (output / "rejects.jsonl").read_text().splitlines()]
    return [(row["offset"], row["error"]["message"]) for row in rows]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_bytes_as_the_library(workers: int, tmp_path: Path) -> None:
    data = lines(120, broken=True)
    (tmp_path / "a.jsonl").write_bytes(data)
    done = run(job(tmp_path / "out"), [str(tmp_path / "a.jsonl")], workers=workers)
    results, rejects = by_hand(data, "anthropic")
    assert len(rejects) > 8
    assert (tmp_path / "out" / "part-00000.jsonl").read_bytes() == b"".join(results)
    assert [(at, text) for at, text in rejects_in(tmp_path / "out")] == rejects
    assert sorted(files_in(tmp_path / "out")) == [
        "manifest.json",
        "part-00000.jsonl",
        "rejects.jsonl",
    ]
    assert (done.rows, done.rejected) == (len(results) + len(rejects), len(rejects))
    assert done.changes == {"invent.max_tokens": len(results), "invent.model": len(results)}
    assert done.inputs == (str(tmp_path / "a.jsonl"),)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(("container", "stride"), [("jsonl", 1), ("parquet", 9)])
def test_stopped_at_any_write_and_resumed(
    container: Any, stride: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may die before or after any file appears: nothing is doubled, nothing missing."""
    source = tmp_path / "a.jsonl"
    source.write_bytes(lines(12, broken=True))
    clean = job(tmp_path / "clean", container=container, shard_bytes=2_000)
    finished = run(clean, [str(source)], workers=1)
    expected = files_in(tmp_path / "clean")
    assert len(finished.shards) > 2
    stopped = 0
    for step in range(0, 200, stride):
        if not dies_at(step, tmp_path / str(step), source, container, monkeypatch):
            break
        stopped += 1
        (tmp_path / str(step) / "part-00000.jsonl.1.part").write_text("left by a kill")
        rest = job(tmp_path / str(step), container=container, shard_bytes=2_000)
        run(rest, [str(source)], workers=1)
        assert files_in(tmp_path / str(step)) == expected
    assert stopped * stride > 20


class Died(BaseException):
    """The process is gone."""


def dies_at(
    step: int, output: Path, source: Path, container: Any, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Whether a job died at this rename or removal; even steps are before it, odd ones after."""
    left = [step]
    originals = {name: getattr(Place, name) for name in ("move", "remove")}

    def dying(name: str) -> Any:
        def act(place: Place, *arguments: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Died
            originals[name](place, *arguments)
            left[0] -= 1
            if left[0] < 0:
                raise Died

        return act

    with monkeypatch.context() as patch:
        for name in originals:
            patch.setattr(Place, name, dying(name))
        try:
            run(job(output, container=container, shard_bytes=2_000), [str(source)], workers=1)
        except Died:
            return True
    return False


@pytest.mark.usefixtures("small_pieces")
def test_a_folder_that_holds_the_output_is_read_as_it_was_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(12))
    within = job(tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr("contextwright.batch.manifest.finish", dying_at_once)
        with pytest.raises(Died):
            run(within, [str(tmp_path)], workers=1)
    done = run(within, [str(tmp_path)], workers=1)
    assert (done.inputs, done.rows, done.skipped) == ((str(tmp_path / "a.jsonl"),), 12, 0)
    assert run(within, [f"{tmp_path}/**/*.jsonl"], workers=1) == done


def dying_at_once(*_: Any) -> None:
    raise Died


@pytest.mark.usefixtures("small_pieces")
def test_rows_for_two_models_are_refused_where_a_provider_would(tmp_path: Path) -> None:
    """OpenAI takes one model per file; Anthropic several; a model that is named is that of all."""
    rows = [chat(0), *({**chat(1), "model": "gpt-4.1"} for _ in range(9))]
    source = tmp_path / "a.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)))
    for _ in range(2):  # the second time it goes on from finished pieces
        with pytest.raises(UsageError, match="for 2 models: 'gpt-4.1', 'gpt-5.6-sol'"):
            run(job(tmp_path / "a", "openai-batch"), [str(source)], workers=1)
        assert not [name for name in os.listdir(tmp_path / "a") if name.startswith("part-")]
    assert run(job(tmp_path / "b", "openai-chat"), [str(source)], workers=1).rows == 10
    named = operation_of("convert", target="openai-batch", model="gpt-4.1")
    done = run(Job(operation=named, output=Place(str(tmp_path / "c"))), [str(source)], workers=1)
    written = (tmp_path / "c" / done.shards[0].name).read_text().splitlines()
    assert [json.loads(row)["body"]["model"] for row in written] == ["gpt-4.1"] * 10


@pytest.mark.usefixtures("small_pieces")
def test_a_finished_job_is_not_done_again_and_another_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(lines(20))
    first = run(job(tmp_path / "out"), [str(source)], workers=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert run(job(tmp_path / "out"), [str(source)], workers=1) == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before
    with pytest.raises(UsageError, match="belongs to another job"):
        run(job(tmp_path / "out", "gemini"), [str(source)])
    source.write_bytes(lines(21))
    with pytest.raises(UsageError, match="belongs to another job"):
        run(job(tmp_path / "out"), [str(source)])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "part-00000.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        run(job(tmp_path / "full"), [str(source)])
    assert (tmp_path / "full" / "part-00000.jsonl").read_text() == "mine"
    with pytest.raises(UsageError, match="is a file"):
        run(job(source), [str(source)])
    with pytest.raises(ContextwrightError, match=r"/x': Not a directory$"):
        run(job(source / "x"), [str(source)])
    (tmp_path / "out" / "manifest.json").write_text("{}")
    with pytest.raises(UsageError, match="not a manifest"):
        run(job(tmp_path / "out"), [str(source)])


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("target", [*TARGETS, "chatml"])
def test_two_rows_with_one_id_are_refused_where_a_provider_would(
    target: str, tmp_path: Path
) -> None:
    """The second is in another piece; a row that is rejected takes no id."""
    answer = {"role": "assistant", "content": "Risotto."}
    rows = [{"id": str(number), **chat(number)} for number in range(60)]
    rows = [{**row, "messages": [*row["messages"], answer]} for row in rows]
    broken = {"id": "3", "messages": "none"}
    unique = "\n".join(map(json.dumps, [broken, *rows, broken]))
    (tmp_path / "unique.jsonl").write_text(unique)
    (tmp_path / "doubled.jsonl").write_text(unique + "\n" + json.dumps(rows[7]))
    ids = Columns(id="id")
    done = run(
        job(tmp_path / "a", target, columns=ids), [str(tmp_path / "unique.jsonl")], workers=1
    )
    assert (done.rows, done.rejected) == (62, 2)
    twice = job(tmp_path / "b", target, columns=ids)
    if not TARGETS.get(target, Target(formats=())).has_ids:
        assert run(twice, [str(tmp_path / "doubled.jsonl")], workers=1).rows == 63
        return
    for _ in range(2):  # the second time it goes on from finished pieces
        with pytest.raises(UsageError, match="two rows have the id '7'"):
            run(twice, [str(tmp_path / "doubled.jsonl")], workers=1)
        assert not [name for name in os.listdir(tmp_path / "b") if name.startswith("part-")]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("target", ["anthropic-batch", "openai-batch", "chatml"])
def test_shards_are_full_and_within_their_size(target: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(200))
    limit = 8_000
    done = run(
        job(tmp_path / "out", target, shard_bytes=limit), [str(tmp_path / "a.jsonl")], workers=1
    )
    sizes = [(tmp_path / "out" / shard.name).stat().st_size for shard in done.shards]
    assert len(sizes) > 5
    assert max(sizes) <= limit + 20  # the brackets around a batch
    assert min(sizes[:-1]) > limit * 3 / 4
    assert sum(shard.rows for shard in done.shards) == 200


def test_a_provider_limits_the_rows_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = msgspec.structs.replace(TARGETS["openai-batch"], max_rows=16)
    monkeypatch.setitem(TARGETS, "openai-batch", few)
    (tmp_path / "a.jsonl").write_bytes(lines(50))
    done = run(job(tmp_path / "out", "openai-batch"), [str(tmp_path / "a.jsonl")], workers=1)
    assert [shard.rows for shard in done.shards] == [16, 16, 16, 2]


def test_parquet_in_and_out(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(30))
    run(
        job(tmp_path / "one", "chatml", container="parquet"), [str(tmp_path / "a.jsonl")], workers=1
    )
    table = pq.read_table(tmp_path / "one" / "part-00000.parquet").to_pylist()
    assert len(table) == 30
    assert table[0] == {
        "id": "0-0",
        "document": cw.convert(chat(0), "openai-chat", "chatml").json.decode(),
        "changes": [],
    }
    again = Job(
        operation=operation_of("convert", source="chatml", target="chatml"),
        output=Place(str(tmp_path / "two")),
        columns=Columns(id="id"),
        container="parquet",
    )
    run(again, [str(tmp_path / "one")], workers=1)
    assert pq.read_table(tmp_path / "two" / "part-00000.parquet").to_pylist() == table


def test_a_place_with_url(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(3))
    target = Job(
        operation=operation_of("convert", target="gemini"), output=Place(f"file://{tmp_path}/out")
    )
    done: Manifest = run(target, [f"file://{tmp_path}/a.jsonl"], workers=1)
    assert done.inputs == (f"file://{tmp_path}/a.jsonl",)
    results, _ = by_hand(lines(3), "gemini")
    assert (tmp_path / "out" / "part-00000.jsonl").read_bytes() == b"".join(results)


@pytest.mark.parametrize("runner", ["local", "ray"])
def test_only_the_joining_is_left(
    runner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after the last piece, a job needs no worker and no cluster any more."""
    source = tmp_path / "a.jsonl"
    source.write_bytes(lines(12, broken=True))
    run(job(tmp_path / "clean"), [str(source)], workers=1)

    def die(*given: Any) -> None:
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(manifest, "finish", die)
        with pytest.raises(Died):
            run(job(tmp_path / "out"), [str(source)], workers=1)
    run(job(tmp_path / "out"), [str(source)], runner=runner, workers=2)
    assert files_in(tmp_path / "out") == files_in(tmp_path / "clean")


@pytest.mark.slow
def test_ray(tmp_path: Path) -> None:
    """The same command on a cluster: in a process of its own, because Daft keeps its runner."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'contextwright[ray]'")
    (tmp_path / "a.jsonl").write_bytes(lines(600, broken=True))
    run(job(tmp_path / "here"), [str(tmp_path / "a.jsonl")], workers=1)
    command = ["batch", "convert", "a.jsonl", "--to", "anthropic", "-o", "there", "--runner", "ray"]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *command], cwd=tmp_path)
    assert done.returncode == 1
    here, there = files_in(tmp_path / "here"), files_in(tmp_path / "there")
    assert sorted(there) == sorted(here)
    assert there["part-00000.jsonl"] == here["part-00000.jsonl"]
    assert there["rejects.jsonl"] == here["rejects.jsonl"]
