"""Media parts of the chat format, read and written, for OpenAI and compatible hosts."""

from __future__ import annotations

from typing import Any, Literal, cast

from contextwright.formats.base import keep_extra
from contextwright.formats.media import is_sound, is_web_address, padded_base64, sniffed_mime
from contextwright.messages.parts import Media, MediaKind
from contextwright.models import Model
from contextwright.wire.media import OPENAI_BYTES
from contextwright.wire.openai_chat.dialects import Dialect, dialect_of

__all__ = ["supports_media", "has_source", "media_of", "media_part"]

NAME = "openai-chat"

KINDS: dict[Any, MediaKind] = {
    "image_url": "image",
    "input_audio": "audio",
    "audio_url": "audio",
    "video_url": "video",
    "input_video": "video",
    "file": "document",
    "document_url": "document",
}
"""The kind of media for each part type. The content is in a field named like the type."""
PARTS: dict[MediaKind, str] = {
    "image": "image_url",
    "audio": "input_audio",
    "video": "video_url",
    "document": "file",
}
OPENAI_PARTS = ("image_url", "input_audio", "file")
AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}


# --- reading ---------------------------------------------------------------------------------


def media_of(part: dict[str, Any], format: str) -> Media | None:
    """Read media from a part; return None if the part does not match its type.

    Leftover fields go into `extra`, those from inside the content object under the part's type.
    `bare` marks a URL without its object, or data without a type.
    """
    word = part.get("type")
    kind = KINDS.get(word) if isinstance(word, str) else None
    if kind is None:
        return None
    fields: dict[str, Any] = {key: part[key] for key in part if key not in ("type", word)}
    source = part.get(cast("str", word))
    if isinstance(source, str):
        fields[cast("str", word)] = "bare"
        source = {"data" if word == "input_audio" else "url": source}
    if not isinstance(source, dict):
        return None
    source = cast("dict[str, Any]", source)
    match word:
        case "file":
            media = file_of(source, format)
        case "input_audio":
            media = audio_of(source)
        case _:
            media = addressed(source)
    if media is None:
        return None
    found, inner = media
    if word not in fields and (inner or word != PARTS[kind]):
        fields[cast("str", word)] = inner
    name = fields.get("document_name")
    found["name"] = found.get("name") or (name if isinstance(name, str) else None)
    return Media(kind, **found, extra=keep_extra(format, fields))


Found = tuple[dict[str, Any], dict[str, Any] | Literal["bare"]]
"""The fields of our `Media`, and the leftover fields."""


def addressed(source: dict[str, Any]) -> Found | None:
    """Read media from a URL or data URL."""
    url = source.get("url")
    if not isinstance(url, str):
        return None
    return located(url), {key: source[key] for key in source if key != "url"}


def located(url: str) -> dict[str, Any]:
    """Return a URL, or the data of a data URL."""
    if url.startswith("data:"):
        head, _, data = url[5:].partition(",")
        mime = head.partition(";")[0] or sniffed_mime(data)
        if mime and head.endswith(";base64"):
            return {"mime": mime, "data": data}
    return {"url": url}


def audio_of(source: dict[str, Any]) -> Found | None:
    """Read audio from base64; some hosts accept a URL instead."""
    data, format = source.get("data"), source.get("format")
    if not isinstance(data, str):
        return None
    inner = {key: source[key] for key in source if key not in ("data", "format")}
    found = {"url" if data.startswith(("data:", "http:", "https:")) else "data": data}
    if isinstance(format, str):
        found["mime"] = AUDIO_TYPES.get(format) or f"audio/{format}"
    if "format" in source and not (isinstance(format, str) and format in AUDIO_TYPES):
        inner["format"] = format
    return found, inner


def file_of(source: dict[str, Any], format: str) -> Found | None:
    """Read a file: its data, its file id or, on some hosts, its URL."""
    data, handle, name = (source.get(key) for key in ("file_data", "file_id", "filename"))
    inner: Any = {
        key: source[key] for key in source if key not in ("file_data", "file_id", "filename")
    }
    found: dict[str, Any] = {}
    if isinstance(data, str):
        found = located(data)
        if found.get("url") == data and "://" not in data:
            found = {"data": data, "mime": sniffed_mime(data)}
            inner = inner or "bare"
    elif data is not None:
        return None
    if isinstance(handle, str):
        found["file_id"], found["origin"] = handle, format
    elif handle is not None or not found:
        return None
    if isinstance(name, str):
        found["name"] = name
    elif "filename" in source and inner != "bare":
        inner["filename"] = None
    return found, inner


# --- writing ---------------------------------------------------------------------------------


def supports_media(media: Media, model: Model) -> bool:
    """Whether the host accepts these media from this source."""
    dialect = dialect_of(model)
    if media.kind not in dialect.media or not is_sound(media, OPENAI_BYTES):
        return False
    handle_only = media.data is None and media.url is None
    if handle_only:
        return bool(media.file_id) and media.origin == NAME and media.kind == "document"
    if not dialect.closed:
        return True
    if media.kind == "audio":
        hears = model.audio_input or model.matched != "exact"
        return media.data is not None and media.mime in AUDIO_FORMATS and hears
    if media.kind == "document":
        return media.data is not None
    return media.data is not None or is_web_address(media.url) or is_data_url(media.url)


def is_data_url(url: str | None) -> bool:
    """Whether a URL holds base64 data."""
    return url is not None and url.startswith("data:") and url.partition(",")[0].endswith(";base64")


def has_source(media: Media, model: Model) -> bool:
    """Whether there is any source. A host asks no more of media that came from it."""
    return bool(media.data or media.url or (media.file_id and media.kind == "document"))


def media_part(media: Media, dialect: Dialect, *, same_format: bool) -> dict[str, Any]:
    """Write media that `supports_media` accepts."""
    fields = media.extra.get(NAME, {})
    word = next((key for key in fields if key in KINDS), PARTS[media.kind])
    if dialect.closed and word not in OPENAI_PARTS:
        word = PARTS[media.kind]
    if word == "file" and not (same_format or fields or media.file_id):
        word = dialect.document
    inner = fields.get(word)
    source = source_of(media, word, same_format=same_format)
    part: dict[str, Any] = {"type": word}
    if word == "file" and inner == "bare":
        part[word] = {**source, "file_data": media.data}
    elif inner == "bare" or word == "document_url":
        part[word] = source.get("url", source.get("data"))
    else:
        part[word] = {**source, **inner} if isinstance(inner, dict) else source
    if word == "document_url" and media.name and "document_name" not in fields:
        part["document_name"] = media.name
    for key, value in fields.items():
        if key not in KINDS:
            part[key] = value
    return part


def source_of(media: Media, word: str, *, same_format: bool) -> dict[str, Any]:
    """Write the source of the media in the field names of a part type."""
    data, mime = media.data, media.mime
    if data is not None and not same_format:
        data = padded_base64(data)
    if word == "file":
        return file_source(media, mime, data, same_format=same_format)
    if word == "input_audio":
        source = {"data": media.url if data is None else data}
        if mime is not None:
            source["format"] = AUDIO_FORMATS.get(mime) or mime.removeprefix("audio/")
        return source
    if data is None:
        return {"url": media.url}
    return {"url": f"data:{mime or DEFAULT_TYPES[media.kind]};base64,{data}"}


DEFAULT_TYPES: dict[MediaKind, str] = {
    "image": "image/png",
    "audio": "audio/wav",
    "video": "video/mp4",
    "document": "application/pdf",
}


def file_source(
    media: Media, mime: str | None, data: str | None, *, same_format: bool
) -> dict[str, Any]:
    """Write a file's data with a name, or its file id."""
    source: dict[str, Any] = {}
    if data is not None:
        source["file_data"] = f"data:{mime or 'application/pdf'};base64,{data}"
    elif media.url is not None:
        source["file_data"] = media.url
    if media.file_id and media.origin == NAME:
        source["file_id"] = media.file_id
    if media.name is not None:
        source["filename"] = media.name
    elif data is not None and not same_format:
        source["filename"] = f"file.{(mime or 'application/pdf').rpartition('/')[2]}"
    return source
