"""Media in a payload: what every provider refuses, and the limits of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from contextwright.errors import Problem
from contextwright.models import Model
from contextwright.wire.values import Object, is_list

__all__ = [
    "ANTHROPIC_BYTES",
    "ANTHROPIC_IMAGE_BYTES",
    "GEMINI_BYTES",
    "OPENAI_BYTES",
    "data_fault",
    "data_problems",
    "data_url_problems",
    "number_problems",
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
    if len(data) * 3 // 4 > largest:
        return f"more than {largest // MEGABYTE} MB"
    if not BASE64(data) or len(data.rstrip("=")) % 4 == 1:
        return "not base64"
    return None


def data_url_problems(url: object, path: str, largest: int) -> Iterator[Problem]:
    """Check the data in a data URL; other URLs pass."""
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        if head.endswith(";base64"):
            yield from data_problems(data, path, largest)


def data_problems(data: object, path: str, largest: int) -> Iterator[Problem]:
    """Check base64 data."""
    fault = data_fault(data, largest) if isinstance(data, str) else None
    if fault is not None:
        code = "X-size" if fault.startswith("more") else "X-base64"
        yield Problem(code, path, fault)


MEDIA = frozenset(
    ("image", "document", "image_url", "input_audio", "file", "input_image", "input_file")
)
"""The types of blocks and parts that hold media."""
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
            if (isinstance(kind, str) and kind in MEDIA) or not MEDIA_FIELDS.isdisjoint(held):
                number += 1
                continue
            for field in CONTENT_FIELDS:
                if field in held and type(held[field]) is not str:
                    number += media_in(held[field] if is_list(held[field]) else [held[field]])
        elif is_list(value):
            number += media_in(value)
    return number
