"""Bytes in a payload: what every provider refuses, and how much each takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextwright.errors import Problem

__all__ = [
    "ANTHROPIC_BYTES",
    "ANTHROPIC_IMAGE_BYTES",
    "GEMINI_BYTES",
    "OPENAI_BYTES",
    "data_fault",
    "data_problems",
    "data_url_problems",
]

BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}").fullmatch
MEGABYTE = 1024 * 1024
ANTHROPIC_BYTES = 32 * MEGABYTE
"""A whole Messages request; an image alone may have 5 MB."""
ANTHROPIC_IMAGE_BYTES = 5 * MEGABYTE
OPENAI_BYTES = 50 * MEGABYTE
GEMINI_BYTES = 100 * MEGABYTE


def data_fault(data: str, largest: int) -> str | None:
    """What is wrong with base64 data; None where a provider that takes `largest` bytes reads it."""
    if not data:
        return "there are no bytes"
    if len(data) * 3 // 4 > largest:
        return f"more than {largest // MEGABYTE} MB"
    if not BASE64(data) or len(data.rstrip("=")) % 4 == 1:
        return "not base64"
    return None


def data_url_problems(url: object, path: str, largest: int) -> Iterator[Problem]:
    """The problem of the bytes in a data URL; other addresses have none here."""
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        if head.endswith(";base64"):
            yield from data_problems(data, path, largest)


def data_problems(data: object, path: str, largest: int) -> Iterator[Problem]:
    """The problem of base64 data, if it has one."""
    fault = data_fault(data, largest) if isinstance(data, str) else None
    if fault is not None:
        code = "X-size" if fault.startswith("more") else "X-base64"
        yield Problem(code, path, fault)
