"""Whatever became of a file of another tool: it is imported whole and once, or refused in words."""

import gzip
import io
import json
import re
import shutil
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright import importers
from contextwright.cli import main
from contextwright.errors import ParseError
from profiles import BODY, examples
from samples import exports

SOURCES: dict[str, tuple[str, Any]] = {
    "chatgpt": ("json", exports.CHATGPT),
    "claude": ("json", exports.CLAUDE),
    "slack": ("zip", exports.SLACK),
    "telegram": ("json", exports.TELEGRAM),
    "claude-code": ("jsonl", exports.CLAUDE_CODE),
    "codex": ("jsonl", exports.CODEX),
    "openai-finetuning": ("jsonl", exports.FINETUNING),
    "port42": ("json", exports.PORT42),
    "openai-chat": ("json", exports.FINETUNING[0]),
}
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 1e308, 10**30, "", "x", "\x1b]0;pwn\x07", "\u202eb", "\ud800", "\0",
    "'; drop table messages;--", "../../etc", [], [[]], {}, {"": ""}, [None], [{"type": "text"}],
    "2024-13-45T99:99", "10000-01-01T00:00:00Z", "x" * 300, "\u3164", " ",
)  # fmt: skip
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a value."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):  # pyright: ignore
            yield from places(value[key], (*path, key))


@st.composite
def altered(draw: st.DrawFn, value: Any) -> Any:
    """The value with something missing, twice, elsewhere or of another type."""
    value = deepcopy(value)
    for _ in range(draw(st.integers(0, 3))):
        paths = list(places(value))
        if not paths:
            break
        *path, last = draw(st.sampled_from(paths))
        holder = value
        for key in path:
            holder = holder[key]
        match draw(st.sampled_from(("remove", "repeat", "reverse", "replace"))):
            case "remove":
                del holder[last]
            case "repeat" if isinstance(holder, list):
                holder.insert(last, deepcopy(holder[last]))
            case "reverse" if isinstance(holder, list):
                holder.reverse()
            case _:
                holder[last] = deepcopy(draw(st.sampled_from(ODD)))  # it may be altered next
    return value


DAMAGE: dict[str, Callable[[bytes, int], bytes]] = {
    "none": lambda data, at: data,
    "cut": lambda data, at: data[:at],
    "bit": lambda data, at: data[:at] + bytes(byte ^ 4 for byte in data[at:][:1]) + data[at + 1 :],
    "mark": lambda data, at: b"\xef\xbb\xbf" + data,
    "lines": lambda data, at: data.replace(b"\n", b"\r\n"),
    "wide": lambda data, at: data.decode("latin-1").encode("utf-16"),
    "packed": lambda data, at: gzip.compress(data),
    "nul": lambda data, at: data[:at] + b"\0" + data[at:],
    "twice": lambda data, at: data + data,
    "deep": lambda data, at: data[:at] + b"[" * 5_000 + data[at:],
    "number": lambda data, at: data[:at] + b"7" * 5_000 + data[at:],
}  # fmt: skip


def encoded(kind: str, value: Any) -> bytes:
    """The bytes of a file, of a zip or of JSON Lines."""
    if kind == "zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, member in value.items():
                archive.writestr(name, json.dumps(member))
        return stream.getvalue()
    if kind == "jsonl":
        return b"".join(json.dumps(line).encode() + b"\n" for line in value)
    return json.dumps(value).encode()


def outcome(*arguments: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it wrote."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return code, written(out), written(err)


def written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


@pytest.mark.parametrize("source", SOURCES)
@examples(BODY)
@given(data=st.data())
def test_a_damaged_file(
    source: str,
    data: st.DataObject,
    empty_store: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    kind, value = SOURCES[source]
    whole = encoded(kind, data.draw(altered(value)))
    damage = DAMAGE[data.draw(st.sampled_from(sorted(DAMAGE)))]
    folder = tmp_path_factory.mktemp("damaged")
    file = folder / f"file.{kind}"
    file.write_bytes(damage(whole, data.draw(st.integers(0, len(whole)))))
    options = data.draw(st.sampled_from(((), ("--format", source), ("--replace-invalid",))))
    store = ("--store", str(shutil.copy(empty_store, folder / "store.db")))
    arguments = ("import", str(file), *options, *store, "--json")
    code, out, err = outcome(*arguments)
    assert not RAW.search(err)
    if code:
        assert (code, out) in ((1, ""), (2, ""))
        assert err.startswith(f"cw: {file}: ")
        assert err.count("\n") == 1
        assert options != ("--replace-invalid",) or "half of a surrogate pair" not in err
        assert json.loads(outcome("list", *store, "--json")[1]) == []
        return
    count_in_and_out(json.loads(out), store)
    told, again = json.loads(out), json.loads(outcome(*arguments)[1])
    assert (again["messages"], again["known"]) == (0, told["messages"] + told["known"])
    come_and_go(folder, store)


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_replaced_counts_once(source: str, tmp_path: Path) -> None:
    kind, value = SOURCES[source]
    file = tmp_path / f"file.{kind}"
    counts: set[int] = set()
    for *path, last in places(value):
        holder = copied = deepcopy(value)
        for key in path:
            holder = holder[key]
        if not isinstance(holder[last], str):
            continue
        holder[last] += "\ud800"
        file.write_bytes(encoded(kind, copied))
        with importers.open_files(file) as files, suppress(ParseError):  # of a role, say
            for one in importers.read(files, source, replace=True):
                deque(one.messages, 0)
            counts.add(files.replaced)
    assert counts == {1}


@pytest.mark.parametrize("source", SOURCES)
@examples(BODY)
@given(data=st.data())
def test_no_words_are_lost_without_a_word(
    source: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the whole file says once, an altered one says too, or it says what it left out."""
    kind, value = SOURCES[source]
    file = tmp_path_factory.mktemp("altered") / f"file.{kind}"
    other = data.draw(altered(value))
    try:
        (told, _, said), (_, kept, more) = (
            imported_words(file, encoded(kind, one), source) for one in (value, other)
        )
    except ParseError:
        return
    once = {text for text, number in Counter(texts_in(value)).items() if number == 1}
    words = [one for one in once.intersection(texts_in(other)) if " " in one and one in told]
    assert more != said or not [one for one in words if one[1:-1] not in kept]


def imported_words(file: Path, content: bytes, source: str) -> tuple[str, str, list[Any]]:
    """All parts of the messages of a file, the whole messages, and what was said of them."""
    file.write_bytes(content)
    parts, messages, said = "", "", list[Any]()
    for one in importers.read(file, source, branches=True):
        for message in one.messages:
            parts += repr(message.parts)
            messages += repr(message)
        said.append((one.report.codes, one.report.skipped))
    return parts, messages, said


def texts_in(value: Any) -> Iterator[str]:
    """All texts inside a value, at any depth, as they are shown."""
    if isinstance(value, str):
        yield repr(value)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inside:
        yield from texts_in(one)


def count_in_and_out(told: dict[str, Any], store: tuple[str, str]) -> None:
    """What was said to be stored is there."""
    stored = json.loads(outcome("list", *store, "--json")[1])
    assert sum(one["length"] for one in stored) == told["messages"]
    assert len(stored) <= told["conversations"]  # the file may have one twice


def come_and_go(folder: Path, store: tuple[str, str]) -> None:
    """An export, imported, exports the same."""
    first, other = outcome("export", *store), ("--store", str(folder / "other.db"))
    assert first[0] == 0
    copy = folder / "copy.jsonl"
    copy.write_text(first[1], encoding="utf-8")
    if first[1]:
        assert outcome("import", str(copy), "--format", "contextwright", *other)[0] == 0
        second = outcome("export", *other)[1]
        assert sorted(second.splitlines()) == sorted(first[1].splitlines())
