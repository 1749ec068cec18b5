"""Every format of the core as a source: a document, or JSON Lines with a conversation each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import islice
from typing import Any

import msgspec

from contextwright import formats
from contextwright.documents.files import Files
from contextwright.documents.read import DOCUMENT_LIMIT, LINE_LIMIT, too_large
from contextwright.documents.stream import Document
from contextwright.errors import ParseError
from contextwright.formats.gryag.compact import MOST_LOOKED_AT, compact_text, is_compact
from contextwright.importers.base import (
    SOURCE,
    Fields,
    Imported,
    Importer,
    ReadOptions,
    Report,
    as_id,
)
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message

__all__ = ["conversations", "importer", "is_lines", "marked", "read_compact_text", "settings_of"]

ENDINGS = (".json", ".jsonl", ".ndjson")
KEPT = ("tools", "model", "settings", "reply_tools", "source", "extra")


def importer(name: str) -> Importer:
    """The importer of a format of the core."""
    format = formats.find(name)

    def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
        text = read_compact_text(files, files.names[0], named=True) if name == "gryag" else None
        found = conversations(files) if text is None else [(files.names[0], None, text)]
        for file, line, data in found:
            try:
                yield imported(format.parse(data, False), files, file, line)
            except ParseError as error:
                raise error.within(line=line, file=files.shown(file)) from None

    return Importer(name, format.title, read)


def conversations(files: Files, *, least: int = 2) -> Iterator[tuple[str, int | None, Any]]:
    """The decoded conversations of all files: file, line if it has lines, data.

    A file of fewer than `least` lines is a document.
    """
    names = list(files.names) if len(files.names) == 1 else files.ending(*ENDINGS)
    if not names:
        raise ParseError("there is no JSON in it", file=files.label)
    for name in names:
        if is_lines(files, name, least=least):
            for number, data in files.lines(name):
                yield name, number, data
        else:
            yield name, None, files.document(name)


def read_compact_text(files: Files, name: str, *, named: bool = False) -> str | None:
    """The text of a file in gryag's compact form; None if the file is something else."""
    with files.open(name) as stream:
        start = stream.read(MOST_LOOKED_AT)
        if not is_compact(start, named=named):
            return None
        data = start + stream.read(DOCUMENT_LIMIT + 1)
        if len(data) > DOCUMENT_LIMIT:
            raise too_large("document", DOCUMENT_LIMIT, line=None)
        return compact_text(data)


def is_lines(files: Files, name: str, *, least: int = 2) -> bool:
    """Whether a file is JSON Lines: its first line stands for itself, and others follow."""
    with files.open(name) as stream:
        lines = iter(lambda: stream.readline(LINE_LIMIT + 1), b"")
        first = list(islice((line for line in lines if line.strip()), least))
    return len(first) == least and Document(BytesIO(first[0])).is_whole()


def imported(conversation: Conversation, files: Files, file: str, line: int | None) -> Imported:
    """A conversation, named by itself or by its place."""
    stem = file.replace("\\", "/").rpartition("/")[2].partition(".")[0]
    id = as_id(conversation.id or f"{stem}{f'-{line}' if line else ''}")
    report = Report()
    for change in conversation.changes:
        report.add(change)
    source = conversation.source or ""
    about = Fields(conversation.extra.get("contextwright", {}))  # written by cw export
    return Imported(
        id=id,
        format=source,
        title=about.maybe("title"),
        agent=about.maybe("agent"),
        messages=marked(conversation.messages, source, id),
        report=report,
        settings=settings_of(conversation),
    )


def marked(
    messages: Iterable[Message], source: str, id: str, start: int = 0
) -> tuple[Message, ...]:
    """The messages, each with its place as its identity."""
    replace = msgspec.structs.replace
    return tuple(
        [
            replace(message, meta={SOURCE: f"{source}/{id}/{place}", **message.meta})
            for place, message in enumerate(messages, start)
        ]
    )


def settings_of(conversation: Conversation) -> dict[str, Any]:
    """What a conversation says beyond its messages, as plain JSON."""
    held = {name: getattr(conversation, name) for name in KEPT}
    plain = msgspec.to_builtins({name: value for name, value in held.items() if value})
    return {name: value for name, value in plain.items() if value}
