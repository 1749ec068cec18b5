"""The content of a path: a file, a folder or a zip, as named streams.

Members of a zip are unpacked while they are read; nothing is extracted. Names in an archive are
data: they are compared and shown, and never opened as paths.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from contextwright.documents.faults import without_bad_text
from contextwright.documents.read import (
    CHUNK,
    DOCUMENT_LIMIT,
    ReadLine,
    decode,
    decode_line,
    lines_of,
    reason_of,
    standard_input,
    too_large,
)
from contextwright.errors import ParseError, UsageError, shown

__all__ = ["Files", "Folder", "OneFile", "open_files"]

ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
RATIO = 200
"""Maximum ratio of unpacked to packed size; text rarely shrinks to a twentieth."""
SMALL = 64 * 2**20
"""Members up to this size may have any ratio."""
MOST_MEMBERS = 200_000
ENCRYPTED = 1
IN_MEMORY = 8 * 2**20
PIPE_LIMIT = 4 * 2**30
"""Maximum bytes from a pipe, which are kept in a temporary file until they are read."""


class Files:
    """Named streams of bytes that can be opened any number of times."""

    def __init__(self, label: str, names: tuple[str, ...], total: int) -> None:
        self.label = label
        """The path as the user wrote it."""
        self.names = names
        self.total = total
        """The number of bytes to read."""
        self.replace = False
        """Whether to replace what cannot be stored (lone surrogates, NUL) with U+FFFD."""
        self.replaced = 0
        """The number of replacements."""
        self.unread = 0
        """The number of links, pipes and devices in a folder."""
        self.past = 0
        self.stream: IO[bytes] | None = None

    @property
    def position(self) -> int:
        """The number of bytes read, for a progress bar."""
        open_now = self.stream is not None and not self.stream.closed
        return min(self.total, self.past + (self.stream.tell() if open_now else 0))  # pyright: ignore

    def mend(self, data: bytes) -> bytes:
        """Return JSON text with replacements, if enabled."""
        if not self.replace:
            return data
        mended, found = without_bad_text(data)
        self.replaced += found
        return mended

    @contextmanager
    def ahead(self) -> Generator[None]:
        """Read what will be read again: neither its replacements nor its bytes count yet."""
        replaced, past = self.replaced, self.past
        yield
        self.replaced, self.past = replaced, past

    def shown(self, name: str) -> str:
        """Return the name of a member for errors."""
        return name if self.label == name else f"{self.label}: {name}"

    def raw(self, name: str) -> IO[bytes]:
        """Open the bytes of a member."""
        raise NotImplementedError

    @contextmanager
    def open(self, name: str) -> Generator[BinaryIO]:
        """Open a member as a stream; errors name it."""
        with self.naming(name), self.raw(name) as stream:
            self.stream = stream
            yield cast("BinaryIO", stream)
            self.past += stream.tell()

    @contextmanager
    def naming(self, name: str) -> Generator[None]:
        """Put the member's name before any error about it."""
        try:
            yield
        except ParseError as error:
            raise error.within(file=self.shown(name)) from None
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise damaged(self.shown(name), error) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"cannot read {shown(self.shown(name))}: {reason}") from None

    def document(self, name: str) -> Any:
        """Return the JSON value of a small member."""
        with self.open(name) as stream:
            data = stream.read(DOCUMENT_LIMIT + 1)
            if len(data) > DOCUMENT_LIMIT:
                raise too_large("document", DOCUMENT_LIMIT, line=None)
            return decode(self.mend(data))

    def line(self, data: bytes, number: int) -> Any:
        """Return the JSON value of a line; the error if it is not valid."""
        return decode_line(self.mend(data), number)

    def lines(self, name: str, read: ReadLine | None = None) -> Iterator[tuple[int, Any]]:
        """Yield the JSON value of each line of a member; the first bad line raises."""
        with self.open(name) as stream:
            for number, value in lines_of(stream, read or self.line):
                if isinstance(value, ParseError):
                    raise value
                yield number, value

    def ending(self, *endings: str) -> list[str]:
        """Return the names with these endings, in order."""
        return [name for name in self.names if name.lower().endswith(endings)]

    def close(self) -> None:
        """Close everything that was opened."""

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OneFile(Files):
    """A single file, or standard input."""

    def __init__(self, label: str, path: str | Path | None, spooled: IO[bytes] | None) -> None:
        size = os.path.getsize(path) if path is not None else length(cast("IO[bytes]", spooled))
        super().__init__(label, (label,), size)
        self.path = path
        self.spooled = spooled

    def raw(self, name: str) -> IO[bytes]:
        """Open the file from its beginning."""
        if self.path is not None:
            return open(self.path, "rb", buffering=CHUNK)
        spooled = cast("IO[bytes]", self.spooled)
        spooled.seek(0)
        return cast("IO[bytes]", Unclosed(spooled))

    def close(self) -> None:
        """Discard the content of standard input."""
        if self.spooled is not None:
            self.spooled.close()


class Unclosed:
    """A stream that stays open when a reader closes it, because it will be read again."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.read = stream.read
        self.readline = stream.readline
        self.tell = stream.tell

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self.stream.closed

    def __enter__(self) -> Unclosed:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Folder(Files):
    """A folder and everything below it. Links are not followed, because they may lead out of it."""

    def __init__(self, path: Path) -> None:
        found: dict[str, int] = {}
        unread = 0
        for folder, folders, names in os.walk(path, onerror=refuse):
            folders.sort()
            for name in (*folders, *sorted(names)):
                file = Path(folder, name)
                facts = file.lstat()
                if not stat.S_ISREG(facts.st_mode):
                    unread += not stat.S_ISDIR(facts.st_mode)
                elif not is_shadow(name):
                    found[file.relative_to(path).as_posix()] = facts.st_size
        super().__init__(str(path), tuple(found), sum(found.values()))
        self.unread = unread
        self.path = path

    def raw(self, name: str) -> IO[bytes]:
        """Open a file that was found below the folder."""
        return open(self.path / name, "rb")


class Zip(Files):
    """A zip archive."""

    def __init__(self, label: str, stream: IO[bytes]) -> None:
        self.below = stream
        try:
            self.archive = zipfile.ZipFile(stream)
            self.members = members_of(self.archive)
        except (ParseError, zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            stream.close()
            if isinstance(error, ParseError):
                raise error.within(file=label) from None
            raise damaged(label, error) from None
        names = tuple(sorted(self.members))
        super().__init__(label, names, sum(info.file_size for info in self.members.values()))

    def raw(self, name: str) -> IO[bytes]:
        """Open a member for unpacking, unless its size ratio is too high."""
        info = self.members[name]
        if info.flag_bits & ENCRYPTED:
            raise ParseError("is encrypted", hint="unpack it with its password")
        if info.file_size > SMALL and info.file_size > RATIO * max(info.compress_size, 1):
            raise ParseError(
                f"grows from {info.compress_size:,} to {info.file_size:,} bytes, "
                f"more than {RATIO} times: this may be a zip bomb",
                hint="unpack it yourself if you trust it",
            )
        try:
            return self.archive.open(info)
        except NotImplementedError as error:
            raise ParseError(
                f"cannot be unpacked: {shown(str(error))}", hint="unpack it yourself"
            ) from None
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            raise zipfile.BadZipFile(f"{info.filename} begins before the file") from None

    def close(self) -> None:
        """Close the archive and the file it is in."""
        self.archive.close()
        self.below.close()


def is_shadow(name: str) -> bool:
    """Whether a file holds what macOS notes about another one (`__MACOSX/._conversations.json`)."""
    return name.rpartition("/")[2].startswith("._")


def members_of(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive by name; a repeated name is an error."""
    members = [
        info for info in archive.infolist() if not info.is_dir() and not is_shadow(info.filename)
    ]
    if len(members) > MOST_MEMBERS:
        raise ParseError(f"holds more than {MOST_MEMBERS:,} files")
    named = {info.filename: info for info in members}
    for info in members:
        if named[info.filename] is not info:
            raise ParseError(f"two members are called {shown(info.filename)}")
    return named


def damaged(file: str, error: BaseException) -> ParseError:
    """Return the error for a zip that cannot be read."""
    return ParseError(
        f"the zip is damaged: {shown(str(error))}", file=file, hint="download it again"
    )


def open_files(source: str | Path, label: str = "") -> Files:
    """Open the files of a path; `-` is standard input. `label` is its name in errors.

    Raises:
        UsageError: the path cannot be read.
        ParseError: the path is a zip that cannot be opened.
    """
    label = label or ("standard input" if source == "-" else str(source))
    try:
        if source == "-":
            return from_stream(label, standard_input())
        mode = os.stat(source).st_mode  # Path("") would be this folder
        path = Path(source)
        if stat.S_ISDIR(mode):
            return Folder(path)
        if not stat.S_ISREG(mode):  # a pipe can be read only once
            with open(path, "rb") as stream:
                if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty()):
                    hint = "name a file, a folder, a zip or a pipe"
                    raise UsageError(f"{shown(label)} is a device", hint=hint)
                return from_stream(label, stream)
        stream = open(path, "rb")
        if stream.read(4) in (ZIP, EMPTY_ZIP):
            return Zip(label, stream)
        stream.close()
        return OneFile(label, path, None)
    except (OSError, ValueError) as error:
        hint = "name a file, a folder or a zip"
        raise UsageError(f"cannot read {shown(label)}: {reason_of(error)}", hint=hint) from None


def from_stream(label: str, stream: BinaryIO) -> Files:
    """Return a file with the content of a pipe, in memory or, if it is long, in an unnamed file."""
    spooled = cast("IO[bytes]", tempfile.SpooledTemporaryFile(IN_MEMORY))
    size = 0
    while chunk := stream.read(CHUNK):
        if not size and not chunk.startswith((ZIP, EMPTY_ZIP)) and b"\0" in chunk:
            spooled.close()
            hint = "give a file of another tool, a zip, or JSON"
            raise ParseError("it holds NUL bytes: it is not text", file=label, hint=hint)
        size += len(chunk)
        if size > PIPE_LIMIT:
            spooled.close()
            hint = "save it to a file and import the file"
            raise ParseError(f"more than {PIPE_LIMIT:,} bytes from a pipe", file=label, hint=hint)
        spooled.write(chunk)
    spooled.seek(0)
    if spooled.read(4) in (ZIP, EMPTY_ZIP):
        return Zip(label, spooled)
    return OneFile(label, None, spooled)


def length(stream: IO[bytes]) -> int:
    """Return the number of bytes in a stream."""
    return stream.seek(0, os.SEEK_END)


def refuse(error: OSError) -> None:
    """Raise for a folder that cannot be listed, because it would look empty."""
    raise error
