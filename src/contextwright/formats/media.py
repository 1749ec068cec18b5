"""Facts about media that several formats need."""

from __future__ import annotations

from contextwright.messages.parts import Media
from contextwright.wire.media import data_fault, other_mime, sniffed_mime

__all__ = [
    "is_mislabelled",
    "is_sound",
    "is_web_address",
    "padded_base64",
    "sniffed_mime",
    "standard_base64",
]


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
    return other_mime(media.data, media.mime) is not None


def is_sound(media: Media, largest: int) -> bool:
    """Whether the bytes, if any, are valid base64 within the provider's size limit."""
    return media.data is None or data_fault(media.data, largest) is None


def is_web_address(url: str | None) -> bool:
    """Whether a provider could fetch this URL."""
    return url is not None and url.startswith(("https://", "http://"))
