"""Reading documents: valid ones pass, errors are located, and none can crash the program."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.documents import read as documents
from contextwright.documents.read import DEPTH, decode, decode_line, read_document, read_lines
from contextwright.errors import ParseError, UsageError, shown

SOUND = {
    "object": (b'{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}),
    "scalar": (b" 7\n", 7),
    "byte order mark": (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
    "whole surrogate pair": (rb'"\ud83d\ude00"', "😀"),
    "same key in two objects": (b'[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
    "colons, quotes and braces in strings": (
        rb'{":": "{\"a\": 1, \"a\": 2}", "b\\": "\\\":\\\\"}',
        {":": '{"a": 1, "a": 2}', "b\\": '\\":\\\\'},
    ),
    "a colon as an escape": (rb'{"a": "\u003a", "b": "\\u003A"}', {"a": ":", "b": "\\u003A"}),
    "integer of 100 digits": (b"9" * 100, int("9" * 100)),
    "as deep as allowed": (b"[" * DEPTH + b"]" * DEPTH, json.loads("[" * DEPTH + "]" * DEPTH)),
    "CRLF": (b'{\r\n"a": 1\r\n}\r\n', {"a": 1}),
}


@pytest.mark.parametrize(("data", "value"), SOUND.values(), ids=SOUND)
def test_sound_documents_are_read(data: bytes, value: object) -> None:
    assert read_document(data) == value


BROKEN = {
    "empty": (b"", "line 1: the document is empty at column 1 (expected JSON)"),
    "blank": (b"\n \n", "line 1: the document is empty at column 1 (expected JSON)"),
    "truncated in an object": (
        b'{"messages": [{"role": "user"',
        "line 1: messages[0].role: the document ends in the middle at column 30 (is it complete?)",
    ),
    "truncated before a key": (
        b'{"a": [{',
        "line 1: a[0]: the document ends in the middle at column 9 (is it complete?)",
    ),
    "a number for a key": (
        b'{"a": {3: 1}}',
        "line 1: a: unexpected '3' at column 8 (expected a key in double quotes)",
    ),
    "below an empty key": (
        b'{"": [nil]}',
        "line 1: [''][0]: unexpected 'nil' at column 7 (expected a value)",
    ),
    "truncated in a string": (
        '{"content": "привіт'.encode(),
        "line 1: content: the document ends in the middle at column 20 (is it complete?)",
    ),
    "truncated in an escape": (
        b'["a\\',
        "line 1: [0]: the document ends in the middle at column 4 (is it complete?)",
    ),
    "truncated in a long escape": (
        rb'["a\ud8',
        "line 1: [0]: the document ends in the middle at column 8 (is it complete?)",
    ),
    "truncated in a letter": (
        '["п'.encode()[:-1],
        "line 1: [0]: the document ends in the middle at column 4 (is it complete?)",
    ),
    "truncated in a word": (
        b'{"a": tru',
        "line 1: a: the document ends in the middle at column 10 (is it complete?)",
    ),
    "NaN": (
        b'{"a": NaN}',
        "line 1: a: 'NaN' is not a JSON value at column 7 (write null, or a string)",
    ),
    "minus infinity": (
        b"[0, -Infinity]",
        "line 1: [1]: '-Infinity' is not a JSON value at column 5 (write null, or a string)",
    ),
    "number too large": (
        b"[1e999]",
        "line 1: [0]: the number '1e999' is too large at column 2 (write it as a string)",
    ),
    "integer of 5,000 digits": (
        b'{"n": ' + b"9" * 5_000 + b"}",
        "line 1: n: an integer of 5,000 digits at column 7 (write it as a string)",
    ),
    "duplicate key": (
        b'{"role": "user",\n "role": "system"}',
        "line 2: role: the key 'role' occurs twice at column 2 (keep one of them)",
    ),
    "duplicate key, once escaped": (
        rb'[{"a": {"b": 1, "\u0062": 2}}]',
        "line 1: [0].a.b: the key 'b' occurs twice at column 17 (keep one of them)",
    ),
    "duplicate key beside a colon in a string": (
        b'{"a": ":", "a": 1}',
        "line 1: a: the key 'a' occurs twice at column 12 (keep one of them)",
    ),
    "duplicate key beside a colon as an escape": (
        rb'{"a": "\u003a", "a": 1}',
        "line 1: a: the key 'a' occurs twice at column 17 (keep one of them)",
    ),
    "duplicate key with a value that has colons": (
        b'{"a": {"b": "::"}, "a": {"b": "::"}}',
        "line 1: a: the key 'a' occurs twice at column 20 (keep one of them)",
    ),
    "first half of a surrogate pair": (
        rb'{"content": "hi \ud83d!"}',
        r"line 1: content: '\\ud83d' is half of a surrogate pair at column 17"
        r" (write both halves, or \ufffd)",
    ),
    "second half of a surrogate pair": (
        rb'["\ude00"]',
        r"line 1: [0]: '\\ude00' is half of a surrogate pair at column 3"
        r" (write both halves, or \ufffd)",
    ),
    "half a pair in a key": (
        rb'{"\ud83d": 1}',
        r"line 1: '\\ud83d' is half of a surrogate pair at column 3 (write both halves, or \ufffd)",
    ),
    "depth 100,000 in lists": (
        b"[" * 100_000,
        f"line 1: {'[0]' * 20}…{'[0]' * 20}: nested deeper than 200 levels at column 201"
        " (no format nests that deeply)",
    ),
    "depth 100,000 in objects": (
        b'{"a":' * 100_000,
        f"line 1: {'a.' * 30}…{'.a' * 30}: nested deeper than 200 levels at column 1001"
        " (no format nests that deeply)",
    ),
    "one too deep, but whole": (
        b"[" * 201 + b"]" * 201,
        f"line 1: {'[0]' * 20}…{'[0]' * 20}: nested deeper than 200 levels at column 201"
        " (no format nests that deeply)",
    ),
    "UTF-16": (
        '{"a": 1}'.encode("utf-16"),
        "line 1: this is not UTF-8 text at column 1 (save it as UTF-8, not UTF-16 or binary)",
    ),
    "Windows-1251": (
        '{"text": "привіт"}'.encode("cp1251"),
        "line 1: text: byte 0xef is not UTF-8 at column 11 (save the file as UTF-8)",
    ),
    "binary": (
        bytes(range(256)),
        "line 1: this is not UTF-8 text at column 1 (save it as UTF-8, not UTF-16 or binary)",
    ),
    "compressed": (
        b"\x1f\x8b\x08\x08abc",
        "line 1: this is a packed file at column 1 (unpack it; cw import reads zips as they are)",
    ),
    "raw newline in a string": (
        b'{"a": "x\ny"}',
        "line 1: a: a raw control character '\\n' in a string at column 9 (write it as an escape)",
    ),
    "unknown escape": (
        rb'["C:\Users"]',
        r"line 1: [0]: '\\U' is not a valid escape at column 5 (write \\ for a backslash)",
    ),
    "short escape": (
        rb'["\u12"]',
        r"""line 1: [0]: '\\u12"' is not a valid escape at column 3"""
        r""" (\u takes four hexadecimal digits)""",
    ),
    "trailing comma in an object": (
        b'{"a": 1,}',
        "line 1: a: unexpected '}' at column 9 (expected a key in double quotes)",
    ),
    "trailing comma in a list": (
        b"[1,]",
        "line 1: [1]: unexpected ']' at column 4 (expected a value)",
    ),
    "missing comma": (
        b"[1\n 2]",
        "line 2: [0]: unexpected '2' at column 2 (expected a comma or the closing bracket)",
    ),
    "missing colon": (
        b'{"a" 1}',
        "line 1: a: unexpected '1' at column 6 (expected a colon after the key)",
    ),
    "wrong bracket": (
        b'{"a": 1]',
        "line 1: a: unexpected ']' at column 8 (expected a comma or the closing bracket)",
    ),
    "Python's quotes": (
        b"{'a': 1}",
        'line 1: unexpected "\'" at column 2 (expected a key in double quotes)',
    ),
    "leading zero": (b"[01]", "line 1: [0]: unexpected '01' at column 2 (expected a value)"),
    "prose": ("Привіт".encode(), "line 1: unexpected 'П' at column 1 (expected a value)"),
    "two documents": (
        b"{}\n{}",
        "line 2: something follows the document at column 1 "
        "(cw batch reads JSON Lines, from a file named .jsonl)",
    ),
    "two documents of several lines": (
        b'\n{\n"a": 1\n}\n{\n"a": 1\n}\n',
        "line 5: something follows the document at column 1 "
        "(put each on one line (JSON Lines), or in a file of its own)",
    ),
    "two documents, ended as no line is": (
        b"{}\r{}\r",
        "line 1: something follows the document at column 4 "
        "(end lines with \\n: \\r alone does not end one)",
    ),
    "two documents on a line": (
        b"{} {}",
        "line 1: something follows the document at column 4 "
        "(leave it out, or put it on a line of its own)",
    ),
    "key that would move a terminal": (
        rb'{"\u001b[2J": {"a" 1}}',
        "line 1: ['\\x1b[2J'].a: unexpected '1' at column 20 (expected a colon after the key)",
    ),
}


@pytest.mark.parametrize(("data", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_documents_are_named(data: bytes, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_document(data)
    assert str(caught.value) == message


@given(st.binary(max_size=60) | st.text('{}[]",:\\u0dD8 1e-ntrue\n', max_size=40).map(str.encode))
def test_any_bytes_give_a_value_or_a_parse_error(data: bytes) -> None:
    found = decode_line(data, 7)
    if isinstance(found, ParseError):
        assert str(found).startswith("line ")
        assert "\n" not in str(found)
    else:
        assert found == json.loads(data.decode("utf-8-sig"))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values, st.sampled_from([None, 2]), st.booleans())
def test_whatever_json_writes_is_read(value: object, indent: int | None, ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii, allow_nan=False)
    assert decode(text.encode()) == json.loads(text)


@given(st.lists(st.text('ab:"\\', max_size=2), min_size=1, max_size=6), st.sampled_from("a:\\"))
def test_every_duplicate_key_is_found(keys: list[str], word: str) -> None:
    escaped = [json.dumps(key).replace(":", r"\u003a") for key in keys]
    text = "{" + ", ".join(f"{key}: {json.dumps(word)}" for key in escaped) + "}"
    if len(set(keys)) == len(keys):
        assert list(decode(text.encode())) == keys
    else:
        with pytest.raises(ParseError, match="occurs twice"):
            decode(text.encode())


def lines_of(data: bytes, limit: int = documents.LINE_LIMIT) -> list[tuple[int, object]]:
    return [
        (number, str(value) if isinstance(value, ParseError) else value)
        for number, value in read_lines(data, limit=limit)
    ]


def test_lines_go_on_after_an_error() -> None:
    data = b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": \n[1,\n{"a": 1, "a": 2}\n3'
    assert lines_of(data) == [
        (1, {"a": 1}),
        (3, "line 3: a: the document ends in the middle at column 6 (is it complete?)"),
        (4, "line 4: [1]: the document ends in the middle at column 4 (is it complete?)"),
        (5, "line 5: a: the key 'a' occurs twice at column 10 (keep one of them)"),
        (6, 3),
    ]


def test_a_line_over_the_limit_is_skipped() -> None:
    data = b'["' + b"x" * 30 + b'"]\n[1]\n' + b"9" * 21
    assert lines_of(data, limit=20) == [
        (1, "line 1: the line is longer than 20 bytes (split it)"),
        (2, [1]),
        (3, "line 3: the line is longer than 20 bytes (split it)"),
    ]


def test_a_line_of_exactly_the_limit_is_read() -> None:
    assert lines_of(b"1234567890\n1234567890", limit=10) == [(1, 1234567890), (2, 1234567890)]


def test_a_document_over_the_limit_is_refused() -> None:
    assert read_document(b'"' + b"x" * 8 + b'"', limit=10) == "x" * 8
    with pytest.raises(ParseError, match=r"the document is longer than 10 bytes \(split it\)"):
        read_document(b'"' + b"x" * 10 + b'"', limit=10)


def test_a_line_of_64_mb_is_refused_within_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"content": "')
        for _ in range(64):
            stream.write(b"x" * 10**6)
        stream.write(b'"}\n[1]\n')
    tracemalloc.start()
    try:
        found = [value if number == 2 else str(value) for number, value in read_lines(path)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == ["line 1: the line is longer than 48 MiB (split it)", [1]]
    assert peak < 2.2 * documents.LINE_LIMIT  # its pieces, and the pieces joined


class Endless(io.RawIOBase):
    """A pipe that never ends and never breaks a line."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore
        buffer[:] = b"[" * len(buffer)
        return len(buffer)


def test_an_endless_pipe_is_refused_while_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    with pytest.raises(ParseError, match=r"the document is longer than 2 MiB"):
        read_document("-", limit=2 * 2**20)
    number, error = next(read_lines("-", limit=2**20))
    assert (number, str(error)) == (1, "line 1: the line is longer than 1 MiB (split it)")


def test_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"[1]")
    assert read_document(path) == read_document(str(path)) == [1]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[2]\n[3]")))
    assert list(read_lines("-")) == [(1, [2]), (2, [3])]


@pytest.mark.parametrize("read", [read_document, lambda source: list(read_lines(source))])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.json", "no such file or directory"),
        ("", "is a directory"),
        ("a\0b", "not a path"),
    ],
)
def test_sources_that_cannot_be_read(
    tmp_path: Path, name: str, reason: str, read: Callable[[str], object]
) -> None:
    source = os.path.join(tmp_path, name)
    with pytest.raises(UsageError) as caught:
        read(source)
    hint = "(name a file, or - for standard input)"
    assert str(caught.value) == f"cannot read {shown(source)}: {reason} {hint}"


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Give up the rights of root for a while, who may read everything."""
    user = os.geteuid()
    os.seteuid(user or 65_534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"[1]")
    read_document(path)
    path.chmod(0)
    with as_nobody(), pytest.raises(UsageError, match="permission denied"):
        read_document(path)


def test_without_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="no standard input"):
        read_document("-")


@pytest.mark.slow
def test_sound_and_broken_documents_take_linear_time() -> None:
    message = b'{"role": "user", "content": [{"type": "text", "text": "\\"a\\": \\\\ words"}]}'

    def seconds(size: int, tail: bytes) -> float:
        data = b"[" + b",".join([message] * size) + tail
        start = process_time()
        with contextlib.suppress(ParseError):
            decode(data)
        return process_time() - start

    for tail in (b"]", b", {"):
        small = min(seconds(2_000, tail) for _ in range(3))
        large = min(seconds(16_000, tail) for _ in range(3))
        assert large < 8 * 4 * small
