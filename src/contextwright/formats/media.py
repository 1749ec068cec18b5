"""Facts about media that several formats need."""

from __future__ import annotations

from contextwright.messages.parts import Media
from contextwright.wire.media import data_fault

__all__ = [
    "is_mislabelled",
    "is_sound",
    "is_web_address",
    "padded_base64",
    "sniffed_mime",
    "standard_base64",
]

SIGNATURES = {
    "/9j/": "image/jpeg",
    "iVBORw0KGgo": "image/png",
    "R0lGOD": "image/gif",
    "JVBERi0": "application/pdf",
}
"""The first characters of base64 data, by file type."""
RIFF, WEBP = "UklGR", "RUJQ"
"""A RIFF file is an image only if `WEBP` follows."""
ALIASES = {"image/jpg": "image/jpeg"}


def sniffed_mime(data: str) -> str | None:
    """Detect the MIME type of base64 data by its first bytes; providers refuse a wrong one."""
    if data.startswith(RIFF):
        return "image/webp" if data[12:16] == WEBP else None
    for signature, mime in SIGNATURES.items():
        if data.startswith(signature):
            return mime
    return None


def standard_base64(data: str) -> str:
    """Return base64 in the standard alphabet; Gemini writes the URL-safe one."""
    if "-" in data or "_" in data:
        return data.replace("-", "+").replace("_", "/")
    return data


def padded_base64(data: str) -> str:
    """Return base64 in the standard alphabet, padded as all APIs but Gemini's require."""
    data = standard_base64(data)
    if len(data) % 4 == 0:
        return data
    data = data.rstrip("=")
    return data + "=" * (-len(data) % 4)


def is_mislabelled(media: Media) -> bool:
    """Whether the bytes have a different type than the label says."""
    if media.data is None or media.kind not in ("image", "document"):
        return False
    found = sniffed_mime(media.data)
    return found is not None and found != ALIASES.get(media.mime or "", media.mime)


def is_sound(media: Media, largest: int) -> bool:
    """Whether the bytes, if any, are valid base64 within the provider's size limit."""
    return media.data is None or data_fault(media.data, largest) is None


def is_web_address(url: str | None) -> bool:
    """Whether a provider could fetch this URL."""
    return url is not None and url.startswith(("https://", "http://"))
