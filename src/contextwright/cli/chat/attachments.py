"""Files in a message: images, audio, video and documents as media, anything else as text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from mimetypes import guess_type

from contextwright.errors import UsageError, shown
from contextwright.messages.make import user
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Part, Text

__all__ = ["message_of"]

NAMED = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
"""A path in a text: `@photo.png`, `@"my notes.txt"`."""
MAX_MEDIA_BYTES, MAX_TEXT_BYTES = 20_000_000, 1_000_000
KINDS = ("image", "audio", "video")


def message_of(text: str, files: Iterable[str] = ()) -> Message:
    """Return a user message with the files that its text names, and further ones.

    A word such as `@home` that is not the path of a file stays text.
    """
    named = [quoted or plain for quoted, plain in NAMED.findall(text)]
    paths = [*files, *(path for path in named if os.path.isfile(os.path.expanduser(path)))]
    parts: list[Part] = [read_attachment(path) for path in dict.fromkeys(paths)]
    words = [Text(text)] if text.strip() else []
    return user([*parts, *words], sent_at=datetime.now(UTC))


def read_attachment(path: str) -> Part:
    """Read a file as a part of a message.

    Raises:
        UsageError: the file cannot be read, is too large, or is neither text nor media.
    """
    place = os.path.expanduser(path)
    try:
        with open(place, "rb") as file:
            content = file.read(MAX_MEDIA_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{shown(path)}: {error.strerror}") from None
    name = os.path.basename(place)
    mime = guess_type(name)[0] or ""
    kind = mime.partition("/")[0]
    if len(content) > MAX_MEDIA_BYTES:
        raise UsageError(f"{shown(path)} has more than {MAX_MEDIA_BYTES:,} bytes")
    if kind in KINDS:
        return Media.from_bytes(kind, content, mime, name=name)  # pyright: ignore
    if mime == "application/pdf":
        return Media.from_bytes("document", content, mime, name=name)
    if len(content) > MAX_TEXT_BYTES:
        raise UsageError(f"{shown(path)} has more than {MAX_TEXT_BYTES:,} bytes of text")
    try:
        words = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        hint = "pictures, sounds, videos, PDF and UTF-8 text can be sent"
        raise UsageError(f"{shown(path)} is neither text nor media", hint=hint) from None
    return Text(fenced(name, words))


def fenced(name: str, text: str) -> str:
    """Return a text under its name, between fences that it does not contain."""
    ticks = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(ticks + 1, 3)
    return f"{shown(name)}:\n{fence}\n{text.removesuffix(chr(10))}\n{fence}"
