"""The default location of the store."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from contextwright.errors import UsageError, shown

__all__ = ["is_in_own_folder", "is_kept", "location_of", "make_own_folder", "own_folder"]

NAME_IT = "name a store with --store, or set CONTEXTWRIGHT_STORE"


def location_of(store: str | None) -> str:
    """Return the file or URL of the store: the one named, else that of the environment, else ours.

    An empty name is passed on and refused: it is most often a variable of a shell without a value.
    """
    if store is not None:
        return store
    return os.environ.get("CONTEXTWRIGHT_STORE") or str(own_folder() / "store.db")


def is_kept(path: str) -> bool:
    """Whether there is something at a path; opening an empty file would make it a store."""
    return os.path.exists(path) and not (os.path.isfile(path) and os.path.getsize(path) == 0)


def own_folder() -> Path:
    """Return our folder in the user's data folder; it need not exist.

    Raises:
        UsageError: the user has no home, as in many containers and services.
    """
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Application Support"
        else:
            base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    except RuntimeError:
        raise UsageError("this user has no home folder for a store", hint=NAME_IT) from None
    return Path(base, "contextwright")


def is_in_own_folder(location: str) -> bool:
    """Whether a store is, or would be, in our folder."""
    try:
        return os.path.dirname(location) == str(own_folder())
    except UsageError:
        return False


def make_own_folder() -> Path:
    """Return our folder, made if it is missing; only the user can read it.

    Raises:
        UsageError: it cannot be made.
    """
    folder = own_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot make {shown(str(folder))}: {reason}", hint=NAME_IT) from None
    return folder
