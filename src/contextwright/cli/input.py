"""What arguments mean: the model that is named, the file an error is about."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from contextwright.documents import read_bytes
from contextwright.errors import ContextwrightError, ParseError, UsageError, shown
from contextwright.models import Model, Models

__all__ = ["about", "find_model", "known_models", "named_model", "text_given"]


def known_models(file: str | None) -> Models:
    """The table of models, with the rows of the user's own file over it."""
    return Models.shipped().with_file(file) if file else Models.shipped()


def find_model(name: str, file: str | None) -> Model:
    """What is known about a model."""
    if not name.isprintable():
        raise UsageError(f"no model is called {shown(name)}", hint="see cw models")
    return known_models(file).find(name)


def named_model(name: str | None, file: str | None) -> Model | None:
    """The model of an option that may be left out."""
    if name is None and file is not None:
        raise UsageError("facts about which model?", hint="--models needs --model")
    return None if name is None else find_model(name, file)


def text_given(argument: str) -> str:
    """Words of an argument, or of standard input without the line's end that a pipe puts there."""
    if argument != "-":
        return argument
    try:
        return read_bytes("-").decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ParseError(f"standard input: byte {error.start:,} is not UTF-8 text") from None


@contextmanager
def about(file: str) -> Generator[None]:
    """Put the file's name before what is wrong with its content."""
    name = "standard input" if file == "-" else file
    try:
        yield
    except UsageError:
        raise
    except ContextwrightError as error:
        raise ContextwrightError(f"{name}: {error}") from error
    except RecursionError as error:
        raise ContextwrightError(f"{name}: nested too deeply") from error
