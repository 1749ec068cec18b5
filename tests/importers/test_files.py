"""Files of every bad kind, and the laws that hold for all of them."""

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

from contextwright import importers
from contextwright.documents import files as files_module
from contextwright.documents.stream import Document
from contextwright.errors import ContextwrightError, ParseError, UnknownFormat, UsageError
from contextwright.store.rows.validation import decode_message
from contextwright.text.json import encode_json
from samples.exports import (
    CHATGPT,
    CLAUDE,
    CLAUDE_CODE,
    CODEX,
    FINETUNING,
    PORT42,
    SLACK,
    TELEGRAM,
    read,
    write_json,
    write_zip,
)


def lines(values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


DOCUMENTS = {
    "chatgpt": json.dumps(CHATGPT).encode(),
    "claude": json.dumps(CLAUDE, indent=1).encode(),
    "telegram": json.dumps(TELEGRAM, indent=1).encode(),
    "port42": json.dumps(PORT42, indent=1).encode(),
    "openai-chat": json.dumps({"messages": FINETUNING[0]["messages"]}, indent=1).encode(),
}
LINES = {
    "claude-code": lines(CLAUDE_CODE),
    "codex": lines(CODEX),
    "openai-finetuning": lines(FINETUNING),
}


# --- detection ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "data"), (DOCUMENTS | LINES).items())
def test_content_tells_the_source(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbf" + data)
    assert detected(path) == name
    assert read(path) == read(path, name) != []
    if name in ("chatgpt", "claude"):
        packed = write_zip(tmp_path / "file.zip", {"conversations.json": data})
        assert detected(packed) == name


def detected(path: Path) -> str:
    with importers.open_files(path) as files:
        return importers.detect(files)


OTHERS: list[tuple[Any, str | None]] = [
    ({"contents": [{"role": "user", "parts": [{"text": "x"}]}]}, "gemini"),
    ({"input": "x", "model": "gpt-5"}, "openai-responses"),
    ({"system": "x", "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
    (
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]},
        "anthropic",
    ),
    ({"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]}, "openai-chat"),
    ([{"role": "user", "content": "x"}], "openai-chat"),
    ({"contextwright": 1, "messages": []}, "contextwright"),
    ([{"role": "user", "parts": [{"type": "text", "text": "x"}]}], "contextwright"),
    ([{"index": 0, "turn": 0, "timestamp": "t", "role": "user", "content": "x"}], "aya"),
    ([{"role": "user", "parts": [{"text": "x"}]}], None),  # gemini's or gryag's
    (
        {"messages": [{"role": "tool", "content": [{"type": "tool_use"}]}]},
        None,
    ),
    ({"messages": [5]}, None),
    ({"users": []}, None),
    ([], None),
    ({}, None),
    (5, None),
]


@pytest.mark.parametrize(("data", "name"), OTHERS)
def test_what_is_not_certain_is_refused(tmp_path: Path, data: Any, name: str | None) -> None:
    path = write_json(tmp_path / "x.json", data)
    if name is not None:
        assert detected(path) == name
        return
    with pytest.raises(ParseError, match=r"x\.json: cannot tell what this is.*--format: anthropic"):
        read(path)


def test_one_day_of_slack_says_what_to_name(tmp_path: Path) -> None:
    path = write_json(tmp_path / "2024-05-01.json", SLACK["lunch/2024-05-01.json"])
    with pytest.raises(ParseError, match="one day of a Slack export .name the folder"):
        read(path)


def test_unknown_format(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [])
    with pytest.raises(UnknownFormat, match="known: anthropic, aya, chatgpt"):
        read(path, "whatsapp")


# --- bad files ---------------------------------------------------------------------------------

BAD: list[tuple[str, bytes, str]] = [
    ("empty", b"", "there is nothing here"),
    ("blank", b"   ", "there is nothing here"),
    ("no JSON", b"hello there", "unexpected 'hello'"),
    ("UTF-16", "[1]".encode("utf-16"), "this is not UTF-8 text"),
    ("Latin-1", b'[{"mapping": "\xe9"}]', "UTF-8"),
    ("NUL", b"\x00\x00\x00\x00", "this is not UTF-8 text"),
    ("raw NUL", b'[{"mapping": "\x00"}]', "control"),
    ("half", b'[{"mapping": "\\ud800"}]', "surrogate"),
    ("twice", b'[{"mapping": {}, "mapping": {}}]', "twice"),
    ("deep", b'[{"mapping":' + b"[" * 5_000 + b"]" * 5_000 + b"}]", "nested deeper"),
    ("NaN", b'[{"mapping": NaN}]', "NaN"),
    ("two", b'[{"mapping": {}}] 5', "something follows the document"),
    ("cut", b'[{"mapping": {"a": "b', "the document ends in the middle"),
    ("comma", b'[{"mapping": {}},]', "unexpected"),
]


@pytest.mark.parametrize(("name", "data", "message"), BAD, ids=[row[0] for row in BAD])
@pytest.mark.parametrize("format", ["chatgpt", None])
def test_bad_files_say_why_in_one_line(
    tmp_path: Path, name: str, data: bytes, message: str, format: str | None
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(ParseError) as caught:
        read(path, format)
    said = str(caught.value)
    assert message in said
    assert said.startswith(f"{path}: line 1")
    assert "\n" not in said
    assert len(said) < 400


FIELDS = (
    "id uuid messages mapping chat_messages type role content message payload text parts input "
    "contents sender author author_id current_node parent sessionId preferred_output agent"
).split()
SHAPES = st.recursive(
    st.none() | st.integers() | st.sampled_from([*FIELDS, "user", "assistant", "tool", "all"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=16,
)


@given(
    format=st.sampled_from(importers.NAMES),
    data=st.binary(max_size=60) | SHAPES.map(lambda value: json.dumps(value).encode()),
)
def test_no_file_is_worse_than_an_error(format: str, data: bytes) -> None:
    said = ""
    try:
        for _, message in everything(data, format):
            assert decode_message(encode_json(message)) == message
    except ContextwrightError as error:
        said = str(error)
    assert "\n" not in said


SAMPLES: dict[str, Any] = {
    "chatgpt": CHATGPT,
    "claude": CLAUDE,
    "telegram": TELEGRAM,
    "port42": PORT42,
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "openai-finetuning": FINETUNING,
}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value: what holds it, and where in that."""
    if isinstance(value, dict):
        inner = [(value, key) for key in value]
    elif isinstance(value, list):
        inner = [(value, index) for index in range(len(value))]
    else:
        inner = []
    return inner + [place for holder, key in inner for place in places(holder[key])]


@given(data=st.data(), name=st.sampled_from(sorted(SAMPLES)), new=SHAPES)
def test_one_wrong_value_is_an_error_or_no_harm(data: st.DataObject, name: str, new: Any) -> None:
    sample = json.loads(json.dumps(SAMPLES[name]))
    holder, key = data.draw(st.sampled_from(places(sample)))
    holder[key] = new
    file = lines(sample) if name in LINES else json.dumps(sample).encode()
    try:
        found = everything(file, name)
    except ParseError:
        return
    for _, message in found:
        assert decode_message(encode_json(message)) == message


@pytest.mark.parametrize(("name", "data"), DOCUMENTS.items())
def test_a_document_cut_anywhere_is_refused(name: str, data: bytes) -> None:
    for cut in range(len(data)):
        with pytest.raises(ParseError, match="^x: "):
            everything(data[:cut], name)


@pytest.mark.parametrize(("name", "data"), LINES.items())
def test_lines_cut_anywhere_are_refused_or_shorter(name: str, data: bytes) -> None:
    whole = everything(data, name)
    for cut in range(len(data)):
        try:
            part = everything(data[:cut], name)
        except ParseError:
            continue
        assert data[cut - 1 : cut + 1] in (b"}\n", b"\n{", b"\n")
        assert part == whole[: len(part)]


def test_a_zip_cut_anywhere_is_refused(tmp_path: Path) -> None:
    data = write_zip(tmp_path / "s.zip", SLACK).read_bytes()
    path = tmp_path / "cut.zip"
    for cut in range(4, len(data), 7):
        path.write_bytes(data[:cut])
        with pytest.raises(ParseError, match="the zip is damaged"):
            read(path)


def test_a_zip_with_a_wrong_byte_is_refused_or_the_same(tmp_path: Path) -> None:
    original = write_zip(tmp_path / "s.zip", {"conversations.json": CHATGPT})
    data, whole = original.read_bytes(), read(original)
    path = tmp_path / "wrong.zip"
    for place in range(4, len(data), 5):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x21]) + data[place + 1 :])
        try:
            found = read(path)
        except ContextwrightError:
            continue
        assert found == whole


def in_memory(data: bytes) -> files_module.OneFile:
    return files_module.OneFile("x", None, io.BytesIO(data))


def everything(data: bytes, format: str) -> list[Any]:
    """The messages one after the other, whoever's conversation they are."""
    return [
        (one.id, message)
        for one in importers.read(in_memory(data), format)
        for message in one.messages
    ]


def test_bad_text_is_replaced_on_request(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    line = rb'{"messages": [{"role": "user", "content": "a\ud83d b\u0000 \\ud800 \ud83d\ude00"}]}'
    path.write_bytes(line + b"\n" + line + b"\n")
    with pytest.raises(ParseError, match=r"line 1: messages\[0\].content: .*surrogate"):
        read(path)
    source = importers.open_files(path)
    found = [m.text for one in importers.read(source, replace=True) for m in one.messages]
    assert found == ["a\ufffd b\ufffd \\ud800 😀"] * 2
    assert source.replaced == 4


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


@pytest.mark.parametrize("format", importers.NAMES)
def test_a_folder_without_what_is_needed(tmp_path: Path, format: str) -> None:
    for names in ((), ("a.txt", "b.txt")):
        for name in names:
            (tmp_path / name).write_text("x")
        with pytest.raises(ParseError, match="there is no|cannot tell|more than one"):
            read(tmp_path, format)
    with pytest.raises(ParseError, match="it holds no JSON"):
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


def test_lines_and_paths_of_pieces() -> None:
    data = b'{"a": [\n1,\n2,\n{"b": tru}]}'
    with pytest.raises(ParseError, match=r"^line 4: a\[2\].b: unexpected 'tru' at column"):
        walked(Document(io.BytesIO(data)))


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


def test_hostile_nesting_takes_linear_time() -> None:
    data = b"[" * 2_000_000
    with pytest.raises(ParseError):
        Document(io.BytesIO(data)).value()
