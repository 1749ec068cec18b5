"""Server-sent events and JSON, decoded alike however their bytes are cut."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest

from contextwright.errors import ParseError
from contextwright.formats.replies.sse import Decoder

WRONG = "an event of the stream is not JSON: "
STREAMS: dict[bytes, list[Any]] = {
    b"data: 1\n\ndata: 2\n\n": [1, 2],
    b"data: 1\n\n\n\ndata: 2": [1, 2],
    b"data: [\ndata: 3]\n\ndata: x\n\n": [[3], f"{WRONG}b'x'"],
    b"data: 1\ndata: 2\n\n": [f"{WRONG}b'1\\n2'"],
    b": hi\nevent: x\ndata: 1\nid: 7\n\ndata:[DONE]\n\n": [1, "[DONE]"],
    b"\xef\xbb\xbfdata: 1\n\ndata:  2\n": [1, 2],
    b"\n \ndata: 1": [1],
    b"data\n\n": [],
    b"data:\n\ndata:  \n\nevent: ping\ndata: \ndata:\n\ndata: 1\n\ndata:": [1],
    b'[{"a":"]}"},\n{"b":[1]}]': [{"a": "]}"}, {"b": [1]}],
    b'{"error":"\\"{"}': [{"error": '"{'}],
    b' [{"a":{}} , {}]\n': [{"a": {}}, {}],
    b'[{"a":1},{"b"},{"c":1}]': [{"a": 1}, f"""{WRONG}b'{{"b"}}'"""],
    b"[]": [],
    b"": [],
}


def decoded(pieces: list[bytes]) -> list[Any]:
    """All values, or what is wrong in the place of the rest."""
    decoder = Decoder()
    found: list[Any] = []
    try:
        for piece in pieces:
            found += decoder.feed(piece)
        return found + decoder.close()
    except ParseError as error:
        return [*found, str(error)]


def cuttings(data: bytes) -> Iterator[list[bytes]]:
    """Each byte alone, and all ways to cut it in two places."""
    yield [data[place : place + 1] for place in range(len(data))]
    for first, second in combinations(range(len(data) + 1), 2):
        yield [data[:first], data[first:second], b"", data[second:]]


@pytest.mark.parametrize("data", STREAMS)
def test_streams_are_decoded_in_any_pieces(data: bytes) -> None:
    for spelled in (data, data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r")):
        for pieces in cuttings(spelled):
            assert [*map(str, decoded(pieces))] == [*map(str, STREAMS[data])]


def test_line_ends_of_any_kind_end_an_event() -> None:
    for ends in product((b"\n", b"\r", b"\r\n"), repeat=4):
        one, two, three, four = ends
        if one + two == b"\r\n" or three + four == b"\r\n":
            continue  # one end, not two
        data = b"data: 1" + one + two + b"data: 2" + three + four + b"data: 3"
        for pieces in cuttings(data):
            assert decoded(pieces) == [1, 2, 3]
