"""The default location of the store."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["location_of", "own_folder"]


def location_of(store: str | None) -> str:
    """Return the file or URL of the store."""
    return store or os.environ.get("CONTEXTWRIGHT_STORE") or str(own_folder() / "store.db")


def own_folder() -> Path:
    """Return our folder in the user's data folder; only the user can read it."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    folder = base / "contextwright"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
