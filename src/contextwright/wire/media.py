"""Media in a payload: what every provider refuses, and the limits of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from contextwright.errors import Level, Problem, shown
from contextwright.models import Model
from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "ALIASES",
    "ANTHROPIC_BYTES",
    "ANTHROPIC_IMAGE_BYTES",
    "GEMINI_BYTES",
    "MEGABYTE",
    "OPENAI_BYTES",
    "data_fault",
    "data_problems",
    "data_url_problems",
    "number_problems",
    "other_mime",
    "sniffed_mime",
]

BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}").fullmatch
MEGABYTE = 1024 * 1024
ANTHROPIC_BYTES = 32 * MEGABYTE
"""The limit of a whole Messages request; a single image is limited to 5 MB."""
ANTHROPIC_IMAGE_BYTES = 5 * MEGABYTE
OPENAI_BYTES = 50 * MEGABYTE
GEMINI_BYTES = 100 * MEGABYTE


def data_fault(data: str, largest: int) -> str | None:
    """Return what is wrong with base64 data of at most `largest` bytes; None if nothing is."""
    if not data:
        return "there are no bytes"
    if (len(data) - data.count("=", -2)) * 3 // 4 > largest:
        return f"more than {largest // MEGABYTE} MB"
    if not BASE64(data) or len(data.rstrip("=")) % 4 == 1:
        return "not base64"
    return None


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
"""Labels in use that are not registered types; Gemini and Anthropic refuse them."""


def sniffed_mime(data: str) -> str | None:
    """Detect the MIME type of base64 data by its first bytes; providers refuse a wrong one."""
    if data.startswith(RIFF):
        return "image/webp" if data[12:16] == WEBP else None
    for signature, mime in SIGNATURES.items():
        if data.startswith(signature):
            return mime
    return None


def other_mime(data: str, mime: str | None) -> str | None:
    """Return the MIME type of base64 data if it is another than its label says, else None."""
    found = sniffed_mime(data)
    return found if found != mime else None


def data_url_problems(url: object, path: str, largest: int) -> Iterator[Problem]:
    """Check the data in a data URL; other URLs pass."""
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        if head.endswith(";base64"):
            mime = head.removeprefix("data:").partition(";")[0]
            yield from data_problems(data, path, largest, mime)
        else:
            yield Problem("X-base64", path, "a data URL without base64")


def data_problems(
    data: object, path: str, largest: int, mime: object = None, level: Level = "warning"
) -> Iterator[Problem]:
    """Check base64 data, and that its label is right; `level` is that of a wrong one."""
    if not isinstance(data, str):
        return
    fault = data_fault(data, largest)
    if fault is not None:
        code = "X-size" if fault.startswith("more") else "X-base64"
        yield Problem(code, path, fault)
    elif isinstance(mime, str) and (found := other_mime(data, mime)):
        yield Problem("X-mime", path, f"the bytes are {found}, not {shown(mime)}", level)


MEDIA = frozenset(
    ("image", "document", "image_url", "input_audio", "file", "input_image", "input_file")
)
"""The types of blocks and parts that hold media."""
OF_TEXT = ("text", "content")
"""The sources of documents that are text, which may hold images."""
MEDIA_FIELDS = frozenset(("inlineData", "fileData"))
CONTENT_FIELDS = ("content", "output", "parts", "functionResponse")


def number_problems(holders: list[Any], path: str, model: Model) -> Iterator[Problem]:
    """Check that there are no more media than the model accepts in one request.

    `holders` are the turns, blocks or parts that may hold any; most hold text alone.
    """
    most = model.max_media
    if most is None or not holders:
        return
    number = media_in(holders)
    if number > most:
        reason = f"{number:,} pieces of media; {model.id} takes {most:,}"
        yield Problem("X-media", path, reason, "error" if model.matched == "exact" else "warning")


def media_in(values: list[Any]) -> int:
    """Count the media in the content of turns, including those in results."""
    number = 0
    for value in values:
        if isinstance(value, dict):
            held = cast("Object", value)
            kind = held.get("type")
            if kind == "document" and is_object(source := held.get("source")):
                if source.get("type") in OF_TEXT:
                    number += media_in([source])
                    continue
            if (isinstance(kind, str) and kind in MEDIA) or not MEDIA_FIELDS.isdisjoint(held):
                number += 1
                continue
            for field in CONTENT_FIELDS:
                if field in held and type(held[field]) is not str:
                    number += media_in(held[field] if is_list(held[field]) else [held[field]])
        elif is_list(value):
            number += media_in(value)
    return number
