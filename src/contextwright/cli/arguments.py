"""The meaning of arguments: models, times and texts."""

from __future__ import annotations

from datetime import datetime

from contextwright.documents.read import read_bytes
from contextwright.errors import ParseError, UsageError, shown
from contextwright.messages.times import read_iso, require_time
from contextwright.models import Model, Models

__all__ = [
    "find_model",
    "known_models",
    "named_model",
    "read_text",
    "read_time_option",
    "read_words",
]


# --- models --------------------------------------------------------------------------------------


def known_models(file: str | None) -> Models:
    """Return the table of models, with the rows of the user's own file on top."""
    return Models.shipped().with_file(file) if file else Models.shipped()


def find_model(name: str, file: str | None) -> Model:
    """Return the facts about a model."""
    if not name.strip() or not name.isprintable():
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


def read_words(argument: str, name: str) -> str:
    """Return the text of an argument that must say something; a variable may be unset.

    Raises:
        UsageError: it is empty.
    """
    text = read_text(argument)
    if not text.strip():
        raise UsageError(f"{name} is empty")
    return text


def read_time_option(text: str, option: str = "--now") -> datetime:
    """Return the time of an option; without a zone it is UTC."""
    try:
        moment = read_iso(text)
    except ValueError:
        raise UsageError(
            f"{option} {shown(text)} is not an ISO 8601 time",
            hint="example: 2026-11-15T13:05:00+02:00",
        ) from None
    return require_time(moment)
