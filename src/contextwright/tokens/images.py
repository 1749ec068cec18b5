"""The tokens of images: the size from the first bytes, the price from the model's rule.

Nothing is fetched and nothing is decoded but a file's head.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import TypeAlias

from contextwright.models import ImageRule

__all__ = ["image_tokens", "pixel_size"]

Size: TypeAlias = tuple[int, int]

HEAD = 64 * 1024
"""Characters of base64 that are decoded: a JPEG may have a long preview before its size."""


def pixel_size(data: str) -> Size | None:
    """Return width and height of a PNG, GIF, WebP or JPEG in base64; None for other data."""
    head = data[:HEAD].replace("-", "+").replace("_", "/")
    try:
        content = base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    size = png_size(content) or gif_size(content) or webp_size(content) or jpeg_size(content)
    return size if size and min(size) > 0 else None


def png_size(content: bytes) -> Size | None:
    """Return the size of a PNG: its first chunk begins with it."""
    if content[:8] != b"\x89PNG\r\n\x1a\n" or len(content) < 24:
        return None
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def gif_size(content: bytes) -> Size | None:
    """Return the size of a GIF: it follows the signature."""
    if content[:4] != b"GIF8" or len(content) < 10:
        return None
    return int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little")


def webp_size(content: bytes) -> Size | None:
    """Return the size of a WebP: its first chunk has one of three layouts."""
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return None
    match content[12:16]:
        case b"VP8X":
            width, height = content[24:27], content[27:30]
            return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
        case b"VP8L":
            bits = int.from_bytes(content[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            bits = int.from_bytes(content[26:30], "little")
            return bits & 0x3FFF, bits >> 16 & 0x3FFF
        case _:
            return None


def jpeg_size(content: bytes) -> Size | None:
    """Return the size of a JPEG: the segment that starts the frame has it."""
    if content[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = content[at + 5 : at + 7], content[at + 7 : at + 9]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
        else:
            at += 2 + max(int.from_bytes(content[at + 2 : at + 4], "big"), 2)
    return None


def image_tokens(size: Size | None, rule: ImageRule, *, detail: object = None) -> int:
    """Return the tokens of an image; for an unknown size, the most it can cost."""
    if rule.kind == "fixed":
        return rule.base or rule.most
    if rule.kind == "tiles" and detail == "low":
        return rule.base
    if size is None:
        return rule.most
    match rule.kind:
        case "tiles":
            return rule.base + math.ceil(rule.each * tiles(size))
        case "patches":
            return rule.base + math.ceil(rule.each * patches(size))
        case "area":
            return min(math.ceil(area(size, rule.edge) / rule.each), rule.most)
        case "grid":
            return math.ceil(rule.each * grid(size))


def tiles(size: Size) -> int:
    """Count 512-pixel tiles (OpenAI), after fitting 2048 × 2048 and then a short side of 768."""
    width, height = fit(size, 2048 / max(size))
    width, height = fit((width, height), 768 / min(width, height))
    return math.ceil(width / 512) * math.ceil(height / 512)


PATCHES = 1536


def patches(size: Size) -> int:
    """Count 32-pixel patches (OpenAI), after scaling the image down to at most 1536 of them."""
    width, height = size
    return min(math.ceil(width / 32) * math.ceil(height / 32), PATCHES)


def area(size: Size, edge: int) -> int:
    """Count pixels (Anthropic), after fitting the long side."""
    width, height = fit(size, edge / max(size)) if edge else size
    return width * height


def grid(size: Size) -> int:
    """Count tiles (Gemini 2): one for a small image, else tiles of 768 pixels."""
    if max(size) <= 384:
        return 1
    return math.ceil(size[0] / 768) * math.ceil(size[1] / 768)


def fit(size: Size, factor: float) -> Size:
    """Return a size scaled down by a factor; it is never enlarged, and at least 1 × 1."""
    factor = min(factor, 1.0)
    return max(1, round(size[0] * factor)), max(1, round(size[1] * factor))
