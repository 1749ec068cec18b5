"""Opens the engine for a path or a URL."""

from __future__ import annotations

import os
from pathlib import Path

from contextwright.errors import UsageError, require, shown
from contextwright.store.engines.address import file_of, is_server, server_url
from contextwright.store.engines.base import Engine, Sync

__all__ = ["open_engine"]


def open_engine(place: str | Path, sync: Sync) -> Engine:
    """Open the engine for a path or a URL and bring its tables up to date.

    Raises:
        UsageError: the place or the sync level is not valid.
        StoreError: the store cannot be opened.
    """
    if sync not in ("full", "fast"):
        raise UsageError(f"sync cannot be {shown(sync)}", hint="full or fast")
    require(place, str | os.PathLike, "a store", "a path, or a URL such as postgresql://…")
    address = os.fspath(place)
    if is_server(address):
        from contextwright.store.engines.postgres import PostgresEngine

        return PostgresEngine(server_url(address), sync)
    from contextwright.store.engines.sqlite import SqliteEngine

    return SqliteEngine(file_of(address), sync)
