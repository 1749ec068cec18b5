"""Reads the conversations of a source: detects its format, finds its importer."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from contextwright.documents.files import Files
from contextwright.documents.files import open_files as open_source
from contextwright.errors import UnknownFormat, require
from contextwright.importers.base import MODULES, NAMES, Imported, Importer, ReadOptions
from contextwright.importers.detection import detect

__all__ = ["find", "open_files", "read"]

PACKAGE = f"{__package__}.sources"


def find(name: str) -> Importer:
    """Return the importer of that name.

    Raises:
        UnknownFormat: the name is not one of `NAMES`.
    """
    require(name, str, "format")
    if name not in NAMES:
        raise UnknownFormat(name, NAMES)
    if name not in MODULES:
        return import_module(f"{PACKAGE}.any_format").importer(name)
    return import_module(f"{PACKAGE}.{MODULES[name]}").IMPORTER


def open_files(source: str | Path) -> Files:
    """Open the file, folder or zip at a path; `-` is standard input.

    Raises:
        UsageError: the path cannot be read.
        ParseError: the path is a zip that cannot be opened.
    """
    require(source, str | Path, "source", "name a file, a folder or a zip")
    return open_source(source)


def read(
    source: str | Path | Files,
    format: str | None = None,
    *,
    branches: bool = False,
    replace: bool = False,
    me: str | None = None,
    threads: bool = False,
) -> Iterator[Imported]:
    """Yield the conversations of a source one by one.

    Take the messages of each before asking for the next. Without a format, it is detected from
    the content. With `branches`, other versions of a conversation follow it as forks. With
    `replace`, lone surrogates and NUL become U+FFFD; `Files.replaced` counts them. `me` is the id,
    handle or name of the participant whose messages are the assistant's; without it, a chat
    with one bot has that bot as the assistant, and a change says so. With `threads`, the threads
    of a channel are conversations of their own.

    Raises:
        UsageError: the source cannot be opened.
        ParseError: it is broken, or not what the format says; it names file, line and field.
    """
    for name, flag in (("branches", branches), ("replace", replace), ("threads", threads)):
        require(flag, bool, name)
    require(me, str | None, "me", "an id, a handle or a name")
    options = ReadOptions(branches=branches, me=me, threads=threads)
    if isinstance(source, Files):
        yield from conversations(source, format, options, replace)
        return
    with open_files(source) as files:
        yield from conversations(files, format, options, replace)


def conversations(
    files: Files, format: str | None, options: ReadOptions, replace: bool
) -> Iterator[Imported]:
    """Yield the conversations of open files."""
    files.replace = replace
    importer = find(detect(files) if format is None else format)
    files.replaced = 0  # detection has counted too
    yield from importer.read(files, options)
