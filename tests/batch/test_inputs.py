"""Pieces hold every row once and in order, however a data set is divided."""

import bz2
import gzip
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.batch import Columns, inputs
from contextwright.batch.inputs import RowBatch, divide, read_piece
from contextwright.batch.places import Place, PlaceError, find_files
from contextwright.errors import ContextwrightError, UsageError
from profiles import FAULT, examples

OUTPUT = Place("out")
line = st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")) | st.just(b"  ")


def batches_at(*names: Path | str, columns: Columns | None = None) -> list[RowBatch]:
    files, _ = find_files([str(name) for name in names], OUTPUT)
    chosen = columns or Columns()
    return [batch for piece in divide(files) for batch in read_piece(piece, chosen)]


def rows_at(*names: Path | str, columns: Columns | None = None) -> list[tuple[str, Any]]:
    return [
        (row["id"], row["document"])
        for batch in batches_at(*names, columns=columns)
        for row in batch.records.to_pylist()
    ]


@examples(FAULT)
@given(st.lists(line), st.booleans(), st.integers(1, 40))
def test_every_line_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], closed: bool, size: int
) -> None:
    """Also where the border between two pieces falls on a line break."""
    file = tmp_path_factory.mktemp("lines") / "a.jsonl"
    file.write_bytes(b"\n".join(lines) + (b"\n" if closed else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "MIN_PIECE", size)
        patch.setattr(inputs, "BATCH_ROWS", 3)
        found = rows_at(file)
    expected: list[tuple[str, bytes]] = []
    offset = 0
    for text in lines_of(file):
        if text.strip():
            expected.append((f"0-{offset}", text))
        offset += len(text)
    assert found == expected


def lines_of(file: Path) -> list[bytes]:
    with file.open("rb") as stream:
        return list(stream)


def test_a_line_that_is_too_long_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LINE_LIMIT", 10)
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"1\n" + b"x" * 5_000 + b"\n2\n")
    [batch] = batches_at(file)
    assert batch.records.column("document").to_pylist() == [b"1\n", None, b"2\n"]
    assert batch.offsets == (0, 2, 5_003)
    assert str(batch.faults[1]) == "the line is longer than 10 bytes (split it)"


def test_all_kinds_of_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "one.json").write_text('{"a":\n1}')
    (tmp_path / "b" / "packed.jsonl.gz").write_bytes(gzip.compress(b'{"b":1}\n{"b":2}\n'))
    (tmp_path / "a.ndjson").write_text('{"c":1}\n')
    (tmp_path / "notes.txt").write_text("no")
    (tmp_path / ".hidden.jsonl").write_text('{"d":1}\n')
    table = pa.table({"document": ['{"e":1}', '{"e":2}'], "other": [1, 2]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    rows = rows_at(tmp_path)
    assert rows == [
        ("0-0", b'{"c":1}\n'),
        ("1-0", b'{"a":\n1}'),
        ("2-0", b'{"b":1}\n'),
        ("2-8", b'{"b":2}\n'),
        ("3-0", '{"e":1}'),
        ("3-1", '{"e":2}'),
    ]
    assert find_files([str(tmp_path)], OUTPUT)[1] == 1  # the notes
    assert [one for _, one in rows_at(f"{tmp_path}/**/*.json*")] == [
        rows[1][1],
        rows[2][1],
        rows[3][1],
    ]
    assert rows_at(f"file://{tmp_path}/b")[0] == ("0-0", b'{"a":\n1}')
    assert rows_at(f"file://{tmp_path}/b/*.gz")[1] == ("0-8", b'{"b":2}\n')
    assert rows_at(tmp_path / "notes.txt") == [("0-0", b"no")]
    assert rows_at(tmp_path / "a.ndjson", tmp_path / "a.ndjson") == rows[:1]


def test_a_file_is_read_once_whatever_links_to_it(tmp_path: Path) -> None:
    """Links that lead in circles would multiply the rows, or never end."""
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "one.jsonl").write_text("1\n")
    for name in ("c", "d"):
        (tmp_path / "b" / name).symlink_to(tmp_path)
    (tmp_path / "newest.jsonl").symlink_to(tmp_path / "b" / "one.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    assert rows_at(tmp_path) == [("0-0", b"1\n")]
    assert rows_at(f"{tmp_path}/*/*.jsonl", tmp_path / "newest.jsonl") == [("0-0", b"1\n")]
    assert rows_at(tmp_path / "b" / "c") == [("0-0", b"1\n")]


@pytest.mark.parametrize(
    ("name", "pack"), [("a.jsonl.gz", gzip.compress), ("a.jsonl.bz2", bz2.compress)]
)
def test_a_damaged_packed_file_is_read_as_far_as_it_goes(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    """What was unpacked before is kept, and a fault stands for the rest."""
    lines = [b'{"n":"%x"}\n' % random.Random(n).getrandbits(800) for n in range(20_000)]
    packed = pack(b"".join(lines))
    (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    (tmp_path / "b.jsonl").write_bytes(b"1\n")
    *batches, last, sound = batches_at(tmp_path)
    rows = [row for batch in (*batches, last) for row in batch.records["document"].to_pylist()]
    assert not any(batch.faults for batch in batches)
    [(index, fault)] = last.faults.items()
    assert str(fault) == (
        "the file is damaged here, and not read any further: "
        f"'{tmp_path / name}': Truncated compressed stream"
    )
    assert index == len(last.offsets) - 1
    assert rows.pop() is None
    assert rows == lines[: len(rows)]
    assert len(rows) > 8_000
    assert last.offsets[-1] == len(b"".join(lines[: len(rows) - 1])) + 1
    assert sound.records["document"].to_pylist() == [b"1\n"]


def test_damaged_files_without_a_row(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(b"not packed")
    (tmp_path / "b.jsonl.zst").write_bytes(b"not packed")
    (tmp_path / "c.parquet").write_bytes(b"not a table")
    faults = [str(batch.faults[0]) for batch in batches_at(tmp_path)]
    start = "the file is damaged here, and not read any further: "
    assert [fault.removeprefix(start) for fault in faults] == [
        f"'{tmp_path}/a.json.gz': zlib inflate failed: incorrect header check",
        f"'{tmp_path}/b.jsonl.zst': ZSTD decompress failed: Unknown frame descriptor",
        f"'{tmp_path}/c.parquet': Parquet magic bytes not found in footer. Either the file is "
        "corrupted or this …",
    ]


def test_a_damaged_group_of_a_table_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "BATCH_ROWS", 3)
    file = tmp_path / "t.parquet"
    texts = [f"{n:0100d}" for n in range(9)]
    pq.write_table(pa.table({"document": texts}), file, row_group_size=3, use_dictionary=False)
    start = pq.read_metadata(file).row_group(1).column(0).data_page_offset
    data = bytearray(file.read_bytes())
    data[start : start + 8] = b"\xff" * 8
    file.write_bytes(data)
    [first, rest] = batches_at(file)
    assert first.records["document"].to_pylist() == texts[:3]
    assert (rest.offsets, list(rest.faults)) == ((3,), [0])


def test_a_file_that_went_away_is_no_damage(tmp_path: Path) -> None:
    """The same job may succeed later."""
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(b"1\n"))
    files, _ = find_files([str(file)], OUTPUT)
    [piece] = divide(files)
    file.write_bytes(b"cut off")
    with pytest.raises(PlaceError, match="incorrect header check"):
        list(read_piece(piece, Columns()))
    file.unlink()
    with pytest.raises(PlaceError, match="No such file"):
        list(read_piece(piece, Columns()))


def test_fields_of_a_row(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    rows = [
        {"n": "x", "chat": [1]},
        {"n": 7, "chat": "[2]"},
        {"chat": []},
        {"n": True, "chat": []},
        3,
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    [batch] = batches_at(file, columns=Columns("chat", "n"))
    assert batch.records.to_pylist()[:2] == [
        {"id": "x", "document": b"[1]"},
        {"id": "7", "document": b"[2]"},
    ]
    assert [str(fault) for fault in batch.faults.values()] == [
        "the row has no field 'n'",
        "True is not an id",
        "the row is not an object",
    ]
    [batch] = batches_at(file, columns=Columns(None, "n"))
    assert batch.records.to_pylist()[0] == {"id": "x", "document": b'{"chat":[1]}'}


def test_columns_of_a_table(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    messages = [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]]
    pq.write_table(pa.table({"key": ["x", None], "messages": messages, "score": [1, 2]}), file)
    assert rows_at(file)[0] == ("0-0", {"messages": messages[0]})
    [batch] = batches_at(file, columns=Columns("messages", "key"))
    assert batch.records.to_pylist()[0] == {"id": "x", "document": messages[0]}
    assert str(batch.faults[1]) == "None is not an id"
    with pytest.raises(UsageError, match=r"no column 'text' \(columns: key, messages, score\)"):
        rows_at(file, columns=Columns("text"))
    pq.write_table(pa.table({"text": ["x"]}), file)
    with pytest.raises(UsageError, match="no column 'document' or 'messages'"):
        rows_at(file)


@pytest.mark.parametrize(
    "name",
    ["nowhere.jsonl", "*.nothing", "s3://key:secret@bucket/a", "ftp://x/y", "a\0b", "a\udcff", ""],
)
def test_nothing_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ContextwrightError) as caught:
        find_files([name], OUTPUT)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["a\nb", "a\x1b[31m", "a\u00a0b\u202fc", "👨‍👩‍👧", "\u202ea", "[a]?#%20"]
)
def test_files_of_any_name_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.jsonl").write_bytes(b"{}")
    assert rows_at(tmp_path) == rows_at(tmp_path / f"{name}.jsonl") == [("0-0", b"{}")]


@pytest.mark.parametrize("pattern", ["", "/*.jsonl"])
def test_a_name_that_is_not_text_is_refused(pattern: str, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"a\xff.jsonl")).write_bytes(b"{}")
    with pytest.raises(UsageError, match="has a file whose name is not valid UTF-8"):
        rows_at(f"{tmp_path}{pattern}")
