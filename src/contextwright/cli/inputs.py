"""The files that commands read: documents in one of the formats, and files of other tools."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from msgspec import Struct

from contextwright import formats, importers
from contextwright.cli.output import left_out, numbered
from contextwright.documents.files import Files, OneFile
from contextwright.documents.read import decode, read_bytes
from contextwright.errors import ContextwrightError, UsageError
from contextwright.formats import api
from contextwright.formats.gryag.compact import compact_text, is_compact
from contextwright.importers.detection import detect_document, format_of
from contextwright.importers.sources.any_format import is_lines, is_message
from contextwright.messages.conversation import Conversation

__all__ = [
    "about",
    "is_file",
    "parse_document",
    "read_conversation",
    "read_input",
    "read_payload",
]


class Input(Struct, frozen=True):
    """The content of a file: a document in one of the formats, or conversations of another tool."""

    file: str
    format: str
    document: Any = None
    conversations: tuple[Conversation, ...] | None = None
    """The conversations of another tool; None if it is a document."""
    skipped: Counter[str] = Counter()
    """The number of entries that are not messages, by the reason."""

    def all(self) -> list[Conversation]:
        """Return all its conversations."""
        if self.conversations is not None:
            return list(self.conversations)
        with about(self.file):
            return [api.parse(self.document, self.format)]

    def one(self) -> Conversation:
        """Return its only conversation.

        Raises:
            ContextwrightError: there are several, or none.
        """
        found = self.all()
        if len(found) == 1:
            return found[0]
        hint = "--jsonl reads a conversation per line; cw import stores them, to name one"
        holds = numbered(len(found), "conversation")
        raise ContextwrightError(f"{shown_name(self.file)}: it holds {holds}", hint=hint)


def is_file(name: str) -> bool:
    """Whether an argument that may be a file or a conversation is a file, or standard input."""
    return name == "-" or (os.path.exists(name) and not os.path.isdir(name))


def read_conversation(file: str, format: str | None) -> Conversation:
    """Read the one conversation of a file; without a format, it is detected."""
    found = read_input(file, format)
    left_out(found.skipped)
    return found.one()


def read_input(file: str, format: str | None) -> Input:
    """Read a file. `format` is a format or one of the tools that `cw import` knows.

    Raises:
        UsageError: there is no such format, or no such file.
        ContextwrightError: the file is damaged, or its format cannot be detected.
    """
    if format is not None:
        importers.find(format)
    with about(file):
        data = read_bytes(file)
    files = OneFile(shown_name(file), None, BytesIO(data))
    if is_lines(files, files.label):
        return from_tool(file, files, format or importers.detect(files))
    with about(file):
        document = decoded(data, format)
        if is_message(document):
            document = [document]
        found = format or detect_document(document) or format_of(document)
    if found in formats.NAMES:
        return Input(file, found, document)
    return from_tool(file, files, found)


def from_tool(file: str, files: Files, format: str) -> Input:
    """Return the conversations of another tool's file."""
    conversations: list[Conversation] = []
    skipped: Counter[str] = Counter()
    for one in importers.read(files, format):
        conversations.append(one.whole())
        skipped += one.report.skipped
    return Input(file, format, conversations=tuple(conversations), skipped=skipped)


def read_payload(file: str, format: str | None) -> tuple[Any, str]:
    """Read a request; return it with its format, which is detected if none is given.

    Raises:
        ParseError: it is a file of another tool.
    """
    with about(file):
        data = decoded(read_bytes(file), format)
        return data, format or format_of(data)


def decoded(data: bytes, format: str | None) -> Any:
    """Return the decoded JSON of a file, or the text of one in gryag's compact form."""
    if format in (None, "gryag") and is_compact(data, named=format is not None):
        return compact_text(data)
    return decode(data)


def parse_document(data: Any, format: str | None) -> Conversation:
    """Parse a decoded document; without a format, it is detected."""
    return api.parse(data, format or format_of(data))


def shown_name(file: str) -> str:
    """Return the name of a file for errors."""
    return "standard input" if file == "-" else file


@contextmanager
def about(file: str) -> Generator[None]:
    """Put the file's name before errors about its content."""
    try:
        yield
    except UsageError:
        raise
    except ContextwrightError as error:
        raise ContextwrightError(f"{shown_name(file)}: {error}") from error
    except RecursionError as error:
        raise ContextwrightError(f"{shown_name(file)}: nested too deeply") from error
