"""The tokens of images, audio, video and documents, as far as their bytes show."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from typing import Literal, TypeAlias

from contextwright.models import Model
from contextwright.tokens.images import image_tokens, pixel_size
from contextwright.tokens.pieces.piece import Blob

__all__ = ["media_cost"]

Cost: TypeAlias = tuple[float, float, float]
"""Tokens, the fraction of them that may be wrong, and how many more may not be charged."""

MEASURED = 0.1
GUESSED = 1.0

BYTES_PER_SECOND = {"audio/wav": 32_000, "audio/x-wav": 32_000}
"""Of uncompressed audio; other audio counts as speech at 64 kbit/s, which is on the high side."""
COMPRESSED = 8_000
FILM = 125_000
"""Bytes per second of video at 1 Mbit/s, an estimate on the high side."""


def media_cost(
    kind: Literal["image", "audio", "video", "document"],
    blob: Blob,
    model: Model,
    count_text: Callable[[str], float],
) -> Cost:
    """Return the tokens of media; an estimate on the high side if they cannot be known."""
    data = blob.data if isinstance(blob.data, str) else ""
    size = len(data.rstrip("=")) * 3 // 4
    match kind:
        case "image":
            pixels = pixel_size(data) if data else None
            rule = model.image
            sure = pixels is not None or (rule.kind == "fixed" and rule.base > 0)
            tokens = image_tokens(pixels, rule, detail=blob.detail)
            return tokens, MEASURED, 0.0 if sure else tokens
        case "audio":
            rate = BYTES_PER_SECOND.get(str(blob.mime), COMPRESSED)
            return math.ceil(size / rate) * model.audio_per_second, GUESSED, 0.0
        case "video":
            return math.ceil(size / FILM) * model.video_per_second, GUESSED, 0.0
        case "document" if str(blob.mime).startswith("text/"):
            return count_text(decoded(data).decode("utf-8", "replace")), MEASURED, 0.0
        case "document":
            return pages(decoded(data)) * model.page, GUESSED, 0.0


def decoded(data: str) -> bytes:
    """Return the bytes of base64 in either alphabet; b"" if it is not base64."""
    plain = data.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4))
    except (binascii.Error, ValueError):
        return b""


def pages(pdf: bytes) -> int:
    """Return the pages of a PDF: those not compressed away, at least one per 100 kB."""
    named = pdf.count(b"/Type /Page") + pdf.count(b"/Type/Page")
    trees = pdf.count(b"/Type /Pages") + pdf.count(b"/Type/Pages")
    return max(named - trees, len(pdf) // 100_000, 1)
