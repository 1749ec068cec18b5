"""Files and folders on a disk or in an object store: found, read, and written whole."""

from __future__ import annotations

import fnmatch
import glob
import io
import os
import re
import uuid
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, BinaryIO, cast

from msgspec import Struct

from contextwright.batch.arrow import ArrowException, fs
from contextwright.errors import ContextwrightError, UsageError, require, shown
from contextwright.text.fields import Checked
from contextwright.text.utf8 import is_utf8

__all__ = ["FoundFile", "Place", "PlaceError", "find_files"]

URL = re.compile(r"[a-z][a-z0-9+.-]*://(?P<host>[^/?]*)", re.IGNORECASE)
WILDCARD = re.compile(r"[*\[]")
KINDS = {".jsonl": "lines", ".ndjson": "lines", ".json": "document", ".parquet": "parquet"}
DETAIL = re.compile(r".*Detail: \[errno \d+\] ")
PACKED = (".gz", ".zst", ".bz2")
UNPACKED_AT_ONCE = 2**16
"""Bytes that are unpacked in one step, and lost if a packed file is damaged within them."""


class PlaceError(ContextwrightError):
    """The system cannot read or write at a place."""


class Place(Checked, frozen=True):
    """A path, or a URL such as `s3://bucket/folder`."""

    name: str

    def __truediv__(self, name: str) -> Place:
        base, mark, query = self.name.partition("?") if is_url(self.name) else (self.name, "", "")
        return Place(f"{base.rstrip('/')}/{name}{mark}{query}")

    def absolute(self) -> Place:
        """Return the place by a name that does not depend on the current folder."""
        return self if is_url(self.name) else Place(self.path)

    @property
    def system(self) -> Any:
        """The file system it is in."""
        return located(self.name)[0]

    @property
    def path(self) -> str:
        """Its path within the file system."""
        return located(self.name)[1]

    def exists(self) -> bool:
        """Whether there is a file or a folder."""
        with naming(self):
            return self.system.get_file_info(self.path).type != fs.FileType.NotFound

    def is_file(self) -> bool:
        """Whether there is a file."""
        with naming(self):
            return self.system.get_file_info(self.path).type == fs.FileType.File

    def names(self) -> list[str]:
        """Return the names in the folder; none if it does not exist."""
        with naming(self):
            found = self.system.get_file_info(fs.FileSelector(self.path, allow_not_found=True))
            return sorted(info.base_name for info in found)

    def make_folder(self) -> None:
        """Create the folder, and those above it."""
        with naming(self):
            self.system.create_dir(self.path, recursive=True)

    def remove(self) -> None:
        """Remove the file, or the folder with everything in it; do nothing if there is neither."""
        with naming(self):
            kind = self.system.get_file_info(self.path).type
            if kind == fs.FileType.Directory:
                self.system.delete_dir(self.path)
            elif kind == fs.FileType.File:
                self.system.delete_file(self.path)

    def move(self, target: Place) -> None:
        """Rename the file; replace one that is there."""
        with naming(self):
            self.system.move(self.path, target.path)

    def read(self) -> bytes:
        """Return all bytes of the file."""
        with self.open() as stream:
            return stream.read()

    @contextmanager
    def open(self) -> Generator[Any]:
        """Open the file for reading at any offset."""
        with naming(self), self.system.open_input_file(self.path) as stream:
            yield stream

    @contextmanager
    def open_unpacked(self) -> Generator[BinaryIO]:
        """Open the file as a stream; unpack it if its name ends in .gz, .zst or .bz2."""
        with (
            naming(self),
            self.system.open_input_stream(self.path, compression="detect") as stream,
            io.BufferedReader(stream, UNPACKED_AT_ONCE) as lines,
        ):
            yield cast("BinaryIO", lines)

    @contextmanager
    def written(self) -> Generator[Any]:
        """Open a new file that appears whole or not at all."""
        part = self.beside(f".{uuid.uuid4().hex}.part")
        try:
            with naming(self), self.system.open_output_stream(part.path) as stream:
                yield stream
            part.move(self)
        except BaseException:
            part.remove()
            raise

    def is_in(self, folder: Place) -> bool:
        """Whether it is below a folder."""
        is_below = self.path.startswith(f"{folder.path.rstrip('/')}/")
        return is_below and self.system == folder.system

    def beside(self, ending: str) -> Place:
        """Return the place with an ending added to its name."""
        base, mark, query = self.name.partition("?") if is_url(self.name) else (self.name, "", "")
        return Place(f"{base}{ending}{mark}{query}")


class FoundFile(Struct, frozen=True):
    """A file of a data set."""

    place: Place
    kind: str
    """`lines`, `document` or `parquet`."""
    size: int
    changed: str
    """When it was last modified."""

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed."""
        return self.place.path.endswith(PACKED)

    def is_whole(self) -> bool:
        """Whether the system still reads all of its bytes."""
        with self.place.open() as stream:
            return sum(map(len, iter(lambda: stream.read(2**20), b""))) == self.size


def find_files(names: Iterable[str], output: Place) -> tuple[list[FoundFile], int]:
    """Return the files that names, folders and wildcards stand for, each once, in a fixed order.

    Also returns how many files of other kinds a folder holds. A file that is named is read as JSON
    Lines if its ending is unknown. What is below `output` is left out, because a job that goes on
    has to find what it found before it began to write there.

    Raises:
        UsageError: there is nothing at a name, or the name of a file is not UTF-8.
    """
    found: dict[str, FoundFile] = {}
    others = 0
    require(names, Iterable, "inputs", "name files, folders, wildcards or URLs")
    for name in names:
        require(name, str, "an input", "name files, folders, wildcards or URLs")
        try:
            in_folder, matching = matches(name)
        except UnicodeError:  # Arrow spells all names in UTF-8
            message = f"{shown(name)} has a file whose name is not valid UTF-8"
            raise UsageError(message, hint="rename it") from None
        if not matching:
            hint = "name files, folders, wildcards or URLs"
            raise UsageError(f"there is no file at {name!r}", hint=hint)
        for place, info in matching:
            if place.is_in(output):
                continue
            kind = kind_of(info.path)
            if kind is None and in_folder:
                others += 1
                continue
            changed = str(info.mtime_ns or "")
            file = FoundFile(place, kind or "lines", info.size, changed)
            # One that a link leads to is still one file.
            found.setdefault(place.name if is_url(name) else os.path.realpath(place.name), file)
    return list(found.values()), others


def kind_of(path: str) -> str | None:
    """Return how a file is read, by its ending; None if the ending is unknown."""
    name = path.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    return KINDS.get(os.path.splitext(name)[1])


def matches(name: str) -> tuple[bool, list[tuple[Place, Any]]]:
    """Return whether a name is a folder's, and the files that it stands for."""
    system, path = located(name)
    with naming(Place(name)):
        info = system.get_file_info(path)
        if info.type == fs.FileType.Directory:
            return True, below(name, system, path)
        if info.type == fs.FileType.File:
            return False, [(place_at(name, path), info)]
        start = WILDCARD.search(path)
        if start is None:
            return False, []
        if not is_url(name):
            paths = sorted(glob.glob(path, recursive=True))
            infos = zip(paths, system.get_file_info(paths), strict=True)
            return False, [(Place(one), info) for one, info in infos if info.is_file]
        folder = path[: start.start()].rpartition("/")[0]
        every = below(name, system, folder)
        return False, [one for one in every if fnmatch.fnmatchcase(one[1].path, path)]


def below(name: str, system: Any, folder: str) -> list[tuple[Place, Any]]:
    """Return all files below a folder, in order; hidden ones are left out."""
    selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
    infos = [
        info
        for info in system.get_file_info(selector if is_url(name) else local_paths(folder))
        if info.is_file and "/." not in info.path.removeprefix(folder)
    ]
    return [(place_at(name, info.path), info) for info in sorted(infos, key=lambda one: one.path)]


def local_paths(folder: str) -> list[str]:
    """Return the paths below a folder of this machine.

    Links to folders are not followed, because they may lead in a circle.
    """
    return [
        os.path.join(parent, name)
        for parent, _, names in os.walk(folder, onerror=refuse)
        for name in names
    ]


def refuse(error: OSError) -> None:
    """Raise for a folder that cannot be listed, because it would look empty."""
    raise error


def place_at(name: str, path: str) -> Place:
    """Return the place of a path in the file system of a name."""
    if not is_url(name):
        return Place(path)
    scheme, _, rest = name.partition("://")
    return Place(f"{scheme}://{path}{'?' if '?' in rest else ''}{rest.partition('?')[2]}")


def is_url(name: str) -> bool:
    """Whether a name is a URL."""
    return URL.match(name) is not None


def located(name: str) -> tuple[Any, str]:
    """Return the file system of a name, and the path within it.

    Raises:
        UsageError: it is not the name of a place, or it holds a key.
    """
    url = URL.match(name)
    if not name or "\0" in name or not is_utf8(name):  # as Arrow spells them all
        raise UsageError(f"{shown(name)} is not a valid path or URL")
    if url is None:
        return fs.LocalFileSystem(), os.path.abspath(name)
    if "@" in url["host"]:
        hint = "give it in the environment, as the provider's own tools read it"
        raise UsageError("the URL holds a key", hint=hint)
    return at_url(name)


@lru_cache(256)
def at_url(name: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path within it.

    Raises:
        UsageError: no file system has such URLs.
    """
    try:
        return fs.FileSystem.from_uri(name)
    except (ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{shown(name)} is not a valid path or URL: {first_line(error)}") from None


@contextmanager
def naming(place: Place) -> Generator[None]:
    """Put the name of a place before the system's errors about it."""
    try:
        yield
    except (OSError, ArrowException) as error:
        raise PlaceError(f"{place.name!r}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """Return the first line of a system's message; of Arrow's, what the system said."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = DETAIL.sub("", reason.strip().partition("\n")[0])
    return shown(line).strip("\"'")
