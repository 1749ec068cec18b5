"""`cw check` and `cw count`: what a provider would refuse in a request, and its tokens."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any

from contextwright import formats
from contextwright.cli.arguments import find_model, named_model
from contextwright.cli.inputs import about, read_payload
from contextwright.cli.options import (
    Argument,
    AsJson,
    File,
    ModelName,
    ModelsFile,
    Option,
    PayloadFormat,
    RequiredModel,
    refuse,
)
from contextwright.cli.output import note, numbered, say, say_json
from contextwright.documents.read import decode, read_bytes
from contextwright.errors import ParseError, UsageError, shown
from contextwright.formats import api
from contextwright.wire.values import is_list, is_object

__all__ = ["check", "count"]

FILE_LIKE = re.compile(r"\S*[^\s.][./\\][^\s.]\S*")
"""One word with a dot or a slash inside: more likely a mistyped file than text to count."""


def check(
    file: File,
    format: PayloadFormat = None,
    model: ModelName = None,
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """List what a provider would refuse in a request.

    Prints one problem per line: its level, the code of the rule, the path and what is wrong. Exits
    with 1 if there is an error; warnings alone exit with 0. Without --format, the model's format
    is used, and without a model it is detected.

    \b
    cw check payload.json
    cw check payload.json --format anthropic
    cw check payload.json --model gpt-5.6-sol --json
    """
    facts = named_model(model, models)
    if format is None and facts is not None:
        format = facts.format
    if format is not None:
        formats.find(format)
    data, found = read_payload(file, format)
    with about(file):
        problems = api.check(data, found, model=facts)
    if as_json:
        say_json(problems)
    elif problems:
        say("\n".join(map(str, problems)))
    errors = sum(problem.level == "error" for problem in problems)
    note(f"cw: {numbered(errors, 'error')}, {numbered(len(problems) - errors, 'warning')}")
    return 1 if errors else 0


def count(
    what: Annotated[
        str,
        Argument("FILE|TEXT", help="File, - for standard input, or plain text."),
    ],
    model: RequiredModel,
    format: PayloadFormat = None,
    text: Annotated[
        bool, Option("--text", help="Count the argument itself, even if it names a file.")
    ] = False,
    models: ModelsFile = None,
    as_json: AsJson = False,
) -> int:
    """Count the tokens of a request or of plain text.

    Says whether the number is exact, or by how much it may be wrong. A file that starts with { or
    [ is a request, and so is one with --format; any other file is text.

    \b
    cw count payload.json --model gpt-5.6-sol
    cw count "How many tokens is this?" --model claude-sonnet-5-5
    """
    facts = find_model(model, models)
    if format is not None:
        formats.find(format)
    with about(what):
        data = what if text else countable(what, is_request=format is not None)
        if isinstance(data, str):
            refuse({"--format": format}, "has no effect: plain text has no format")
        counted = api.count(data, model=facts, format=format)
    if as_json:
        say_json(counted)
    else:
        say(str(counted))
    return 0


def countable(what: str, *, is_request: bool) -> Any:
    """Return the argument of `cw count` as a file's payload, a file's text, or plain text.

    A file that is said to be a request is read as one, whatever it begins with.
    """
    if what != "-" and not os.path.exists(what):
        if FILE_LIKE.fullmatch(what):
            raise UsageError(f"there is no file {shown(what)}", hint="--text counts the text")
        return what
    data = read_bytes(what)
    if is_request or data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        payload = decode(data)
        if is_object(payload) or (is_list(payload) and all(map(is_object, payload))):
            return payload
        raise ParseError(f"a request is an object or a list of objects, not {shown(payload)}")
    if b"\0" in data:
        raise ParseError("it holds NUL bytes: it is not text", hint="only UTF-8 can be counted")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(
            f"byte {error.start:,} is not UTF-8 text", hint="only text and JSON can be counted"
        ) from None
