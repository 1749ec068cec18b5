"""What pictures, sounds, films and documents cost, as far as their bytes tell."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from typing import Literal, TypeAlias

from contextwright.images import image_tokens, pixel_size
from contextwright.models import Model
from contextwright.wire.pieces.piece import Blob

__all__ = ["media_cost"]

Cost: TypeAlias = tuple[float, float]
"""Tokens, and the fraction of them that may be wrong."""

MEASURED = 0.1
GUESSED = 1.0

BYTES_PER_SECOND = {"audio/wav": 32_000, "audio/x-wav": 32_000}
"""Of sound without compression; whatever else is taken for speech at 64 kbit/s, which errs long."""
COMPRESSED = 8_000
FILM = 125_000
"""Of a film at 1 Mbit/s, which errs long."""


def media_cost(
    kind: Literal["image", "audio", "video", "document"],
    blob: Blob,
    model: Model,
    count_text: Callable[[str], float],
) -> Cost:
    """What a piece of media costs; where that cannot be known, a figure on the high side."""
    data = blob.data if isinstance(blob.data, str) else ""
    size = len(data.rstrip("=")) * 3 // 4
    match kind:
        case "image":
            pixels = pixel_size(data) if data else None
            sure = pixels is not None or model.image.base > 0
            tokens = image_tokens(pixels, model.image, detail=blob.detail)
            return tokens, MEASURED if sure else GUESSED
        case "audio":
            rate = BYTES_PER_SECOND.get(str(blob.mime), COMPRESSED)
            return math.ceil(size / rate) * model.audio_per_second, GUESSED
        case "video":
            return math.ceil(size / FILM) * model.video_per_second, GUESSED
        case "document" if str(blob.mime).startswith("text/"):
            return count_text(decoded(data).decode("utf-8", "replace")), MEASURED
        case "document":
            return pages(decoded(data)) * model.page, GUESSED


def decoded(data: str) -> bytes:
    """Bytes from base64 in either alphabet; none where it is no base64."""
    plain = data.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4))
    except (binascii.Error, ValueError):
        return b""


def pages(pdf: bytes) -> int:
    """Pages of a PDF: those it names in the clear, at least one for each 100 kB."""
    named = pdf.count(b"/Type /Page") + pdf.count(b"/Type/Page")
    trees = pdf.count(b"/Type /Pages") + pdf.count(b"/Type/Pages")
    return max(named - trees, len(pdf) // 100_000, 1)
