"""Which store a command works on."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from contextwright.errors import NotFound, UsageError, shown
from contextwright.recall.embedding import Given
from contextwright.store.base import Store
from contextwright.store.chat import Chat
from contextwright.store.engine import Sync, file_of, is_server

__all__ = ["conversation", "existing", "opened", "place_of"]


def opened(place: str | None, *, sync: Sync = "full", tenant: str = "") -> Store:
    """The store that was named, else that of the environment, else the user's own."""
    return Store(place_of(place), sync=sync, tenant=tenant)


def existing(place: str | None, *, tenant: str = "", embedder: Given = "auto") -> Store:
    """A store that is there: whoever only looks makes none.

    Raises:
        NotFound: there is no such file.
    """
    address = place_of(place)
    if not is_server(address) and not os.path.exists(file_of(address)):
        raise NotFound(f"there is no store at {shown(address)}", hint="cw add makes one")
    return Store(address, tenant=tenant, embedder=embedder)


def place_of(place: str | None) -> str:
    """Where the store is."""
    return place or os.environ.get("CONTEXTWRIGHT_STORE") or str(own_file())


@contextmanager
def conversation(place: str | None, tenant: str, id: str, option: str) -> Generator[Chat]:
    """A conversation to look at; `option` would say what it is if it were a file.

    Raises:
        UsageError: there is none of that name, but a file.
    """
    if id == "-":
        hint = f"say what it is with {option} FORMAT"
        raise UsageError("standard input is no conversation of the store", hint=hint)
    try:
        with existing(place, tenant=tenant) as store:
            yield store.conversation(id)
    except NotFound as error:
        if os.path.exists(id):
            hint = f"say what it is with {option} FORMAT"
            raise UsageError(f"{shown(id)} is a file, not a conversation", hint=hint) from error
        raise


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
