"""Folders, zips and pipes, and documents read piece by piece."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Run
from contextwright import importers
from contextwright.documents import files as files_module
from contextwright.documents.stream import Document
from contextwright.errors import ParseError, UsageError
from contextwright.importers.base import NAMES
from contextwright.store.rows.validation import decode_message
from contextwright.text.json import encode_json
from samples.documents import DOCUMENTS, LINES, everything
from samples.exports import (
    CHATGPT,
    PORT42,
    read,
    write_json,
    write_zip,
)

# --- folders, zips, pipes ------------------------------------------------------------------------

HOSTILE = ["../../evil.json", "/etc/evil.json", "C:\\evil.json", "a\x1b[2J.json", "é" * 50]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_inside_a_zip_are_no_paths(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_zip(tmp_path / "p.zip", {name: PORT42, "other.json": {**PORT42, "id": "b"}})
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    names = [one.id for one in importers.read(path, "port42")]
    assert sorted(names) == (["b", "cli-1"] if name.endswith("json") else ["b"])
    assert sorted(tmp_path.rglob("*")) == before
    write_zip(path, {name: "{", "a": ""})
    with pytest.raises(ParseError) as caught:
        read(path, "openai-chat")
    assert "\x1b" not in str(caught.value)


def test_zip_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "SMALL", 100_000)
    path = write_zip(tmp_path / "b.zip", {"conversations.json": b" " * 1_000_000})
    with pytest.raises(ParseError, match=r"grows from .* to 1,000,000 bytes.*zip bomb"):
        read(path)


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.json", "[]")
    with pytest.raises(ParseError, match="two members are called 'a.json'"):
        read(path)


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    data = bytearray(write_zip(tmp_path / "e.zip", {"conversations.json": CHATGPT}).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    (tmp_path / "e.zip").write_bytes(bytes(data))
    with pytest.raises(ParseError, match="is encrypted"):
        read(tmp_path / "e.zip")


def test_links_and_pipes_in_a_folder_are_left_alone(tmp_path: Path) -> None:
    outside = write_json(tmp_path / "outside.json", {**PORT42, "id": "outside"})
    folder = tmp_path / "sessions"
    write_json(folder / "a.json", PORT42)
    write_json(folder / "b.json", {**PORT42, "id": "b"})
    (folder / "link.json").symlink_to(outside)
    os.mkfifo(folder / "pipe.json")
    assert [id for id, _, _ in read(folder, "port42")] == ["cli-1", "b"]


def test_links_and_pipes_in_a_folder_are_named_as_left_out(cw: Run, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    write_json(folder / "a.json", PORT42)
    (folder / "link.json").symlink_to(write_json(tmp_path / "other.json", PORT42))
    (folder / "again").symlink_to(folder)
    os.mkfifo(folder / "pipe.json")
    left = "cw: left out 3 × link, pipe or device in the folder\n"
    assert cw("import", str(folder), "--dry-run").err == left


def test_a_folder_of_several_formats_says_how_it_is_read(cw: Run, tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"messages": [{"role": "user", "content": "Hi"}]})
    write_json(tmp_path / "b.json", {"entries": []})
    code, out, err = cw("import", str(tmp_path), "--dry-run")
    assert (code, out) == (1, "")
    assert err == (
        f"cw: {tmp_path}: b.json: messages: must be a list of messages "
        "(all files are read as openai-chat; import others by themselves)\n"
    )


@pytest.mark.parametrize("ending", ["json", "jsonl", "ndjson"])
def test_what_macos_notes_about_a_file_is_no_file(tmp_path: Path, ending: str) -> None:
    line = {"messages": [{"role": "user", "content": "x"}]}
    members = {f"__MACOSX/._a.{ending}": b"\0\5\x16\7", f"a.{ending}": line}
    assert [id for id, _, _ in read(write_zip(tmp_path / "x.zip", members))] == ["a"]
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        archive.extractall(tmp_path / "x")
    assert [id for id, _, _ in read(tmp_path / "x")] == ["a"]


def no_such(path: Path) -> Path:
    return path / "nothing"


def nul(path: Path) -> Path:
    return path / "a\x00b"


@pytest.mark.parametrize("make", [no_such, nul])
def test_what_cannot_be_opened_is_a_wrong_call(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read(make(tmp_path))


@pytest.mark.parametrize("format", NAMES)
def test_a_folder_without_what_is_needed(tmp_path: Path, format: str) -> None:
    for names in ((), ("a.txt", "b.txt")):
        for name in names:
            (tmp_path / name).write_text("x")
        with pytest.raises(ParseError, match="contains no|cannot tell|more than one"):
            read(tmp_path, format)
    with pytest.raises(ParseError, match="it contains no JSON"):
        read(tmp_path)


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    import threading

    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(LINES["claude-code"],))
    writer.start()
    found = read(path)
    writer.join()
    (tmp_path / "file").write_bytes(LINES["claude-code"])
    assert found == read(tmp_path / "file")


def test_importing_twice_gives_the_same() -> None:
    for name, data in (DOCUMENTS | LINES).items():
        for _, message in everything(data, name):
            assert decode_message(encode_json(message)) == message
        sources = [message.meta["source"] for _, message in everything(data, name)]
        assert len(set(sources)) == len(sources) > 0
        assert everything(data, name) == everything(data, name)


# --- reading a document piece by piece ---------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**6) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


class Trickle(io.BytesIO):
    """A stream that gives a few bytes at a time, whatever is asked for."""

    step = 1

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self.step)


def trickle(data: bytes, step: int) -> Trickle:
    stream = Trickle(data)
    stream.step = step
    return stream


def walked(document: Document) -> Any:
    """A value put together from its pieces; scalars whole."""
    match document.peek():
        case b"[":
            return [walked(document) for _ in document.entries()]
        case b"{":
            return {key: walked(document) for key in document.fields()}
        case _:
            return document.value()


@given(value=VALUES, step=st.integers(1, 9), indent=st.none() | st.integers(0, 2))
def test_pieces_make_the_whole(value: Any, step: int, indent: int | None) -> None:
    data = json.dumps(value, indent=indent).encode()
    document = Document(trickle(data, step))
    assert walked(document) == value
    document.end()
    whole = Document(trickle(b" " + data + b"\n", step))
    assert whole.value() == value
    whole.end()


@given(value=st.lists(VALUES, max_size=3), step=st.integers(1, 9), cut=st.integers(0, 200))
def test_a_cut_document_is_never_whole(value: Any, step: int, cut: int) -> None:
    data = json.dumps(value).encode()[:-1][:cut]
    with pytest.raises(ParseError):
        walked(Document(trickle(data, step)))


@given(data=st.binary(max_size=30) | st.text('[]{},:"\\a1 ', max_size=20).map(str.encode))
def test_any_bytes_are_sound_json_or_an_error(data: bytes) -> None:
    document = Document(io.BytesIO(data))
    try:
        found = walked(document)
        document.end()
    except ParseError:
        return
    assert found == json.loads(data)


class Scanned(Document):
    """Finds every end bracket by bracket, without the help of the decoder."""

    def bracketed(self) -> int:
        return self.scanned()


@given(
    value=st.lists(VALUES, min_size=1, max_size=3),
    step=st.integers(1, 40),
    indent=st.none() | st.integers(0, 2),
    damage=st.none() | st.tuples(st.integers(0, 200), st.sampled_from(list(b'[]{},:"\\a1 \n\xff'))),
)
def test_the_decoder_finds_the_end_that_a_scan_finds(
    value: Any, step: int, indent: int | None, damage: tuple[int, int] | None
) -> None:
    data = bytearray(json.dumps(value, indent=indent).encode())
    if damage is not None:
        data[damage[0] % len(data)] = damage[1]

    def read(kind: type[Document]) -> list[Any] | str:
        try:
            document = kind(trickle(bytes(data), step))
            found = [document.value() for _ in document.entries()]
            document.end()
        except ParseError as error:
            return str(error)
        return found

    assert read(Document) == read(Scanned)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b'{"a": [\n1,\n2,\n{"b": tru}]}',
            "line 4: a[2].b: unexpected 'tru' at column 7 (expected a value)",
        ),
        (
            '\ufeff{"é": "è", "a": {"b": tru}}'.encode(),
            "line 1: a.b: unexpected 'tru' at column 23 (expected a value)",
        ),
        (
            b'{"a": "' + b"x" * 3 * 2**20 + b'",\n "b": "' + b"y" * 2**20 + b'", "c": tru}',
            "line 2: c: unexpected 'tru' at column 1048592 (expected a value)",
        ),
        (b"{'a': 1}", "line 1: expected a key in double quotes (is it complete?)"),
        (
            b'{"a": {"b": 1,\n c: 2}}',
            "line 2: a: expected a key in double quotes (is it complete?)",
        ),
        (b'{"a": 1, "a": 2}', "line 1: a: the key occurs twice (keep one of them)"),
        (b'{"a" 1}', "line 1: a: expected a colon after the key (is it complete?)"),
        (b'{"a": 1', "line 1: a: expected a comma or } (is it complete?)"),
        (
            '{"a": 1}'.encode("utf-16-le"),
            "line 1: this is not UTF-8 text at column 1 (save it as UTF-8, not UTF-16 or binary)",
        ),
        (
            '["a"]'.encode("utf-32"),
            "line 1: this is not UTF-8 text at column 1 (save it as UTF-8, not UTF-16 or binary)",
        ),
    ],
)
def test_lines_and_paths_of_pieces(data: bytes, message: str) -> None:
    with pytest.raises(ParseError) as raised:
        walked(Document(io.BytesIO(data)))
    assert str(raised.value) == message


def test_a_long_piece_is_refused_before_it_is_held() -> None:
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size: int = -1, /) -> bytes:
            self.given += size
            return b'["' + b"a" * size if self.given == size else b"a" * size

    stream = Endless()
    document = Document(stream, limit=4 * 2**20)  # type: ignore[arg-type]
    with pytest.raises(ParseError, match="the entry is longer than 4 MiB"):
        document.value()
    assert stream.given < 32 * 2**20


@pytest.mark.slow
def test_hostile_nesting_takes_linear_time() -> None:
    data = b"[" * 2_000_000
    with pytest.raises(ParseError):
        Document(io.BytesIO(data)).value()
