"""What the Messages API refuses in the source of an image or a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from mimetypes import MimeTypes
from typing import Any

import msgspec

from contextwright.errors import Problem
from contextwright.wire.media import (
    ANTHROPIC_BYTES,
    ANTHROPIC_IMAGE_BYTES,
    MEGABYTE,
    data_problems,
)
from contextwright.wire.shapes import objects_in
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["encoded_size", "size_problems", "source", "written_size"]

BEHIND_ADDRESS = {
    "document": ("application/pdf",),
    "image": ("image/jpeg", "image/png", "image/gif", "image/webp"),
}
"""The MIME types that the API reads from a URL."""


def source(block: dict[str, Any], path: str) -> Iterator[Problem]:
    """Check the data or the URL of one image or file."""
    held = block.get("source")
    if not is_object(held):
        return
    if held.get("type") == "url" and isinstance(held.get("url"), str):
        found, taken = mime_of(held["url"]), BEHIND_ADDRESS.get(str(block.get("type")), ())
        if found and taken and found not in taken:
            reason = f"the URL seems to lead to {found}, which is not read from URLs"
            yield Problem("A-url-type", f"{path}.source.url", reason, "warning")
    elif held.get("type") == "base64":
        largest = ANTHROPIC_IMAGE_BYTES if block.get("type") == "image" else ANTHROPIC_BYTES
        where, mime = f"{path}.source.data", held.get("media_type")
        yield from data_problems(held.get("data"), where, largest, mime, "error")


def size_problems(payload: Object) -> Iterator[Problem]:
    """Check that all fits into one request."""
    if written_size(payload) > ANTHROPIC_BYTES:
        reason = f"more than {ANTHROPIC_BYTES // MEGABYTE} MB in one request"
        yield Problem("X-size", "messages", reason)


def written_size(payload: Object) -> int:
    """Return the length of a request; 0 if it cannot be written, which other checks report."""
    try:
        return len(msgspec.json.encode(payload))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return 0


def encoded_size(blocks: list[Object]) -> int:
    """Return the length of the data in blocks, and in the results and documents among them."""
    size = 0
    for block in blocks:
        held = block.get("source")
        if is_object(held):
            if isinstance(data := held.get("data"), str):
                size += len(data)
            elif is_list(inner := held.get("content")):
                size += encoded_size([one for _, one in objects_in(inner)])
        if within := objects_in(block.get("content")):
            size += encoded_size([one for _, one in within])
    return size


@cache
def known_types() -> MimeTypes:
    """MIME types by file extension, the same on every machine."""
    return MimeTypes()


def mime_of(url: str) -> str | None:
    """Return the MIME type for the extension of a URL; None if unknown."""
    return known_types().guess_type(url.partition("?")[0].partition("#")[0])[0]
