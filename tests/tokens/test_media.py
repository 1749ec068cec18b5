"""Tokens of pictures, documents and sound, and of bodies nobody has checked."""

from __future__ import annotations

import base64
import socket
import struct
import zlib
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.models import ImageRule, find
from contextwright.tokens import pricer
from contextwright.tokens.count import count_pieces, count_text, counter
from contextwright.tokens.images import (
    gif_size,
    image_tokens,
    jpeg_size,
    pixel_size,
    png_size,
    webp_size,
)
from contextwright.tokens.media import pages
from contextwright.tokens.pieces import message_pieces
from contextwright.tokens.pieces.piece import media
from golden_files import compare_digests
from samples.counts import FORMATS, count, request_of

# Pictures.


def png(width: int, height: int) -> str:
    head = struct.pack(">II", width, height) + b"\x08\x02\x00\x00\x00"
    chunk = b"IHDR" + head
    body = struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + body + b"\x00" * 50).decode()


def jpeg(width: int, height: int) -> str:
    app = b"\xff\xe0" + struct.pack(">H", 2000) + b"\x00" * 1998
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 3) + b"\x00" * 9
    return base64.b64encode(b"\xff\xd8" + app + b"\xff" + frame).decode()


def gif(width: int, height: int) -> str:
    return base64.b64encode(b"GIF89a" + struct.pack("<HH", width, height) + b"\x00" * 9).decode()


def webp(kind: bytes, width: int, height: int) -> str:
    match kind:
        case b"VP8X":
            body = (
                b"\x00" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
            )
        case b"VP8L":
            body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\x00" * 9
        case _:
            body = b"\x00" * 3 + b"\x9d\x01\x2a" + struct.pack("<HH", width, height)
    head = b"RIFF" + struct.pack("<I", 100) + b"WEBP" + kind + struct.pack("<I", len(body))
    return base64.b64encode(head + body + b"\x00" * 9).decode()


@pytest.mark.parametrize(
    "data",
    [
        png(640, 480),
        jpeg(640, 480),
        gif(640, 480),
        webp(b"VP8X", 640, 480),
        webp(b"VP8L", 640, 480),
        webp(b"VP8 ", 640, 480),
        png(640, 480).replace("+", "-").replace("/", "_"),
    ],
)
def test_pixel_sizes_are_read_from_the_head(data: str) -> None:
    assert pixel_size(data) == (640, 480)


@pytest.mark.parametrize(
    "data", ["", "x", "!!!!", "Привіт", base64.b64encode(b"\xff\xd8\xff").decode(), png(0, 0)]
)
def test_no_picture_no_size(data: str) -> None:
    assert pixel_size(data) is None


@pytest.mark.parametrize(
    ("data", "length"),
    [
        (png(640, 480), 24),
        (gif(640, 480), 10),
        (jpeg(640, 480), 2_014),
        *((webp(kind, 640, 480), 30) for kind in (b"VP8X", b"VP8L", b"VP8 ")),
    ],
)
def test_a_head_may_end_behind_the_size(data: str, length: int) -> None:
    head = base64.b64decode(data)[:length]
    assert (size_of(head), size_of(head[:-1])) == ((640, 480), None)


def size_of(content: bytes) -> tuple[int, int] | None:
    """The size that one of the readers finds, without the padding of base64."""
    found = (read(content) for read in (png_size, gif_size, webp_size, jpeg_size))
    return next(filter(None, found), None)


TILES = ImageRule("tiles", base=85, each=170, most=1_445)


@pytest.mark.parametrize(
    ("size", "rule", "detail", "tokens"),
    [
        ((1024, 1024), TILES, "high", 765),
        ((2048, 4096), TILES, "auto", 1_105),
        ((4096, 8192), TILES, "low", 85),
        (None, TILES, None, 1_445),
        ((1024, 1024), ImageRule("patches", each=1, most=1_536), None, 1_024),
        ((1800, 2400), ImageRule("patches", each=1, most=1_536), None, 1_536),
        ((1000, 1000), ImageRule("area", each=750, most=1_600), None, 1_334),
        ((9000, 9000), ImageRule("area", each=750, edge=1_568, most=1_600), None, 1_600),
        ((3136, 750), ImageRule("area", each=750, edge=1_568, most=1_600), None, 784),
        ((384, 384), ImageRule("grid", each=258, most=258), None, 258),
        ((1000, 700), ImageRule("grid", each=258, most=258), None, 516),
        ((9000, 9000), ImageRule("fixed", base=1_120, most=1_120), None, 1_120),
        (None, ImageRule("fixed", most=1_600), None, 1_600),
    ],
)
def test_picture_prices(size: Any, rule: ImageRule, detail: str | None, tokens: int) -> None:
    assert image_tokens(size, rule, detail=detail) == tokens


@pytest.mark.parametrize(
    ("scheme", "is_address"), [("gs", True), ("s" * 13, True), ("s" * 14, False)]
)
def test_an_address_begins_with_a_scheme(scheme: str, is_address: bool) -> None:
    address = f"{scheme}://bucket/picture"
    blob = media("image", "", address).value
    assert (blob.data, blob.url) == ((None, address) if is_address else (address, None))


def test_prices_of_all_sizes() -> None:
    edges = (1, 31, 32, 33, 383, 385, 511, 513, 767, 769, 1_025, 1_569, 2_047, 2_049, 4_100)
    rules = (
        *(ImageRule(kind, base=7, each=3, most=1_600) for kind in ("tiles", "patches", "grid")),
        ImageRule("area", each=750, edge=1_568, most=1_600),
    )
    sizes = list(product(edges, edges))
    tokens = ((rule, [image_tokens(size, rule) for size in sizes]) for rule in rules)
    compare_digests("image-tokens", tokens)


def chat_with(part: Any) -> Any:
    return {"messages": [{"role": "user", "content": [part]}]}


def test_a_picture_in_a_request() -> None:
    url = f"data:image/png;base64,{png(1024, 1024)}"
    counted = count(chat_with({"type": "image_url", "image_url": {"url": url}}), "openai-chat")
    assert counted.places["messages[0]"] == 4 + 765
    source = {"type": "base64", "media_type": "image/png", "data": png(1000, 1000)}
    counted = count(chat_with({"type": "image", "source": source}), "anthropic")
    assert counted.places["messages[0]"] == 6 + 1_334


@pytest.mark.parametrize("format", ["openai-chat", "anthropic"])
def test_an_address_is_never_fetched(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("counting must not touch the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    address = "https://example.com/cat.png"
    part: Any = {"type": "image_url", "image_url": {"url": address}}
    if format == "anthropic":
        part = {"type": "image", "source": {"type": "url", "url": address}}
    counted = count(chat_with(part), format)
    assert counted.tokens > find(FORMATS[format]).image.most
    assert not counted.exact


def test_documents() -> None:
    text = base64.b64encode("Привіт, світе".encode()).decode()
    body = {"contents": [{"parts": [{"inlineData": {"mimeType": "text/plain", "data": text}}]}]}
    words = counter("gemma3")("Привіт, світе")
    assert count(body, "gemini").places["contents[0]"] == 1 + words
    pdf = base64.b64encode(b"%PDF /Type /Pages /Type /Page x /Type/Page x").decode()
    part = {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{pdf}"}}
    assert count(chat_with(part), "openai-chat").tokens > 2 * find("gpt-4o").page


def test_sound_is_measured_in_seconds() -> None:
    audio = {"data": base64.b64encode(b"\x00" * 64_000).decode(), "format": "wav"}
    counted = count(chat_with({"type": "input_audio", "input_audio": audio}), "openai-chat")
    assert counted.places["messages[0]"] == 4 + 2 * find("gpt-4o").audio_per_second


@pytest.mark.parametrize(
    ("mime", "size", "seconds"),
    [
        ("video/mp4", 125_000, 1),
        ("video/mp4", 125_001, 2),
        ("audio/x-wav", 64_000, 2),
        ("audio/mpeg", 64_000, 8),
        ("audio/mpeg", 64_001, 9),
    ],
)
def test_films_and_sounds_are_measured_in_seconds(mime: str, size: int, seconds: int) -> None:
    data = base64.b64encode(bytes(size)).decode()
    body = {"contents": [{"parts": [{"inlineData": {"mimeType": mime, "data": data}}]}]}
    model = find("gemini-3.8-flash")
    rate = model.video_per_second if mime.startswith("video") else model.audio_per_second
    counted = cw.count(body, format="gemini", model=model.id)
    assert counted.places["contents[0]"] == 1 + seconds * rate


@pytest.mark.parametrize(
    ("pdf", "number"),
    [
        (b"", 1),
        (b"%PDF /Type /Pages /Type/Pages", 1),
        (b"%PDF /Type /Pages" + b" /Type /Page x /Type/Page x" * 3, 6),
        (bytes(199_999), 1),
        (bytes(200_000), 2),
    ],
)
def test_pages(pdf: bytes, number: int) -> None:
    assert pages(pdf) == number


# Bodies that nobody has checked.

NESTED: Any = []


for _ in range(5_000):
    NESTED = [NESTED]


ITSELF: dict[str, Any] = {}
ITSELF["content"] = ITSELF
BLOCKS: Any = "x"


for _ in range(5_000):
    BLOCKS = [{"type": "tool_result", "content": BLOCKS}]


odd = st.sampled_from(
    [None, True, 7, 1.5, float("nan"), "x", "\ud83d", b"x", object(), [], {}, [[]], {1: 2}, [None]]
) | st.sampled_from([{"type": "text", "text": 5}, {"type": "image_url"}, {"type": []}])

keys = st.sampled_from(
    "role content name type text tool_calls function parameters properties parts functionCall "
    "functionResponse inlineData mimeType data source input output arguments messages contents "
    "system systemInstruction tools instructions response_format thinking image_url url".split()
)

bodies = st.recursive(
    odd, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4)
)


@given(body=st.dictionaries(keys, bodies, max_size=5) | bodies)
def test_wrong_types_are_never_an_exception(body: Any) -> None:
    for format, model in FORMATS.items():
        counted = count(body, format, model)
        assert counted.tokens == sum(counted.places.values())
        assert count_pieces(message_pieces(body, format), model, format=format).tokens >= 0


@pytest.mark.parametrize("value", [NESTED, ITSELF, BLOCKS], ids=["nested", "itself", "blocks"])
@pytest.mark.parametrize("format", FORMATS)
def test_bottomless_values_are_never_an_exception(format: str, value: Any) -> None:
    schema = {"name": "f", "parameters": {"properties": {"a": value}}, "input_schema": ITSELF}
    for key in ("messages", "contents", "input", "system", "systemInstruction"):
        body = {key: value, "tools": [schema, {"function": schema}]}
        assert count(body, format).tokens >= 0
        listed = {key: [{"role": "user", "content": value, "parts": [value]}]}
        assert count(listed, format).tokens >= 0


def test_a_wrong_type_counts_as_its_json() -> None:
    dict_content = {"messages": [{"role": "user", "content": {"text": "hello"}}]}
    as_text = {"messages": [{"role": "user", "content": '{"text":"hello"}'}]}
    assert count(dict_content, "openai-chat") == count(as_text, "openai-chat")


@pytest.mark.parametrize("format", FORMATS)
def test_counting_leaves_the_body_alone(format: str) -> None:
    body = request_of(format, ["a", "b"])
    before = repr(body)
    assert count(body, format) == count(body, format)
    assert repr(body) == before


def test_what_is_remembered_of_counted_texts_is_bounded() -> None:
    model = find("gpt-4o")
    texts = pricer.Pricer(model, model.format, model.tokenizer, max_chars=1_000).texts
    for number in range(100):
        text = f"{number} " * 50
        assert texts.count(text) == count_text(text, model).tokens
        assert sum(map(len, texts.counted)) <= 1_000


def test_a_jpeg_may_end_with_its_size() -> None:
    start, frame = b"\xff\xd8", b"\xff\xc0\x00\x0b\x08\x00\x10\x00\x20"
    comment = b"\xff\xfe\x00\x04hi"
    for content in (start + frame, start + comment + frame, start + b"\xff" + frame):
        assert jpeg_size(content) == (32, 16)
        assert jpeg_size(content[:-1]) is None
