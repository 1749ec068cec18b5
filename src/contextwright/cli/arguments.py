"""The meaning of arguments: models, times, texts, and the files that errors name."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from contextwright import formats
from contextwright.documents.read import decode, read_bytes
from contextwright.errors import ContextwrightError, ParseError, UsageError, shown
from contextwright.formats import api
from contextwright.formats.gryag.compact import compact_text, is_compact
from contextwright.importers.detection import format_of
from contextwright.messages.conversation import Conversation
from contextwright.messages.times import with_zone
from contextwright.models import Model, Models

__all__ = [
    "about",
    "find_model",
    "is_file",
    "known_models",
    "named_model",
    "parse_document",
    "read_conversation",
    "read_data",
    "read_text",
    "read_time_option",
]


# --- models --------------------------------------------------------------------------------------


def known_models(file: str | None) -> Models:
    """Return the table of models, with the rows of the user's own file on top."""
    return Models.shipped().with_file(file) if file else Models.shipped()


def find_model(name: str, file: str | None) -> Model:
    """Return the facts about a model."""
    if not name.isprintable():
        raise UsageError(f"{shown(name)} is not a valid model name", hint="see cw models")
    return known_models(file).find(name)


def named_model(name: str | None, file: str | None) -> Model | None:
    """Return the facts about the model of an optional `--model`."""
    if name is None and file is not None:
        raise UsageError("--models needs --model")
    return None if name is None else find_model(name, file)


# --- texts and times -----------------------------------------------------------------------------


def read_text(argument: str) -> str:
    """Return the text of an argument; `-` reads standard input without the final line break."""
    if argument != "-":
        return argument
    try:
        return read_bytes("-").decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ParseError(f"standard input: byte {error.start:,} is not UTF-8 text") from None


def read_time_option(text: str, option: str = "--now") -> datetime:
    """Return the time of an option; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{option} {shown(text)} is not an ISO 8601 time",
            hint="example: 2026-11-15T13:05:00+02:00",
        ) from None
    return with_zone(moment)


# --- files ---------------------------------------------------------------------------------------


def is_file(name: str) -> bool:
    """Whether an argument that may be a file or a conversation is a file, or standard input."""
    return name == "-" or (os.path.exists(name) and not os.path.isdir(name))


def read_conversation(file: str, format: str | None) -> Conversation:
    """Read the one conversation of a file; without a format, it is detected."""
    if format is not None:
        formats.find(format)
    with about(file):
        return parse_document(read_data(file, format), format)


def read_data(file: str, format: str | None = None) -> Any:
    """Return the decoded JSON of a file, or the text of one in gryag's compact form."""
    data = read_bytes(file)
    compact = format in (None, "gryag") and is_compact(data, named=format is not None)
    return compact_text(data) if compact else decode(data)


def parse_document(data: Any, format: str | None) -> Conversation:
    """Parse a decoded document; without a format, it is detected."""
    return api.parse(data, format or format_of(data))


@contextmanager
def about(file: str) -> Generator[None]:
    """Put the file's name before errors about its content."""
    name = "standard input" if file == "-" else file
    try:
        yield
    except UsageError:
        raise
    except ContextwrightError as error:
        raise ContextwrightError(f"{name}: {error}") from error
    except RecursionError as error:
        raise ContextwrightError(f"{name}: nested too deeply") from error
