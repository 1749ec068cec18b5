"""Every format of the core as a source of imports.

A file is one document, JSON Lines with one conversation per line, or JSON Lines with one message
per line, which form one conversation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Struct

from contextwright import formats
from contextwright.documents.files import Files
from contextwright.documents.read import DOCUMENT_LIMIT, LINE_LIMIT, too_large
from contextwright.documents.stream import Document
from contextwright.errors import ParseError
from contextwright.formats.gryag.compact import MOST_LOOKED_AT, compact_text, is_compact
from contextwright.importers.base import (
    Fields,
    Imported,
    Importer,
    ReadOptions,
    Report,
    as_id,
    line_at,
)
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.quotes import SOURCE
from contextwright.wire.values import is_object

__all__ = [
    "ENDINGS",
    "Body",
    "bodies",
    "importer",
    "is_lines",
    "is_message",
    "marked",
    "read_compact_text",
    "settings_of",
]

PATH = re.compile(r"[/\\]")
ENDINGS = (".json", ".jsonl", ".ndjson")
KEPT = ("tools", "model", "settings", "reply_tools", "source", "extra")


def importer(name: str) -> Importer:
    """Return the importer of a core format."""
    format = formats.find(name)

    def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
        compact = name == "gryag" and len(files.names) == 1
        file = files.names[0] if compact else ""
        text = read_compact_text(files, file, named=True) if compact else None
        several = len(files.names) > 1
        hint = f"all files are read as {name}; import others by themselves" if several else ""
        found = bodies(files) if text is None else [Body(file, text, stem=stem_of(file))]
        for body in found:
            try:
                yield imported(format.parse(body.data, False), body)
            except ParseError as error:
                line = line_at(error.path, body.lines)
                error.hint = error.hint or hint
                raise error.within(line=line, file=files.shown(body.file)) from None

    return Importer(name, format.title, read)


class Body(Struct, frozen=True):
    """One decoded conversation of a file."""

    file: str
    data: Any
    lines: Sequence[int] = ()
    """Its line, or the line of each of its messages; empty for a document."""
    stem: str = ""
    """Its id, or with its line the beginning of its id, if it has none of its own."""


def bodies(files: Files, names: Iterable[str] | None = None, *, least: int = 2) -> Iterator[Body]:
    """Yield the conversations of these files, else of all.

    A file of fewer than `least` lines is a document.
    """
    for name, stem in stems_of(names_in(files) if names is None else names).items():
        if not is_lines(files, name, least=least):
            data = files.document(name)
            yield Body(name, [data] if is_message(data) else data, stem=stem)
            continue
        lines = files.lines(name)
        number, data = next(lines)
        if is_message(data):
            yield whole_of(name, chain([(number, data)], lines), files, stem)
            continue
        yield Body(name, data, (number,), stem)
        for number, data in lines:
            yield Body(name, data, (number,), stem)


def names_in(files: Files) -> list[str]:
    """Return the files that may hold conversations."""
    names = list(files.names) if len(files.names) == 1 else files.ending(*ENDINGS)
    if not names:
        raise ParseError("it contains no JSON", file=files.label)
    return names


def stems_of(names: Iterable[str]) -> dict[str, str]:
    """Return the stem of each file; of several with the same, the path without its ending."""
    stems = {name: stem_of(name) for name in names}
    shared = {stem for stem, number in Counter(stems.values()).items() if number > 1}
    return {
        name: as_id(*PATH.split(name.rpartition(".")[0])) if stem in shared else stem
        for name, stem in stems.items()
    }


def stem_of(name: str) -> str:
    """Return the name of a file up to its first dot."""
    return PATH.split(name)[-1].partition(".")[0]


def is_message(data: Any) -> bool:
    """Whether a value is a single message, not a conversation."""
    return is_object(data) and isinstance(data.get("role"), str) and "messages" not in data


def whole_of(name: str, lines: Iterable[tuple[int, Any]], files: Files, stem: str) -> Body:
    """Return the conversation of a file with one message per line.

    Raises:
        ParseError: a line is something else, or the file is too large for a document.
    """
    numbers: list[int] = []
    messages: list[Any] = []
    before = files.past
    for number, data in lines:
        if not is_message(data):
            reason = "is not a message, as the lines before it are"
            raise ParseError(reason, line=number, file=files.shown(name))
        if files.position - before > DOCUMENT_LIMIT:
            raise too_large("document", DOCUMENT_LIMIT, line=None).within(file=files.shown(name))
        numbers.append(number)
        messages.append(data)
    return Body(name, messages, numbers, stem)


def read_compact_text(files: Files, name: str, *, named: bool = False) -> str | None:
    """Return the text of a file in gryag's compact form; None if the file is something else."""
    with files.open(name) as stream:
        start = stream.read(MOST_LOOKED_AT)
        if not is_compact(start, named=named):
            return None
        data = start + stream.read(DOCUMENT_LIMIT + 1)
        if len(data) > DOCUMENT_LIMIT:
            raise too_large("document", DOCUMENT_LIMIT, line=None)
        return compact_text(data)


def is_lines(files: Files, name: str, *, least: int = 2) -> bool:
    """Whether a file is JSON Lines: its first line is a whole value, and others follow."""
    with files.open(name) as stream:
        lines = iter(lambda: stream.readline(LINE_LIMIT + 1), b"")
        filled = (line for line in lines if line.strip())
        first = next(filled, b"")
        # A large export on one line is cut.
        if len(first) > LINE_LIMIT or sum(1 for _ in islice(filled, least - 1)) < least - 1:
            return False
    return Document(BytesIO(first)).is_whole()


def imported(conversation: Conversation, body: Body) -> Imported:
    """Return a conversation with its own id, or one derived from its position."""
    place = f"-{body.lines[0]}" if len(body.lines) == 1 else ""
    id = as_id(conversation.id or f"{body.stem}{place}")
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
        lines=body.lines,
    )


def marked(
    messages: Iterable[Message], source: str, id: str, start: int = 0
) -> tuple[Message, ...]:
    """Return the messages, each with its position as its identity."""
    replace, prefix = msgspec.structs.replace, f"{source}/{id}/"
    return tuple(
        [
            replace(message, meta={SOURCE: f"{prefix}{place}", **message.meta})
            for place, message in enumerate(messages, start)
        ]
    )


def settings_of(conversation: Conversation) -> dict[str, Any]:
    """Return the settings and tools of a conversation as plain JSON."""
    held = {name: getattr(conversation, name) for name in KEPT}
    plain = msgspec.to_builtins({name: value for name, value in held.items() if value})
    return {name: value for name, value in plain.items() if value}
