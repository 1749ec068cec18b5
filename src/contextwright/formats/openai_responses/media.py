"""Media parts of Responses messages and outputs, read and written."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from contextwright.formats.base import keep_extra
from contextwright.formats.media import is_sound, padded_base64, sniffed_mime
from contextwright.formats.reader import Reader
from contextwright.messages.parts import Extra, Media
from contextwright.models import Model
from contextwright.wire.media import OPENAI_BYTES
from contextwright.wire.openai_responses.media import UNHEARD

__all__ = ["NAME", "leftover", "media_of", "media_wire", "supports_media"]

NAME = "openai-responses"
ORIGINS = (NAME, "openai-chat")
"""The formats whose file ids this provider knows."""
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/jpg")
DATA_URL = re.compile(r"data:([^,]*);base64,", re.IGNORECASE).match
LONGEST_HEAD = 200
ENDINGS = {
    "application/pdf": "pdf",
    "text/plain": "txt",
    "text/csv": "csv",
    "text/markdown": "md",
    "text/html": "html",
    "application/json": "json",
}


# --- reading ---------------------------------------------------------------------------------


def leftover(holder: dict[str, Any], *read: str) -> Extra:
    """Return the fields that were not read into our own fields."""
    return keep_extra(NAME, {key: holder[key] for key in holder if key not in read})


def media_of(part: dict[str, Any], path: str, reader: Reader) -> Media | None:
    """Read an image, file or audio, also in the spelling of Chat Completions."""
    match part:
        case {"type": "input_image"}:
            return image_of(part, part.get("image_url"))
        case {"type": "input_file"}:
            return file_of(part, path, reader)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            reader.repair("repair.part", f"{path}.type", "image_url is read as input_image")
            return image_of({}, url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            return Media("audio", f"audio/{kind}", data)
        case _:
            return None


def image_of(part: dict[str, Any], address: Any) -> Media:
    handle = part.get("file_id")
    mime, data, url = source_of(address)
    return Media(
        "image",
        mime,
        data,
        url,
        handle if isinstance(handle, str) else None,
        NAME if isinstance(handle, str) else None,
        extra=leftover(part, "type", "image_url", "file_id"),
    )


def file_of(part: dict[str, Any], path: str, reader: Reader) -> Media:
    """Read a file: a document, unless its type or extension says audio or video."""
    handle, name, bytes = part.get("file_id"), part.get("filename"), part.get("file_data")
    mime, data, url = source_of(bytes)
    if url is not None:
        reader.repair("repair.file", f"{path}.file_data", "bare base64 is read as a data URL")
        mime, data, url = sniffed_mime(url), url, None
    if isinstance(part.get("file_url"), str):
        url = part["file_url"]
    unheard = (mime or "").startswith(("audio/", "video/")) or (url and UNHEARD(urlsplit_path(url)))
    return Media(
        "audio" if unheard else "document",
        mime,
        data,
        url,
        handle if isinstance(handle, str) else None,
        NAME if isinstance(handle, str) else None,
        name if isinstance(name, str) else None,
        leftover(part, "type", "file_data", "file_url", "file_id", "filename"),
    )


def source_of(address: Any) -> tuple[str | None, str | None, str | None]:
    """Return MIME type, data and URL: the first two from a data URL, else the URL."""
    if not isinstance(address, str):
        return None, None, None
    head = DATA_URL(address[:LONGEST_HEAD])
    if head is None:
        return None, None, address
    return head[1] or None, address[head.end() :], None


def urlsplit_path(url: str) -> str:
    """Return the path of a URL without its query; empty if the URL is invalid."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


# --- writing ---------------------------------------------------------------------------------


def supports_media(media: Media, model: Model) -> bool:
    """Whether these are images or documents, from data, a URL or one of its file ids."""
    if media.kind not in ("image", "document") or not is_sound(media, OPENAI_BYTES):
        return False
    if media.data is not None:
        mime = sniffed_mime(media.data) or media.mime or ""
        return mime in IMAGES if media.kind == "image" else is_readable(mime)
    if media.url is not None:
        readable = media.kind == "image" or not UNHEARD(urlsplit_path(media.url))
        return readable and media.url.startswith(("http://", "https://"))
    return bool(media.file_id) and media.origin in ORIGINS


def is_readable(mime: str) -> bool:
    """Whether a file of this type may be a document: any except audio and video."""
    return "/" in mime and not mime.startswith(("audio/", "video/"))


def media_wire(media: Media, *, same_format: bool) -> dict[str, Any]:
    """Write an image or a file."""
    write = image_wire if media.kind == "image" else file_wire
    return write(media, same_format=same_format)


def image_wire(media: Media, *, same_format: bool) -> dict[str, Any]:
    wire: dict[str, Any] = {"type": "input_image"}
    if media.data is not None:
        wire["image_url"] = data_url(media)
    elif media.url is not None:
        wire["image_url"] = media.url
    if media.file_id and media.origin in ORIGINS:
        wire["file_id"] = media.file_id
    if not same_format:
        wire["detail"] = "auto"
    return wire


def file_wire(media: Media, *, same_format: bool) -> dict[str, Any]:
    """Write a file. Data needs a file name, derived from its type if there is none."""
    wire: dict[str, Any] = {"type": "input_file"}
    if media.data is not None:
        wire["file_data"] = data_url(media)
    if media.url is not None:
        wire["file_url"] = media.url
    if media.file_id and media.origin in ORIGINS:
        wire["file_id"] = media.file_id
    if media.name is not None:
        wire["filename"] = media.name
    elif media.data is not None and not same_format:
        mime = media.mime or sniffed_mime(media.data) or ""
        wire["filename"] = f"file.{ENDINGS.get(mime, 'bin')}"
    return wire


def data_url(media: Media) -> str:
    """Return a data URL, with the type detected from the bytes if none is given."""
    data = media.data or ""
    return f"data:{media.mime or sniffed_mime(data)};base64,{padded_base64(data)}"
