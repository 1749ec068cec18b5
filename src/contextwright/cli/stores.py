"""The store a command works on."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice

from contextwright.cli.locations import is_in_own_folder, is_kept, location_of, make_own_folder
from contextwright.cli.options import StoreOptions
from contextwright.errors import NotFound, UsageError, shown
from contextwright.recall.vectors.choose import EmbedderChoice
from contextwright.store.chat import Chat
from contextwright.store.engines.address import file_of, is_server, shown_address
from contextwright.store.engines.base import Sync
from contextwright.store.store import Store

__all__ = [
    "existing",
    "existing_chat",
    "existing_or_none",
    "near_names",
    "opened",
    "require_conversation",
]

MAX_COMPARED = 10_000
"""Maximum number of conversations to compare with a name that is not found."""


def opened(where: StoreOptions, *, sync: Sync = "full") -> Store:
    """Open the store a call names, else that of the environment, else the user's own.

    A store that does not exist is created.
    """
    address = location_of(where.store)
    if is_in_own_folder(address):
        make_own_folder()
    return Store(address, sync=sync, tenant=where.tenant)


def existing(where: StoreOptions, *, embedder: EmbedderChoice = "auto") -> Store:
    """Open a store that exists; reading never creates one.

    Raises:
        NotFound: there is no such file, or it is empty.
    """
    address = location_of(where.store)
    if not is_server(address) and not is_kept(file_of(address)):
        raise NotFound(f"there is no store at {shown_address(address)}", hint="cw add creates one")
    return Store(address, tenant=where.tenant, embedder=embedder)


def existing_or_none(where: StoreOptions) -> Store | None:
    """Open a store if it exists."""
    with suppress(NotFound):
        return existing(where)
    return None


@contextmanager
def existing_chat(
    where: StoreOptions, id: str, *, embedder: EmbedderChoice = "auto"
) -> Generator[Chat]:
    """Open a stored conversation.

    Raises:
        NotFound: there is none with that id; the error names similar ids.
    """
    if id == "-":
        raise UsageError("standard input is not a stored conversation", hint="name its id")
    with existing(where, embedder=embedder) as store:
        require_conversation(store, id)
        yield store.conversation(id)


def require_conversation(store: Store, id: str) -> None:
    """Raise an error that suggests similar ids, or the import, if a conversation does not exist."""
    try:
        store.conversation(id).details()
    except NotFound as error:
        ids = (info.id for info in islice(store.list(), MAX_COMPARED))
        hint = error.hint or near_names(id, ids)
        if not hint and os.path.exists(id):
            kind = "folder" if os.path.isdir(id) else "file"
            hint = f"it is a {kind}: cw import stores it"
        raise NotFound(str(error.args[0]), hint=hint) from None


def near_names(name: str, known: Iterable[str]) -> str:
    """Return a hint with the most similar names, or an empty one."""
    found = get_close_matches(name, known, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(map(shown, found))}?" if found else ""
