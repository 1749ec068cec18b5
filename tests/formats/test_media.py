"""What the first bytes of media say about them."""

import base64

import pytest

import contextwright as cw
from contextwright.formats.media import is_mislabelled, sniffed_mime

HEADS = {
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "image/png": b"\x89PNG\r\n\x1a\n\x00\x00",
    "image/gif": b"GIF89a\x01\x00\x01\x00",
    "image/webp": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
    "application/pdf": b"%PDF-1.7\n",
    None: b"RIFF\x24\x00\x00\x00WAVEfmt ",
}


@pytest.mark.parametrize("mime", HEADS)
def test_the_type_of_data(mime: str | None) -> None:
    data = base64.b64encode(HEADS[mime]).decode()
    assert sniffed_mime(data) == mime
    for said in ("image/jpeg", "image/jpg", "image/png", "image/webp"):
        is_wrong = mime is not None and mime != said
        assert is_mislabelled(cw.Media("image", said, data)) is is_wrong
