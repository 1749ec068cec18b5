"""A consistent copy of an SQLite store while others write."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

import apsw

from contextwright.errors import StoreError, StoreFull, UsageError, shown
from contextwright.store.engines.address import file_of

__all__ = ["back_up", "free_name", "require_free"]

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the pages done and the total."""

PAGES = 2_000
"""Number of pages copied between two progress reports."""


def back_up(path: str, target: str, progress: Progress | None = None) -> None:
    """Copy a file as it is now; the copy appears whole or not at all.

    No writer has to wait: the copy shows one moment, without later commits.
    """
    part = f"{target}.{os.getpid()}.part"
    try:
        copy_pages(path, part, progress)
        with open(part, "r+b") as stream:
            os.fsync(stream.fileno())
        os.replace(part, target)
        sync_folder(os.path.dirname(os.path.abspath(target)))
    except apsw.FullError as error:
        raise StoreFull(f"no room to write {shown(target)}", hint="free some space") from error
    except (apsw.CantOpenError, OSError) as error:
        hint = "does the folder exist, and may you write there?"
        raise StoreError(f"cannot write {shown(target)}", hint=hint) from error
    except apsw.Error as error:
        raise StoreError(f"cannot copy {shown(path)}: {error}", hint="see cw doctor") from error
    finally:
        for left in (part, f"{part}-journal", f"{part}-wal", f"{part}-shm"):
            if os.path.lexists(left):
                os.unlink(left)


def copy_pages(path: str, part: str, progress: Progress | None) -> None:
    """Copy all pages, some at a time."""
    source: Any = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    copy: Any = None
    try:
        source.set_busy_timeout(60_000)
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        copy = apsw.Connection(part)
        # Keep this transaction open, because a commit of another process between two steps would
        # restart the copy.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(PAGES)
                if progress is not None:
                    progress(backup.page_count - backup.remaining, backup.page_count)
    finally:
        if copy is not None:
            copy.close()
        source.close()


def sync_folder(folder: str) -> None:
    """Make a new name in a folder survive a power loss, if folders can be opened."""
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def require_free(target: str) -> None:
    """Raise if the target exists, or if SQLite cannot open its name.

    Raises:
        UsageError: there is a file, or the log of a removed one, which would change the copy.
    """
    file_of(target)
    for name in (target, f"{target}-wal", f"{target}-journal"):
        if os.path.lexists(name):
            raise UsageError(f"{shown(name)} already exists", hint="name a new file")


def free_name(path: str, word: str) -> str:
    """Return a free name next to a file, like `chat.db.repair-1.backup`."""
    number = 1
    while os.path.lexists(f"{path}.{word}-{number}.backup"):
        number += 1
    return f"{path}.{word}-{number}.backup"
