"""Which store a command works on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from contextwright.store.base import Store
from contextwright.store.engine import Sync

__all__ = ["opened"]


def opened(place: str | None, *, sync: Sync = "full") -> Store:
    """The store that was named, else that of the environment, else the user's own."""
    return Store(place or os.environ.get("CONTEXTWRIGHT_STORE") or own_file(), sync=sync)


def own_file() -> Path:
    """A file in the folder where the system keeps a user's data, for nobody else to read."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    folder = base / "contextwright"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "store.db"
