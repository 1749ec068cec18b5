"""What the Responses API refuses in images and files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contextwright.errors import Problem
from contextwright.wire.media import OPENAI_BYTES, data_url_problems
from contextwright.wire.shapes import objects_in

__all__ = ["UNHEARD", "part_problems"]

UNHEARD = re.compile(
    r"\.(?:mp3|wav|ogg|oga|opus|flac|aac|m4a|aiff?|weba|mp4|m4v|mov|avi|mkv|webm|mpe?g|wmv|3gp)$",
    re.IGNORECASE,
).search
"""File name endings of audio and video, which no input_file may have."""


def part_problems(parts: object, path: str) -> Iterator[Problem]:
    """Check the images and files of one item."""
    for place, part in objects_in(parts):
        if part.get("type") == "input_image":
            where = f"{path}[{place}].image_url"
            if not part.get("image_url") and not part.get("file_id"):
                yield Problem("T-required", where, "an image needs image_url or file_id")
            yield from data_url_problems(part.get("image_url"), where, OPENAI_BYTES)
        elif part.get("type") == "input_file":
            yield from file_source(part, f"{path}[{place}]")


def file_source(part: dict[str, Any], path: str) -> Iterator[Problem]:
    data, url = part.get("file_data"), part.get("file_url")
    if isinstance(data, str):
        head = data[:200].partition(";base64,")
        if not head[0].startswith("data:") or not head[1]:
            message = "must be a data URL: data:<type>;base64,<bytes>"
            yield Problem("OR-file", f"{path}.file_data", message)
        elif head[0].lower().startswith(("data:audio/", "data:video/")):
            yield Problem("OR-file", f"{path}.file_data", "input_file takes no audio or video")
        yield from data_url_problems(data, f"{path}.file_data", OPENAI_BYTES)
    elif isinstance(url, str):
        if UNHEARD(url.partition("?")[0].partition("#")[0]):
            yield Problem("OR-file", f"{path}.file_url", "input_file takes no audio or video")
    elif not part.get("file_id"):
        message = "a file needs file_data, file_id or file_url"
        yield Problem("T-required", f"{path}.file_data", message)
