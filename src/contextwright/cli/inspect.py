"""`cw check`, `cw count` and `cw show`: looking at one payload or conversation."""

from __future__ import annotations

import os
import re
from typing import Any

from contextwright import api, display, formats
from contextwright.cli.input import about
from contextwright.cli.output import note, numbered, on_terminal, paint, say, say_json
from contextwright.documents import decode, read_bytes, read_document
from contextwright.errors import ParseError, UsageError, shown
from contextwright.formats.base import Conversation
from contextwright.models import Model

__all__ = ["check", "count", "print_one", "show"]

FILE_LIKE = re.compile(r"\S*[^\s.][./\\][^\s.]\S*")
"""One word with a dot or a slash inside: sooner a mistyped file than something to count."""


def check(file: str, format: str | None, *, model: Model | None, as_json: bool) -> int:
    """Print the problems of a payload; 1 if one of them is an error."""
    if format is None:
        if model is None:
            raise UsageError("which format is it?", hint="pass --format or --model")
        format = model.format
    formats.find(format)
    with about(file):
        problems = api.check(read_document(file), format, model=model)
    if as_json:
        say_json(problems)
    elif problems:
        say("\n".join(map(str, problems)))
    errors = sum(problem.level == "error" for problem in problems)
    note(f"cw: {numbered(errors, 'error')}, {numbered(len(problems) - errors, 'warning')}")
    return 1 if errors else 0


def count(what: str, format: str | None, *, model: Model, as_text: bool, as_json: bool) -> int:
    """Print the tokens of a payload or of text."""
    if format is not None:
        formats.find(format)
    if as_text:
        counted = api.count(what, model=model)
    else:
        with about(what):
            counted = api.count(countable(what), model=model, format=format)
    if as_json:
        say_json(counted)
    else:
        say(str(counted))
    return 0


def countable(what: str) -> Any:
    """What the argument of `cw count` means: a file's payload, a file's text, or its own words."""
    if what != "-" and not os.path.exists(what):
        if FILE_LIKE.fullmatch(what):
            raise UsageError(f"there is no file {shown(what)}", hint="--text counts the words")
        return what
    data = read_bytes(what)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return decode(data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(
            f"byte {error.start:,} is not UTF-8 text", hint="only text and JSON can be counted"
        ) from None


def show(file: str, format: str, *, ascii: bool, width: int | None, colored: bool | None) -> int:
    """Print a conversation as people read it."""
    formats.find(format)
    with about(file):
        conversation = api.parse(read_document(file), format)
    print_one(conversation, ascii=ascii, width=width, colored=colored)
    return 0


def print_one(
    conversation: Conversation, *, ascii: bool, width: int | None, colored: bool | None
) -> None:
    """Print a conversation, in colour on a terminal or when asked for."""
    if on_terminal() if colored is None else colored:
        paint(
            lambda console: display.print_conversation(
                conversation, console=console, ascii=ascii, width=width
            ),
            colored=True,
        )
    else:
        say(display.show(conversation, ascii=ascii, width=width))
    for change in conversation.changes:
        note(f"cw: {change}")
